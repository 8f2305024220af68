// ONNX files to the onnx dialect and back, for cameo-translate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Registers --import-onnx and --export-onnx.
void registerOnnxTranslations();

/// Prints each (operator, version) that --import-onnx takes, one a line.
void listOnnxOperators();

/// Reads lines "IN<tab>OUT" from the standard input; imports each file IN, prints it as text,
/// parses that text and exports it to OUT. Answers each with a line: "ok", or the stage that failed
/// and its diagnostics. For tests of thousands of models, of which starting the tool would take
/// most time.
void convertOnnxFiles();

} // namespace cameo
