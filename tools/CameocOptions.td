// cameoc's options, from which llvm-tblgen makes the table that CameocOptions.cpp reads: a name,
// what the help calls the value and says of the option, and the section of the help. A help is of
// two lines at most; docs/command-line.md and the pages it names say more.
// SPDX-License-Identifier: Apache-2.0
include "llvm/Option/OptParser.td"

// Sections of the help, in the order of their names.
class Section<string number, string title> : OptionGroup<number>, HelpText<title>;

// --name
class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

// --name VALUE and --name=VALUE
multiclass Value<string name, string value, OptionGroup section, string help> {
  def NAME : Separate<["--"], name>, MetaVarName<value>, HelpText<help>, Group<section>;
  def NAME#_eq : Joined<["--"], name#"=">, Alias<!cast<Separate>(NAME)>, Group<section>;
}

// -n VALUE and -nVALUE
class Short<string name, string value, string help>
    : JoinedOrSeparate<["-"], name>, MetaVarName<value>, HelpText<help>;

def outputs : Section<"1", "What is made, and of what">;
let Group = outputs in {
def o : Short<"o", "FILE", "where to write; -: standard output">;
def O : Short<"O", "LEVEL",
    "0: one kernel per operator; 1: fused where every bit stays; 2 (default): where results agree "
    "to rounding">;
def j : Short<"j", "N", "threads; default one a core">;
def inspect : Switch<"inspect",
    "compiles nothing: says the model's inputs, outputs, operators, and what cannot be compiled; =json: as JSON">;
def inspect_eq : Joined<["--"], "inspect=">;
}
defm target : Value<"target", "LIST", outputs,
    "GPUs: sm_80, sm_90a:h200, ptx, ptx:sm_80, sim:sm_80 (simulator), native; default, for GPUs "
    "from 8.0 on, sm_80,sm_90a,ptx,sim:sm_80">;
defm emit : Value<"emit", "KIND", outputs,
    "exe (default), lib, plan, ptx, cubin, onnx, mlir, schedules (for --schedules), ranges (for "
    "--ranges), tuning">;
defm shapes : Value<"shapes", "x:1x3x224x224,batch:8", outputs,
    "fixes sizes of inputs, or open sizes by their names; ? leaves one open; x.0=y.0 makes two one; may be given again">;
defm shape_values : Value<"shape-values", "INPUT=N,...|@FILE.npy", outputs,
    "makes inputs constants, as a rate, an axis or sizes that decide shapes; may be given again">;
defm overridable : Value<"overridable", "NAME", outputs,
    "makes an initialiser an input, which runs must be given; may be given again">;
defm state : Value<"state", "INPUT:OUTPUT", outputs,
    "after each run the output becomes the input, as caches and recurrent states do: past.*:present.* declares "
    "all such pairs, auto those that are recognised; may be given again">;
defm layout : Value<"layout", "ORDER", outputs,
    "of values between kernels: tensor-cores (default with -O2), auto, channels-last, "
    "as-imported">;
defm schedules : Value<"schedules", "FILE,...", outputs,
    "takes schedules from files of --emit=schedules or of a tuning executable">;
defm tune : Value<"tune", "static", outputs,
    "chooses schedules by their machine code; needs ptxas and nvdisasm, and no GPU">;
defm tuning_candidates : Value<"tuning-candidates", "N", outputs,
    "with --emit=tuning: schedules of a dispatch at most (32)">;
defm tap : Value<"tap", "GLOB", outputs,
    "lets runs show intermediate values by their names, their nodes' or operators (conv*, Relu); may be given again">;

def precisions : Section<"2", "Precision">;
defm precision : Value<"precision", "TYPE", precisions,
    "fp32 (default), fp16, bf16, tf32, int8 (needs --calibration-data or --ranges)">;
defm precision_of : Value<"precision-of", "GLOB=TYPE", precisions,
    "for nodes by name or operator (layer4.*=bf16); may be given again, the last counts">;
defm io_precision : Value<"io-precision", "TYPE", precisions,
    "of inputs and outputs of FP32: fp32 (default), fp16, bf16">;
defm weights : Value<"weights", "int8|int4[:BLOCK]", precisions,
    "stores constant weights of matrix products in fewer bits, with a scale a column or block">;
defm keep_ends : Value<"keep-ends", "WHICH", precisions,
    "with int8: first or last products stay in 16 bits: none (default), first, last, both">;
defm ranges : Value<"ranges", "FILE", precisions,
    "ranges of values, which --emit=ranges or a program of yours recorded">;
let Group = precisions in {
def bias_correction : Switch<"bias-correction",
    "with int8: biases make up for shifted means of channels; =off: they do not (where that is best)">;
def bias_correction_eq : Joined<["--"], "bias-correction=">;
}
defm channel_scales : Value<"channel-scales", "on|off", precisions,
    "with int8: channels that differ are scaled where values are quantised (where that is best)">;
defm calibration_data : Value<"calibration-data", "DIR|FILE.npz", precisions,
    "samples that ranges are recorded of: an array per input, its first axis over samples">;
defm calibration_method : Value<"calibration-method", "METHOD", precisions,
    "max, entropy, percentile:99.99, mse, best (for each value); default: the best of the four on a few samples">;
defm calibration_cache : Value<"calibration-cache", "FILE", precisions,
    "keeps what calibration found, and takes it from there; TensorRT's are read, too">;
defm calibration_batch : Value<"calibration-batch", "N", precisions,
    "samples at a time, where the model leaves that open (8)">;
defm calibration_histograms : Value<"calibration-histograms", "host|kernels", precisions,
    "who counts magnitudes, to the same bits; default: kernels on a GPU, else the host">;
defm accuracy : Value<"accuracy", "99%|-0.3%|30dB", precisions,
    "with int8: keeps few layers in 16 bits, so that this share of FP32's right rows, loss of "
    "points, or SQNR is reached">;
defm accuracy_data : Value<"accuracy-data", "DIR|FILE.npz", precisions,
    "samples for --accuracy; else those of --calibration-data, which flatter the model">;
defm labels : Value<"labels", "FILE.npy", precisions,
    "for --accuracy: right indices of the first output's rows; else FP32's largest">;
defm budget : Value<"budget", "SECONDS", precisions,
    "what --accuracy may take; default: as long as it takes">;

defm device : Value<"device", "sim|cuda[:N]", precisions,
    "what runs the model for --calibration-data and --accuracy (sim)">;

def simulator : Section<"3", "The simulator">;
let Group = simulator in {
def sim_checks : Switch<"sim-checks",
    "adds an image with what the executable's --sim-checks and --sim-counters need">;
def sim_checks_only : Switch<"sim-checks-only",
    "that image alone, without the faster one">;
def sim_trace : Switch<"sim-trace",
    "the same for its --sim-trace, too: large and slow">;
def sim_quick : Switch<"sim-quick",
    "for few runs: kernels compile in half the time, and run twice as long; the same where "
    "$CAMEO_SIM_QUICK is set">;
}
defm sim_forms : Value<"sim-forms", "FORMS", simulator,
    "how kernels are simulated: warp (default), thread, both">;

def cuda : Section<"4", "NVIDIA's tools">;
defm ptxas : Value<"ptxas", "FILE", cuda,
    "NVIDIA's assembler; else $CUDA_HOME/bin/ptxas, else the PATH's">;
defm nvdisasm : Value<"nvdisasm", "FILE", cuda,
    "NVIDIA's disassembler, for --tune; else the PATH's">;
defm libdevice : Value<"libdevice", "FILE", cuda,
    "NVIDIA's libdevice.10.bc; else looked for beside ptxas">;
defm cache_dir : Value<"cache-dir", "DIR", cuda,
    "keeps compiled kernels there and takes them from there; else $CAMEO_CACHE_DIR">;

def messages : Section<"5", "What it says">;
defm report : Value<"report", "FILE.html|FILE.json", messages,
    "writes what was compiled and why: kernels, memory, decisions; may be given again">;
defm header : Value<"header", "FILE", messages,
    "with --emit=lib: writes a C++ header of the model's inputs and outputs">;
defm depfile : Value<"depfile", "FILE", messages,
    "writes which files were read, as a rule of make, for build systems">;
let Group = messages in {
def quiet : Switch<"quiet", "no summary after a compilation; also -q">;
def q : Flag<["-"], "q">, Alias<quiet>;
}
defm message_format : Value<"message-format", "text|json", messages,
    "messages, summary and progress on stderr: lines of text (default), or a JSON object a line">;
let Group = messages in {
def remarks : Switch<"remarks", "says on stderr what passes decided">;
def Werror : Switch<"Werror", "warnings are errors, as that there is no ptxas">;
def time : Switch<"time", "says on stderr how long each stage takes">;
def list_operators : Switch<"list-operators", "prints the supported operators as Markdown">;
def list_precision_policy : Switch<"list-precision-policy",
    "prints what --precision does with each operator, as Markdown">;
def list_differences : Switch<"list-differences",
    "prints where ONNX's reference and ONNX Runtime differ, and what Cameo does, as Markdown">;
def version : Switch<"version", "prints versions">;
def help : Switch<"help", "prints the options that are used most, and examples; also -h">;
def h : Flag<["-"], "h">, Alias<help>;
def help_all : Switch<"help-all", "prints this text">;
}

def passes : Section<"6", "Stages and passes">;
defm stop_after : Value<"stop-after", "STAGE", passes,
    "writes the IR that this stage reaches: as bytecode to a FILE.mlirbc, as text to any other">;
defm start_from : Value<"start-from", "STAGE", passes,
    "the input is IR of this stage, as --stop-after writes it">;
defm print_ir_after : Value<"print-ir-after", "PASS", passes,
    "prints on stderr what this pass (cameo-fold-constants), or all, has changed; needs -j 1">;
defm load_pass_plugin : Value<"load-pass-plugin", "FILE.so", passes,
    "a shared library with passes, for --insert-pass; may be given again">;
defm insert_pass : Value<"insert-pass", "STAGE:PASS", passes,
    "runs this pass, with its options in braces, after those that lead to the stage, in "
    "calibration, too; may be given again">;
let Group = passes in {
def print_pipeline : Switch<"print-pipeline",
    "says on stderr which passes lead to each stage, as cameo-opt takes them">;
def statistics : Switch<"statistics", "says on stderr what passes have counted">;
def strict : Switch<"strict",
    "for tests: where passes left undone what a stage promises of them is an error, no remark; the "
    "same where $CAMEO_STRICT is set">;
def mlir : Joined<["--"], "mlir-">, MetaVarName<"...">,
    HelpText<"MLIR's own: --mlir-print-ir-after-all (and others, with -j 1), --mlir-timing, "
             "--mlir-pass-pipeline-crash-reproducer=FILE">;
}
