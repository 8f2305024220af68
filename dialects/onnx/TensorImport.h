// Tensors of a model as constants: every encoding of ONNX.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/MappedFile.h"
#include "dialects/onnx/onnx.pb.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <map>

namespace cameo::onnx {

/// Of a tensor whose file of external data cannot be opened. TensorImporter::unreadableFiles says
/// it once for all tensors of the file.
class UnreadableFile : public llvm::ErrorInfo<UnreadableFile> {
public:
  static char ID;
  void log(llvm::raw_ostream &output) const override { output << "is in an unreadable file"; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

class TensorImporter {
public:
  /// External data is looked for beneath `folder`; without one it is refused.
  TensorImporter(mlir::MLIRContext *context, std::optional<std::string> folder,
                 int64_t maxUnfoldedBytes)
      : context(context), folder(std::move(folder)), maxUnfoldedBytes(maxUnfoldedBytes) {}

  /// Takes the raw data of all tensors of the model. Each tensor's bytes have an owner of their own,
  /// so that they can be freed one by one; a tensor can be imported again as long as this object
  /// and the model live.
  void takeRawData(onnx_proto::ModelProto &model);

  /// A tensor of that model.
  llvm::Expected<mlir::ElementsAttr> import(const onnx_proto::TensorProto &tensor,
                                            llvm::StringRef name);
  llvm::Expected<mlir::ElementsAttr> import(const onnx_proto::SparseTensorProto &tensor,
                                            llvm::StringRef name);

  /// Paths of the external data that were read.
  std::vector<std::string> externalFiles() const;
  /// A sentence for each file that could not be opened.
  std::vector<std::string> unreadableFiles() const;

private:
  llvm::Expected<mlir::ElementsAttr> importExternal(const onnx_proto::TensorProto &tensor,
                                                    mlir::RankedTensorType type,
                                                    llvm::StringRef name);
  llvm::Expected<mlir::ElementsAttr> fromPacked(mlir::RankedTensorType type, llvm::StringRef name,
                                                llvm::ArrayRef<char> bytes,
                                                std::shared_ptr<const void> keeper);

  void takeRawData(onnx_proto::TensorProto &tensor);
  void takeRawData(onnx_proto::SparseTensorProto &tensor);
  void takeRawData(onnx_proto::NodeProto &node);
  void takeRawData(onnx_proto::GraphProto &graph);

  mlir::MLIRContext *context;
  llvm::DenseMap<const onnx_proto::TensorProto *, std::shared_ptr<const std::string>> taken;
  std::optional<std::string> folder;
  int64_t maxUnfoldedBytes;
  llvm::StringMap<std::shared_ptr<MappedFile>> files;
  struct Unreadable {
    std::string why, firstTensor;
    int64_t tensors = 0;
  };
  std::map<std::string, Unreadable> unreadable; // by their locations
};

/// The number of elements, or nothing where a dimension is negative or the product, times 16 bytes,
/// overflows.
std::optional<int64_t> checkedElementCount(llvm::ArrayRef<int64_t> dims);

} // namespace cameo::onnx
