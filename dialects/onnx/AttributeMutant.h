// A fault on purpose at import: one attribute ignored, or one optional input taken for absent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef CAMEO_ATTRIBUTE_MUTANTS // of CameoOnnxMutants
#include "dialects/onnx/onnx.pb.h"

namespace cameo::onnx {

/// Changes the nodes of the operator that CAMEO_MUTANT names, in subgraphs and functions, too. `Conv:dilations` leaves
/// out the attribute, or makes a required number one greater; `Conv:2` leaves out the input at position 2.
void applyAttributeMutant(onnx_proto::ModelProto &model);

} // namespace cameo::onnx
#endif
