// cameoc's --accuracy: which layers stay in more bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/CameocOptions.h"

namespace cameo {

/// With options whose ranges are known.
llvm::Expected<AccuracyResult> findKeptLayers(const CameocOptions &options);

/// Says with --remarks what was found, and asks for it as --precision-of does.
void keepLayers(const AccuracyResult &found, CameocOptions &options);

} // namespace cameo
