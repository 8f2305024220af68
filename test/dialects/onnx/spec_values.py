#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values outside of ONNX's specification, for every attribute of every supported operator and for
every input that is read as sizes, axes or counts: each must be refused, by cameoc or by the artefact,
in words that name the node and the attribute. ONNX Runtime gets the same models: what it refuses must
not be accepted in silence, and of what it runs Cameo's results are the same."""
import argparse
import pathlib
import pickle
import re
import resource
import subprocess
import sys
import threading
import zlib

import numpy
import onnx
from onnx import defs

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent.parent / "e2e"
sys.path.insert(0, str(E2E))

import batch  # noqa: E402
import harness  # noqa: E402
import reference  # noqa: E402
import row_cases  # noqa: E402
import spec_kinds  # noqa: E402
from operator_table import FOLDED  # noqa: E402

SECONDS = 60
MEMORY = 8 << 30
USAGE = 2  # the exit code of docs/command-line.md
# Nodes in one model: fewer than the problems that an import tells in full.
TOGETHER = 40

# What ONNX Runtime or the specification refuses and Cameo runs, by a regex of the label, and why.
EXCEPTIONS = {
    r"LRN-\d+-(alpha|beta)-(nan|-1\.0|0\.0)":
        "the specification gives no range; ONNX Runtime asks for positive numbers",
    r"MaxRoiPool-\d+-spatial_scale-(nan|-1\.0|0\.0)":
        "the specification gives no range; ONNX Runtime asks for a positive number",
    r"(Gather|(Gather|Scatter)(Elements|ND))-\d+-indices-.*-given":
        "indices that only a run knows are moved into range: docs/onnx.md, operators.md",
    r"RoiAlign-\d+-batch_indices-.*-given":
        "images that only a run knows are moved into range: docs/onnx.md, operators.md",
    r"(GRU|LSTM|RNN|ReverseSequence)-\d+-sequence_lens-.*-given":
        "lengths that only a run knows are moved into range: docs/onnx.md, operators.md",
}

# What ONNX Runtime runs and Cameo refuses, or computes otherwise.
VALID_EXCEPTIONS = {
    r".*-strides-\[2147483648,2147483648\]": "a stride has 31 bits, which the refusal names",
    r"Squeeze-\d+-axes-\[0,0\]": "an axis given twice is not defined by the specification",
    r"Squeeze-\d+-axes-\[\]":
        "no axis is squeezed, as onnx's evaluator has it; ONNX Runtime takes it for all of size 1",
    r"Attention-\d+-scale-nan": "a scale that is no number is refused",
    r"RNN-\d+-clip-(nan|-1\.0|0\.0)": "ONNX Runtime takes none of LSTM and GRU, whose text is the same",
    r"OneHot-\d+-depth-int32\[\]0-.*": "ONNX Runtime refuses it of other types",
    r"Cast(Like)?-\d+-to-8": "strings are not supported",
    r".*-axes-int64\[2\]\[0,0\]-given": "an axis given twice is not defined by the specification",
    r"ConvInteger-10-strides-\[30,30\]":
        "ONNX Runtime pads by less than nothing; Conv, of the same text, does not",
    r"LayerNormalization-17-stash_type-1[01]": "Mean and InvStdDev are FP32 or BF16",
    r"GroupNormalization-21-stash_type-1[06]": "computed in FP32 where FP16 or BF16 would do",
}

# What neither is compared nor refused: rounding, or the machine's own functions, decide the result.
ILL_CONDITIONED = {
    r"Attention-\d+-scale-inf": "a query whose every score is -inf is taken for one that sees no key",
    r"LRN-\d+-alpha-inf": "infinity times zero, or over infinity: which depends on the order",
    r"RMSNormalization-\d+-epsilon--1\.0": "the mean of the squares is nearly one: their difference is rounding",
}


class Probe:
    """A model with one value that is not as it should be. `must` says that the specification rules
    the value out; else ONNX Runtime decides. `words`: one of them is in the refusal."""

    def __init__(self, label, model, feed, words, must):
        self.label, self.model, self.feed = label, model, feed
        self.words, self.must = words, must
        self.excepted = ""  # why, where it is
        self.theirs = None  # ONNX Runtime's refusal
        self.ours = None  # cameoc's or the artefact's
        self.steps = []


# --- what is tried

def attributes_of(operator, version):
    return defs.get_schema(operator, version, "").attributes


def changed_attributes(operator, version, complete):
    """Of the oldest and the newest version all, of others those that read otherwise than before."""
    known = attributes_of(operator, version)
    older = max((s.since_version for s in defs.get_all_schemas_with_history() if not s.domain and
                 s.name == operator and s.since_version < version), default=0)
    before = attributes_of(operator, older) if older else {}

    def content(attribute):
        return (attribute.type, attribute.required, attribute.description,
                attribute.default_value.SerializeToString())

    return {name: attribute for name, attribute in known.items()
            if complete or name not in before or content(attribute) != content(before[name])}


def base_cases(operator, version):
    row_cases.random = numpy.random.default_rng(zlib.crc32(operator.encode()) + version)
    return [case for case in row_cases.CASES[operator](version) if "hundreds" not in case.label]


def with_attribute(case, operator, version, name, value):
    """The case's model with one attribute set, or left out where the value is None."""
    model = case.model(operator, version)
    node = model.graph.node[0]
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
    if value is not None:
        made = isinstance(value, onnx.AttributeProto)
        node.attribute.append(value if made else spec_kinds.attribute(name, value))
    return model


def attribute_probes(operator, version, complete):
    cases = base_cases(operator, version)
    known = attributes_of(operator, version)
    for name, schema in sorted(changed_attributes(operator, version, complete).items()):
        case = next((c for c in cases if name in c.attributes), cases[0])

        def probe(what, value, must):
            model = with_attribute(case, operator, version, name, value)
            words = [name, *spec_kinds.SYNONYMS.get(name, ())]
            return Probe(f"{operator}-{version}-{name}-{what}", model, case.feed(), words, must)

        for what, value in spec_kinds.of_other_kind(name, schema):
            yield probe(what, value, True)
        if schema.required:
            yield probe("absent", None, True)
        for value, must in row_cases.outside(operator, version, name, case):
            yield probe(spec_kinds.text(value), value, must)
    # Those of other versions, and of none.
    others = {name for schema in defs.get_all_schemas_with_history()
              if schema.name == operator and not schema.domain for name in schema.attributes}
    for name in sorted({"no_such_attribute"} | others - set(known)):
        yield Probe(f"{operator}-{version}-unknown-{name}",
                    with_attribute(cases[0], operator, version, name, 1), cases[0].feed(), [name],
                    True)


def input_probes(operator, version):
    """Inputs that hold what is wrong, as constants and given at run time."""
    for number, formal in enumerate(defs.get_schema(operator, version, "").inputs):
        seen = set()
        for case in base_cases(operator, version):
            if number >= len(case.inputs) or case.inputs[number] is None:
                continue
            for value, must in row_cases.outside_input(operator, formal.name, case, number):
                text = spec_kinds.text(value)
                if text in seen:
                    continue
                seen.add(text)
                for how, given in (("fixed", row_cases.Fixed(value)), ("given", value)):
                    inputs = [*case.inputs[:number], given, *case.inputs[number + 1:]]
                    changed = row_cases.Case(case.label, inputs, case.attributes, case.outputs)
                    yield Probe(f"{operator}-{version}-{formal.name}-{text}-{how}",
                                changed.model(operator, version), changed.feed(), [], must)


def all_probes(pattern):
    for operator, version, complete in row_cases.rows():
        found = list(attribute_probes(operator, version, complete))
        if complete:
            found += input_probes(operator, version)
        yield from (probe for probe in found if re.search(pattern, probe.label))


# --- what ONNX Runtime says

class OnnxRuntime:
    """ONNX Runtime in a process of its own, since some values make it crash."""
    SERVER = """
import pickle, sys
import onnxruntime
onnxruntime.set_default_logger_severity(4)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
while True:
    model, feed = pickle.load(sys.stdin.buffer)
    try:
        onnxruntime.InferenceSession(model, options).run(None, feed)
        answer = ""
    except Exception as error:
        answer = str(error).strip() or "an error without words"
    pickle.dump(answer, sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""
    # It lacks the kernel, or numpy the type; so nothing is said of the value.
    NO_KERNEL = ("NOT_IMPLEMENTED", "No corresponding Numpy type")

    def __init__(self):
        self.process = None

    @staticmethod
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def refusal(self, model, feed):
        """Its words, or an empty text where it runs the model."""
        if not self.process:
            self.process = subprocess.Popen(
                [sys.executable, "-c", self.SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, preexec_fn=self.limits)
        try:
            pickle.dump((model.SerializeToString(), feed), self.process.stdin)
            self.process.stdin.flush()
            answer = pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError):
            self.process.wait()
            self.process = None
            return "it crashed"
        return "" if any(words in answer for words in self.NO_KERNEL) else answer

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()


# --- what Cameo says

class SpecValues:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("onnx-spec-values", options.build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.threads = threading.local()
        self.runtimes = []

    def ask_onnxruntime(self, probes):
        if not hasattr(self.threads, "onnxruntime"):
            self.threads.onnxruntime = OnnxRuntime()
            self.runtimes.append(self.threads.onnxruntime)
        for probe in probes:
            probe.theirs = self.threads.onnxruntime.refusal(probe.model, probe.feed)

    def refused(self, probes, file):
        """[(number of the probe, the refusal)] of one run of cameoc over all of them, and its step."""
        onnx.save(batch.merged(probes), file.with_suffix(".onnx"))
        step = harness.run([self.cameoc, file.with_suffix(".onnx"), "--stop-after=dispatched", "-o",
                            file.with_suffix(".mlir")], SECONDS)
        if step.code != 1:
            return [], step
        found = []
        for line in step.output.splitlines():
            # Of an import: a problem a node.
            if said := re.match(r"(\d+)/\w+: (?:note|error): (.*)", line):
                found.append((int(said[1]), said[2]))
            # Of all that cannot be compiled: nodes of one reason share a line.
            if said := re.search(r"nodes? ('\d+/.*) \(\w+, opset \d+\): (.*)", line):
                found += [(int(number), said[2]) for number in re.findall(r"'(\d+)/", said[1])]
        return found, step

    def compile(self, probes, number):
        """Refusals by cameoc. Those that do not refuse together are looked at one by one."""
        file = self.suite.work / f"batch-{number}"
        pending = list(probes)
        while pending:
            found, step = self.refused(pending, file)
            for at, text in found:
                pending[at].ours, pending[at].steps = text, [step]
            left = [probe for probe in pending if probe.ours is None]
            if step.code == 0:
                break
            if len(left) == len(pending):
                if len(pending) == 1:
                    pending[0].ours, pending[0].steps = f"in other words: {step.output}", [step]
                    break
                for at, probe in enumerate(pending):
                    self.compile([probe], f"{number}-{at}")
                if step.crashed:
                    self.suite.fail(f"{pending[0].label} to {pending[-1].label}",
                                    f"in one model: {step.how()}", step)
                break
            pending = left
        for suffix in (".onnx", ".mlir", ".mlir.weights"):
            file.with_suffix(suffix).unlink(missing_ok=True)

    def execute(self, probe, number):
        """The artefact's refusal, of what cameoc compiles."""
        file = self.suite.work / f"run-{number}"
        onnx.save(probe.model, file.with_suffix(".onnx"))
        probe.steps = [harness.run([self.cameoc, file.with_suffix(".onnx"), "-o", file,
                                    "--target=sim:sm_80"], SECONDS)]
        if probe.steps[0].code == 0:
            command = [file, "--device=sim"]
            for name, array in probe.feed.items():
                data = file.with_suffix(f".{name}.pb")
                data.write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
                command.append(f"--input={name}=@{data}")
            probe.steps.append(harness.run(command, SECONDS))
        if probe.steps[-1].code:
            probe.ours = harness.first_error(probe.steps[-1].output)
        for left in self.suite.work.glob(f"run-{number}*"):
            if left.stem.split(".")[0] == f"run-{number}":
                left.unlink()

    def check_valid(self, probes):
        """What neither the specification nor ONNX Runtime refuses computes what ONNX Runtime computes."""
        groups = {}
        for probe in probes:
            if reason := next((why for pattern, why in ILL_CONDITIONED.items()
                               if re.fullmatch(pattern, probe.label)), ""):
                self.suite.skip(reason)
                continue
            values = reference.expected(probe.model, probe.feed)
            if isinstance(values, str):
                self.suite.skip("no reference runs it")
                continue
            entry = batch.Entry(probe.label, probe.model, probe.feed)
            for output, value in zip(entry.model.graph.output, values):
                output.CopyFrom(onnx.helper.make_tensor_value_info(
                    output.name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            # Nodes of one seed in a model draw one after the other.
            operator = probe.model.graph.node[0].op_type
            key = f"{probe.model.opset_import[0].version}{operator if operator in reference.RANDOM else ''}"
            groups.setdefault(key, []).append((entry, values))
        groups = [(f"valid-{key}-{at}", group[at:at + TOGETHER])
                  for key, group in groups.items() for at in range(0, len(group), TOGETHER)]
        runner = batch.Runner(self.suite, self.options)

        def run(group):
            runner.run(group[0], [entry for entry, _ in group[1]])

        used = set()
        for (_, group), _ in harness.for_each(groups, run, self.options.jobs):
            for entry, values in group:
                reason = batch.judge(entry, values)
                excepted = [pattern for pattern in VALID_EXCEPTIONS
                            if reason and re.fullmatch(pattern, entry.label)]
                if excepted and not any(step.crashed for step in entry.steps):
                    used.update(excepted)
                    self.suite.skip(VALID_EXCEPTIONS[excepted[0]])
                elif reason:
                    self.suite.fail(entry.label, reason, *entry.steps)
                else:
                    self.suite.ok(entry.label)
        for pattern in set(VALID_EXCEPTIONS) - used if not self.options.filter else ():
            self.suite.fail(pattern, "is an exception that nothing needs any more")

    def judge(self, probe, used):
        """What is wrong, or an empty text."""
        if any(step.crashed for step in probe.steps):
            return f"cameo: {probe.steps[-1].how()}"
        if probe.ours is None:
            for pattern in EXCEPTIONS:
                if re.fullmatch(pattern, probe.label):
                    used.add(pattern)
                    probe.excepted = EXCEPTIONS[pattern]
                    return ""
            if probe.must:
                return "is accepted, against the specification"
            return f"is accepted; ONNX Runtime: {probe.theirs[:200]}"
        if len(probe.steps) == 2 and (probe.steps[1].code != USAGE or
                                      "node 'the_" not in probe.ours):
            return f"ends with {probe.steps[1].how()}: {probe.ours}"
        if probe.words and not any(word in probe.ours for word in probe.words):
            return f"is refused without saying {' or '.join(probe.words)}: {probe.ours[:300]}"
        return ""

    def check_operators(self):
        """Every operator that the compiler lists has a case to begin from, but those that are folded."""
        listed = harness.run([self.cameoc, "--list-operators"], SECONDS).output
        names = set(re.findall(r"^\| (\w+) \|", listed, re.MULTILINE)) - {"Operator"}
        missing = names - set(row_cases.CASES) - FOLDED
        if missing or not names:
            self.suite.fail("operators", f"row_cases.py has none of {sorted(missing)}")
        else:
            self.suite.ok("operators")

    def run(self):
        self.check_operators()
        probes = list(all_probes(self.options.filter))
        by_opset = {}
        for probe in probes:
            by_opset.setdefault(probe.model.opset_import[0].version, []).append(probe)
        groups = [(f"{opset}-{at}", group[at:at + TOGETHER]) for opset, group in by_opset.items()
                  for at in range(0, len(group), TOGETHER)]

        def together(numbered):
            self.ask_onnxruntime(numbered[1])
            wrong = [probe for probe in numbered[1] if probe.must or probe.theirs]
            self.compile(wrong, numbered[0])

        def alone(numbered):
            self.execute(numbered[1], numbered[0])

        jobs = self.options.jobs
        for _ in harness.for_each(groups, together, jobs):
            pass
        for runtime in self.runtimes:
            runtime.close()
        left = [probe for probe in probes if probe.ours is None and (probe.must or probe.theirs)]
        for _ in harness.for_each(list(enumerate(left)), alone, jobs):
            pass
        used = set()
        self.check_valid([probe for probe in probes if not (probe.must or probe.theirs)])
        for probe in (probe for probe in probes if probe.must or probe.theirs):
            if reason := self.judge(probe, used):
                self.suite.fail(probe.label, reason, *probe.steps)
            elif probe.excepted:
                self.suite.skip(probe.excepted)
            else:
                self.suite.ok(probe.label)
        for pattern in set(EXCEPTIONS) - used if not self.options.filter else ():
            self.suite.fail(pattern, "is an exception that nothing needs any more")
        print(f"{len(probes)} values; refused by cameoc: "
              f"{sum(p.ours is not None and len(p.steps) == 1 for p in probes)}, by the artefact: "
              f"{sum(p.ours is not None and len(p.steps) == 2 for p in probes)}; "
              f"ONNX Runtime refuses {sum(bool(p.theirs) for p in probes)}")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return SpecValues(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
