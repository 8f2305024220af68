// Reads cameoc's command line by the table that CameocOptions.td makes, with LLVM's option library.
// (LLVM's cl::opt would accept the hundreds of options of the libraries in this process too.)
// SPDX-License-Identifier: Apache-2.0
#include "tools/CameocOptions.h"

#include "codegen/InputShapes.h"
#include "tools/Environment.h"
#include "tools/OptionHints.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <map>

using namespace cameo;
using llvm::StringLiteral;
using llvm::StringRef;
using llvm::opt::DefaultVis;
namespace opt = llvm::opt;

namespace {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/CameocOptions.inc"
#undef OPTION
};

#define PREFIX(NAME, VALUE)                                                                        \
  constexpr StringLiteral NAME##_list[] = VALUE;                                                   \
  constexpr llvm::ArrayRef<StringLiteral> NAME(NAME##_list, std::size(NAME##_list) - 1);
#include "tools/CameocOptions.inc"
#undef PREFIX

constexpr opt::OptTable::Info kInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/CameocOptions.inc"
#undef OPTION
};

class CameocTable : public opt::GenericOptTable {
public:
  CameocTable() : GenericOptTable(kInfos) {}

  /// By its name with dashes; not valid where there is none of that name.
  opt::Option find(StringRef name) const {
    for (unsigned id = OPT_UNKNOWN + 1; id <= getNumOptions(); ++id)
      if (opt::Option option = getOption(id); option.getPrefixedName() == name)
        return option;
    return getOption(OPT_INVALID);
  }

  /// The options whose names begin like that.
  std::string namesFrom(StringRef start) const {
    std::string names;
    for (unsigned id = OPT_UNKNOWN + 1; id <= getNumOptions(); ++id)
      if (StringRef name = getOption(id).getPrefixedName();
          name.starts_with(start) && !name.ends_with("="))
        names += (names.empty() ? "'" : ", '") + name.str() + "'";
    return names;
  }

  /// How the help writes an option, "--target=LIST".
  std::string form(const opt::Option &option) const {
    std::string text = option.getPrefixedName().str();
    const char *value = getOptionMetaVar(option.getID());
    if (!value)
      return text;
    StringRef between = option.getKind() == opt::Option::SeparateClass           ? "="
                        : option.getKind() == opt::Option::JoinedOrSeparateClass ? " "
                                                                                 : "";
    return text + between.str() + value;
  }
};

llvm::Error fail(const llvm::Twine &what) { return llvm::createStringError(what.str()); }

llvm::Error setText(std::string &member, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  member = value.str();
  return llvm::Error::success();
}

/// Several are one text, in which semicolons are between them.
void addText(std::string &member, StringRef value) {
  member += (member.empty() ? "" : ";") + value.str();
}

llvm::Error checkChoice(StringRef value, llvm::ArrayRef<StringRef> choices,
                        const llvm::Twine &where = "") {
  if (llvm::is_contained(choices, value))
    return llvm::Error::success();
  if (choices.size() == 1)
    return fail("'" + value + "'" + where + " is not " + choices.front());
  std::string list = llvm::join(choices.drop_back(), ", ");
  StringRef meant = choiceHint(value, choices);
  return fail("'" + value + "'" + where + " is not one of " + list + " and " + choices.back() +
              (meant.empty() ? "" : "; write " + meant.str()));
}

llvm::Error setChoice(std::string &member, StringRef value, llvm::ArrayRef<StringRef> choices) {
  member = value.str();
  return checkChoice(value, choices);
}

llvm::Error setFlag(bool &member) {
  member = true;
  return llvm::Error::success();
}

template <typename T> llvm::Error setParsed(T &member, llvm::Expected<T> value) {
  return std::move(value).moveInto(member);
}
template <typename T> llvm::Error setParsed(std::optional<T> &member, llvm::Expected<T> value) {
  if (!value)
    return value.takeError();
  member = std::move(*value);
  return llvm::Error::success();
}

llvm::Error setOnOff(std::optional<bool> &member, StringRef value) {
  member = value == "on";
  return checkChoice(value, {"on", "off"});
}

llvm::Error setEmit(CameocOptions &options, StringRef value) {
  static constexpr StringRef kinds[] = {"exe",  "lib",  "plan",      "ptx",    "cubin",
                                        "onnx", "mlir", "schedules", "ranges", "tuning"};
  static_assert(std::size(kinds) == size_t(Emit::Tuning) + 1);
  options.emit = Emit(llvm::find(kinds, value) - kinds);
  options.emitGiven = true;
  return checkChoice(value, kinds);
}

/// Of a dispatch, where no number is given. Behind them estimates are longer than the best by half
/// and more.
constexpr unsigned kTuningCandidates = 32;

llvm::Error setTuningCandidates(CameocOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.pipeline.tuningCandidates) ||
      options.pipeline.tuningCandidates == 0)
    return llvm::createStringError("'" + value + "' is not a number of schedules, 1 or more");
  return llvm::Error::success();
}

llvm::Error setMessageFormat(CameocOptions &options, StringRef value) {
  options.messages = Messages(value == "json" ? Messages::Format::Json : Messages::Format::Text);
  return checkChoice(value, {"text", "json"});
}

llvm::Error setSimForms(CameocOptions &options, StringRef value) {
  options.simForms = value == "warp"     ? SimForms::Warp
                     : value == "thread" ? SimForms::Thread
                                         : SimForms::Both;
  return checkChoice(value, {"warp", "thread", "both"});
}

constexpr StringRef kPrecisions[] = {"fp32", "tf32", "fp16", "bf16", "int8"};

llvm::Error addNodePrecision(CameocOptions &options, StringRef value) {
  auto [glob, type] = value.rsplit('=');
  if (glob.empty() || !value.contains('='))
    return fail("'" + value + "' is not of the form GLOB=fp16");
  if (llvm::Error error = checkChoice(type, kPrecisions, " in '" + value + "'"))
    return error;
  if (glob.contains(';'))
    return fail("'" + glob + "': write ? for a semicolon");
  addText(options.pipeline.precision.nodes, value);
  return llvm::Error::success();
}

llvm::Error addTap(CameocOptions &options, StringRef value) {
  if (value.empty())
    return fail("an empty value");
  if (value.contains(';'))
    return fail("'" + value + "': write ? for a semicolon");
  addText(options.pipeline.taps, value);
  return llvm::Error::success();
}

llvm::Error addOverridable(CameocOptions &options, StringRef value) {
  if (llvm::is_contained(options.overridable, value))
    return fail("it gives '" + value + "' twice");
  options.overridable.push_back(value.str());
  return llvm::Error::success();
}

llvm::Error addState(CameocOptions &options, StringRef value) {
  if (value != "auto" && !value.contains(':'))
    return fail("'" + value + "' is not of the form INPUT:OUTPUT");
  options.states.push_back(value.str());
  return llvm::Error::success();
}

llvm::Error setTarget(CameocOptions &options, StringRef value) {
  options.pipeline.targets = value.str();
  return setFlag(options.targetGiven);
}

llvm::Error setLevel(CameocOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.pipeline.level) || options.pipeline.level > 2)
    return fail("it takes 0, 1 or 2, not '" + value + "'");
  return llvm::Error::success();
}

llvm::Error setBatch(CameocOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.calibration.batch) || options.calibration.batch < 1)
    return fail("it takes a number from 1 on, not '" + value + "'");
  return llvm::Error::success();
}

/// int8, int4 or int4:BLOCK.
llvm::Error setWeights(CameocOptions &options, StringRef value) {
  PrecisionOptions &precision = options.pipeline.precision;
  auto [type, block] = value.split(':');
  if (llvm::Error error = setChoice(precision.weights, type, {"int8", "int4"}))
    return error;
  precision.weightBlock = type == "int4" ? 32 : 0;
  if (type == value)
    return llvm::Error::success();
  if (type != "int4")
    return fail("'" + value + "': int8 has a scale for each column, no blocks");
  if (block != "32" && block != "64" && block != "128")
    return fail("'" + value + "': blocks are of 32, 64 or 128");
  block.getAsInteger(10, precision.weightBlock);
  return llvm::Error::success();
}

llvm::Error setHistograms(CameocOptions &options, StringRef value) {
  options.countsByKernels = value == "kernels";
  return checkChoice(value, {"host", "kernels"});
}

llvm::Error setBudget(CameocOptions &options, StringRef value) {
  if (value.getAsDouble(options.accuracy.budget) || !(options.accuracy.budget > 0))
    return fail("it takes a number of seconds, not '" + value + "'");
  return llvm::Error::success();
}

llvm::Error setJobs(CameocOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.jobs) || options.jobs < 1 || options.jobs > 1024)
    return fail("it takes a number from 1 to 1024, not '" + value + "'");
  return llvm::Error::success();
}

llvm::Error addText(std::vector<std::string> &member, StringRef value) {
  return setText(member.emplace_back(), value);
}

/// `value` is what follows "--mlir-".
llvm::Error addMlir(CameocOptions &options, StringRef value) {
  options.mlir.push_back("--mlir-" + value.str());
  return llvm::Error::success();
}

llvm::Error setInput(CameocOptions &options, StringRef value) {
  if (!options.input.empty())
    return fail("two input files: '" + options.input + "' and '" + value + "'");
  options.input = value.str();
  return llvm::Error::success();
}

struct Setter {
  OptionId option;
  llvm::Error (*set)(CameocOptions &, StringRef);
};

const Setter kSetters[] = {
    {OPT_o, [](CameocOptions &o, StringRef v) { return setText(o.output, v); }},
    {OPT_O, setLevel},
    {OPT_j, setJobs},
    {OPT_target, setTarget},
    {OPT_emit, setEmit},
    {OPT_shapes, [](CameocOptions &o, StringRef v) { return parseShapes(v, o.shapes); }},
    {OPT_shape_values, [](CameocOptions &o, StringRef v) { return parseInputValues(v, o.values); }},
    {OPT_state, addState},
    {OPT_overridable, addOverridable},
    {OPT_layout,
     [](CameocOptions &o, StringRef v) {
       return setChoice(o.pipeline.layout, v,
                        {"tensor-cores", "auto", "channels-last", "as-imported"});
     }},
    {OPT_schedules, [](CameocOptions &o, StringRef v) { return setText(o.pipeline.schedules, v); }},
    {OPT_tune,
     [](CameocOptions &o, StringRef v) { return setChoice(o.pipeline.tune, v, {"static"}); }},
    {OPT_tap, addTap},
    {OPT_precision,
     [](CameocOptions &o, StringRef v) {
       return setChoice(o.pipeline.precision.type, v, kPrecisions);
     }},
    {OPT_precision_of, addNodePrecision},
    {OPT_io_precision,
     [](CameocOptions &o, StringRef v) {
       return setChoice(o.pipeline.precision.io, v, {"fp32", "fp16", "bf16"});
     }},
    {OPT_weights, setWeights},
    {OPT_keep_ends,
     [](CameocOptions &o, StringRef v) {
       return setChoice(o.pipeline.precision.keptEnds, v, {"none", "first", "last", "both"});
     }},
    {OPT_ranges,
     [](CameocOptions &o, StringRef v) { return setText(o.pipeline.precision.ranges, v); }},
    {OPT_bias_correction,
     [](CameocOptions &o, StringRef) {
       return setOnOff(o.pipeline.precision.correctsBiases, "on");
     }},
    {OPT_bias_correction_eq,
     [](CameocOptions &o, StringRef v) {
       return setOnOff(o.pipeline.precision.correctsBiases, v);
     }},
    {OPT_channel_scales,
     [](CameocOptions &o, StringRef v) {
       return setOnOff(o.pipeline.precision.scalesChannels, v);
     }},
    {OPT_device,
     [](CameocOptions &o, StringRef v) { return setParsed(o.device, RunDevice::parse(v)); }},
    {OPT_calibration_data,
     [](CameocOptions &o, StringRef v) { return setText(o.calibration.data, v); }},
    {OPT_calibration_method,
     [](CameocOptions &o, StringRef v) {
       return setParsed(o.calibration.method, CalibrationMethod::parse(v));
     }},
    {OPT_calibration_cache,
     [](CameocOptions &o, StringRef v) { return setText(o.calibration.cache, v); }},
    {OPT_calibration_batch, setBatch},
    {OPT_calibration_histograms, setHistograms},
    {OPT_accuracy,
     [](CameocOptions &o, StringRef v) {
       return setParsed(o.accuracy.contract, AccuracyContract::parse(v));
     }},
    {OPT_accuracy_data, [](CameocOptions &o, StringRef v) { return setText(o.accuracy.data, v); }},
    {OPT_labels, [](CameocOptions &o, StringRef v) { return setText(o.accuracy.labels, v); }},
    {OPT_budget, setBudget},
    {OPT_tuning_candidates, setTuningCandidates},
    {OPT_sim_checks, [](CameocOptions &o, StringRef) { return setFlag(o.simChecks); }},
    {OPT_sim_checks_only, [](CameocOptions &o, StringRef) { return setFlag(o.simChecksOnly); }},
    {OPT_sim_trace, [](CameocOptions &o, StringRef) { return setFlag(o.simTrace); }},
    {OPT_sim_forms, setSimForms},
    {OPT_sim_quick, [](CameocOptions &o, StringRef) { return setFlag(o.simQuick); }},
    {OPT_ptxas, [](CameocOptions &o, StringRef v) { return setText(o.pipeline.ptxas, v); }},
    {OPT_nvdisasm, [](CameocOptions &o, StringRef v) { return setText(o.pipeline.nvdisasm, v); }},
    {OPT_libdevice, [](CameocOptions &o, StringRef v) { return setText(o.pipeline.libdevice, v); }},
    {OPT_cache_dir, [](CameocOptions &o, StringRef v) { return setText(o.pipeline.cacheDir, v); }},
    {OPT_report, [](CameocOptions &o, StringRef v) { return addText(o.reports, v); }},
    {OPT_header, [](CameocOptions &o, StringRef v) { return setText(o.header, v); }},
    {OPT_depfile, [](CameocOptions &o, StringRef v) { return setText(o.depfile, v); }},
    {OPT_quiet, [](CameocOptions &o, StringRef) { return setFlag(o.quiet); }},
    {OPT_message_format, setMessageFormat},
    {OPT_inspect, [](CameocOptions &o, StringRef) { return setFlag(o.inspect); }},
    {OPT_inspect_eq,
     [](CameocOptions &o, StringRef v) {
       o.inspect = o.inspectAsJson = true;
       return checkChoice(v, {"json"});
     }},
    {OPT_remarks, [](CameocOptions &o, StringRef) { return setFlag(o.remarks); }},
    {OPT_Werror, [](CameocOptions &o, StringRef) { return setFlag(o.warningsAreErrors); }},
    {OPT_time, [](CameocOptions &o, StringRef) { return setFlag(o.time); }},
    {OPT_list_operators, [](CameocOptions &o, StringRef) { return setFlag(o.listOperators); }},
    {OPT_list_precision_policy,
     [](CameocOptions &o, StringRef) { return setFlag(o.listPrecisionPolicy); }},
    {OPT_list_differences, [](CameocOptions &o, StringRef) { return setFlag(o.listDifferences); }},
    {OPT_version, [](CameocOptions &o, StringRef) { return setFlag(o.version); }},
    {OPT_help, [](CameocOptions &o, StringRef) { return setFlag(o.help); }},
    {OPT_help_all, [](CameocOptions &o, StringRef) { return setFlag(o.helpAll); }},
    {OPT_stop_after,
     [](CameocOptions &o, StringRef v) { return setParsed(o.stopAfter, findStage(v)); }},
    {OPT_start_from,
     [](CameocOptions &o, StringRef v) { return setParsed(o.startFrom, findStage(v)); }},
    {OPT_load_pass_plugin, [](CameocOptions &o, StringRef v) { return addText(o.passPlugins, v); }},
    {OPT_insert_pass, [](CameocOptions &o, StringRef v) { return addText(o.insertedPasses, v); }},
    {OPT_print_ir_after, [](CameocOptions &o, StringRef v) { return setText(o.printIrAfter, v); }},
    {OPT_print_pipeline, [](CameocOptions &o, StringRef) { return setFlag(o.printPipeline); }},
    {OPT_statistics, [](CameocOptions &o, StringRef) { return setFlag(o.statistics); }},
    {OPT_strict, [](CameocOptions &o, StringRef) { return setFlag(o.pipeline.strict); }},
    {OPT_mlir, addMlir},
    {OPT_INPUT, setInput},
};

/// What is not given may stand in the environment.
void addEnvironment(CameocOptions &options) {
  if (const char *home = std::getenv("CUDA_HOME");
      options.pipeline.ptxas.empty() && home && *home) {
    llvm::SmallString<256> path(home);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::exists(path))
      options.pipeline.ptxas = std::string(path);
  }
  if (options.pipeline.cacheDir.empty())
    options.pipeline.cacheDir = cacheFolderByEnvironment();
  options.pipeline.strict |= isStrictByEnvironment();
  options.simQuick |= isSimQuickByEnvironment();
}

llvm::Error needsValue(const CameocTable &table, const opt::Option &option) {
  return fail("'" + option.getPrefixedName() + "' needs a value: " + table.form(option));
}

llvm::Error unknownOption(const CameocTable &table, StringRef argument) {
  StringRef name = argument.split('=').first;
  if (opt::Option option = table.find(name); option.isValid())
    return fail("'" + name + "' takes no value");
  if (std::string hint = optionHint(name); !hint.empty())
    return fail("unknown option '" + name + "'; " + hint);
  std::string nearest;
  table.findNearest(name, nearest);
  if (isMisspelt(name, nearest))
    return fail("unknown option '" + name + "'; did you mean '" + StringRef(nearest).rtrim('=') +
                "'?");
  if (std::string longer = table.namesFrom(name); name.size() > 4 && !longer.empty())
    return fail("unknown option '" + name + "'; did you mean " + longer + "?");
  return fail("unknown option '" + name + "'; cameoc --help-all lists them");
}

llvm::Error apply(const CameocTable &table, const opt::Arg &argument, CameocOptions &options) {
  opt::Option option = argument.getOption();
  if (option.getID() == OPT_UNKNOWN)
    return unknownOption(table, argument.getSpelling());
  StringRef value = argument.getNumValues() ? argument.getValue() : "";
  // In --labels --budget=1, no file of that name is meant.
  bool isAttached = argument.getAlias() || option.getKind() != opt::Option::SeparateClass;
  if (!isAttached && value.starts_with("--"))
    return needsValue(table, option);
  const Setter *setter =
      llvm::find_if(kSetters, [&](const Setter &known) { return known.option == option.getID(); });
  if (setter == std::end(kSetters))
    return fail("'" + option.getPrefixedName() + "' is in the table of options and sets nothing");
  llvm::Error error = setter->set(options, value);
  if (!error || option.getID() == OPT_INPUT)
    return error;
  return fail(option.getPrefixedName() + ": " + llvm::toString(std::move(error)));
}

void printOption(llvm::raw_ostream &output, StringRef form, StringRef help) {
  constexpr size_t indent = 31, width = 98;
  output << llvm::formatv("  {0,-28}", form);
  size_t column = form.size() > indent - 3 ? width : indent - 1;
  // Words, wrapped.
  llvm::SmallVector<StringRef> words;
  help.split(words, ' ');
  for (StringRef word : words) {
    bool fits = column + 1 + word.size() <= width;
    output << (fits ? " " : "\n" + std::string(indent, ' ')) << word;
    column = (fits ? column + 1 : indent) + word.size();
  }
  output << "\n";
}

} // namespace

llvm::Expected<CameocOptions> cameo::parseCameocOptions(llvm::ArrayRef<const char *> arguments) {
  CameocTable table;
  CameocOptions options;
  unsigned missingIndex = 0, missingCount = 0;
  opt::InputArgList list = table.ParseArgs(arguments, missingIndex, missingCount);
  for (const opt::Arg *argument : list)
    if (llvm::Error error = apply(table, *argument, options))
      return std::move(error);
  if (missingCount)
    return needsValue(table, table.find(arguments[missingIndex]));
  if (llvm::Error error = checkCameocOptions(options))
    return std::move(error);
  addEnvironment(options);
  if (!options.targetGiven && (options.emit == Emit::Ptx || options.emit == Emit::Cubin))
    options.pipeline.targets = "sm_80"; // one architecture's code
  if (options.emit == Emit::Tuning && !options.pipeline.tuningCandidates)
    options.pipeline.tuningCandidates = kTuningCandidates;
  return options;
}

Stage CameocOptions::lastStage() const {
  return stopAfter.value_or(emit == Emit::Onnx        ? Stage::Precision
                            : emit == Emit::Schedules ? Stage::Scheduled
                                                      : Stage::Host);
}

CodeOptions cameo::codeTools(const CameocOptions &options) {
  CodeOptions code;
  code.ptx.ptxas = options.pipeline.ptxas;
  code.ptx.libdevice = options.pipeline.libdevice;
  code.cache = options.pipeline.cacheDir;
  return code;
}

void cameo::printStep(StringRef step, const llvm::TimeRecord &time) {
  llvm::errs() << llvm::formatv("{0,-12} {1,10:f1} ms, {2,10:f1} ms of CPU\n", step,
                                time.getWallTime() * 1e3, time.getProcessTime() * 1e3);
}

void cameo::printCameocHelp(llvm::raw_ostream &output) {
  output << "cameoc MODEL.onnx -o FILE [options]\n"
            "Compiles an ONNX model into one executable file for NVIDIA GPUs.\n\n";
  CameocTable table;
  for (OptionId id :
       {OPT_o, OPT_target, OPT_precision, OPT_calibration_data, OPT_shapes, OPT_report})
    printOption(output, table.form(table.getOption(id)), table.getOptionHelpText(id));
  output << R"(
Examples:
  cameoc --inspect model.onnx                what it is, and whether it can be compiled
  cameoc model.onnx -o model                 ./model --help says how it is run
  cameoc model.onnx -o model --precision=fp16 --target=sm_90a --shapes=batch:8
  cameoc model.onnx -o model --precision=int8 --calibration-data=images.npz --accuracy=99%
  cameoc model.onnx -o model --report=model.html

cameoc --help-all lists all options and stages.
Exit codes: 0 good, 1 the model was not compiled, 2 usage (options and files), 3 device or driver.
)";
}

void cameo::printAllCameocHelp(llvm::raw_ostream &output) {
  output << "cameoc MODEL.onnx -o FILE [options]\n"
            "A model of the name - comes from standard input, and its external data from the "
            "working directory.\nValues follow an option's \"=\" or a space.\n";
  CameocTable table;
  std::map<std::string, unsigned> sections; // by their numbers
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (table.getOptionKind(id) == opt::Option::GroupClass)
      sections[table.getOption(id).getName().str()] = id;
  for (const auto &[number, section] : sections) {
    output << "\n" << table.getOptionHelpText(section) << ":\n";
    for (unsigned id = 1; id <= table.getNumOptions(); ++id)
      if (const char *help = table.getOptionHelpText(id);
          help && table.getOptionGroupID(id) == section)
        printOption(output, table.form(table.getOption(id)), help);
  }
  output << "\nStages:\n";
  for (const StageInfo &stage : stages())
    if (stage.stage != Stage::Binary) // what --emit writes
      output << llvm::formatv("  {0,-12} {1}\n", stage.name, stage.description);
}
