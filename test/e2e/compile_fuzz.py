#!/usr/bin/env python3
"""Random models of compile_forms.py, each compiled at a level and in a precision that are drawn, from
ONNX down to the launch plan and PTX: cameoc has to exit with 0. What it refuses by rights is in
EXPECTED, by its words.

Several models are compiled as one, whose graphs have nothing to do with one another; where that fails,
each of them is compiled alone. A failure prints the seed, the model's file and the options: --seed=N
--count=1 makes it again. Results are compared by random_graphs.py and fuzz_models.py.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import json
import multiprocessing
import os
import re
import sys
from dataclasses import dataclass, field

import numpy
import onnx

import compile_forms
import fuzz_graphs
import fuzz_models
import harness

SECONDS = 120
# Freed and fresh memory holds this byte and its complement: what is read behind its life is no address.
ENVIRONMENT = {**os.environ, "MALLOC_PERTURB_": "165"}
# Nothing of NVIDIA's is run, and nothing is made for the simulator.
TARGET = "ptx:sm_80"
LEVELS = ("-O0", "-O1", "-O2")
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "int8")
TOGETHER = 8  # models
NODES = 6  # of a model, about how many at most
HALF = 4  # every fourth model has tensors of FP16

# Words of the errors that are right, and why; of so many models in a hundred at most.
MOST_REFUSED = 1
EXPECTED = {
    "none of its [0-9]+ names is that of a value of this model":
        "ranges are those of values of FP32, of which a model of FP16 may have none",
    "Squeeze, opset [0-9]+.: no axes are given, and size [0-9]+ is known only at run time":
        "the number of dimensions of its result is known only at run time",
}


@dataclass
class Outcome:
    """Of models that were compiled together."""
    passed: int = 0
    failures: list = field(default_factory=list)  # of seeds: (seeds, reason, steps)
    expected: collections.Counter = field(default_factory=collections.Counter)
    drawn: collections.Counter = field(default_factory=collections.Counter)


def draw(seeds):
    """(sample, ranges) of each seed of a group, which has one opset."""
    opset = fuzz_graphs.OPSETS[seeds[0] // TOGETHER % len(fuzz_graphs.OPSETS)]
    pairs = [compile_forms.draw(seed, NODES, opset) for seed in seeds]
    for seed, (sample, _) in zip(seeds, pairs):
        if seed % HALF == 0:
            sample.model = compile_forms.as_half(sample.model)
    return pairs


def refusal(step):
    """The words of EXPECTED that a step ended with; None where it ended otherwise."""
    if step.code in (0, None) or step.crashed:
        return None
    return next((words for words in EXPECTED if re.search(words, step.output)), None)


class Compiler:
    """One process's part of the work."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.cameoc = options.build.resolve() / "bin" / "cameoc"

    @staticmethod
    def options_of(group):
        """cameoc's flags for the models of a group."""
        random = numpy.random.default_rng(group)
        return [LEVELS[random.integers(3)], f"--precision={PRECISIONS[random.integers(5)]}"]

    def compile(self, name, model, ranges, flags):
        source = self.work / f"{name}.onnx"
        onnx.save(model, source)
        flags = [*flags, f"--target={self.options.target}", "--emit=plan", "-j1"]
        if "--precision=int8" in flags:
            file = self.work / f"{name}.json"
            file.write_text(json.dumps({"cameo_ranges": 1, "ranges": ranges}))
            flags.append(f"--ranges={file}")
        return harness.run([self.cameoc, source, "-o", self.work / name, *flags], SECONDS,
                           env=ENVIRONMENT)

    @staticmethod
    def reason(step):
        """Why a model failed, in a line."""
        return f"{step.how()}: {harness.first_error(step.output)[:200]}"

    def alone(self, outcome, seed, sample, ranges, flags):
        name = f"seed-{seed}"
        step = self.compile(name, sample.model, ranges, flags)
        is_there = (self.work / name).exists()
        (self.work / name).unlink(missing_ok=True)
        known = refusal(step)
        if known:
            outcome.expected[known] += 1
        elif step.code != 0:
            outcome.failures.append(([seed], f"{' '.join(flags)}: {self.reason(step)}", [step]))
            return
        elif not is_there:
            outcome.failures.append(([seed], f"{' '.join(flags)}: exit code 0, and no file", [step]))
            return
        else:
            outcome.passed += 1
        for ending in (".onnx", ".json"):
            (self.work / name).with_suffix(ending).unlink(missing_ok=True)

    def check(self, seeds):
        """Compiles the models of one group, or some of them."""
        outcome = Outcome()
        flags = self.options_of(seeds[0] // TOGETHER)
        pairs = fuzz_models.isolated(draw, seeds)
        if not pairs:
            outcome.failures.append((seeds, "cannot be drawn", []))
            return outcome
        samples = [sample for sample, _ in pairs]
        for sample in samples:
            outcome.drawn.update(node.op_type for node in sample.model.graph.node)
        every = {fuzz_graphs.prefix_of(number) + name: found
                 for number, (_, ranges) in enumerate(pairs) for name, found in ranges.items()}
        name = f"seeds-{seeds[0]}-{seeds[-1]}"
        step = self.compile(name, fuzz_graphs.join(samples).model, every,
                            flags) if len(seeds) > 1 else None
        if step and step.code == 0 and (self.work / name).exists():
            outcome.passed += len(seeds)
        else:
            for seed, (sample, ranges) in zip(seeds, pairs):
                self.alone(outcome, seed, sample, ranges, flags)
            # Alone some may be refused, as together; nothing else that happens together is right.
            if step and not outcome.failures and refusal(step) not in outcome.expected:
                outcome.failures.append((seeds, f"only together, {' '.join(flags)}: "
                                         f"{self.reason(step)}", [step]))
                outcome.passed -= 1  # the first one's
                return outcome
        for file in self.work.glob(f"{name}*"):
            file.unlink()
        return outcome


def groups(seeds):
    """The seeds in groups of those that are compiled together."""
    found = collections.defaultdict(list)
    for seed in seeds:
        found[seed // TOGETHER].append(seed)
    return list(found.values())


def run(options):
    suite = harness.Suite("compile-fuzz", options.build.resolve())
    suite.tool("cameoc")
    expected, drawn = collections.Counter(), collections.Counter()
    with multiprocessing.Pool(options.jobs, fuzz_models.start,
                              (Compiler, options, suite.work)) as pool:
        seeds = harness.seeds_of("compile-fuzz", options, options.count)
        for outcome in pool.imap_unordered(fuzz_models.check, groups(seeds)):
            for _ in range(outcome.passed):
                suite.ok()
            for seeds, reason, steps in outcome.failures:
                suite.fail("seed " + " to ".join(map(str, sorted({seeds[0], seeds[-1]}))), reason,
                           *steps)
            expected += outcome.expected
            drawn += outcome.drawn
    print(f"{sum(drawn.values())} nodes: " +
          ", ".join(f"{name} {count}" for name, count in drawn.most_common()))
    for words, count in expected.items():
        suite.skip(f"refused: {words} ({EXPECTED[words]})", count)
    if sum(expected.values()) > MOST_REFUSED * options.count / 100:
        suite.fail("refused", f"{sum(expected.values())} of {options.count} models; {MOST_REFUSED} % may be")
    return suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target=TARGET)
    harness.add_seed(parser, 0)
    parser.add_argument("--count", type=int, default=1300, metavar="N", help="how many models")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
