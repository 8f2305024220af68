#!/usr/bin/env python3
"""What measures a machine's constants (tools/gpupack/pack/constants.py), without a GPU: its PTX assembles
for each architecture; on a driver that runs nothing but checks its calls (call_checks.c) the constants are
those that follow from the times that this driver makes up; and repeats that differ are refused."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import subprocess
import sys

import harness

PACK = harness.SOURCE / "tools" / "gpupack" / "pack"
sys.path.insert(0, str(PACK))

import constant_cases  # noqa: E402  pylint: disable=wrong-import-position
import constants  # noqa: E402  pylint: disable=wrong-import-position
import kernels  # noqa: E402  pylint: disable=wrong-import-position
import process  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = 120
ARCHITECTURES = {"memory": ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"),
                 "compute": ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"),
                 "hopper": ("sm_90", "sm_90a"), "warpgroup": ("sm_90a",)}
# call_checks.c: a round takes 0.1 us at 1500 MHz, and here are so many of a thing in it.
ROUND_CYCLES = 150
OF_ROUND = {"barrier_256": 8, "latency_shared": 8, "fma": 128, "fma_latency": 16, "mma_f16_1": 8,
            "mma_s8_2": 16, "mma_tf32_4": 32, "mma_bf16_latency": 4, "cluster_barrier_8": 4,
            "cluster_load_2": 8, "bulk_copy_2048": 1, "tensor_copy_8192": 1,
            "wgmma_m64n128k16_1": 4, "wgmma_m64n256k16_2": 8}
MULTIPROCESSORS = 132
SWEEP = 2 * MULTIPROCESSORS * 1024 * 16
# The bytes that blocks move in a round, over its cycles on all multiprocessors.
RATES = {"l2_read": 4 * SWEEP / (ROUND_CYCLES * MULTIPROCESSORS),
         "l2_copy_rows_64": 4 * 8192 / ROUND_CYCLES,
         # GB/s, of 64 MiB, the most that a quarter of the free memory takes in fours of sweeps.
         "dram_read": 12 * SWEEP / 1e-7 / 1e9, "dram_copy": 24 * SWEEP / 1e-7 / 1e9}
OTHERS = {"launch": 1.0, "launch_one_block": 1.0, "launch_programmatic": 1.0, "clock_idle": 1500,
          "clock_mma": 1500, "clock_wgmma": 1500}


class ConstantTests:
    def __init__(self, options):
        self.suite = harness.Suite("gpu-constants", options.build.resolve())
        cuda = subprocess.run([harness.SOURCE / "tools" / "install-deps", "--print-cuda-home"],
                              capture_output=True, text=True, check=True).stdout.strip()
        self.ptxas = f"{cuda}/bin/ptxas"

    def expect(self, case, good, why="", *steps):
        if good:
            self.suite.ok(case)
        else:
            self.suite.fail(case, why, *steps)

    def check_assembly(self):
        """Without a word of warning, a spill, or products that are taken apart (C7510)."""
        self.expect("files", {path.stem for path in (PACK / "ptx").glob("*.ptx")} == set(ARCHITECTURES))
        for name, architectures in ARCHITECTURES.items():
            for architecture in architectures:
                step = harness.run([self.ptxas, "-v", f"-arch={architecture}",
                                    PACK / "ptx" / f"{name}.ptx", "-o",
                                    self.suite.work / f"{name}.{architecture}.cubin"], SECONDS)
                clean = step.code == 0 and "warning" not in step.output and not re.search(
                    r"[1-9]\d* bytes (spill|stack)", step.output)
                self.expect(f"{name}-{architecture}", clean, step.how(), step)

    def run(self, name, *groups, **environment):
        library = self.suite.work / name
        library.mkdir(exist_ok=True)
        built = harness.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
                             library / "libcuda.so.1", harness.SOURCE / "test" / "e2e" / "call_checks.c"],
                            SECONDS)
        if built.code:
            self.suite.fail(name, built.how(), built)
        return harness.run([sys.executable, PACK / "constants.py", *groups], SECONDS,
                           env={**os.environ, "LD_LIBRARY_PATH": str(library), **environment})

    def check_calls(self):
        """All groups; every constant has the value that follows from made-up times."""
        step = self.run("calls")
        found = {line["name"]: line for line in map(json.loads, re.findall(
            r'^\{"name".*\}$', step.output, re.MULTILINE))}
        wanted = sum(count for *_, count in constants.GROUPS.values())
        self.expect("calls", step.code == 0 and len(found) == wanted, f"{len(found)} of {wanted}", step)
        values = {**{name: ROUND_CYCLES / count for name, count in OF_ROUND.items()}, **RATES, **OTHERS}
        for name, value in values.items():
            has = found.get(name, {"median": 0, "values": [], "usable": False})
            # The 2 us of a launch are in the figures, too.
            self.expect(name, abs(has["median"] / value - 1) < 0.01 and has["usable"]
                        and len(has["values"]) == kernels.REPEATS, f"{has}, not {value}", step)

    def check_refusal(self):
        """What the driver's compiler says of a kernel that it refuses is in the message."""
        step = self.run("refused", "warpgroups", CALL_CHECKS_REFUSE="wgmma")
        ended = process.Ended(step.code, step.output, 1.0)
        status, message = constant_cases.judge("warpgroups", [], ended, False)
        self.expect("refused", status == "fail" and "warpgroup.ptx: cuModuleLoadDataEx: "
                    "CUDA_ERROR_OF_THE_TEST (218): line 7; what the compiler says" in message, message, step)

    def check_evaluation(self):
        good = kernels.evaluated("a", "us", [10, 10.2, 9.9, 10.1, 10.8], [1800, 1700, 1900])
        self.expect("median", (good["median"], good["spread"], good["clock_mhz"], good["usable"])
                    == (10.1, 0.0891, 1800, True), str(good))
        for name, values in (("spread", [10, 10, 10, 10, 11.01]), ("outlier", [1, 1, 1, 1, 9]),
                             ("zero", [0, 0, 0, 1, 2]), ("negative", [-1, -1, -1, 1, 2])):
            found = kernels.evaluated(name, "us", values)
            self.expect(name, not found["usable"], str(found))
            json.dumps(found, allow_nan=False)
        ended = process.Ended(0, "", 1.0)
        barriers = [dict(good, name=f"barrier_{size}") for size in (128, 256)]
        few = constant_cases.judge("barriers", barriers, ended, False)
        self.expect("few", few == ("fail", "2 constants, not 3"), str(few))
        barriers.append(dict(kernels.evaluated("barrier_512", "cycles", [1, 2, 1, 1, 1])))
        named = constant_cases.judge("barriers", barriers, ended, False)
        self.expect("named", named[0] == "pass" and named[1].endswith(
            "; not usable, as repeats differ: barrier_512"), str(named))
        cut = constant_cases.judge("barriers", barriers[:1], process.Ended(None, "x", 20.0), False)
        self.expect("cut", cut == ("timeout", "no end within 20 s after 1 of 3 constants: x"), str(cut))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    tests = ConstantTests(parser.parse_args())
    tests.check_assembly()
    tests.check_calls()
    tests.check_refusal()
    tests.check_evaluation()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
