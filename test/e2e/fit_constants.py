#!/usr/bin/env python3
"""What makes constants of measured times (tools/gpupack/fit.py): its formula is the compiler's, and of times
made up with known constants, noise and a few wild rows it finds these again, also where a constant that
the machine is said to have is wrong."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import lzma
import re
import sys

import numpy
import onnx

import harness

sys.path.insert(0, str(harness.SOURCE / "tools" / "gpupack"))

import fit  # noqa: E402  pylint: disable=wrong-import-position
import model  # noqa: E402  pylint: disable=wrong-import-position
import pack_products  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = 300
TARGET = "sm_90a:h200"
PRODUCTS = {"wide": ((512, 1024, 768), "fp16"), "thin": ((4, 4096, 4096), "fp16"),
            "lanes": ((300, 200, 500), "fp32"), "deep": ((128, 8192, 128), "fp16"),
            "deep-lanes": ((64, 4096, 64), "fp32")}
TARGETS = ("sm_75", "sm_80", "sm_80:a30", "sm_90a:h200")
TRUE = {"launch_us": 1.1, "l2_rate": 31.0, "global_latency": 900.0, "matrix_latency": 35.0, "barrier": 70.0,
        "contention": 0.15, "memory_share": 0.88, "matrix_time": 1.06}
# What is found differs by so much at most; of what few rows depend on, by more.
NEAR = {"launch_us": 0.05, "l2_rate": 0.05, "global_latency": 0.15, "memory_share": 0.05, "matrix_time": 0.05}
# The machine's constants that go with these.
MACHINE = {"launch": 0.8, "launch_one_block": 0.7, "l2_copy_rows_64": 33.0, "latency_dram": 850.0,
           "mma_f16_latency": 33.0, "barrier_256": 30.0, "dram_copy": 4300.0, "mma_f16_4": 6.3,
           "clock_mma": 1750.0}


def product(rows, depth, columns, tile):
    """A kernel of mma.sync as the compiler describes it, of FP16; dimensions 64 deep."""
    height, width, stages, warps = tile
    steps = depth / 64
    matrix = height * width * 64 / (2048 * 2 / 3)
    none = dict.fromkeys(model.BLOCK, 0.0)
    return {"blocks": numpy.ceil(rows / height) * numpy.ceil(columns / width), "threads": 32.0 * warps,
            "registers": height * width / (32 * warps) + 80.0,
            "shared_bytes": stages * (height + width) * 128.0, "steps": steps, "trips": 2.0,
            "step": {**none, "matrix": matrix, "slots": height * width * 64 / 4096 + 20 * warps,
                     "shared_bytes": 3 * (height + width) * 128.0, "l2_bytes": (height + width) * 128.0,
                     "products": 4.0, "barriers": 1.0, "loads": 1.0, "ahead": stages - 1.0},
            "once": {**none, "shared_bytes": height * width * 8.0, "l2_bytes": height * width * 2.0},
            "dram_bytes": 2.0 * (rows * depth + depth * columns + rows * columns), "on_matrix": True,
            "beside": []}


def copy(elements):
    """An elementwise kernel."""
    none = dict.fromkeys(model.BLOCK, 0.0)
    blocks = elements / 4096
    return {"blocks": blocks, "threads": 256.0, "registers": 32.0, "shared_bytes": 0.0, "steps": 0.0,
            "trips": 1.0, "step": none, "once": {**none, "slots": 400.0, "l2_bytes": 16384.0},
            "dram_bytes": 4.0 * elements, "on_matrix": False, "beside": []}


def chain(rounds):
    """A thin product, which waits for each load."""
    none = dict.fromkeys(model.BLOCK, 0.0)
    return {"blocks": 132.0, "threads": 256.0, "registers": 64.0, "shared_bytes": 4096.0,
            "steps": float(rounds), "trips": 1.0, "step": {**none, "slots": 40.0, "l2_bytes": 4096.0,
                                                           "loads": 1.0},
            "once": {**none, "chain": 150.0, "barriers": 1.0}, "dram_bytes": rounds * 132 * 4096.0,
            "on_matrix": False, "beside": []}


def made_up(constants, limits, seed):
    """Rows with times by these constants, 2 % of noise, and one of twenty off by much."""
    random = numpy.random.default_rng(seed)
    tiles = [(256, 128, 3, 8), (128, 128, 4, 4), (128, 64, 4, 4), (64, 64, 4, 4), (64, 32, 4, 4),
             (32, 32, 4, 4), (128, 256, 3, 8), (16, 64, 4, 4)]
    works = [(f"product-{m}x{k}x{n}", "mma", product(m, k, n, tile))
             for m, k, n in ((128, 768, 768), (1024, 768, 3072), (1024, 3072, 768), (512, 512, 512),
                             (4096, 4096, 4096), (2048, 2048, 2048), (64, 4096, 4096), (6272, 576, 128))
             for tile in tiles]
    works += [(f"copy-{size}", "map", copy(size)) for size in (1e4, 1e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8)]
    works += [(f"thin-{rounds}", "skinny", chain(rounds)) for rounds in (4, 8, 16, 32, 64)]
    works = [work for work in works if model.Works([work[2]], limits).together[0] > 0]
    exact = model.Works([work for *_, work in works], limits).microseconds(constants)
    table, _ = model.read_target(TARGET)
    estimates = model.Works([work for *_, work in works], limits).microseconds(table)
    noise = numpy.exp(random.normal(0, 0.02, exact.size)) * numpy.where(
        random.random(exact.size) < 0.05, 2.5, 1)
    return [{"key": key, "family": family, "schedule": str(number), "nodes": [], "work": work, "status": "ok",
             "us": float(time), "estimate_us": float(estimate), "spread": 0.02,
             "clock_mhz": constants.clock_mhz}
            for number, ((key, family, work), time, estimate) in enumerate(
                zip(works, exact * noise, estimates))]


class FitTests:
    def __init__(self, options):
        self.suite = harness.Suite("fit-constants", options.build.resolve())

    def expect(self, case, good, why="", *steps):
        if good:
            self.suite.ok(case)
        else:
            self.suite.fail(case, why, *steps)

    def check_formula(self):
        """What the formula says of candidates is what the compiler noted, of all classes of products, with
        and without a second launch."""
        beside = 0
        for name, (sizes, precision) in PRODUCTS.items():
            source = self.suite.work / f"{name}.onnx"
            made, _, _ = pack_products.product(sizes, precision)()
            for number, node in enumerate(made.graph.node):
                node.name = node.name or f"node_{number}"
            onnx.save(made, source)
            for target in TARGETS:
                found, steps = self.candidates(source, target)
                constants, limits = model.read_target(target)
                works = [model.work_of(numbers) for _, numbers in found]
                beside += sum(bool(work["beside"]) for work in works)
                times = model.Works(works, limits).microseconds(constants) if works else []
                far = [f"{time:.4f}, not {said}" for time, (said, _) in zip(times, found)
                       if abs(time / said - 1) > 1e-3]
                self.expect(f"formula-{name}-{target}", len(found) > 1 and not far,
                            f"{len(found)} candidates; {far}", *steps)
        self.expect("formula-beside", beside > 0, "no candidate has a second launch")

    def candidates(self, source, target):
        """[(estimate in microseconds, numbers of its work)]"""
        dispatched, chosen = (source.with_suffix(end) for end in (".mlir", ".chosen.mlir"))
        steps = [harness.run(command, SECONDS) for command in (
            [self.suite.tool("cameoc"), source, f"--target={target}", "--stop-after=dispatched", "-o",
             dispatched],
            [self.suite.tool("cameo-opt"), dispatched, "-o", chosen, "--pass-pipeline=builtin.module("
             "rt.variant(cameo-assign-schedules{candidates=8}))"])]
        text = chosen.read_text() if chosen.exists() else ""
        return [(model.number(said), numbers.split(",")) for said, numbers in re.findall(
            r"\{microseconds = (\S+) : f64,.*?work = array<f64: ([^>]*)>\}", text)], steps

    def fit(self, name, machine, seed=1, true=None):
        """(what fit.py prints, constants that it finds) of made-up rows."""
        table, limits = model.read_target(TARGET)
        truth = table.with_(**{**TRUE, **(true or {}), "matrix_clock_mhz": 1750.0, "clock_mhz": 1950.0})
        # One of them compressed, as pages keep results.
        tuning, results = (self.suite.work / f"{name}.{kind}" for kind in ("tuning.json.xz", "results.json"))
        tuning.write_bytes(lzma.compress(json.dumps({
            "cameo_tuning": 1, "board": "h200", "target": TARGET,
            "results": made_up(truth, limits, seed)}).encode()))
        constants = [{"name": key, "median": abs(value), "usable": value > 0}
                     for key, value in machine.items()]
        # Some as constants.py prints them, between other words.
        printed = self.suite.work / f"{name}.txt"
        printed.write_text("\n".join([*map(json.dumps, constants[:3]), "dram: killed by SIGKILL", ""]))
        results.write_text(json.dumps({"cases": [
            {"name": "machine/constants/all", "data": {"constants": constants[3:]}},
            {"name": "beside/some", "data": {"estimate_us": 12.0, "milliseconds": {"cameo": 0.01}}}]}))
        step = harness.run([sys.executable, harness.SOURCE / "tools" / "gpupack" / "fit.py",
                            f"--tuning={tuning}", f"--results={results}",
                            f"--constants={printed}"], SECONDS)
        found = {key: float(value) for key, value in re.findall(
            r"^(\w+) +([\d.e+-]+) +[\d.e+-]+ +[\d.e+-]+  \S", step.output, re.MULTILINE)}
        return step, found, truth

    def judge(self, name, step, found, truth):
        for key, near in NEAR.items():
            value, wanted = found.get(key, 0), getattr(truth, key)
            self.expect(f"{name}-{key}", abs(value / wanted - 1) < near, f"{value}, not {wanted}", step)

    def check_recovery(self):
        step, found, truth = self.fit("recovery", MACHINE)
        self.judge("recovery", step, found, truth)
        medians = re.search(r"^all +(\d+) +([\d.]+) % +([\d.]+) % +([\d.]+) %$", step.output, re.MULTILINE)
        self.expect("recovery-errors", medians and float(medians[2]) > 8 and float(medians[3]) < 3
                    and float(medians[4]) < 4, step.output, step)
        self.expect("recovery-clock", "matrix_clock_mhz 1750, clock_mhz 1950" in step.output, "", step)
        self.expect("recovery-row", re.search(r"^    \{90, 1\.\d+, 0\.70, 3\d\.\d, \d+, [\d.]+, \d+, "
                                              r"0\.\d+, 0\.8\d+(?:, [\d.]+){5}\},$", step.output, re.MULTILINE), "", step)
        self.expect("recovery-choices", len(re.findall(
            r"^(?:before|after): .* for \d+ of 8 dispatches$", step.output, re.MULTILINE)) == 2, "", step)
        self.expect("recovery-cases", "whole cases: 1, median error 20.0 %" in step.output, "", step)
        self.expect("recovery-trust", "not believed" not in step.output
                    and "warning" not in step.output, "", step)

    def check_outliers(self):
        """A constant that contradicts the times is named and left out; one whose repeats differ is, too."""
        step, found, truth = self.fit("outlier", {**MACHINE, "l2_copy_rows_64": 120.0}, seed=2)
        self.judge("outlier", step, found, truth)
        self.expect("outlier-named", re.findall(r"machine's (\w+) is not believed", step.output)
                    == ["l2_copy_rows_64"], "", step)
        step, found, truth = self.fit("unusable", {**MACHINE, "l2_copy_rows_64": -120.0}, seed=3)
        self.judge("unusable", step, found, truth)
        self.expect("unusable-named", "repeats differ: l2_copy_rows_64" in step.output
                    and "not believed" not in step.output, "", step)

    def check_files(self):
        """What rows of one file alone tell is not known to a fit that is shown the others, which then has it
        where fits begin: at the table's constants, or at another architecture's."""
        table, limits = model.read_target(TARGET)
        truth = table.with_(**TRUE, conversion=3.0)
        rows = made_up(truth, limits, seed=4)
        for row in rows:
            if row["key"].startswith("product-1024"):
                row["work"]["step"]["conversions"] = 2000.0
        times = model.Works([row["work"] for row in rows], limits).microseconds(truth)
        paths = [self.suite.work / f"{name}.json" for name in ("plain", "converted")]
        for path, is_converted in zip(paths, (False, True)):
            path.write_text(json.dumps({"cameo_tuning": 1, "target": TARGET, "results": [
                row | {"us": time} for row, time in zip(rows, times)
                if row["key"].startswith("product-1024") == is_converted]}))
        found = {}
        for start in ("sm_90a", "sm_80"):
            step = harness.run([sys.executable, harness.SOURCE / "tools" / "gpupack" / "fit.py", f"--start={start}",
                                *(f"--tuning={path}" for path in paths)], SECONDS)
            _, _, by_file = step.output.partition("median error by file")
            found[start] = {name: tuple(map(float, numbers)) for name, *numbers in re.findall(
                r"^(plain|converted)\.json +\d+ +[\d.]+ % +([\d.]+) % +([\d.]+) %$", by_file, re.MULTILINE)}
            (after, left), (_, plain) = (found[start].get(name, (100, 0)) for name in ("converted", "plain"))
            self.expect(f"files-{start}", after < 3 and left > 3 * plain > 0, step.output, step)
        self.expect("files-start", found["sm_80"]["converted"][1] > found["sm_90a"]["converted"][1] + 5, str(found))

    def check_works(self):
        """Works that rows do not have any more are taken from the program; a parameter that is held is the
        machine's."""
        source, program, tuning, machine = (self.suite.work / f"works.{kind}"
                                            for kind in ("onnx", "mlir", "json", "txt"))
        made, _, _ = pack_products.product(*PRODUCTS["wide"])()
        onnx.save(made, source)
        noted = harness.run([self.suite.tool("cameoc"), source, f"--target={TARGET}", "--emit=tuning",
                             "--stop-after=scheduled", "-o", program], SECONDS)
        works = model.works_noted(program.read_text()) if program.exists() else {}
        constants, limits = model.read_target(TARGET)
        times = model.Works(list(works.values()), limits).microseconds(constants) if works else []
        tuning.write_text(json.dumps({"cameo_tuning": 1, "target": TARGET, "results": [
            {"key": key, "schedule": schedule, "family": "mma", "work": {"blocks": 1}, "status": "ok",
             "us": time, "estimate_us": time} for (key, schedule), time in zip(works, times)] + [
            {"key": "other", "schedule": "", "work": {"blocks": 1}, "status": "ok", "us": 1.0}]}))
        machine.write_text('{"name": "dram_copy", "median": 3600.0, "usable": true}')
        step = harness.run([sys.executable, harness.SOURCE / "tools" / "gpupack" / "fit.py",
                            f"--tuning={tuning}", f"--works={program}", f"--constants={machine}",
                            "--hold=memory_share"], SECONDS)
        self.expect("works-joined", len(works) > 8 and f"{len(works)} rows of 1 dispatches; left out: 1 for "
                    "no work" in step.output and "warning" not in step.output, step.output, noted, step)
        self.expect("works-held", re.search(r", 0\.750(?:, [\d.]+){5}\},$", step.output, re.MULTILINE)
                    and "memory_share " not in step.output, step.output, step)

    def check_refusals(self):
        path = self.suite.work / "other.json"
        row = {"key": "a", "family": "mma", "us": 1.0, "estimate_us": 1.0, "status": "failed"}
        for name, document, options, words in (
                ("version", {"cameo_tuning": 2, "results": []}, [], "cameo_tuning is 2, not 1"),
                ("target", {"cameo_tuning": 1, "target": "sm_80", "results": []}, [f"--target={TARGET}"],
                 f"is of sm_80, not {TARGET}"),
                ("board", {"cameo_tuning": 1, "target": "sm_80:b200", "results": [row]}, [],
                 "unknown board b200 of sm_80"),
                ("rows", {"cameo_tuning": 1, "target": "sm_80", "results": [
                    row, {**row, "status": "ok"}, {**row, "status": "ok", "work": {}, "spread": 0.2}]}, [],
                 "no row can be used: {'status failed': 1, 'no work': 2}")):
            path.write_text(json.dumps(document))
            step = harness.run([sys.executable, harness.SOURCE / "tools" / "gpupack" / "fit.py",
                                f"--tuning={path}", *options], SECONDS)
            self.expect(f"refuses-{name}", step.code == 2 and words in step.output, words, step)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    tests = FitTests(parser.parse_args())
    tests.check_formula()
    tests.check_recovery()
    tests.check_outliers()
    tests.check_files()
    tests.check_works()
    tests.check_refusals()
    return tests.suite.close()


if __name__ == "__main__":
    sys.exit(main())
