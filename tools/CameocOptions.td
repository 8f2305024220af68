// cameoc's options, from which llvm-tblgen makes the table that CameocOptions.cpp reads: a name,
// what the help calls the value and says of the option, and the section of the help.
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
    "0: one kernel per operator; 1: operators share kernels where every bit stays; 2 (default): "
    "also what agrees to rounding">;
def j : Short<"j", "N", "threads; default one a core">;
}
defm target : Value<"target", "LIST", outputs,
    "architectures: sm_80 (a cubin), sm_90a:h200 (for that board), ptx (text that later GPUs can "
    "take), ptx:sm_80, sim:sm_80 (code for the simulated GPU), native; default "
    "sm_80,sm_90a,ptx,sim:sm_80, with --emit=ptx and --emit=cubin sm_80">;
defm emit : Value<"emit", "KIND", outputs,
    "exe (default), lib (shared library), plan (for cameo_model_load), ptx, cubin, onnx, mlir, "
    "schedules (JSON for --schedules), ranges (JSON for --ranges), tuning (an executable that "
    "measures schedules on a GPU, for --schedules)">;
defm shapes : Value<"shapes", "x:1x3x224x224,...", outputs,
    "fixes sizes of inputs; ? leaves one open">;
defm layout : Value<"layout", "ORDER", outputs,
    "how values between kernels are stored: tensor-cores (default with -O2: as costs say where "
    "products on Tensor Cores read or write them), auto (as costs say), channels-last (wherever "
    "that can be), as-imported">;
defm schedules : Value<"schedules", "FILE,...", outputs,
    "schedules that --emit=schedules wrote, perhaps edited, or that a tuning executable measured, "
    "instead of those that would be chosen; dispatches that none of the files has get theirs as always">;
defm tune : Value<"tune", "static", outputs,
    "chooses schedules of products among a few by their machine code: needs ptxas and nvdisasm, "
    "and no GPU">;
defm tuning_candidates : Value<"tuning-candidates", "N", outputs,
    "with --emit=tuning: schedules of a dispatch at most, those with the best estimates (32)">;
defm tap : Value<"tap", "GLOB", outputs,
    "runs can show the intermediate values whose name, or whose node's name or operator, matches "
    "(conv*, Relu): --taps=FOLDER of the executable, cameo_context_set_taps; may be given again">;

def precisions : Section<"2", "Precision">;
defm precision : Value<"precision", "TYPE", precisions,
    "fp32 (default): as imported; fp16, bf16: FP32 values in 16 bits where their range allows it; "
    "tf32: FP32 values, multiplied by Tensor Cores; int8: what products read quantised by ranges, "
    "of --calibration-data or --ranges, the rest as fp16">;
defm precision_of : Value<"precision-of", "GLOB=TYPE", precisions,
    "another precision for nodes whose name or operator matches (layer4.*=bf16, Softmax=fp32); "
    "may be given again, and the last that matches counts">;
defm io_precision : Value<"io-precision", "TYPE", precisions,
    "what inputs and outputs of FP32 become: fp32 (default), fp16, bf16">;
defm weights : Value<"weights", "int8|int4[:BLOCK]", precisions,
    "constant weights of matrix products in 8 bits with a scale a column, or in 4 bits with one for "
    "each 32 (64, 128) of the depth; what is computed stays in floats, as --precision says">;
defm keep_ends : Value<"keep-ends", "WHICH", precisions,
    "with --precision=int8: products that no other comes before or behind stay in 16 bits: none "
    "(default), first, last, both">;
defm ranges : Value<"ranges", "FILE", precisions,
    "recorded ranges of values, by which --precision=fp16 knows what would overflow, and int8 "
    "what it may clip">;
let Group = precisions in {
def equalize_ranges : Switch<"equalize-ranges",
    "scales channels between two products so that one scale fits them better in 8 bits; results "
    "in FP32 are the same">;
def bias_correction : Switch<"bias-correction",
    "with int8: biases make up for what quantisation adds to the mean of each channel, by means "
    "that calibration records">;
def learn_rounding : Switch<"learn-rounding",
    "with int8: weights are rounded up or down so that what products give is closest on the "
    "calibration data, instead of to the nearest">;
}
defm calibration_data : Value<"calibration-data", "DIR|FILE.npz", precisions,
    "samples by which ranges of values are recorded: one array per input, whose first axis runs over "
    "samples, in an archive or a folder of them">;
defm calibration_method : Value<"calibration-method", "METHOD", precisions,
    "where values are clipped that become 8 bits: max, entropy, percentile:99.99, mse (default), "
    "best (for each value the one that costs least)">;
defm calibration_cache : Value<"calibration-cache", "FILE", precisions,
    "keeps what calibration has found, and takes it from there; TensorRT's files are read, too">;
defm calibration_batch : Value<"calibration-batch", "N", precisions,
    "samples at a time, where the model leaves that open; default 8">;
defm calibration_histograms : Value<"calibration-histograms", "host|kernels", precisions,
    "who counts magnitudes: the host, which is given all values, or kernels beside the model's; the "
    "same bits; default: kernels on a GPU, else the host">;
defm accuracy : Value<"accuracy", "99%|-0.3%|30dB", precisions,
    "with --precision=int8: keeps as few layers as it finds in 16 bits, so that the model reaches "
    "this share of FP32's rows that are right, or loses so many points, or has so much signal "
    "over noise">;
defm accuracy_data : Value<"accuracy-data", "DIR|FILE.npz", precisions,
    "samples for --accuracy; else those of --calibration-data, which flatter the model">;
defm labels : Value<"labels", "FILE.npy", precisions,
    "for --accuracy: the right index for each row of the first output; else where FP32 has its "
    "largest element">;
defm budget : Value<"budget", "SECONDS", precisions,
    "what --accuracy may take; default: as long as it takes">;

defm device : Value<"device", "sim|cuda[:N]", precisions,
    "where the model runs that --calibration-data and --accuracy run: the simulator (default) or a "
    "GPU of this machine; what is compiled for, --target says">;

def simulator : Section<"3", "The simulator">;
let Group = simulator in {
def sim_checks : Switch<"sim-checks",
    "adds a second image, with what the executable's --sim-checks and --sim-counters need">;
def sim_trace : Switch<"sim-trace",
    "the same, with what the executable's --sim-trace needs, too: large and slow">;
}
defm sim_forms : Value<"sim-forms", "FORMS", simulator,
    "warp (default): simulated kernels run a warp at once where they can; thread: each thread on "
    "its own; both: as --sim-form says at run time">;

def cuda : Section<"4", "NVIDIA's tools">;
defm ptxas : Value<"ptxas", "FILE", cuda,
    "NVIDIA's assembler; else $CUDA_HOME/bin/ptxas, else the PATH's">;
defm nvdisasm : Value<"nvdisasm", "FILE", cuda,
    "NVIDIA's disassembler, for --tune; else the PATH's">;
defm libdevice : Value<"libdevice", "FILE", cuda,
    "NVIDIA's libdevice.10.bc; else looked for beside ptxas">;
defm cache_dir : Value<"cache-dir", "DIR", cuda,
    "keeps cubins in this folder and takes from there what ptxas has made before; else "
    "$CAMEO_CACHE_DIR, else none are kept">;

def messages : Section<"5", "What it says">;
defm report : Value<"report", "FILE.json|FILE.html", messages,
    "writes what was compiled and why: kernels, memory, decisions; as data or as a page">;
let Group = messages in {
def remarks : Switch<"remarks",
    "says on stderr what passes decided: schedules, what was folded or fused and what not">;
def Werror : Switch<"Werror",
    "warnings are errors: no ptxas, for one, and thus PTX instead of cubins">;
def time : Switch<"time", "says on stderr how long each stage takes">;
def list_operators : Switch<"list-operators", "prints the supported operators as Markdown">;
def list_precision_policy : Switch<"list-precision-policy",
    "prints what --precision does with each operator, as Markdown">;
def version : Switch<"version", "prints versions">;
def help : Switch<"help", "prints this text">;
def h : Flag<["-"], "h">, Alias<help>;
}

def passes : Section<"6", "Stages and passes">;
defm stop_after : Value<"stop-after", "STAGE", passes,
    "writes the IR that this stage reaches: as bytecode to a FILE.mlirbc, as text to any other">;
defm start_from : Value<"start-from", "STAGE", passes,
    "the input is IR of this stage, as --stop-after writes it">;
defm print_ir_after : Value<"print-ir-after", "PASS", passes,
    "prints on stderr what this pass (cameo-fold-constants), or all, has changed; goes with -j 1">;
let Group = passes in {
def print_pipeline : Switch<"print-pipeline",
    "says on stderr which passes lead to each stage, as cameo-opt's --pass-pipeline takes them">;
def statistics : Switch<"statistics", "says on stderr what passes have counted">;
def strict : Switch<"strict",
    "for tests: where passes left undone what a stage promises of them is an error, no remark; the "
    "same where $CAMEO_STRICT is set">;
def mlir : Joined<["--"], "mlir-">, MetaVarName<"...">,
    HelpText<"MLIR's options for passes: --mlir-print-ir-after-all (and the others of that family, "
             "with -j 1), --mlir-timing, --mlir-pass-pipeline-crash-reproducer=FILE">;
}
