// The pipelines between stages as options of cameo-opt, --cameo-to-normalized and so on; and those
// of back ends, --cameo-device-to-sim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

void registerStagePipelines();

} // namespace cameo
