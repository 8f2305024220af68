#!/usr/bin/env python3
"""LSTM, GRU and RNN: drawn ones beside ONNX Runtime and the formulas of the specification, with sizes that only a run
knows; and what must be equal to the bit: a sequence in one piece and in two, both directions and one of each, rows
together and alone. All of that of both kinds of kernels, those of all steps and those of one."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys
from pathlib import Path

import numpy
import onnxruntime
from onnx import helper

import artefact
import harness
import reference

F16, F32, F64, I32 = numpy.float16, numpy.float32, numpy.float64, numpy.int32
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
NAMES = ["Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid", "Softplus", "Softsign", "Tanh",
         "ThresholdedRelu"]
OPERANDS = ["x", "w", "r", "b", "lengths", "h", "c", "p"]
# Of the largest number of an output; FP16's states are rounded in each step.
OFF = {F32: 2e-5, F64: 1e-10, F16: 4e-3}
CHECKS = ("--sim-checks-only",)
# Blocks of sm_90 that have the weights of 128 units in their registers, in FP32.
CLUSTERS = {"LSTM": 2, "GRU": 2, "RNN": 1}


# Schedules of single steps: no row's sums are in another order than those of another number of rows.
STEP = "{{deep = {deep} : i64, parts = {parts} : i64, rows = {rows} : i64, steps = 1 : i64, threads = 64 : i64}}"
STEP_OF_TILES = "{{instruction = array<i64: 16, 8, 16>, splits = {splits} : i64, steps = 1 : i64}}"


class Layer:
    """A node, its operands by name, and the model that has some of them as weights."""

    def __init__(self, operator, *, inputs, units, dtype=F32, direction="forward", layout=0, **attributes):
        self.operator, self.inputs, self.units, self.dtype = operator, inputs, units, dtype
        self.directions, self.layout = 1 + (direction == "bidirectional"), layout
        self.attributes = {"hidden_size": units, "direction": direction, "layout": layout, **attributes}
        self.operands = {}

    def draw(self, random, present):
        gates, units = GATES[self.operator], self.units
        shapes = {"w": (gates * units, self.inputs), "r": (gates * units, units), "b": (2 * gates * units,),
                  "p": (3 * units,)}
        for name in sorted(present & set(shapes)):
            array = random.standard_normal((self.directions, *shapes[name])) / shapes[name][-1] ** 0.5
            self.operands[name] = array.astype(self.dtype)
        return self

    def turned(self, array):
        return numpy.ascontiguousarray(numpy.swapaxes(array, 0, 1)) if self.layout else array

    def feed(self, random, steps, rows, present):
        """Arrays for what is no weight."""
        found = {"x": self.turned(random.standard_normal((steps, rows, self.inputs)).astype(self.dtype))}
        for name in sorted(present & {"h", "c"}):
            found[name] = self.turned(random.standard_normal((self.directions, rows, self.units)).astype(self.dtype))
        if "lengths" in present:
            found["lengths"] = random.integers(0, steps + 1, rows).astype(I32)
        return found

    def node(self, given):
        names = [name if name in self.operands or name in given else "" for name in OPERANDS]
        while not names[-1]:
            names.pop()
        outputs = ["y", "last"] + (["cell"] if self.operator == "LSTM" else [])
        return helper.make_node(self.operator, names, outputs, "layer", **self.attributes)

    def model(self, given, *, is_open=True):
        kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(self.dtype))
        node, inputs = self.node(given), []
        for name, array in given.items():
            state = self.turned_names(self.directions, "N", self.units)
            sizes = {"x": self.turned_names("T", "N", self.inputs), "lengths": ["N"], "h": state, "c": state}
            inputs.append((name, 6 if name == "lengths" else kind, is_open and sizes.get(name) or array.shape))
        outputs = [(name, kind, None) for name in node.output]
        return artefact.model("recurrent", [node], inputs, outputs, self.operands, opset=14)

    def turned_names(self, first, second, last):
        return [second, first, last] if self.layout else [first, second, last]

    def expected(self, given):
        values = {**self.operands, **given}
        node = self.node(given)
        return reference.recurrent(node, *(values.get(name) for name in node.input))


class Recurrence:
    def __init__(self, options):
        self.suite, self.options = harness.Suite("recurrence", options.build.resolve()), options

    def compile(self, case, made, *flags, **options):
        return artefact.Artefact(self.suite, case, made, *flags, **options)

    def compile_as(self, case, made, schedule, *flags, **options):
        """With this schedule of the recurrence, or that of the compiler's choice where it is None."""
        if schedule is None:
            return self.compile(case, made, *flags, **options)
        listed = self.suite.work / f"{case}.schedules.json"
        chosen = self.compile(case, made, "--emit=schedules", **options)
        if chosen.step.code:
            return chosen
        text = (self.suite.work / case).read_text()
        listed.write_text(re.sub(r'(recurrence\\", )\{[^}]*\}', lambda found: found[1] + schedule, text))
        return self.compile(case, made, f"--schedules={listed}", *flags, **options)

    def run(self, case, program, feed):
        """The outputs, or None after a failure, which is told."""
        step, outputs = program.run(feed)
        if step.code:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", program.step, step)
            return None
        return outputs

    # --- values

    def off_by(self, outputs, wanted):
        pairs = [(a.astype(F64), b.astype(F64)) for a, b in zip(outputs, wanted) if b.size]
        return max((numpy.max(abs(a - b)) / max(1, numpy.max(abs(b))) for a, b in pairs), default=0)

    def check_values(self, case, layer, program, feed):
        outputs = self.run(case, program, feed)
        if outputs is None:
            return False
        wanted = layer.expected(feed)
        if [a.shape for a in outputs] != [b.shape for b in wanted]:
            self.suite.fail(case, f"shapes {[a.shape for a in outputs]}, not {[b.shape for b in wanted]}")
            return False
        off = self.off_by(outputs, wanted)
        if not off <= OFF[layer.dtype]:
            self.suite.fail(case, f"off by {off:.1e} of the largest: {layer.attributes}")
            return False
        # ONNX Runtime has one type, ends where there is nothing, and forgets the state of a row without steps.
        if layer.dtype is F32 and not layer.layout and feed["x"].size and feed.get("lengths", numpy.ones(1)).min() > 0:
            session = onnxruntime.InferenceSession(layer.model(feed).SerializeToString())
            if not (off := self.off_by(outputs, session.run(None, feed))) <= OFF[F32]:
                self.suite.fail(case, f"off by {off:.1e} of ONNX Runtime's: {layer.attributes}")
                return False
        return True

    def drawn(self, number):
        random = numpy.random.default_rng(number)

        def chance(share):
            return random.random() < share
        operator = list(GATES)[number % 3]
        direction = str(random.choice(["forward", "reverse", "bidirectional"]))
        attributes = {}
        count = FUNCTIONS[operator] * (1 + (direction == "bidirectional"))
        if chance(0.4):
            attributes["activations"] = [str(name) for name in random.choice(NAMES, count)]
            for greek in ("alpha", "beta"):
                attributes[f"activation_{greek}"] = [float(n) for n in random.uniform(0.1, 1, count)]
        if chance(0.3):
            attributes["clip"] = float(random.uniform(0.3, 2))
        if operator != "RNN" and chance(0.4):
            attributes["input_forget" if operator == "LSTM" else "linear_before_reset"] = 1
        units = int(random.choice([1, 2, 3, 4, 6, 8, 12, 17, 31, 32, 48, 64, 96, 100]))
        layer = Layer(operator, inputs=int(random.integers(1, 9)), units=units, direction=direction,
                      layout=int(chance(0.3)), dtype=(F32, F32, F32, F16, F64)[number % 5], **attributes)
        own = {"c", "p"} if operator == "LSTM" else set()
        present = {name for name in {"b", "lengths", "h"} | own if chance(0.6)}
        layer.draw(random, {"w", "r", *present})
        feeds = [layer.feed(random, *sizes, present) for sizes in
                 ((int(random.integers(1, 9)), int(random.integers(1, 7))), (1, 1), (0, 3), (4, 0))]
        # Without Sigmoid and Tanh states may grow from step to step, and rounding with them.
        while not all(numpy.all(abs(array) <= 8) for feed in feeds for array in layer.expected(feed)):
            layer.operands = {name: array / 2 for name, array in layer.operands.items()}
        if chance(0.3):  # weights that are not packed
            feeds = [{**feed, **layer.operands} for feed in feeds]
            layer.operands = {}
        return layer, feeds

    def check_drawn(self, number):
        case = f"drawn-{number}"
        layer, feeds = self.drawn(number)
        is_open = number % 4 != 0 and layer.operands
        feeds = feeds if is_open else feeds[:1]
        program = self.compile(case, layer.model(feeds[0], is_open=is_open), *CHECKS)
        if all(self.check_values(f"{case}-{i}", layer, program, feed) for i, feed in enumerate(feeds)):
            self.suite.ok(case)

    # --- bits

    def same(self, case, left, right):
        if left is None or right is None:
            return
        different = [i for i, (a, b) in enumerate(zip(left, right, strict=True))
                     if a.shape != b.shape or a.tobytes() != b.tobytes()]
        if different:
            self.suite.fail(case, f"output {different[0]} has other bits")
        else:
            self.suite.ok(case)

    def check_parts(self, operator, dtype, units, schedule=None):
        """Nine steps, and four and five with the states of these."""
        case = f"{'step-' if schedule else ''}parts-{operator}-{numpy.dtype(dtype).name}-{units}"
        random, states = numpy.random.default_rng(5), {"h", "c"} if operator == "LSTM" else {"h"}
        layer = Layer(operator, inputs=24, units=units, dtype=dtype).draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 9, 3, states)
        program = self.compile_as(case, layer.model(feed), schedule)
        whole = self.run(case, program, feed)
        first = self.run(case, program, {**feed, "x": feed["x"][:4]})
        if first is None:
            return
        carried = dict(zip(["h", "c"], first[1:]))
        second = self.run(case, program, {"x": feed["x"][4:], **carried})
        if second is not None:
            self.same(case, whole, [numpy.concatenate([first[0], second[0]]), *second[1:]])

    def check_directions(self, operator, dtype, units, schedule=None):
        """Both, and each by itself, the second one forwards through the steps from the last on."""
        case = f"{'step-' if schedule else ''}directions-{operator}-{numpy.dtype(dtype).name}-{units}"
        random = numpy.random.default_rng(6)
        both = Layer(operator, inputs=24, units=units, dtype=dtype, direction="bidirectional")
        both.draw(random, {"w", "r", "b"})
        feed = both.feed(random, 6, 2, {"h"})
        outputs = [self.run(case, self.compile_as(case, both.model(feed), schedule), feed)]
        for number in (0, 1):
            one = Layer(operator, inputs=24, units=units, dtype=dtype)
            one.operands = {name: array[number:number + 1] for name, array in both.operands.items()}
            given = {"x": feed["x"][::-1] if number else feed["x"], "h": feed["h"][number:number + 1]}
            given = {name: numpy.ascontiguousarray(array) for name, array in given.items()}
            program = self.compile_as(f"{case}-{number}", one.model(given), schedule)
            outputs.append(self.run(case, program, given))
        if any(found is None for found in outputs):
            return
        forward, backward = outputs[1:]
        backward[0] = backward[0][::-1]
        self.same(case, outputs[0], [numpy.concatenate(pair, axis=1 if i == 0 else 0)
                                     for i, pair in enumerate(zip(forward, backward))])

    def check_rows(self, operator, rows):
        """Rows in blocks of several, beside each alone."""
        case = f"rows-{operator}-{rows}"
        random = numpy.random.default_rng(7)
        layer = Layer(operator, inputs=24, units=40).draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 5, 11, {"lengths"})
        listed = self.suite.work / f"{case}.schedules.json"
        step = self.compile(case, layer.model(feed), "--emit=schedules").step
        if step.code:
            self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
            return
        (self.suite.work / case).rename(listed)
        # As many sums as a thread may have; then it has several groups of units.
        text = re.sub(", vector = 4 ", f", vector = {max(1, 8 // rows)} ", listed.read_text())
        listed.write_text(text.replace("rows = 1 ", f"rows = {rows} "))
        report = self.suite.work / f"{case}.json"
        program = self.compile(case, layer.model(feed), f"--schedules={listed}", f"--report={report}", *CHECKS)
        together = self.run(case, program, feed)
        if together is None:
            return
        alone = [self.run(case, program, {"x": feed["x"][:, i:i + 1].copy(), "lengths": feed["lengths"][i:i + 1]})
                 for i in range(11)]
        if any(each is None for each in alone):
            return
        if f"rows = {rows} " not in report.read_text():
            self.suite.fail(case, f"no kernel has blocks of {rows} rows", program.step)
        else:
            self.same(case, together, [numpy.concatenate([each[i] for each in alone], axis=2 if i == 0 else 1)
                                       for i in range(len(together))])

    def check_layouts(self, operator):
        """Between transposes and products that would have other orders, with --layout=channels-last."""
        case, random = f"layouts-{operator}", numpy.random.default_rng(3)
        layer = Layer(operator, inputs=8, units=16).draw(random, {"w", "r", "b"})
        node = layer.node({"x": None})
        nodes = [helper.make_node("Transpose", ["input"], ["x"], "turn", perm=[1, 0, 2]), node,
                 helper.make_node("Squeeze", ["y", "axis"], ["steps"], "squeeze"),
                 helper.make_node("MatMul", ["steps", "v"], ["out"], "product")]
        weights = {**layer.operands, "axis": numpy.array([1]), "v": random.standard_normal((16, 5)).astype(F32)}
        made = artefact.model(case, nodes, [("input", 1, ["N", 6, 8])], [("out", 1, None), ("last", 1, None)], weights)
        feed = {"input": random.standard_normal((3, 6, 8)).astype(F32)}
        self.same(case, *(self.run(case, self.compile(case, made, f"--layout={layout}", *CHECKS), feed)
                          for layout in ("as-imported", "channels-last")))

    # --- clusters of blocks

    def check_cluster(self, operator, dtype, units, blocks, target="sim:sm_90"):
        """Blocks that share units, in two seeds of the simulator; nine steps in one run and in two."""
        case = f"cluster-{operator}-{numpy.dtype(dtype).name}-{units}"
        random, states = numpy.random.default_rng(4), {"h", "c"} if operator == "LSTM" else {"h"}
        layer = Layer(operator, inputs=8, units=units, dtype=dtype, direction="bidirectional")
        layer.draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 3, 3, states | {"lengths"})
        report = self.suite.work / f"{case}.json"
        program = self.compile(case, layer.model(feed), f"--report={report}", *CHECKS, target=target)
        if not self.check_values(case, layer, program, feed):
            return
        if f"blocks = {blocks} " in report.read_text():
            self.suite.ok(case)
        else:
            self.suite.fail(case, f"no kernel has clusters of {blocks} blocks", program.step)

    # --- a launch for each step

    def check_steps(self, operator, dtype, units, schedule, rows=3):
        """Of several sizes, nothing among them; rows together and each alone."""
        case = f"step-{operator}-{numpy.dtype(dtype).name}-{units}-{rows}"
        random = numpy.random.default_rng(10)
        present = {"b", "h", "lengths"} | ({"c", "p"} if operator == "LSTM" else set())
        layer = Layer(operator, inputs=8, units=units, dtype=dtype, direction="bidirectional", layout=rows % 2)
        layer.draw(random, {"w", "r", *present})
        feeds = [layer.feed(random, *sizes, present) for sizes in ((4, rows), (1, 1), (0, 3), (4, 0))]
        program = self.compile_as(case, layer.model(feeds[0]), schedule, *CHECKS)
        if not all(self.check_values(f"{case}-{i}", layer, program, feed) for i, feed in enumerate(feeds)):
            return
        together = self.run(case, program, feeds[0])
        axes = {"x": 1 - layer.layout, "lengths": 0, "h": 1 - layer.layout, "c": 1 - layer.layout}
        alone = [self.run(case, program, {name: numpy.ascontiguousarray(numpy.take(array, [i], axes[name]))
                                          for name, array in feeds[0].items()}) for i in range(rows)]
        if together is None or any(each is None for each in alone):
            return
        last = [0 if layer.layout else axis for axis in (2, 1, 1)]
        self.same(case, together, [numpy.concatenate([each[i] for each in alone], axis=last[i])
                                   for i in range(len(together))])

    def check_step_launches(self, operator, phases, **attributes):
        """One for each step and phase behind that of all inputs."""
        case, random = f"step-launches-{operator}-{phases}", numpy.random.default_rng(8)
        layer = Layer(operator, inputs=16, units=32, **attributes).draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 20, 1, set())
        trace = self.suite.work / f"{case}.trace.json"
        program = self.compile_as(case, layer.model(feed), STEP.format(deep=4, parts=8, rows=1))
        numpy.savez(self.suite.work / f"{case}.npz", **feed)
        step = program.step if program.step.code else harness.run(
            [program.path, "--device=sim", f"--input=@{self.suite.work / case}.npz", f"--profile={trace}"], artefact.SECONDS)
        events = json.loads(trace.read_text())["traceEvents"] if not step.code else []
        launches = sum(event["ph"] == "X" for event in events)
        if launches == 1 + 20 * phases:
            self.suite.ok(case)
        else:
            self.suite.fail(case, f"{launches} launches, not {1 + 20 * phases}", program.step, step)

    def check_chosen(self, operator, units, by_step, target="sim:sm_80"):
        """Whether steps are launches goes by the units alone: not by rows, steps or directions."""
        case, random = f"chosen-{operator}-{units}-{target[4:]}", numpy.random.default_rng(11)
        for steps, rows, direction in ((1, 1, "forward"), (500, 64, "bidirectional")):
            layer = Layer(operator, inputs=4, units=units, direction=direction).draw(random, {"w", "r"})
            made = layer.model(layer.feed(random, steps, rows, set()), is_open=False)
            step = self.compile(case, made, "--emit=schedules", target=target).step
            text = (self.suite.work / case).read_text() if not step.code else ""
            if step.code or ("steps = 1" in text) != by_step:
                self.suite.fail(case, f"{steps} steps of {rows} rows {'are one launch' if by_step else 'are launches'}", step)
                return
        self.suite.ok(case)

    # --- kernels

    def check_launches(self, operator):
        """Two, whatever the number of steps and directions."""
        case, random = f"launches-{operator}", numpy.random.default_rng(8)
        layer = Layer(operator, inputs=16, units=32, direction="bidirectional").draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 500, 1, set())
        report = self.suite.work / f"{case}.json"
        step = self.compile(case, layer.model(feed, is_open=False), f"--report={report}").step
        launches = len(json.loads(report.read_text())["kernels"]) if not step.code else 0
        if launches == 2:
            self.suite.ok(case)
        else:
            self.suite.fail(case, f"{launches} launches, not 2", step)

    def check_precision(self, operator, precision, most):
        case, random = f"{precision}-{operator}", numpy.random.default_rng(9)
        layer = Layer(operator, inputs=32, units=64, direction="bidirectional").draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 40, 2, {"h"})
        made = layer.model(feed)
        made.opset_import[0].version = 22  # the first one that has BF16 of it
        outputs = self.run(case, self.compile(case, made, f"--precision={precision}", *CHECKS), feed)
        if outputs is None:
            return
        off = self.off_by(outputs, layer.expected(feed))
        if 1e-5 < off <= most:
            self.suite.ok(case)
        else:
            self.suite.fail(case, f"off by {off:.1e} of the largest; at most {most}, and not as FP32")

    def check_weights(self, operator, precision):
        """Weights of 8 bits, a scale for each gate of a unit, which no launch of its own dequantises."""
        case, random = f"weights-{precision}-{operator}", numpy.random.default_rng(12)
        layer = Layer(operator, inputs=64, units=96, direction="bidirectional").draw(random, {"w", "r", "b"})
        feed = layer.feed(random, 20, 2, {"h"})
        report = self.suite.work / f"{case}.json"
        flags = ("--weights=int8", f"--precision={precision}", f"--report={report}")
        outputs = self.run(case, self.compile(case, layer.model(feed), *flags, *CHECKS), feed)
        if outputs is None:
            return
        for name in ("w", "r"):
            scale = abs(layer.operands[name]).max(2, keepdims=True) / F32(127)
            layer.operands[name] = (numpy.rint(layer.operands[name] / scale) * scale).astype(F32)
        off, most = self.off_by(outputs, layer.expected(feed)), 2e-5 if precision == "fp32" else 5e-3
        kernels = [kernel["onnx_nodes"] for kernel in json.loads(report.read_text())["kernels"]]
        fused = sum("weights.dequantized" in nodes and "layer" in nodes.split(",") for nodes in kernels)
        alone = sum("weights.dequantized" in nodes for nodes in kernels) - fused
        if off <= most and (fused, alone) == (2, 0):
            self.suite.ok(case)
        else:
            self.suite.fail(case, f"off by {off:.1e} of the largest, at most {most}; launches of {kernels}")

    def check(self):
        for number in range(self.options.first, self.options.first + self.options.count):
            self.check_drawn(number)
        for operator in GATES:
            for dtype, units in ((F32, 40), (F16, 24), (F32, 7)):
                self.check_parts(operator, dtype, units)
                self.check_directions(operator, dtype, units)
            for rows in (2, 4, 8):
                self.check_rows(operator, rows)
            for dtype, units, many in ((F32, 128, 1), (F16, 256, 2), (F64, 128, 2)):
                self.check_cluster(operator, dtype, units, many * CLUSTERS[operator])
            if operator != "RNN":  # two warps share the depth; more blocks than are portable
                self.check_cluster(operator, F16, 320, 8)
                self.check_cluster(operator, F16, 512, 16, target="sim:sm_90a")
            for dtype, units, deep, parts in ((F32, 40, 4, 8), (F16, 24, 8, 4), (F32, 7, 1, 4), (F64, 36, 2, 32)):
                schedule = STEP.format(deep=deep, parts=parts, rows=2)
                self.check_parts(operator, dtype, units, schedule)
                self.check_directions(operator, dtype, units, schedule)
                self.check_steps(operator, dtype, units, schedule)
            for splits in (1, 2, 4):
                tiles = STEP_OF_TILES.format(splits=splits)
                self.check_steps(operator, F16, 64, tiles, rows=8 + splits)
            self.check_parts(operator, F16, 64, tiles)
            self.check_directions(operator, F16, 64, tiles)
            for rows in (1, 4, 8):
                self.check_steps(operator, F32, 24, STEP.format(deep=4, parts=2, rows=rows), rows=9 + rows)
            self.check_step_launches(operator, 2 if operator == "GRU" else 1)
            self.check_layouts(operator)
            self.check_launches(operator)
            self.check_precision(operator, "fp16", 5e-3)
            self.check_precision(operator, "bf16", 5e-2)
            self.check_weights(operator, "fp32")
            self.check_weights(operator, "fp16")
        self.check_step_launches("GRU", 1, linear_before_reset=1)
        self.check_chosen("LSTM", 64, False)
        self.check_chosen("LSTM", 1024, True)
        self.check_chosen("RNN", 5000, True, target="sim:sm_90")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=harness.SOURCE / "build", help="the build folder")
    parser.add_argument("--first", type=int, default=0, help="the first number that layers are drawn of")
    parser.add_argument("--count", type=int, default=45, help="how many are drawn")
    return Recurrence(parser.parse_args()).check()


if __name__ == "__main__":
    sys.exit(main())
