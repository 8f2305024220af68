#!/usr/bin/env python3
"""Intermediate values of whole networks, as `--tap=*` and the executable's `--taps` show them.

What is tapped must be every value of the model that --stop-after=normalized --emit=onnx writes, by the
names that it has there, and what ONNX Runtime computes of that model when all of them are outputs: at
-O0, where each operator is a kernel, and at -O2, where kernels store what they fuse besides. Outputs
keep their values, and the arena must not grow much: a value lives no longer for being tapped.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import shutil
import sys
import urllib.parse

import numpy
import onnx

import harness
import launches
import modern_networks
import typed_networks

SECONDS = 300
# Relative to a value's largest element.
LIMITS = {"fp32": 1e-4, "fp16": 2e-2}
# An arena with all values tapped, times that without. Kernels that store what they fuse besides have
# all of it at once, as far as that is no more than one kernel per operator has.
MOST_ARENA = {"-O0": 1.0, "-O2": 2.25}
NETWORKS = ("unet", "gpt", "swin")
CHECKED = "unet-O2"


def names_of(model):
    """{what an exported value is called in the compiler: its name in the model}"""
    names = {value.name: value.name for value in model.graph.input}
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and not any(
                node.input[0] == other for each in model.graph.node for other in each.output):
            continue  # how a large constant of equal elements is written
        for number, output in enumerate(node.output):
            if output:
                # A cast has the name of the value that it casts, which comes first.
                names.setdefault(f"{node.name}:{number}" if number else node.name, output)
    return names


def reference(model, feed):
    """{name in the compiler: what ONNX Runtime computes}"""
    names = names_of(model)
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    known = {output.name for output in model.graph.output} | set(feed)
    probe.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name)
                              for name in dict.fromkeys(names.values()) if name not in known)
    arrays = {**feed, **typed_networks.run_reference(probe, feed)}
    return {name: arrays[value] for name, value in names.items()}


def problem_of(found, wanted, limit):
    if set(found) != set(wanted):
        return (f"not tapped: {sorted(set(wanted) - set(found))[:3]}; "
                f"unknown: {sorted(set(found) - set(wanted))[:3]}")
    for name, array in wanted.items():
        tapped = found[name]
        if tapped.shape != array.shape or tapped.dtype != array.dtype:
            return f"'{name}' is {tapped.dtype}{tapped.shape}, not {array.dtype}{array.shape}"
        if array.dtype.kind != "f":
            if (tapped != array).any():
                return f"'{name}' differs"
            continue
        a, b = tapped.astype(numpy.float64), array.astype(numpy.float64)
        finite = numpy.isfinite(b)
        scale = numpy.abs(b[finite]).max(initial=0)
        off = numpy.abs(a[finite] - b[finite]).max(initial=0)
        if (a[~finite] != b[~finite]).any() or not off <= limit * scale + 1e-6:
            return f"'{name}' is off by {off:.3g} where the largest element is {scale:.3g}"
    return None


def read_taps(folder):
    return {urllib.parse.unquote(file.stem): numpy.load(file) for file in folder.glob("*.npy")}


class Taps:
    def __init__(self, suite):
        self.suite = suite

    def step(self, case, *command):
        step = harness.run(command, SECONDS)
        if step.code != 0:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
        return step.code == 0

    def judge(self, case, problem, *steps):
        if problem:
            self.suite.fail(case, problem, *steps)
        else:
            self.suite.ok(case)

    def exported(self, network, stage, *flags):
        out = network.work / f"{stage}.onnx"
        ok = self.step(f"{network.name}-export", self.suite.tool("cameoc"), network.path, "-o", out,
                       "--emit=onnx", f"--stop-after={stage}", *flags)
        return onnx.load(out) if ok else None

    def tapped(self, network, case, artefact, number, *flags):
        """(outputs, taps) of a run."""
        folder = network.work / "taps"
        shutil.rmtree(folder, ignore_errors=True)
        step, outputs = network.run(artefact, number, ("--device=sim", f"--taps={folder}", *flags))
        if outputs is None:
            self.suite.fail(case, harness.first_error(step.output), step)
            return None, {}
        return outputs, read_taps(folder)

    def arena(self, artefact, shapes):
        step = harness.run([artefact, "--info", shapes], SECONDS)
        found = re.search(r"intermediate values: (\d+) B", step.output)
        return int(found.group(1)) if found else None

    def check_level(self, network, level):
        case = f"{network.name}{level}"
        model = self.exported(network, "normalized", level)
        step, plain, report = network.compile(level)
        if model is None or report is None:
            return self.suite.fail(case, harness.first_error(step.output), step)
        plain = plain.rename(plain.with_suffix(".plain"))
        # One with the simulator's checks: nothing is shown that no kernel has written.
        checks = case == CHECKED
        step, artefact, report = network.compile(
            level, ["--tap=*", *(["--sim-checks-only"] if checks else [])])
        if report is None:
            return self.suite.fail(case, harness.first_error(step.output), step)
        for number, feed in enumerate(network.feeds):
            outputs, taps = self.tapped(network, case, artefact, number,
                                        *(["--sim-checks=bounds,init"] if checks else []))
            if outputs is None:
                return None
            self.judge(f"{case}-values-{number}",
                       problem_of(taps, reference(model, feed), LIMITS["fp32"]))
            step, untapped = network.run(plain, number)
            self.judge(f"{case}-outputs-{number}", step.code and harness.first_error(step.output) or
                       problem_of(outputs, untapped, LIMITS["fp32"]), step)
        shapes = launches.shapes_flag(network.feeds[-1])
        before, after = self.arena(plain, shapes), self.arena(artefact, shapes)
        if before is None:  # depends on values that the host reads
            return None
        print(f"{case}: {len(taps)} values tapped, arena {before} B without taps, {after} B with "
              f"({after / before:.2f})")
        self.judge(f"{case}-arena", after > MOST_ARENA[level] * before and
                   f"the arena grows from {before} to {after} B")

    def check_precision(self, network):
        """As they are stored: the values of the model after stage precision."""
        case = f"{network.name}-fp16"
        model = self.exported(network, "precision", "--precision=fp16")
        step, artefact, report = network.compile("-O2", ["--tap=*", "--precision=fp16"])
        if model is None or report is None:
            return self.suite.fail(case, harness.first_error(step.output), step)
        wanted = reference(model, network.feeds[0])
        _, taps = self.tapped(network, case, artefact, 0)
        kinds = {array.dtype for array in taps.values()}
        # A cast of a value is exported under a name of its own, and is not a value of the model's.
        self.judge(case, problem_of(taps, {name: wanted[name] for name in taps if name in wanted},
                                    LIMITS["fp16"]))
        self.judge(f"{case}-types", numpy.dtype(numpy.float16) not in kinds and f"types: {kinds}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("taps", options.build)
    taps = Taps(suite)
    for name in NETWORKS:
        if not re.search(options.filter, name):
            continue
        network = launches.Case(suite, name, modern_networks.SMALL_NETWORKS[name], False)
        for level in harness.LEVELS:
            taps.check_level(network, level)
        if name == "unet":
            taps.check_precision(network)
        network.close()
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
