// The exporter's inside: one object per module.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Export.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/onnx.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace cameo::onnx {

/// Constants from this size on go to the external file, where there is one.
inline constexpr int64_t kMinExternalBytes = 4096;

/// The constants of a model that stand in a file beside it.
struct ExternalData {
  std::string location;
  llvm::raw_ostream *stream = nullptr;
  uint64_t size = 0;
};

class Exporter {
public:
  Exporter(mlir::ModuleOp module, ExternalData *external) : module(module), external(external) {}

  mlir::LogicalResult run(onnx_proto::ModelProto &model);

private:
  mlir::LogicalResult exportFunction(mlir::func::FuncOp func, onnx_proto::GraphProto &graph);
  mlir::LogicalResult exportBlock(mlir::Block &block, onnx_proto::GraphProto &graph);
  mlir::LogicalResult exportRegion(mlir::Region &region, onnx_proto::GraphProto &graph,
                                   llvm::StringRef name);
  mlir::LogicalResult exportInput(mlir::Value argument, llvm::StringRef name,
                                  onnx_proto::GraphProto &graph);
  /// The nodes of a graph within a graph, and its outputs.
  mlir::LogicalResult exportBody(mlir::Block &block, onnx_proto::GraphProto &graph);
  /// A call of functions, as the operator whose graphs they are.
  mlir::LogicalResult exportCall(mlir::Operation *op, onnx_proto::GraphProto &graph);
  mlir::LogicalResult exportCallee(mlir::FlatSymbolRefAttr name, mlir::ValueRange captures,
                                   onnx_proto::NodeProto &node, llvm::StringRef attributeName);
  mlir::LogicalResult exportNode(mlir::Operation *op, onnx_proto::GraphProto &graph);
  /// Random numbers, as the operators that draw such, and their states, as numbers that nobody reads.
  void exportRandom(mlir::Operation *op, onnx_proto::GraphProto &graph);
  onnx_proto::NodeProto &makeNode(onnx_proto::GraphProto &graph, llvm::StringRef type,
                                  llvm::StringRef named, llvm::StringRef output,
                                  llvm::ArrayRef<std::string> inputs);
  /// The name of an Attention's mask; one row for all queries becomes one for each.
  std::string exportMask(AttentionOp op, llvm::StringRef node, onnx_proto::GraphProto &graph);
  mlir::LogicalResult exportConstant(ConstantOp op, onnx_proto::GraphProto &graph);
  /// A constant of equal elements, as a node that needs the bytes of one.
  mlir::LogicalResult exportSplat(ConstantOp op, onnx_proto::GraphProto &graph);
  mlir::LogicalResult exportAttribute(mlir::Operation *op, llvm::StringRef name,
                                      mlir::Attribute value, onnx_proto::AttributeProto &proto);
  mlir::LogicalResult exportTensor(mlir::Operation *op, mlir::ElementsAttr value,
                                   onnx_proto::TensorProto &tensor);
  mlir::LogicalResult exportType(mlir::Type type, mlir::ArrayAttr dims,
                                 onnx_proto::TypeProto &proto);
  void exportModelAttributes(onnx_proto::ModelProto &model);
  /// Names the outputs of a graph: a value that cannot bear the name is copied by an Identity.
  std::string outputName(mlir::Value value, llvm::StringRef wanted, mlir::Block *block,
                         onnx_proto::GraphProto &graph);
  std::string uniqueName(llvm::StringRef name, llvm::StringMap<unsigned> &counts);
  void nameResults(mlir::Operation *op, llvm::StringRef node);

  mlir::ModuleOp module;
  ExternalData *external;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringMap<unsigned> valueNames, nodeNames;
  llvm::StringMap<int64_t> opsets;
};

} // namespace cameo::onnx
