#!/usr/bin/env python3
"""A small GPU pack in two parts: made, and run with the fake driver and the simulator. First every
case passes; then, with faults planted in it, each of them is named, and everything else still
passes."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

import numpy

import harness

sys.path[:0] = [str(harness.SOURCE / "tools" / "gpupack" / folder) for folder in ("pack", ".")]

# pylint: disable=wrong-import-position
import machine  # noqa: E402
import pack_products  # noqa: E402
import process  # noqa: E402
import scheduler  # noqa: E402
import tuning_cases  # noqa: E402

SECONDS = 600
PART_MIB = 2.75
TARGET = "sm_80:a30"  # not the architecture's first board
CONSTANTS = 54  # of the machine, each of which goes through its course without a GPU, too
HANGS, CRASHES = "redux_sync_add_s32_80000000", "elect_sync_00ff00ff"  # instruction tests
INSTRUCTIONS = "^instruction/(redux|elect|bar|vote)"
TUNING_FAULT = "k0_mean:700"  # all schedules of one kernel take the device along
# The program that runs instruction tests, with a test that hangs and one that crashes.
PLANTED_PROGRAM = """#!/bin/bash
for word in "$@"; do case $word in --only=*) only=${{word#--only=}};; esac; done
chosen() {{ [[ $only == "=$1" || $only != =* && $1 == *"$only"* ]]; }}
chosen {hangs} && exec sleep 1000
chosen {crashes} && kill -SEGV $$
exec "$0.real" "$@"
"""


# What stands for compute-sanitizer: one tool finds something in one model.
SANITIZER = """#!/bin/bash
[[ $1 == --tool=* && $2 == --error-exitcode=* && $3 == --print-limit=* ]] || exit 2
[[ $1 != --tool=memcheck ]] || { [[ $4 == --report-api-errors=no ]] && set -- "${@:1:3}" "${@:5}"; } || exit 2
"${@:4}" || exit 2
echo "========= COMPUTE-SANITIZER"
[[ $1 != --tool=racecheck || $4 != */layers ]] || {
  echo "========= Error: Race reported between Write access"; exit ${2#*=}; }
[[ $1 == --tool=racecheck ]] && echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors)" ||
  echo "========= ERROR SUMMARY: 0 errors"
"""


class PackTests:
    def __init__(self, options):
        self.suite = harness.Suite("gpu-pack", options.build.resolve())
        self.jobs = options.jobs
        self.folder = self.suite.work / "pack"
        self.pack = self.folder / "1"

    def make(self):
        step = harness.run([harness.SOURCE / "tools" / "gpu-pack", "-o", self.folder, "--small",
                            f"--target={TARGET}", f"--part={PART_MIB}", "--no-build",
                            f"--build={self.suite.build}"], SECONDS)
        if step.code:
            self.suite.fail("make", step.how(), step)
            return False
        sizes = [sum(file.stat().st_size for file in part.rglob("*") if file.is_file())
                 for part in sorted(self.folder.glob("[0-9]*"))]
        self.expect("make-board", f" s for {TARGET}\n" in step.output, TARGET, step)
        self.expect("parts", len(sizes) == 2 and max(sizes) <= PART_MIB * (1 << 20), str(sizes), step)
        if len(sizes) != 2:
            return False
        self.check_models(step)
        return True

    def check_models(self, step):
        """Each model that the making names is in one part."""
        made = re.findall(r"^(\S+): [\d.]+ MB", step.output, re.MULTILINE)
        models = []
        for part in sorted(self.folder.glob("[0-9]*")):
            with tarfile.open(part / "content.tar.xz") as archive:
                about = json.load(archive.extractfile("pack.json"))
            models += [model["name"] for model in about["models"] + about["bundles"]]
        self.expect("make", made and sorted(made) == sorted(models), f"{models}, not {made}", step)

    def run(self, pack, name, *arguments, environment=None, code=0):
        """(results by name, text) of a dry run."""
        out = self.suite.work / f"results-{name}"
        shutil.rmtree(out, ignore_errors=True)
        step = harness.run([pack / "run", "--dry-run", f"--out={out}", f"--jobs={self.jobs}",
                            *arguments], SECONDS, env={**os.environ, **(environment or {})})
        if step.code != code:
            self.suite.fail(name, f"{step.how()}, not {code}", step)
        return read(out)

    def expect(self, case, good, why="", *steps):
        if good:
            self.suite.ok(case)
        else:
            self.suite.fail(case, why, *steps)

    def check_dry_run(self):
        """Everything passes but what cannot be tried without a GPU, with its reason."""
        results = self.run(self.pack, "dry-run")
        rest = self.run(self.folder / "2", "dry-run-rest")
        twice = {name for name in results.keys() & rest.keys() if name != "machine/gpu"}
        self.expect("parts-differ", len(rest) > 4 and not twice, f"{len(rest)} results; {twice}")
        results |= rest
        constants = [constant for result in results.values()
                     for constant in result["data"].get("constants", [])]
        self.expect("constants", len(constants) == len({c["name"] for c in constants}) == CONSTANTS
                    and not any(constant["usable"] for constant in constants), str(constants))
        kinds = {"machine", "model", "api", "instruction", "family", "network", "sanitizer",
                 "beside", "benchmark", "profile", "tuning"}
        self.expect("kinds", kinds <= {name.split("/")[0] for name in results}, str(set(results)))
        for name, result in results.items():
            if result["status"] == "skip":
                good = (name.startswith("sanitizer/") or name.endswith("-torch")
                        or "the cubin beside that PTX" in result["message"]
                        or name.startswith("machine/constants/")
                        and "of made-up times: the fake driver runs no such" in result["message"])
                self.expect(name, good and result["message"], f"skipped: {result['message']}")
            else:
                good = result["status"] == "pass" and "its group failed" not in result["message"]
                self.expect(name, good, result["message"])

    def check_page(self):
        """Of both parts' results, and again of what is kept of them; and the figures of planted ones."""
        folder = self.suite.work / "page"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        script, page = harness.SOURCE / "tools" / "gpupack" / "page.py", folder / "fake.md"
        parts = [self.suite.work / f"results-{name}" / "results.json"
                 for name in ("dry-run", "dry-run-rest")]
        steps = [harness.run([script, "--raw", *parts, page], SECONDS)]
        raw = folder / "raw" / "fake.json.xz"
        text = page.read_text() if page.exists() else ""
        steps.append(harness.run([script, raw, page], SECONDS))
        self.expect("page", text and page.read_text() == text
                    and raw.stat().st_size < sum(part.stat().st_size for part in parts) / 4
                    and f"- compiled for: {TARGET}; Fake GPU is not a30: " in text
                    and "tools/gpupack/page.py docs/bench/raw/fake.json.xz docs/bench/fake.md" in text
                    and re.search(r"^\| layers \|.* \| [\d.]+ \| [\d.]+ \|$", text, re.MULTILINE)
                    and "| (`launch_programmatic`) | 1 | us | 0.0 % | - |" in text,
                    text[:2000], *steps)
        rows = {"gemm-a": (10, 0.02), "gemm-b": (10, 0.01), "net": (30, 0.02)}
        planted = folder / "planted.json"
        planted.write_text(json.dumps({
            "pack": "1234567, 2026-11-27 10:00", "machine": {"GPU": "NVIDIA H200, 9.0", "host": "x"},
            "cases": [{"name": f"beside/{name}", "status": "pass", "message": "", "log": "", "data": {
                "estimate_us": estimate, "milliseconds": {"cameo": time}}}
                      for name, (estimate, time) in rows.items()] + [
                {"name": f"tuning/{name}", "status": "fail", "message": "", "log": "",
                 "data": planted_tuning(prefix)}
                for name, prefix in (("products-fp16", "3/"), ("net", ""))]}))
        step = harness.run([script, planted, page], SECONDS)
        text = page.read_text()
        for line in ("| gemm-a | 20.0 | - | - | - | 10.0 | 0.50 |",
                     "| gemm-a | 5 | skinny | 12.0 | 20.0 | 0.60 | 64x32 | 14.0 | 10.0 | 1.40 | 100 % |",
                     "| gemm-b | 5 | skinny | 6.0 | 10.1 | 0.59 | 64x32 | 14.0 | 10.0 | 1.40 | 1 % |",
                     "The choice is within 5 % of the fastest for 1 of 2 (50 %).",
                     "| net | 3 of 4 | 15 of 20 | 55.2 | 42.0 | 1.31 | 1 of 3 |",
                     "| Products | 2 | 0.62 | 0.75 | 0.88 |", "| Networks | 1 | 1.50 | 1.50 | 1.50 |",
                     "| Schedules that were chosen | 2 | 0.60 | 0.60 | 0.60 |",
                     "| all | 5 | 0.59 | 0.60 | 1.00 |"):
            self.expect(f"page-{line}", f"\n{line}\n" in text, text, step)
        for board, name, good in (("h200", "NVIDIA H200", True), ("h100-sxm", "NVIDIA H200", False),
                                  ("h200", "NVIDIA GH200 480GB", False), ("t4", "Tesla T4", True),
                                  ("a100-80-sxm", "NVIDIA A100-SXM4-80GB", True), ("l4", "NVIDIA L40S", False),
                                  ("rtx3090", "NVIDIA GeForce RTX 3090", True)):
            self.expect(f"board-{name}", machine.is_board(board, name) == good, board)

    def plant(self):
        """A copy of the pack with faults, and which status each case must have because of them."""
        planted = self.suite.work / "planted"
        content = self.suite.work / "content"
        for folder in (planted, content):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.pack, planted)
        with tarfile.open(self.pack / "content.tar.xz") as archive:
            archive.extractall(content)
        about = json.loads((content / "pack.json").read_text())
        models = {model["name"]: model for model in about["models"]}

        program = content / "bin" / "cameo-instructions"
        program.rename(program.with_name("cameo-instructions.real"))
        program.write_text(PLANTED_PROGRAM.format(hangs=HANGS, crashes=CRASHES))
        program.chmod(0o755)
        # A wrong result, by much and by one bit.
        change(content / models["fashion"]["feeds"][0]["expected"],
               lambda values: values.reshape(-1).__setitem__(3, 1e4))
        for file in models["fashion"]["feeds"][1]["simulated"].values():
            change(content / file, lambda values: values.view(numpy.uint32).reshape(-1)
                   .__setitem__(5, values.view(numpy.uint32).reshape(-1)[5] ^ 1))
        # A file that lost its end.
        damaged = content / models["shapes"]["files"]["ptx"]
        damaged.write_bytes(damaged.read_bytes()[:-5000])
        with tarfile.open(planted / "content.tar.xz", "w:xz", preset=0) as archive:
            archive.add(content, ".")
        # The test's own time is too short for the limits of a GPU's.
        for name, old, new in (("instructions.py", "GROUP_SECONDS, SECONDS = 40, 15",
                                "GROUP_SECONDS, SECONDS = 5, 2"),):
            file = planted / "lib" / name
            assert old in file.read_text()
            file.write_text(file.read_text().replace(old, new))
        return planted, {
            f"instruction/{HANGS}": ("timeout", "no end within 2 s"),
            f"instruction/{CRASHES}": ("crash", "killed by SIGSEGV"),
            "model/fashion/cubin/0": ("fail", "against ONNX Runtime: logits: 1 of 20 values"),
            "model/fashion/ptx/0": ("fail", "against ONNX Runtime: logits: 1 of 20 values"),
            "model/fashion/cubin/1": ("fail", "against the simulator: logits: 1 of 50 values"),
            "model/fashion/ptx/1": ("fail", "against the simulator: logits: 1 of 50 values"),
            "model/shapes/ptx/0": ("fail", "exit code 4"),
            "model/shapes/ptx/1": ("fail", "exit code 4"),
        }

    def check_planted(self):
        planted, wanted = self.plant()
        results = self.run(planted, "planted", f"--only={INSTRUCTIONS}|^model|^api/replay$", code=1)
        for name, (status, words) in wanted.items():
            has = results.pop(name, {"status": "missing", "message": ""})
            self.expect(f"planted-{name}", has["status"] == status and words in has["message"],
                        f"{has['status']}: {has['message']}")
        bad = {name: r["message"] for name, r in results.items() if r["status"] != "pass"}
        self.expect("planted-rest", not bad and len(results) > 50, f"{len(results)}: {bad}")

    def check_parts(self):
        """The parts by one command, whose results are each part's own."""
        out = self.suite.work / "results-parts"
        shutil.rmtree(out, ignore_errors=True)
        step = harness.run([self.folder / "run", "--dry-run", f"--out={out}", "--minutes=4",
                            "--only=^model/layers|^tuning/"], SECONDS)
        first, second = read(out / "1"), read(out / "2")
        good = all(result["status"] in ("pass", "skip") for result in [*first.values(), *second.values()])
        self.expect("run-parts", step.code == 0 and good and "model/layers/cubin/0" in first
                    and "tuning/layers" in second, f"{step.how()}: {list(first)}, {list(second)}", step)
        step = harness.run([self.folder / "run", "--dry-run", f"--out={out}", "--minutes=0.001"], SECONDS)
        self.expect("run-parts-code", step.code == 3, step.how(), step)

    def check_tuning(self):
        """What a bundle measured is kept, and is what the case says; a schedule that takes the device along
        is named."""
        name, file = "tuning/layers", "tuning-layers.json.xz"
        for case, fault in (("tuning", ""), ("tuning-fault", TUNING_FAULT)):
            results = self.run(self.folder / "2", case, f"--only=^{name}$", code=1 if fault else 0,
                               environment={"FAKECUDA_FAULT": fault} if fault else None)
            has = results.get(name, {"status": "missing", "message": "", "data": {}})
            kept = self.suite.work / f"results-{case}" / file
            document = json.loads(lzma.decompress(kept.read_bytes())) if kept.exists() else {"results": []}
            rows, data = document["results"], has["data"]
            tried = {(row["dispatch"], row["candidate"]) for row in rows}
            faults = {(row["status"], row["schedule"], ",".join(row["nodes"]))
                      for row in rows if row["status"] != "ok"}
            self.expect(f"{case}-kept", len(tried) == data.get("schedules") == sum(
                data["statuses"].values()) > 5 and len(data["dispatches"]) == data["kernels"],
                        f"{len(tried)} in {kept}: {has}")
            good = [each for each in data.get("dispatches", []) if each["chosen"]]
            self.expect(f"{case}-fastest", good and all(
                row["us"] >= each["fastest"]["us"] for each in good for row in rows
                if row["nodes"] == each["nodes"] and row["round"] == max(
                    other["round"] for other in rows if other["nodes"] == each["nodes"])), str(good))
            self.expect(case, ("mean" in {nodes for _, _, nodes in faults}) == bool(faults) == bool(fault)
                        and has["status"] == ("fail" if fault else "pass")
                        and all(f"{status}: {schedule}, of {nodes}: " in has["message"]
                                for status, schedule, nodes in faults),
                        f"{faults}: {has['status']}: {has['message']}")

    def check_summary(self):
        """A schedule that is wrong in a later round is no choice, and is named; bundles share time by their
        schedules; nodes of bundles of products have the rows' labels."""
        rows = [{"dispatch": 0, "candidate": candidate, "round": number, "status": status, "us": us,
                 "nodes": ["a", "b"], "uses": 2, "schedule": f"schedule-{candidate}", "estimate_us": 1.0,
                 "message": "far off" if status == "wrong" else ""}
                for candidate, number, status, us in ((0, 1, "ok", 10.0), (1, 1, "ok", 8.0), (2, 1, "ok", 8.5),
                                                      (0, 2, "wrong", 0.0), (1, 2, "ok", 9.0))]
        found = tuning_cases.summary({"target": "sm_80", "results": rows})
        kernel = found["dispatches"][0]
        self.expect("summary", found["statuses"] == {"wrong": 1, "ok": 2} and kernel["tried"] == 3
                    and kernel["chosen"] is None and kernel["fastest"]["us"] == 9.0, str(found))
        data = {"schedules": 4, "kernels": 2, **found}
        self.expect("summary-says", tuning_cases.judge(data, process.Ended(1, "", 1.0)) == (
            "fail", "1 of 3 schedules: wrong: schedule-0, of a,b: far off"), str(data))
        said = tuning_cases.judge({**data, "faults": 12 * data["faults"]}, process.Ended(1, "", 1.0))[1]
        self.expect("summary-many", said.count("far off") == 10 and said.endswith("; and 2 more"), said)
        found = tuning_cases.summary({"target": "sm_80", "results": rows[:3] + rows[4:]})
        data = {"schedules": 4, "kernels": 2, **found}
        said = [tuning_cases.judge(data, process.Ended(code, "error: gone", 5.0)) for code in (0, -9, None, 3)]
        self.expect("summary-ends", said == [
            ("pass", "3 of 4 schedules of 1 of 2 kernels: 18.0 us instead of 20.0 us"),
            ("crash", "killed by SIGKILL after 3 schedules: error: gone"),
            ("timeout", "no end within 5 s, after 3 schedules"),
            ("fail", "exit code 3 after 3 schedules: error: gone")], str(said))
        data = {"schedules": 4, "kernels": 2, **tuning_cases.summary({"target": "sm_80", "results": []})}
        said = tuning_cases.judge(data, process.Ended(0, "", 1.0))
        self.expect("summary-none", said == ("skip", "not run: the bundle's share of the time was over"),
                    str(said))
        shares = [tuning_cases.share_of([{"schedules": count} for count in counts])
                  for counts in ((1, 3), (3,))]
        self.expect("tuning-shares", shares == [0.25, 1], str(shares))
        rows = [(label, precision) for label, _, precision, _, _ in pack_products.measured()]
        nodes = {precision: {node.name.partition("/")[2]
                             for node in pack_products.measured_together(precision)()[0].graph.node}
                 for precision in pack_products.STORED}
        missing = [label for label, precision in rows if label not in nodes[precision]]
        self.expect("tuning-labels", len(rows) > 30 and not missing, str(missing))

    def check_sanitizer(self):
        script = self.suite.work / "compute-sanitizer"
        script.write_text(SANITIZER)
        script.chmod(0o755)
        results = self.run(self.pack, "sanitizer", f"--sanitizer={script}", "--only=^sanitizer/",
                           code=1)
        found = results.pop("sanitizer/racecheck/layers", {"status": "missing", "message": ""})
        self.expect("sanitizer-finding", found["status"] == "fail" and
                    found["message"] == "Error: Race reported between Write access", str(found))
        wrong = {name: r for name, r in results.items() if r["status"] != "pass"}
        self.expect("sanitizer", len(results) > 10 and not wrong, str(wrong))

    def check_refused(self):
        """The driver refuses an image; GPUs that the pack has no code for; no driver at all."""
        results = self.run(self.pack, "refused-image", "--only=^model/layers", code=1,
                           environment={"FAKECUDA_FAIL": "cuModuleLoadDataEx:1:209"})
        # Where there is other code, that runs, which is not what the case asks for.
        self.all_fail("refused-image", results, ("CUDA_ERROR_NO_BINARY_FOR_GPU", "not the cubin"))
        only = "--only=^model/layers|^api/(no-code|replay)$|^instruction/elect"
        results = self.run(self.pack, "old-gpu", only, code=1,
                           environment={"FAKECUDA_DEVICES": "6.1"})
        self.all_fail("old-gpu", results, ("no code for Fake GPU, an sm_61 GPU",
                                           "PTX for sm_80 is not for this GPU"))
        empty = self.suite.work / "empty"
        empty.mkdir(exist_ok=True)
        results = self.run(self.pack, "no-driver", only, f"--driver={empty}", code=1)
        self.all_fail("no-driver", results, ("libcuda.so.1",))

    def all_fail(self, case, results, words):
        """All that needs the GPU fails, or is skipped, in one of those words; the simulated rest
        passes."""
        wrong = {name: r for name, r in results.items() if name != "machine/gpu" and (
            r["status"] != "pass" if name.startswith("instruction/") else
            r["status"] not in ("fail", "skip") or
            not any(word in r["message"] + r["log"] for word in words))}
        self.expect(case, len(results) > 4 and not wrong, f"{len(results)} results; {wrong}")

    def check_order(self):
        """A phase that takes its share leaves what waits to the end; the last one has all of the time; a case
        that fills its phase is given what the phase has left."""
        begun, given = [], {}

        class Case:
            limit = 100

            def __init__(self, name, seconds, fills=False):
                self.name, self.seconds, self.fills = name, seconds, fills

            def names(self):
                return [self.name]

            def run(self, seconds):
                begun.append(self.name)
                given[self.name] = seconds
                time.sleep(self.seconds)
                return [], []

        class Nobody:
            def add(self, results):
                begun.extend(f"no {result.name}" for result in results)
        planner = scheduler.Scheduler(Nobody(), 1)
        planner.deadline = time.monotonic() + 8
        planner.run_phases([([Case("a", 0.3), Case("b", 2.5), Case("c", 0), Case("d", 0)], 1, 0.25),
                            ([], 1, 0.5), ([Case("e", 0, fills=True)], 1, 0.5), ([Case("f", 0, fills=True)], 1, 0.1)])
        self.expect("order", begun == ["a", "b", "e", "f", "c", "d"], str(begun))
        self.expect("order-times", 1 < given["e"] < 2.7 < given["f"] < 5.3 and given["a"] > 7, str(given))

    def check_time(self):
        """What the time does not suffice for is listed; an interrupted run leaves its results."""
        results = self.run(self.pack, "no-time", "--minutes=0.02", "--only=^(model|instruction)",
                           code=3)
        not_run = [r for r in results.values() if r["message"].startswith("not run: the 0.02 min")]
        self.expect("no-time", not_run and len(results) > 600,
                    f"{len(not_run)} of {len(results)} were not run")
        out = self.suite.work / "results-interrupted"
        shutil.rmtree(out, ignore_errors=True)
        process = subprocess.Popen([self.pack / "run", "--dry-run", f"--out={out}", "--jobs=1"],
                                   stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and not (out / "results.json").exists():
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        code = process.wait(SECONDS)
        results = read(out)
        harness.run([self.pack / "run", "--dry-run", f"--out={out}", "--only=^none$"], SECONDS)
        kept = json.loads((out / "results-1.json").read_text())["cases"]
        self.expect("kept", {case["name"] for case in kept} == set(results) and set(read(out)) == {"machine/gpu"},
                    f"{len(kept)} of {len(results)}")
        not_run = [r for r in results.values() if "interrupted by SIGTERM" in r["message"]]
        self.expect("interrupted", code in (1, 3) and not_run and len(results) > 600,
                    f"exit code {code}, {len(not_run)} of {len(results)} were not run")


def planted_tuning(prefix):
    """A bundle's data: a choice that took twice as long as the fastest, a good one, one of a node beside
    products, and one that was wrong."""
    def timed(schedule, microseconds, estimate):
        return {"schedule": f"#kernel.schedule<{schedule}>", "us": microseconds, "estimate_us": estimate}
    fastest = timed('"mma", {tile = array<i64: 64, 32>}', 10.0, 14.0)
    kernels = (("gemm-a", 1, timed('"skinny", {}', 20.0, 12.0), fastest),
               ("gemm-b", 2, timed('"skinny", {}', 10.1, 6.0), fastest),
               ("gemm-b/turn", 3, timed('"copy", {}', 5.0, 5.0), timed('"copy", {}', 4.0, 6.0)),
               ("gemm-c", 1, None, fastest))
    return {"statuses": {"ok": 14, "wrong": 1}, "schedules": 20, "kernels": 4, "faults": [], "dispatches": [
        {"nodes": [prefix + node], "uses": uses, "tried": 5, "chosen": chosen, "fastest": best}
        for node, uses, chosen, best in kernels]}


def read(out):
    """{case: result}; the table must be there as well."""
    if not (out / "results.txt").exists():
        return {}
    return {case["name"]: case for case in json.loads((out / "results.json").read_text())["cases"]}


def change(file, function):
    """One array of an .npz file."""
    with numpy.load(file) as archive:
        arrays = {name: archive[name].copy() for name in archive}
    function(next(iter(arrays.values())))
    numpy.savez(file, **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = PackTests(options)
    if tests.make():
        tests.check_dry_run()
        tests.check_page()
        tests.check_parts()
        tests.check_planted()
        tests.check_tuning()
        tests.check_summary()
        tests.check_order()
        tests.check_sanitizer()
        tests.check_refused()
        tests.check_time()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
