"""How much the cases do: enough to show a race on a GPU, little where the driver is the fake one."""
# SPDX-License-Identifier: Apache-2.0
import os

DRY = bool(os.environ.get("GPU_PACK_DRY_RUN"))
MANY_RUNS = 10 if DRY else 300
THREAD_RUNS = 5 if DRY else 100
# Copies in front of an input's transfer, so that work that does not wait for it reads too early.
DELAY_BYTES = 1 << 12 if DRY else 256 << 20
DELAY_COPIES = 2 if DRY else 20
