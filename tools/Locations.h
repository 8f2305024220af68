// Locations in text IR: the names of the model's nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Has --mlir-print-debuginfo be what MLIR's printer does by itself, so that names survive a text;
/// --mlir-print-debuginfo=false leaves them out. For main, in front of LLVM's parser.
void printLocations();

} // namespace cameo
