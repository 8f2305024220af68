// ONNX files to the onnx dialect and back, for cameo-translate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Registers --import-onnx and --export-onnx.
void registerOnnxTranslations();

/// Prints each (operator, version) that --import-onnx takes, one a line.
void listOnnxOperators();

} // namespace cameo
