// The file of results: one JSON document, whole after each result.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_RESULTS_H
#define CAMEO_RUNTIME_TUNE_RESULTS_H

#include "runtime/tune/rounds.h"

#include <cstdio>

namespace cameo::tune {

// The machine that results were measured on.
struct Machine {
  std::string device; // "NVIDIA H200"
  uint32_t driver = 0;
  uint32_t arch = 0;  // that of the code that ran
  std::string target; // the same as cameoc spells it, with the board that schedules are for
};

class ResultsFile {
public:
  ResultsFile() = default;
  ~ResultsFile();
  ResultsFile(const ResultsFile &) = delete;
  void operator=(const ResultsFile &) = delete;

  // Begins a file, or goes on with one of the same bundle and machine, whose results are then in
  // `former`. What a kill has left of a last result is dropped.
  Status open(const std::string &path, const Bundle &bundle, const Machine &machine,
              std::vector<Result> &former);
  Status add(const Result &result);

private:
  Status resume(const Bundle &bundle, const Machine &machine, std::vector<Result> &former);
  Status write(const std::string &text);

  std::string path;
  const Bundle *bundle = nullptr;
  int file = -1;
  long end = 0;      // where the next result goes
  bool first = true; // it is the first one
};

} // namespace cameo::tune

#endif
