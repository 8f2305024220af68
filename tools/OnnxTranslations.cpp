// ONNX files to the onnx dialect and back, for cameo-translate.
// SPDX-License-Identifier: Apache-2.0
#include "tools/OnnxTranslations.h"

#include "dialects/onnx/Export.h"
#include "dialects/onnx/Import.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <iostream>

using namespace mlir;
using namespace cameo::onnx;

static OwningOpRef<Operation *> importModel(llvm::SourceMgr &sources, MLIRContext *context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  StringRef name = buffer->getBufferIdentifier();
  ImportOptions options;
  if (name != "<stdin>") {
    StringRef folder = llvm::sys::path::parent_path(name);
    options.externalDataFolder = folder.empty() ? "." : folder.str();
  }
  OwningOpRef<ModuleOp> module = importOnnxBuffer(buffer->getBuffer(), name, context, options);
  return OwningOpRef<Operation *>(module ? module.release().getOperation() : nullptr);
}

static llvm::cl::opt<std::string>
    onnxFile("onnx-file", llvm::cl::desc("where --export-onnx writes instead of to the output; "
                                         "external data goes to <onnx-file>.data"));
static llvm::cl::opt<int64_t>
    externalFrom("onnx-external-from", llvm::cl::init(ExportOptions().externalFrom),
                 llvm::cl::desc("bytes of constants from which --onnx-file has external data"));

static LogicalResult exportModel(Operation *op, llvm::raw_ostream &output) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError("is not a module");
  if (!onnxFile.empty()) {
    ExportOptions options;
    options.externalFrom = externalFrom;
    return exportOnnxFile(module, onnxFile, options);
  }
  FailureOr<std::string> bytes = exportOnnxBuffer(module);
  if (failed(bytes))
    return failure();
  output << *bytes;
  return success();
}

static void registerDialects(DialectRegistry &registry) {
  registry.insert<OnnxDialect, func::FuncDialect>();
}

void cameo::registerOnnxTranslations() {
  static TranslateToMLIRRegistration toMlir("import-onnx", "ONNX to the onnx dialect", importModel,
                                            registerDialects);
  static TranslateFromMLIRRegistration fromMlir("export-onnx", "the onnx dialect to ONNX",
                                                exportModel, registerDialects);
}

void cameo::listOnnxOperators() {
  for (const OpsetRow &row : listOpsetRows())
    llvm::outs() << row.op << " " << row.sinceVersion << " "
                 << (row.unchanged ? "unchanged" : "converted") << "\n";
}

/// Why a file could not be converted; empty if it was.
static std::string convertOnnxFile(StringRef in, StringRef out, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += diagnostic.str() + " | ";
    for (Diagnostic &note : diagnostic.getNotes())
      diagnostics += note.str() + " | ";
    return success();
  });
  std::string text;
  {
    OwningOpRef<ModuleOp> module = importOnnxFile(in, &context);
    if (!module)
      return "import: " + diagnostics;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
  }
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(text, &context);
  if (!again)
    return "parse: " + diagnostics;
  if (failed(exportOnnxFile(*again, out)))
    return "export: " + diagnostics;
  return "";
}

void cameo::convertOnnxFiles() {
  DialectRegistry registry;
  registerDialects(registry);
  std::string line;
  while (std::getline(std::cin, line)) {
    auto [in, out] = StringRef(line).split('\t');
    std::string problem = convertOnnxFile(in, out, registry);
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    llvm::outs() << (problem.empty() ? "ok" : problem) << "\n";
    llvm::outs().flush();
  }
}
