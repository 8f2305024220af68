// Translations of kernels for cameo-translate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Registers --kernel-to-ptx, --kernel-to-cubin, --kernel-resources and --kernel-to-sim-image.
void registerKernelTranslations();

} // namespace cameo
