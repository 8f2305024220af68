// Bytes to protobuf messages, with limits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/onnx.pb.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace cameo::onnx {

/// Nested messages that protobuf follows, its own default; a subgraph takes three.
inline constexpr int kMaxNesting = 100;

/// Parses a model of at most 2 GiB and kMaxNesting nested messages.
llvm::Expected<std::shared_ptr<onnx_proto::ModelProto>> parseModel(llvm::StringRef bytes);

} // namespace cameo::onnx
