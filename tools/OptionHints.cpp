// Words of other programs ==> cameoc's.
// SPDX-License-Identifier: Apache-2.0
#include "tools/OptionHints.h"

#include "runtime/format.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace cameo;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {

struct Word {
  StringLiteral theirs, ours;
};

/// Options of trtexec and of compilers, without case, dashes and underscores.
constexpr Word kOptions[] = {
    {"fp16", "write --precision=fp16"},
    {"half", "write --precision=fp16"},
    {"bf16", "write --precision=bf16"},
    {"tf32", "write --precision=tf32"},
    {"notf32", "leave it out: FP32 is multiplied as FP32 unless --precision=tf32 is given"},
    {"int8", "write --precision=int8 --calibration-data=FILE.npz"},
    {"int4", "write --weights=int4, which stores weights of matrix products in 4 bits"},
    {"fp8", "8-bit floats are not computed in; --precision=int8 has as few bits"},
    {"best", "write --precision=int8 --calibration-data=FILE.npz --accuracy=99%"},
    {"stronglytyped", "leave it out: types are those of the model unless --precision is given"},
    {"calib", "write --calibration-cache=FILE, or --calibration-data=FILE.npz to make one"},
    {"layerprecisions", "write --precision-of=GLOB=TYPE"},
    {"layeroutputtypes", "write --precision-of=GLOB=TYPE"},
    {"precisionconstraints", "leave it out: --precision-of goes before what cameoc would choose"},
    {"inputioformats", "write --io-precision=fp16"},
    {"outputioformats", "write --io-precision=fp16"},
    {"onnx", "write the model by itself: cameoc MODEL.onnx -o FILE"},
    {"model", "write the model by itself: cameoc MODEL.onnx -o FILE"},
    {"input", "write the model by itself: cameoc MODEL.onnx -o FILE"},
    {"saveengine", "write -o FILE"},
    {"output", "write -o FILE"},
    {"out", "write -o FILE"},
    {"loadengine", "run what cameoc has written: ./FILE --benchmark"},
    {"minshapes",
     "sizes that are left open take every value; --shapes=INPUT:1x3x224x224 fixes them"},
    {"optshapes",
     "write --shapes=INPUT:1x3x224x224, or leave sizes open, and they take every value"},
    {"maxshapes",
     "sizes that are left open take every value; --shapes=INPUT:1x3x224x224 fixes them"},
    {"batch", "write --shapes=NAME:8 with the name of the open size, which --inspect shows"},
    {"batchsize", "write --shapes=NAME:8 with the name of the open size, which --inspect shows"},
    {"workspace", "leave it out: memory is planned when the model is compiled; --report shows it"},
    {"mempoolsize",
     "leave it out: memory is planned when the model is compiled; --report shows it"},
    {"timingcachefile", "write --cache-dir=DIR, which keeps compiled kernels"},
    {"builderoptimizationlevel", "write -O0, -O1 or -O2"},
    {"optlevel", "write -O0, -O1 or -O2"},
    {"verbose", "write --remarks, --time or --report=FILE.html"},
    {"v", "write --remarks, --time or --report=FILE.html"},
    {"silent", "write --quiet"},
    {"info", "write --inspect for a model, or ./FILE --info for what cameoc has written"},
    {"dumplayerinfo", "write --report=FILE.html"},
    {"exportlayerinfo", "write --report=FILE.json"},
    {"profilingverbosity", "leave it out: --report=FILE.html has all there is to know"},
    {"refit",
     "leave it out: a model with other weights is compiled anew; --cache-dir=DIR keeps its "
     "kernels"},
    {"stripweights", "leave it out: what cameoc writes has the model's weights"},
    {"usedlacore", "leave it out: code is for GPUs alone"},
    {"allowgpufallback", "leave it out: code is for GPUs alone"},
    {"sparsity", "leave it out: weights of zeros are multiplied as any others"},
    {"plugins", "operators of plugins are not compiled; cameoc --list-operators has all that are"},
    {"staticplugins",
     "operators of plugins are not compiled; cameoc --list-operators has all that are"},
    {"dynamicplugins",
     "operators of plugins are not compiled; cameoc --list-operators has all that are"},
    {"versioncompatible", "leave it out: what cameoc writes has its runtime inside"},
    {"hardwarecompatibilitylevel", "write --target=sm_80,ptx: later GPUs run the PTX"},
    {"buildonly", "leave it out: cameoc runs nothing"},
    {"skipinference", "leave it out: cameoc runs nothing"},
    {"arch", "write --target=sm_80"},
    {"gpuarchitecture", "write --target=sm_80"},
    {"gpu", "write --target=sm_80, or --target=native for the GPU of this machine"},
    {"benchmark", "it is an option of what cameoc writes: ./FILE --benchmark"},
    {"iterations", "it is an option of what cameoc writes: ./FILE --benchmark --iterations=N"},
    {"duration", "it is an option of what cameoc writes: ./FILE --benchmark --duration=S"},
    {"warmup", "it is an option of what cameoc writes: ./FILE --benchmark --warmUp=MS"},
    {"streams", "it is an option of what cameoc writes: ./FILE --benchmark --streams=N"},
    {"loadinputs", "it is an option of what cameoc writes: ./FILE --input=NAME=@FILE.npy"},
    {"infstreams", "it is an option of what cameoc writes: ./FILE --benchmark --streams=N"},
    {"avgruns", "it is an option of what cameoc writes: ./FILE --benchmark --avgRuns=N"},
    {"percentile", "it is an option of what cameoc writes: ./FILE --benchmark --percentile=P,P"},
    {"nodatatransfers", "it is an option of what cameoc writes: ./FILE --benchmark "
                        "--noDataTransfers"},
    {"usespinwait", "it is an option of what cameoc writes: ./FILE --benchmark --useSpinWait"},
    {"exporttimes", "it is an option of what cameoc writes: ./FILE --benchmark=json"},
    {"dumpoutput", "leave it out: ./FILE prints its outputs"},
    {"exportoutput", "it is an option of what cameoc writes: ./FILE --output=NAME=@FILE.npy"},
    {"dumpprofile", "it is an option of what cameoc writes: ./FILE --profile"},
    {"exportprofile", "it is an option of what cameoc writes: ./FILE --profile=FILE.json"},
    {"separateprofilerun", "leave it out: ./FILE --profile is a run of its own"},
    {"usecudagraph", "leave it out: what cameoc writes uses CUDA graphs by itself"},
};

/// Values, in lower case. One is meant where `ours` is among the choices.
constexpr Word kValues[] = {
    {"half", "fp16"},        {"float16", "fp16"},   {"f16", "fp16"}, {"bfloat16", "bf16"},
    {"float", "fp32"},       {"float32", "fp32"},   {"f32", "fp32"}, {"single", "fp32"},
    {"i8", "int8"},          {"s8", "int8"},        {"i4", "int4"},  {"nhwc", "channels-last"},
    {"nchw", "as-imported"}, {"engine", "plan"},    {"trt", "plan"}, {"so", "lib"},
    {"shared", "lib"},       {"executable", "exe"}, {"bin", "exe"},  {"ir", "mlir"},
    {"minmax", "max"},       {"kl", "entropy"},
};

constexpr StringLiteral kTorch =
    "a PyTorch file by its name; torch.onnx.export(model, inputs, 'model.onnx') writes ONNX";
constexpr StringLiteral kEngine =
    "a TensorRT engine by its name, which is compiled already; cameoc takes the ONNX model that it "
    "was made of";

/// By what the names of files end in.
constexpr Word kModels[] = {
    {".pt", kTorch},
    {".pth", kTorch},
    {".pt2", kTorch},
    {".ckpt", kTorch},
    {".safetensors", "weights alone by its name; the program that they are of writes ONNX, by "
                     "torch.onnx.export or optimum-cli export onnx"},
    {".engine", kEngine},
    {".trt", kEngine},
    {".plan", kEngine},
    {".tflite", "a TensorFlow Lite model by its name; python3 -m tf2onnx.convert --tflite FILE "
                "--output model.onnx converts it"},
    {".pb",
     "a TensorFlow graph by its name; python3 -m tf2onnx.convert --graphdef FILE --inputs=... "
     "--outputs=... --output model.onnx converts it"},
    {".h5",
     "a Keras model by its name; python3 -m tf2onnx.convert --keras FILE --output model.onnx "
     "converts it"},
    {".keras", "a Keras model by its name; python3 -m tf2onnx.convert --keras FILE --output "
               "model.onnx converts it"},
    {".pdmodel", "a Paddle model by its name; paddle2onnx converts it"},
};

std::string normalised(StringRef name) {
  std::string text;
  for (char c : name)
    if (c != '-' && c != '_')
      text += llvm::toLower(c);
  return text;
}

std::string digitsOf(StringRef text) {
  std::string digits;
  llvm::copy_if(text, std::back_inserter(digits), [](char c) { return llvm::isDigit(c); });
  return digits;
}

} // namespace

std::string cameo::optionHint(StringRef name) {
  std::string wanted = normalised(name);
  for (const Word &word : kOptions)
    if (word.theirs == wanted)
      return word.ours.str();
  return "";
}

StringRef cameo::choiceHint(StringRef value, llvm::ArrayRef<StringRef> choices) {
  std::string lower = value.lower();
  for (StringRef choice : choices)
    if (normalised(choice) == normalised(value))
      return choice;
  for (const Word &word : kValues)
    if (word.theirs == lower && llvm::is_contained(choices, word.ours))
      return word.ours;
  // fp8 is no misspelt fp16.
  for (StringRef choice : choices)
    if (value.size() >= 4 && value.edit_distance(choice) <= 2 &&
        digitsOf(value) == digitsOf(choice))
      return choice;
  return "";
}

bool cameo::isMisspelt(StringRef name, StringRef known) {
  name = name.ltrim('-'), known = known.ltrim('-').rtrim('=');
  std::string letters = name.str(), others = known.str();
  llvm::sort(letters);
  llvm::sort(others);
  constexpr size_t kShort = 6;
  return name.edit_distance(known) <= (name.size() <= kShort && letters != others ? 1 : 2);
}

/// True of what cameoc writes, whatever it is called.
static bool hasPayload(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  CameoTrailer trailer;
  if (!file || (*file)->getBufferSize() < sizeof trailer)
    return false;
  std::memcpy(&trailer, (*file)->getBufferEnd() - sizeof trailer, sizeof trailer);
  return std::memcmp(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof trailer.magic) == 0;
}

StringRef cameo::modelHint(StringRef path) {
  if (llvm::sys::fs::is_regular_file(path) && hasPayload(path))
    return "a model that cameoc has compiled; executables are run, and cameo_model_load of cameo.h "
           "and cameo.Model of "
           "Python load it";
  std::string extension = llvm::sys::path::extension(path).lower();
  for (const Word &word : kModels)
    if (word.theirs == extension)
      return word.ours;
  return "";
}
