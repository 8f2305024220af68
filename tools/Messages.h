// Messages of cameoc and cameo-compare on standard error, for people or for programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Compile.h"
#include "codegen/calibrate/Progress.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// Text, or JSON, an object a line:
///
///   {"kind": "diagnostic", "severity": "error", "where": "conv1", "text": "...", "notes": [{...}]}
///   {"kind": "progress", "what": "ranges", "done": 3, "all": 32}
///   {"kind": "summary", "text": "11 launches: ..."}
class Messages {
public:
  enum class Format { Text, Json };
  explicit Messages(Format format = Format::Text) : format(format) {}
  /// Reads --message-format, however wrong the other arguments are.
  static Messages of(llvm::ArrayRef<const char *> arguments);

  /// An error, a warning, a remark or a note.
  void operator()(const CompileMessage &message) const;
  mlir::LogicalResult fail(llvm::Error error) const;
  void note(const llvm::Twine &text) const;
  /// Lines about the result.
  void summary(llvm::StringRef lines) const;

private:
  friend class MessageProgress;
  Format format;
};

/// Progress of steps that take long, from its making to its end.
class MessageProgress {
public:
  explicit MessageProgress(const Messages &messages);
  void update(llvm::StringRef what, uint64_t done, uint64_t all);

private:
  Messages::Format format;
  StepProgress text;
  std::string now; // what was said last in JSON
  Progress::Clock::time_point said;
};

} // namespace cameo
