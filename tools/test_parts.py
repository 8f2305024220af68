"""The parts of tools/run-tests, and the driver that runs them and adds up their counts.

A part is a command. It has passed if it exits 0 and its output has no failure; one that crashes,
overruns its limit or reports nothing counts as a failure.

Parts run two at a time, since few of them keep all cores busy throughout: reading models, reference
results and the last of a part's processes leave the others idle.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = SOURCE / "build"
LOGS = BUILD / "test-logs"
PYTHON = str(BUILD / "venv" / "bin" / "python")
E2E = "test/e2e"
CHECKS = ("--target=sim:sm_80", "--sim-checks=all", "--sim-seed=1", "--sim-seed=2")
FORMS = ("--target=sim:sm_80", "--sim-compare")
LEVELS = ("--target=sim:sm_80", "--levels")


@dataclass
class Part:
    name: str
    command: list
    minutes: int  # a limit well above what the part takes beside another one on 2 cores
    only_long: bool = False

    @property
    def builds(self):
        """Whether it runs cmake in the build folder, which one may at a time."""
        return self.name in ("benchmarks", "gpu-pack", "install")


def parts():
    """In the order in which they run: what fails fastest first."""
    table = [
        Part("lint", ["tools/lint"], 10),
        Part("lit", [str(BUILD / "venv" / "bin" / "lit"), "-v", "test"], 20),
        Part("docs", [PYTHON, "test/docs/console_blocks.py"], 10),
        Part("onnx-table", [PYTHON, "tools/gen-onnx-ops.py", "--check"], 2),
        Part("onnx-hostile", [PYTHON, "test/dialects/onnx/hostile.py"], 5),
        Part("onnx-spec-values", [PYTHON, "test/dialects/onnx/spec_values.py"], 15),
        Part("onnx-roundtrip", [PYTHON, "test/dialects/onnx/roundtrip.py"], 15),
        Part("onnx-rows", [PYTHON, "test/dialects/onnx/opset_rows.py"], 15),
        *(Part(path.name, [str(path)], 10) for path in sorted((BUILD / "bin").glob("*-test*"))),
        Part("graph-passes", [PYTHON, f"{E2E}/graph_passes.py"], 15),
        Part("demo", [PYTHON, f"{E2E}/demo_check.py"], 10),
        Part("artefact-files", [PYTHON, f"{E2E}/artefact_files.py"], 10),
        Part("report", [PYTHON, f"{E2E}/report.py"], 5),
        Part("compare", [PYTHON, f"{E2E}/compare.py"], 5),
        Part("command-line", [PYTHON, f"{E2E}/command_line.py"], 5),
        Part("cuda-artefacts", [PYTHON, f"{E2E}/cuda_artefacts.py"], 15),
        Part("gpu-pack", [PYTHON, f"{E2E}/gpu_pack.py"], 10),
        Part("embedding", [PYTHON, f"{E2E}/embedding.py"], 5),
        Part("install", [PYTHON, f"{E2E}/install.py"], 10),
        Part("rows", [PYTHON, f"{E2E}/row_tests.py"], 15),
        Part("concatenations", [PYTHON, f"{E2E}/concatenations.py"], 10),
        Part("batches", [PYTHON, f"{E2E}/batches.py"], 10),
        Part("taps", [PYTHON, f"{E2E}/taps.py"], 10),
        Part("layouts", [PYTHON, f"{E2E}/layouts.py"], 10),
        Part("matrix-products", [PYTHON, f"{E2E}/matrix_products.py"], 10),
        # Without asynchronous copies, by smaller instructions.
        Part("matrix-products-sm_75", [PYTHON, f"{E2E}/matrix_products.py",
                                       "--target=sm_75,sim:sm_75", "--filter=-f16"], 10),
        Part("matrix-types", [PYTHON, f"{E2E}/matrix_types.py"], 10),
        Part("product-shapes", [PYTHON, f"{E2E}/product_shapes.py"], 10),
        Part("types", [PYTHON, f"{E2E}/type_tests.py"], 10),
        # All checks of the simulator on everything that they generate, in two orders of lanes.
        Part("rows-checked", [PYTHON, f"{E2E}/row_tests.py", *CHECKS], 15),
        Part("types-checked", [PYTHON, f"{E2E}/type_tests.py", *CHECKS], 10),
        # Warps at once and thread by thread: the same bits.
        Part("rows-forms", [PYTHON, f"{E2E}/row_tests.py", *FORMS], 10),
        Part("types-forms", [PYTHON, f"{E2E}/type_tests.py", *FORMS], 10),
        Part("planted-faults", [PYTHON, f"{E2E}/planted_faults.py"], 15),
        Part("growth", [PYTHON, f"{E2E}/growth.py"], 10),
        Part("hostile", [PYTHON, f"{E2E}/hostile.py"], 10),
        Part("differences", [PYTHON, f"{E2E}/differences.py"], 5),
        Part("runtime-checks", [PYTHON, f"{E2E}/runtime_checks.py"], 5),
        Part("fuzz", [PYTHON, f"{E2E}/fuzz_models.py"], 10),
        Part("random-graphs", [PYTHON, f"{E2E}/random_graphs.py"], 15),
        Part("random-graphs-planted", [PYTHON, f"{E2E}/random_graphs.py", "--planted",
                                       "--nodes=5"], 10),
        Part("launches", [PYTHON, f"{E2E}/launches.py"], 15),
        Part("quantized-networks", [PYTHON, f"{E2E}/quantized_networks.py"], 15),
        Part("typed-networks", [PYTHON, f"{E2E}/typed_networks.py"], 10),
        Part("precision", [PYTHON, f"{E2E}/precision.py"], 15),
        Part("calibration", [PYTHON, f"{E2E}/calibration.py"], 10),
        Part("static-code", [PYTHON, f"{E2E}/static_code.py"], 10),
        Part("tuning", [PYTHON, f"{E2E}/tuning.py"], 10),
        Part("rows-levels", [PYTHON, f"{E2E}/row_tests.py", *LEVELS], 10),
        Part("nodes-levels", [PYTHON, f"{E2E}/node_tests.py", *LEVELS], 10),
        Part("benchmarks", [PYTHON, f"{E2E}/benchmarks.py"], 15),
        Part("nodes", [PYTHON, f"{E2E}/node_tests.py"], 30),
        Part("models", [PYTHON, f"{E2E}/models.py"], 30),
        # Under --long: every other target, sanitizers, and the simulator's checks.
        Part("nodes-sm_90a", [PYTHON, f"{E2E}/node_tests.py", "--target=sim:sm_90a"], 60, True),
        Part("nodes-ptx", [PYTHON, f"{E2E}/node_tests.py", "--compile-only",
                           "--target=sm_75,sm_80,sm_86,sm_89,sm_90,sm_90a,ptx"], 120, True),
        Part("nodes-checked", [PYTHON, f"{E2E}/node_tests.py", *CHECKS], 60, True),
        Part("nodes-forms", [PYTHON, f"{E2E}/node_tests.py", *FORMS], 60, True),
        Part("models-forms", [PYTHON, f"{E2E}/models.py", *FORMS], 120, True),
        Part("models-checked", [PYTHON, f"{E2E}/models.py", *CHECKS[:2]], 120, True),
        Part("rows-long", [PYTHON, f"{E2E}/row_tests.py", "--long"], 60, True),
        Part("fuzz-long", [PYTHON, f"{E2E}/fuzz_models.py", "--seed=10000", "--graphs=3000",
                           "--mutations=10000"], 90, True),
        Part("types-levels", [PYTHON, f"{E2E}/type_tests.py", *LEVELS], 30, True),
        Part("random-graphs-checked", [PYTHON, f"{E2E}/random_graphs.py", "--checked-every=1"], 60,
             True),
        Part("random-graphs-long", [PYTHON, f"{E2E}/random_graphs.py", "--seed=10000",
                                    "--count=5000"], 90, True),
        Part("tsan", ["tools/run-sanitized", "tsan"], 60, True),
        Part("asan", ["tools/run-sanitized", "asan"], 120, True),
        Part("planted-faults-long", [PYTHON, f"{E2E}/planted_faults.py", "--long",
                                     "--filter=^mma-(f16-registers|tf32)$"], 15, True),
        Part("typed-networks-long", [PYTHON, f"{E2E}/typed_networks.py", "--long"], 60, True),
        Part("precision-long", [PYTHON, f"{E2E}/precision.py", "--long"], 60, True),
        Part("calibration-long", [PYTHON, f"{E2E}/calibration.py", "--long"], 30, True),
        Part("models-long", [PYTHON, f"{E2E}/models.py", "--long"], 120, True),
    ]
    return table


# Each runner's own words: (kind, pattern).
COUNTS = (
    # lit
    ("passed", r"^\s*(?:Passed|Expectedly Failed)\s*:\s*(\d+)"),
    ("failed", r"^\s*(?:Failed|Unresolved|Timed Out|Unexpectedly Passed)\s*:\s*(\d+)"),
    ("skipped", r"^\s*(?:Unsupported|Skipped)\s*:\s*(\d+)"),
    # googletest
    ("passed", r"^\[  PASSED  \] (\d+) tests?"),
    ("failed", r"^\[  FAILED  \] (\d+) tests?, listed"),
    ("skipped", r"^\[  SKIPPED \] (\d+) tests?, listed"),
    # ours
    ("passed", r"^(?:[\w-]+: )?(\d+) passed, \d+ failed"),
    ("failed", r"^(?:[\w-]+: )?\d+ passed, (\d+) failed"),
    ("skipped", r"^(?:[\w-]+: )?\d+ passed, \d+ failed, (\d+) skipped"),
)


def count(output):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for kind, pattern in COUNTS:
        totals[kind] += sum(int(number) for number in re.findall(pattern, output, re.MULTILINE))
    return totals


def wait(process, seconds):
    """(exit code, how it ended, seconds of CPU of it and of all that it waited for)"""
    def end_group():
        try:  # whatever it has left running, too
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    late = threading.Timer(seconds, end_group)
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    overran = not late.is_alive()
    late.cancel()
    end_group()
    process.returncode = os.waitstatus_to_exitcode(status)
    how = (f"no end within {seconds // 60} minutes" if overran else
           f"exit code {process.returncode}")
    return 1 if overran else process.returncode, how, used.ru_utime + used.ru_stime


def run(part):
    """Counts of one part, and its lines for the screen; its output goes to a log, of which a failing
    part shows the end."""
    log = LOGS / f"{part.name}.out"
    start = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(part.command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        code, ending, cpu = wait(process, part.minutes * 60)
    output = log.read_text(errors="replace")
    totals = count(output)
    if code and not totals["failed"]:
        totals["failed"] = 1
    if not sum(totals.values()):
        totals["failed"], ending = 1, "reported no test"
    text = f"--- {part.name}\n"
    if totals["failed"]:
        text += "".join(f"    {line}\n" for line in output.splitlines()[-60:])
        text += f"    [{ending}; all of it: {log.relative_to(SOURCE)}]\n"
    skipped = f", {totals['skipped']} skipped" if totals["skipped"] else ""
    text += (f"    {part.name}: {totals['passed']} ok, {totals['failed']} not ok{skipped}, "
             f"{time.monotonic() - start:.0f} s, {cpu:.0f} s of CPU")
    return totals, text


class Driver:
    """Runs parts in order, several at a time."""

    def __init__(self, parts):
        self.waiting, self.totals = list(parts), {"passed": 0, "failed": 0, "skipped": 0}
        self.left = len(self.waiting)
        self.is_building = False
        self.changed = threading.Condition()

    def take(self):
        """The next part that may run beside those that do; None where no more is left."""
        with self.changed:
            while self.waiting:
                for part in self.waiting:
                    if not (part.builds and self.is_building):
                        self.waiting.remove(part)
                        self.is_building |= part.builds
                        return part
                self.changed.wait()
        return None

    def work(self):
        while part := self.take():
            totals, text = run(part)
            with self.changed:
                self.left -= 1
                self.is_building &= not part.builds
                for kind, number in totals.items():
                    self.totals[kind] += number
                print(text, flush=True)
                self.changed.notify_all()

    def run(self, at_once):
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.left:
            sys.exit(f"error: {self.left} parts were not run")
        return self.totals


def main():
    parser = argparse.ArgumentParser(prog="tools/run-tests", description="runs Cameo's tests")
    parser.add_argument("--long", action="store_true", help="the parts that take hours as well")
    parser.add_argument("--only", default="", metavar="REGEX", help="only parts that match whole")
    parser.add_argument("--list", action="store_true", help="name the parts and stop")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="parts at a time")
    options = parser.parse_args()
    chosen = [part for part in parts() if options.long or not part.only_long]
    if options.only:
        chosen = [part for part in parts() if re.fullmatch(options.only, part.name)]
    if options.list:
        for part in chosen:
            print(f"{part.name:16} {' '.join(part.command)}")
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    totals = Driver(chosen).run(options.at_once)
    print(f"tests took {(time.monotonic() - start) / 60:.1f} minutes")
    skipped = f", {totals['skipped']} skipped" if totals["skipped"] else ""
    print(f"{totals['passed']} passed, {totals['failed']} failed{skipped}")
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
