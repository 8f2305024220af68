// The importer's inside: one object per model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Import.h"
#include "dialects/onnx/OpsetConversion.h"
#include "dialects/onnx/TensorImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace cameo::onnx {

class Importer {
public:
  using Nodes = google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>;

  Importer(mlir::MLIRContext *context, std::shared_ptr<onnx_proto::ModelProto> model,
           llvm::StringRef path, std::optional<std::string> folder, const ImportOptions &options);

  /// Null after an error diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Opsets = llvm::StringMap<int64_t>;

  /// An input of the model.
  struct MainInput {
    std::string name;
    mlir::Type type;
    mlir::ArrayAttr dims; // null where it has no shape
  };

  /// Values by name; the inner graph sees the outer ones.
  struct Scope {
    Scope *outer = nullptr;
    llvm::StringMap<mlir::Value> values;
    /// Names used before any node made them: reported already.
    llvm::StringSet<> undefined;
  };

  struct Frame;
  /// An attribute of a function call, and where it was written: a graph captures values there.
  struct BoundAttribute {
    const onnx_proto::AttributeProto *attribute;
    Frame *frame;
  };

  /// Where nodes are read: in a graph or in the body of a function.
  struct Frame {
    Scope *scope = nullptr;
    const Opsets *opsets = nullptr;
    const llvm::StringMap<BoundAttribute> *attributes = nullptr;
    /// Declared types of values.
    llvm::StringMap<const onnx_proto::TypeProto *> types;
    std::string prefix;
    const Nodes *nodes = nullptr;
  };

  // Importer.cpp: the model and its graphs.
  mlir::LogicalResult importModel(mlir::ModuleOp module);
  mlir::LogicalResult importMain(mlir::ModuleOp module);
  mlir::LogicalResult
  readOpsets(const google::protobuf::RepeatedPtrField<onnx_proto::OperatorSetIdProto> &imports,
             llvm::StringRef where, Opsets &opsets);
  void importInitializers(const onnx_proto::GraphProto &graph, Frame &frame);
  void declareTypes(const onnx_proto::GraphProto &graph, Frame &frame);
  std::unique_ptr<mlir::Region> importSubgraph(const onnx_proto::GraphProto &graph, Frame &outer,
                                               llvm::ArrayRef<mlir::Type> argumentTypes,
                                               mlir::Location loc);
  /// The inputs: those without an initialiser, and those of options.overridable.
  std::vector<MainInput> mainInputs(const onnx_proto::GraphProto &graph, mlir::Location loc);
  mlir::DictionaryAttr modelAttributes(const Opsets &opsets);

  // ImportNodes.cpp, ImportAttributes.cpp
  void importNodes(const Nodes &nodes, Frame &frame);
  void importNode(const onnx_proto::NodeProto &node, Frame &frame);
  void importAnyNode(const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc);
  void importOperator(const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc,
                      int64_t opset, const ConversionRow &row, llvm::ArrayRef<mlir::Value> inputs);
  void importConstant(const onnx_proto::NodeProto &node, int64_t version, Frame &frame,
                      mlir::Location loc);
  void importCustom(const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc,
                    int64_t version, llvm::ArrayRef<mlir::Value> inputs,
                    llvm::StringRef unsupported = {});
  void importCall(const onnx_proto::NodeProto &node, const onnx_proto::FunctionProto &function,
                  Frame &frame, mlir::Location loc, llvm::ArrayRef<mlir::Value> inputs);
  /// Something for later nodes to refer to, after a problem: values of no known type.
  void addPlaceholders(const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc);
  void bindOutputs(const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc,
                   mlir::ValueRange results);
  /// The node's attributes after references are resolved; graphs are imported as regions.
  mlir::LogicalResult readAttributes(
      const onnx_proto::NodeProto &node, Frame &frame, mlir::Location loc,
      llvm::function_ref<llvm::SmallVector<mlir::Type>(const mlir::NamedAttrList &)> argumentTypes,
      mlir::NamedAttrList &attributes,
      llvm::SmallVectorImpl<std::pair<std::string, std::unique_ptr<mlir::Region>>> &regions);
  /// What is wrong with the attributes that the node has, for a version of its operator; or
  /// nothing.
  std::string attributeProblem(const onnx_proto::NodeProto &node, int64_t version, Frame &frame);
  std::optional<BoundAttribute> resolve(const onnx_proto::AttributeProto &attribute, Frame &frame);
  llvm::Expected<mlir::Attribute> importAttribute(const onnx_proto::AttributeProto &attribute,
                                                  llvm::StringRef resourceName);
  mlir::Value placeholder(mlir::Location loc);
  mlir::Value lookup(llvm::StringRef name, Frame &frame, mlir::Location loc);
  void define(llvm::StringRef name, mlir::Value value, Frame &frame, mlir::Location loc);
  /// Why a value is not there yet: never made, made later, or part of a cycle.
  std::string explainUndefined(llvm::StringRef name, const Nodes &nodes);

  // ImportTypes.cpp
  llvm::Expected<mlir::Type> importType(const onnx_proto::TypeProto &type);
  /// The names and sizes of dimensions, or null where the type has no shape.
  mlir::ArrayAttr importDims(const onnx_proto::TypeProto &type);
  /// Gives a value the declared shape. Another element type is a problem, another shape only where
  /// the declaration is an input's (`isBinding`), which callers go by: it is warned of elsewhere.
  void refine(mlir::Value value, const onnx_proto::TypeProto &declared, llvm::StringRef name,
              mlir::Location loc, bool isBinding = false);

  void problem(mlir::Location loc, const llvm::Twine &text);
  /// The same of a tensor; of those in a file that cannot be opened, the file is the problem.
  void tensorProblem(mlir::Location loc, const llvm::Twine &what, llvm::Error error);
  mlir::LogicalResult reportProblems();
  mlir::Location uniqueLoc(llvm::StringRef name);

  mlir::MLIRContext *context;
  std::shared_ptr<const onnx_proto::ModelProto> model;
  std::string path;
  ImportOptions options;
  TensorImporter tensors;
  mlir::OpBuilder builder;
  mlir::Value none;
  llvm::StringMap<const onnx_proto::FunctionProto *> functions;
  llvm::SmallVector<const onnx_proto::FunctionProto *> activeCalls;
  /// How often each location name was asked for.
  llvm::StringMap<unsigned> locNames;
  std::vector<std::pair<mlir::Location, std::string>> problems;
  int64_t problemCount = 0;
  int64_t nodeCount = 0, inlinedCount = 0;
  bool tooManyNodes = false;
};

} // namespace cameo::onnx
