"""Many models of one node as one model: compiling and starting cost more than such a node does.

A case that is refused or fails does not hide the others: what remains is tried again without it. What
fails together and not alone is a failure of the first one."""
# SPDX-License-Identifier: Apache-2.0
import re
import shutil
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import helper, numpy_helper

import harness
import reference

SECONDS = 120

# libdevice reduces large arguments of these with an array of this many bytes at most.
REDUCED = {"Sin", "Cos", "Tan"}
REDUCTION_BYTES = 40  # __internal_trig_reduction_slowpathd's; that of single precision has 28


@dataclass
class Entry:
    """A model of one node whose inputs are called x0, x1, ... and outputs y0, y1, ..."""
    label: str
    model: onnx.ModelProto
    feed: dict
    outputs: list = field(default_factory=list)  # arrays, after a good run
    refusal: str = ""  # cameoc's words
    failure: str = ""
    steps: list = field(default_factory=list)


def merged(entries):
    """One model; what belongs to entry 3 starts with "3/"."""
    nodes, inputs, outputs, weights = [], [], [], []
    first = entries[0].model
    for number, entry in enumerate(entries):
        graph = entry.model.graph

        def renamed(proto, prefix=f"{number}/"):
            copy = type(proto)()
            copy.CopyFrom(proto)
            copy.name = prefix + proto.name
            return copy

        assert list(entry.model.opset_import) == list(first.opset_import)
        for node in graph.node:
            copy = renamed(node)
            copy.input[:] = [f"{number}/{name}" if name else "" for name in node.input]
            copy.output[:] = [f"{number}/{name}" if name else "" for name in node.output]
            nodes.append(copy)
        inputs += map(renamed, graph.input)
        outputs += map(renamed, graph.output)
        for put in [*inputs[-len(graph.input):], *outputs[-len(graph.output):]]:
            for dim in put.type.tensor_type.shape.dim:
                if dim.dim_param:
                    dim.dim_param = f"{number}/{dim.dim_param}"
        weights += map(renamed, graph.initializer)
    model = helper.make_model(helper.make_graph(nodes, "batch", inputs, outputs, weights),
                              opset_imports=first.opset_import)
    model.ir_version = max(entry.model.ir_version for entry in entries)
    return model


class Runner:
    def __init__(self, suite, options):
        reference.check_itself()
        self.suite, self.options = suite, options
        self.cameoc = suite.tool("cameoc")
        self.ways = harness.ways(options)
        self.reordered = harness.ReorderedSums(suite.name)

    def run(self, name, entries):
        """Fills in the entries' outputs, refusals and failures; `name` names the folder."""
        pending = list(entries)
        while pending:
            steps, reason = self.attempt(name, pending)
            if not reason:
                return
            # Nodes of one reason share a line, of which the first three are named.
            refused = {int(number): text for names, text in re.findall(
                r"nodes? ('\d+/.*) \(\w+, opset \d+\): (.*)", steps[0].output)
                for number in re.findall(r"'(\d+)/", names)} if len(steps) == 1 else {}
            if refused and "unsupported" in steps[0].output and not steps[0].crashed:
                for number, text in refused.items():
                    pending[number].refusal, pending[number].steps = text, steps
                pending = [entry for i, entry in enumerate(pending) if i not in refused]
                continue
            if len(pending) == 1:
                pending[0].failure, pending[0].steps = reason, steps
                return
            for entry in pending:  # each alone
                self.run(name, [entry])
            if not any(entry.failure or entry.refusal for entry in pending):
                pending[0].failure = f"in one model with {len(pending) - 1} others: {reason}"
                pending[0].steps = steps
            return

    def attempt(self, name, entries):
        """(steps, what went wrong) of one model's compilations and runs."""
        work = self.suite.work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        onnx.save(merged(entries), work / "model.onnx")
        command, files = write_inputs(work, entries)
        steps, written = [], None
        for flags, runs in self.ways:
            steps.append(harness.run([self.cameoc, work / "model.onnx", "-o", work / "model",
                                      *flags, f"--report={work / 'report.json'}"], SECONDS))
            if steps[-1].code != 0:
                return steps, f"cameoc: {steps[-1].how()}: {harness.first_error(steps[-1].output)}"
            if reason := harness.gate(self.options.build, work / "model", work / "report.json",
                                     array_bytes(entries)):
                return steps, reason
            for options in runs:
                steps.append(harness.run([work / "model", *options, *command], SECONDS))
                if steps[-1].code != 0:
                    return steps, f"{steps[-1].how()}: {harness.first_error(steps[-1].output)}"
                before, written = written, [file.read_bytes() for _, file in files]
                # What is summed in another order at another level is listed; runs of one artefact agree.
                listed = self.reordered if options is runs[0] else None
                if other := other_bits(files, before or written, written, listed):
                    return steps, f"with {[*flags, *options]} {other} is other than before"
        for entry in entries:
            entry.outputs, entry.steps = [], steps
        for entry, file in files:
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            entry.outputs.append(numpy.asarray(numpy_helper.to_array(tensor)))
        shutil.rmtree(work)
        return steps, ""


def other_bits(files, before, after, listed):
    """The first output that differs and may not."""
    for (entry, file), a, b in zip(files, before, after):
        if a != b and not (listed and listed.explain(entry.label)):
            return file.stem
    return ""


def write_inputs(work, entries):
    """The artefact's arguments, and (entry, file) of each output."""
    command, files = [], []
    for number, entry in enumerate(entries):
        for key, array in entry.feed.items():
            file = work / f"{number}-{key}.pb"
            file.write_bytes(numpy_helper.from_array(array).SerializeToString())
            command.append(f"--input={number}/{key}=@{file}")
        for output in entry.model.graph.output:
            files.append((entry, work / f"{number}-{output.name}.pb"))
            command.append(f"--output={number}/{output.name}=@{files[-1][1]}")
    return command, files


def array_bytes(entries):
    """What a stack may have: libdevice's array, where it is called, once for each type."""
    operators = {node.op_type for entry in entries for node in entry.model.graph.node}
    types = {array.dtype for entry in entries for array in entry.feed.values()}
    return REDUCTION_BYTES * max(len(types), 1) if operators & REDUCED else 0


def judge(entry, references):
    """None, or what is wrong with an entry that was run."""
    if entry.failure or entry.refusal:
        return entry.failure or f"refused: {entry.refusal}"
    for output, value, wanted in zip(entry.model.graph.output, entry.outputs, references, strict=True):
        reason = reference.differs(output.name, value, wanted, exact=reference.is_exact(entry.model))
        if reason:
            return reason
    return None
