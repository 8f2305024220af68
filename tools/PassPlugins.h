// cameoc's --load-pass-plugin and --insert-pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/CameocOptions.h"

namespace cameo {

/// Loads the plugins and reads the passes to insert, which go into `options.pipeline`. An error says
/// which of them cannot be loaded, is not known or cannot run at its stage.
llvm::Error insertPasses(CameocOptions &options);

} // namespace cameo
