// Parsing of the command line: one table of options.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cameo::cli {
namespace {

Status parseNumber(const std::string &text, uint64_t most, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || text[0] == '-' || value > most)
    return failure(Code::InvalidArgument, "'%s' is not a number from 0 to %llu", text.c_str(),
                   (unsigned long long)most);
  return {};
}

Status parseNumber(const std::string &text, uint32_t &value) {
  uint64_t wide = 0;
  CAMEO_RETURN_IF_ERROR(parseNumber(text, 1000000000, wide));
  value = uint32_t(wide);
  return {};
}

// One at least.
Status parseCount(const std::string &text, uint32_t &value) {
  CAMEO_RETURN_IF_ERROR(parseNumber(text, value));
  return value ? Status() : failure(Code::InvalidArgument, "must be at least 1, not 0");
}

Status parseReal(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0) || std::isinf(value))
    return failure(Code::InvalidArgument, "'%s' is not a number of at least 0", text.c_str());
  return {};
}

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = text.find(',', at);
    if (comma == std::string::npos)
      comma = text.size();
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

} // namespace

Status parseDevice(const std::string &value, DeviceOptions &options) {
  if (value == "auto") {
    options.device = DeviceChoice::Auto;
  } else if (value == "sim" || value == "simulator") { // as Python's package calls it
    options.device = DeviceChoice::Simulator;
  } else if (value == "cuda" || value.compare(0, 5, "cuda:") == 0) {
    options.device = DeviceChoice::Cuda;
    uint64_t ordinal = 0;
    if (value.size() > 4)
      CAMEO_RETURN_IF_ERROR(parseNumber(value.substr(5), 1023, ordinal));
    options.ordinal = int(ordinal);
  } else {
    uint64_t ordinal = 0;
    bool isNumber = parseNumber(value, 1023, ordinal).ok();
    return failure(Code::InvalidArgument,
                   "'%s' is not a device; expected auto, cuda, cuda:%s or sim", value.c_str(),
                   isNumber ? value.c_str() : "N");
  }
  return {};
}

namespace {

Status parsePercentiles(const std::string &value, std::vector<double> &percentiles) {
  percentiles.clear();
  for (const std::string &part : splitAtCommas(value)) {
    double percentile = 0;
    CAMEO_RETURN_IF_ERROR(parseReal(part, percentile));
    if (percentile <= 0 || percentile >= 100)
      return failure(Code::InvalidArgument, "percentile %s is not between 0 and 100", part.c_str());
    percentiles.push_back(percentile);
  }
  return {};
}

// "sm_90a" or "90a".
Status parseArch(const std::string &value, uint32_t &arch) {
  std::string digits = value.compare(0, 3, "sm_") == 0 ? value.substr(3) : value;
  bool suffix = !digits.empty() && digits.back() == 'a';
  if (suffix)
    digits.pop_back();
  uint64_t number = 0;
  if (!parseNumber(digits, 999, number).ok())
    return failure(Code::InvalidArgument, "'%s' is not an architecture such as sm_80 or sm_90a",
                   value.c_str());
  arch = uint32_t(number) | (suffix ? CAMEO_ARCH_A : 0);
  return {};
}

Status parseReport(const std::string &value, Report &report) {
  report = value == "json" ? Report::Json : Report::Text;
  return value.empty() || value == "json" || value == "text"
             ? Status()
             : failure(Code::InvalidArgument, "'%s' is neither text nor json", value.c_str());
}

using Handler = Status (*)(const std::string &value, Options &options);
enum Value { None, Optional, Required };
struct Option {
  const char *name;
  Value value;
  Handler handler;
};

const Option kOptions[] = {
    {"help", None,
     [](const std::string &, Options &o) {
       o.help = true;
       return Status();
     }},
    {"version", None,
     [](const std::string &, Options &o) {
       o.version = true;
       return Status();
     }},
    {"info", Optional, [](const std::string &v, Options &o) { return parseReport(v, o.info); }},
    {"model", Required,
     [](const std::string &v, Options &o) {
       o.model = v;
       return Status();
     }},
    {"entry", Required,
     [](const std::string &v, Options &o) {
       o.entry = v;
       return Status();
     }},
    {"arch", Required, [](const std::string &v, Options &o) { return parseArch(v, o.arch); }},
    {"input", Required,
     [](const std::string &v, Options &o) {
       o.inputs.push_back(v);
       return Status();
     }},
    {"output", Required,
     [](const std::string &v, Options &o) {
       o.outputs.push_back(v);
       return Status();
     }},
    {"expected_output", Required,
     [](const std::string &v, Options &o) {
       o.expected.push_back(v);
       return Status();
     }},
    {"shapes", Required,
     [](const std::string &v, Options &o) {
       o.shapes.push_back(v);
       return Status();
     }},
    {"atol", Required,
     [](const std::string &v, Options &o) {
       o.comparison = "--atol";
       return parseReal(v, o.atol);
     }},
    {"rtol", Required,
     [](const std::string &v, Options &o) {
       o.comparison = "--rtol";
       return parseReal(v, o.rtol);
     }},
    {"equal-nan", None,
     [](const std::string &, Options &o) {
       o.comparison = "--equal-nan";
       o.equalNan = true;
       return Status();
     }},
    {"random-inputs", Optional,
     [](const std::string &v, Options &o) {
       o.randomInputs = true;
       return v.empty() ? Status() : parseNumber(v, UINT64_MAX, o.randomSeed);
     }},
    {"seed", Required,
     [](const std::string &v, Options &o) { return parseNumber(v, UINT64_MAX, o.seed); }},
    {"device", Required, [](const std::string &v, Options &o) { return parseDevice(v, o); }},
    {"timeout", Required, [](const std::string &v, Options &o) { return parseReal(v, o.timeout); }},
    {"sim-checks", Optional,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       return runtime::parseSimChecks(v.empty() ? "all" : v.c_str(), o.sim);
     }},
    {"sim-seed", Required,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       return parseNumber(v, UINT64_MAX, o.sim.seed);
     }},
    {"sim-counters", Optional,
     [](const std::string &v, Options &o) {
       o.simOnly = o.sim.counters = true;
       o.counters = v;
       return Status();
     }},
    {"board", Required,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       o.sim.board = v;
       return Status();
     }},
    {"sim-trace", Required,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       o.sim.trace = v;
       return runtime::checkSimTrace(v.c_str());
     }},
    {"sim-form", Required,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       if (v == "warp")
         o.sim.form = runtime::SimForm::Warp;
       else if (v == "thread")
         o.sim.form = runtime::SimForm::Thread;
       else if (v == "compare")
         o.sim.form = runtime::SimForm::Compare;
       else
         return failure(Code::InvalidArgument, "'%s' is not one of warp, thread, compare",
                        v.c_str());
       return Status();
     }},
    {"threads", Required,
     [](const std::string &v, Options &o) {
       o.simOnly = true;
       return parseNumber(v, o.sim.threads);
     }},
    {"benchmark", Optional,
     [](const std::string &v, Options &o) { return parseReport(v, o.benchmark); }},
    {"iterations", Required,
     [](const std::string &v, Options &o) { return parseNumber(v, o.iterations); }},
    {"warmUp", Required, [](const std::string &v, Options &o) { return parseReal(v, o.warmUp); }},
    {"duration", Required,
     [](const std::string &v, Options &o) { return parseReal(v, o.duration); }},
    {"avgRuns", Required,
     [](const std::string &v, Options &o) { return parseNumber(v, o.averageRuns); }},
    {"percentile", Required,
     [](const std::string &v, Options &o) { return parsePercentiles(v, o.percentiles); }},
    {"streams", Required,
     [](const std::string &v, Options &o) {
       CAMEO_RETURN_IF_ERROR(parseNumber(v, o.streams));
       return o.streams && o.streams <= 256
                  ? Status()
                  : failure(Code::InvalidArgument, "1 to 256 streams, not %u", o.streams);
     }},
    {"noDataTransfers", None,
     [](const std::string &, Options &o) {
       o.transfers = false;
       return Status();
     }},
    {"useSpinWait", None,
     [](const std::string &, Options &o) {
       o.spin = true;
       return Status();
     }},
    {"cold", None,
     [](const std::string &, Options &o) {
       o.cold = true;
       return Status();
     }},
    {"profile", Optional,
     [](const std::string &v, Options &o) {
       o.profiled = true;
       o.profile = v;
       return Status();
     }},
    {"profileRuns", Required,
     [](const std::string &v, Options &o) { return parseCount(v, o.profileRuns); }},
    {"taps", Required,
     [](const std::string &v, Options &o) {
       o.taps = v;
       return Status();
     }},
    {"runs", Required, [](const std::string &v, Options &o) { return parseCount(v, o.runs); }},
};

// Without case, dashes and underscores, in which tools differ: --warmup, --random_inputs.
std::string simplified(const std::string &name) {
  std::string result;
  for (char c : name)
    if (c != '-' && c != '_')
      result += char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

// How many characters must be inserted, left out or replaced to make one text of the other.
size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1); // distances of the first i characters of a
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Options that trtexec has in one program, and Cameo in two, or by another name.
struct ForeignOption {
  const char *name, *instead;
};
constexpr ForeignOption kForeign[] = {
    {"fp16", "cameoc compiles, with --precision=fp16"},
    {"bf16", "cameoc compiles, with --precision=bf16"},
    {"int8", "cameoc compiles, with --precision=int8"},
    {"best", "cameoc compiles, with --precision=int8 and --accuracy"},
    {"onnx", "cameoc compiles: cameoc MODEL.onnx -o FILE"},
    {"saveengine", "cameoc compiles: cameoc MODEL.onnx -o FILE"},
    {"loadengine", "leave it out: this program is the model, and --model=FILE takes another one"},
    {"loadinputs", "write --input=NAME=@FILE.npy"},
    {"exportoutput", "write --output=NAME=@FILE.npy"},
    {"dumpoutput", "leave it out: outputs are printed"},
    {"dumpprofile", "write --profile"},
    {"separateprofilerun", "write --profile"},
    {"exportprofile", "write --profile=FILE"},
    {"exporttimes", "write --benchmark=json > FILE"},
    {"infstreams", "write --streams=N"},
    {"usecudagraph", "leave it out: runs are CUDA graphs by themselves"},
};

Status unknownOption(const std::string &name) {
  for (const ForeignOption &foreign : kForeign)
    if (simplified(name) == foreign.name)
      return failure(Code::InvalidArgument, "unknown option %s; %s", name.c_str(), foreign.instead);
  const Option *nearest = nullptr;
  size_t least = 3; // what is further away was not misspelt
  for (const Option &option : kOptions)
    if (size_t distance = editDistance(simplified(name), simplified(option.name));
        distance < least) {
      least = distance;
      nearest = &option;
    }
  if (nearest)
    return failure(Code::InvalidArgument, "unknown option %s; did you mean --%s?", name.c_str(),
                   nearest->name);
  return failure(Code::InvalidArgument, "unknown option %s; --help lists them", name.c_str());
}

// `next` is the argument after this one, or null; it is the value of an option that takes one and has
// no "=", unless it is an option, and is then set to null.
Status parseOption(const std::string &argument, const char *&next, Options &options) {
  size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals), value;
  bool hasValue = equals != std::string::npos;
  if (hasValue)
    value = argument.substr(equals + 1);
  for (const Option &option : kOptions) {
    if (name.compare(2, std::string::npos, option.name) != 0)
      continue;
    if (option.value == None && hasValue)
      return failure(Code::InvalidArgument, "%s takes no value", name.c_str());
    if (option.value != None && !hasValue && next && std::strncmp(next, "--", 2) != 0) {
      value = next;
      next = nullptr;
    }
    if (option.value == Required && value.empty())
      return failure(Code::InvalidArgument, "%s needs a value: %s=...", name.c_str(), name.c_str());
    Status status = option.handler(value, options);
    return status.ok() ? Status()
                       : failure(status.code(), "%s: %s", name.c_str(), status.message().c_str());
  }
  return unknownOption(name);
}

} // namespace

Status parseOptions(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "-h")
      argument = "--help";
    if (argument.compare(0, 2, "--") != 0 && argument.size() > 2 && argument[0] == '-')
      return unknownOption(argument.substr(0, argument.find('=')));
    if (argument.compare(0, 2, "--") != 0)
      return failure(Code::InvalidArgument, "'%s' is not an option; --help lists them", argv[i]);
    const char *next = i + 1 < argc ? argv[i + 1] : nullptr;
    bool hasNext = next;
    CAMEO_RETURN_IF_ERROR(parseOption(argument, next, options));
    if (hasNext && !next)
      ++i;
  }
  if (options.simOnly && options.device == DeviceChoice::Cuda)
    return failure(Code::InvalidArgument, "--sim-... and --threads are for --device=sim");
  if (!options.sim.board.empty() && !options.sim.counters)
    return failure(Code::InvalidArgument, "--board names the GPU that --sim-counters estimates");
  if (options.comparison && options.expected.empty())
    return failure(Code::InvalidArgument, "%s goes with --expected_output", options.comparison);
  if (!options.taps.empty() && (options.benchmark != Report::None || options.profiled))
    return failure(Code::InvalidArgument,
                   "--taps shows values of a plain run, not of --benchmark or --profile");
  // What one stream's run finds in a cache is what another's left there.
  if (options.cold && options.streams > 1)
    return failure(Code::InvalidArgument, "--cold measures one stream, not %u", options.streams);
  return {};
}

void printHelp(const char *program) {
  std::printf("usage: %s [options]\n%s", program, R"(
Runs the neural network that this file holds. Values follow an option's "=" or a space.

Inputs and outputs; without NAME they are taken in order
  --input=NAME=@FILE          a tensor from a .npy, .npz or .pb (TensorProto) file; without a name,
                              the arrays of an .npz file are the inputs of the same names
  --input=NAME=2x3xf32=1 2 3 4 5 6
                              a literal; one value fills the tensor
  --output=NAME=@FILE         writes an output, in the format of the file's extension;
                              without this and the next, outputs are printed
  --expected_output=NAME=@FILE
                              compares; a mismatch is exit code 1
  --atol=X --rtol=X           |actual - expected| <= atol + rtol * |expected|; by default 0 for
                              integers, for floating-point types by the precision of the file: 1e-5
                              and 1e-3 in fp32, else 1 % of the largest |expected| and 1e-2 in fp16
                              and tf32, 5 % and 5e-2 in bf16, 10 % and 1e-1 in int8, int4
  --taps=FOLDER               writes the intermediate values that cameoc --tap=NAME made visible,
                              as FOLDER/NAME.npy; --info lists them
  --equal-nan                 NaN matches NaN; otherwise it matches nothing
  --runs=N                    runs N times; exit code 1 if a result differs in any bit
  --random-inputs[=SEED]      seeded random values for inputs that are not given; the default with
                              --benchmark and --profile
  --seed=N                    of random numbers that the model draws (0); each run of --runs and
                              --benchmark draws the same ones
  --shapes=NAME:2x3,SIZE:8    sizes that the model leaves open (default: 1); with --info, the sizes
                              for which work and memory are shown

Device
  --device=auto|cuda[:N]|sim  auto: a GPU; the simulator only without any sign of an NVIDIA GPU
  --arch=sm_80                uses the code built for that architecture
  --timeout=S                 ends the program after S seconds, with exit code 3 and the name of the
                              last kernel launched
  --sim-checks[=race,bounds,init,sync]
                              checks kernels while they run; needs cameoc --sim-checks
  --sim-seed=N                order in which the simulator runs lanes, warps and blocks
  --sim-counters[=FILE.json]  what each kernel does to memory, and an estimate of its time on a
                              GPU; needs cameoc --sim-checks
  --board=NAME                the GPU of that estimate, e.g. h200; a wrong name lists them all
  --sim-trace=KERNEL[,BLOCK[,WARP]]
                              prints on stderr what each instruction computes; needs cameoc
                              --sim-trace
  --sim-form=thread|compare   thread: runs scalar kernels; compare: runs scalar and vectorised
                              kernels and compares bits; needs cameoc --sim-forms=both, or
                              --sim-checks in cameoc and here
  --threads=N                 host threads of the simulator

Measuring
  --benchmark[=json]          latency table, after trtexec's, or the same as JSON; ^C shows what was
                              measured until then; results that are not those of a single run, bit
                              for bit (or --expected_output's), are exit code 1
  --iterations=N --duration=S at least N runs and S seconds (10 and 3)
  --warmUp=MS                 runs before measuring (200 ms), and until the times agree; 0: none
  --avgRuns=N                 also averages of each N runs
  --percentile=P,P            90, 95 and 99; percentile P needs 10 / (1 - P / 100) samples
  --streams=N                 contexts that run at once (1)
  --noDataTransfers           inputs are uploaded once and outputs stay on the GPU
  --cold                      clears the GPU's cache before each run
  --useSpinWait               waiting for the GPU spins even where streams outnumber processors
  --profile[=FILE]            times of every kernel as a table, with a file's name also as a trace
                              (JSON) that Perfetto opens
  --profileRuns=N             takes the medians of N replays (20)

The file
  --info[=json]               what is in it
  --entry=NAME                the entry point to run; default: the first
  --model=FILE                another model file instead of this one
  --version, --help

Exit codes: 0 good, 1 mismatch, 2 usage, 3 device or driver, 4 corrupt or incompatible file.
)");
}

} // namespace cameo::cli
