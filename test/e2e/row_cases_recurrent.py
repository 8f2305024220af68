"""The part of row_cases of LSTM, GRU and RNN."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from difference import Difference, differs, floats, ints
from row_cases import F16, F32, F64, I32, Case, Fixed, normal, operator
from runtime_check import Check, checks, tensor
from spec_kinds import step_counts

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
# Little of the state before, so that differences of rounding do not grow from step to step.
WEIGHT = 0.8


def layer(name, label, *, steps=5, rows=3, inputs=4, units=6, fixed=True, bias=True, lengths=None, hidden=False,
          cell=False, peepholes=False, dtype=F32, **attributes):
    """A case with so many sizes; operands that are not asked for are left out."""
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    gates, rows_first = GATES[name], attributes.get("layout", 0)

    def weights(*shape):
        value = (normal(*shape) * WEIGHT / shape[-1] ** 0.5).astype(dtype)
        return Fixed(value) if fixed else value

    def state(is_there):
        if not is_there:
            return None
        value = normal(directions, rows, units).astype(dtype)
        return numpy.swapaxes(value, 0, 1).copy() if rows_first else value
    x = normal(steps, rows, inputs).astype(dtype)
    given = [numpy.swapaxes(x, 0, 1).copy() if rows_first else x, weights(directions, gates * units, inputs),
             weights(directions, gates * units, units), weights(directions, 2 * gates * units) if bias else None,
             None if lengths is None else numpy.array(lengths, I32), state(hidden)]
    if name == "LSTM":
        given += [state(cell), weights(directions, 3 * units) if peepholes else None]
    while given[-1] is None:
        given.pop()
    outputs = 3 if name == "LSTM" else 2
    attributes = {name: value for name, value in {"hidden_size": units, **attributes}.items() if value is not None}
    return Case(label, given, attributes, outputs)


def functions(name, directions, *chosen):
    """Attributes with these functions, again and again, and numbers for all that take some."""
    count = FUNCTIONS[name] * directions
    names = [chosen[i % len(chosen)] for i in range(count)]
    return {"activations": names, "activation_alpha": [0.5 + 0.1 * i for i in range(count)],
            "activation_beta": [0.3 + 0.05 * i for i in range(count)]}


def own_attributes(name):
    """What one of the operators alone has."""
    if name == "LSTM":
        yield layer(name, "peepholes", peepholes=True, cell=True, hidden=True)
        yield layer(name, "input-forget", input_forget=1, peepholes=True)
    if name == "GRU":
        for direction in ("forward", "bidirectional"):
            yield layer(name, f"resets-last-{direction}", linear_before_reset=1, direction=direction, hidden=True)
        yield layer(name, "resets-last-no-bias", linear_before_reset=1, bias=False)


@operator("LSTM", "GRU", "RNN", inputs={"sequence_lens": step_counts})
def recurrent(name, version):
    yield layer(name, "plain")
    yield layer(name, "both-directions", direction="bidirectional", hidden=True, cell=True)
    yield layer(name, "lengths", direction="bidirectional", lengths=[5, 2, 1], fixed=False, hidden=True)
    yield from own_attributes(name)
    for direction in ("forward", "reverse"):
        yield layer(name, f"{direction}-lengths", direction=direction, lengths=[3, 5, 1], clip=0.6)
    yield layer(name, "no-bias", bias=False, steps=1, rows=1)
    yield layer(name, "given", fixed=False, hidden=True, cell=True, peepholes=True)
    yield layer(name, "no-size", units=3, hidden_size=None)
    # Units of one, few, odd and many; sums that threads share; more than a thread for each.
    for units in (1, 2, 7, 32, 100, 129):
        yield layer(name, f"units-{units}", units=units, steps=3, inputs=7)
    yield layer(name, "many-rows", rows=40, units=8, direction="bidirectional")
    yield layer(name, "long", steps=70, rows=1, units=16, direction="reverse")
    yield layer(name, "no-steps", steps=0, hidden=True)
    yield layer(name, "no-rows", rows=0)
    for directions, direction in ((1, "forward"), (2, "bidirectional")):
        yield layer(name, f"functions-{direction}", direction=direction, **functions(
            name, directions, "Affine", "Relu", "Tanh", "LeakyRelu", "HardSigmoid"))
        yield layer(name, f"more-functions-{direction}", direction=direction, **functions(
            name, directions, "Elu", "Softsign", "ScaledTanh", "Softplus", "ThresholdedRelu"))
    yield layer(name, "default-numbers", activations=["LeakyRelu", "Elu", "hardsigmoid"][:FUNCTIONS[name]])
    for dtype in (F16, F64):
        yield layer(name, numpy.dtype(dtype).name, dtype=dtype, direction="bidirectional", hidden=True, cell=True)
    if version >= 14:
        yield layer(name, "rows-first", layout=1, hidden=True, cell=True)
        yield layer(name, "rows-first-both", layout=1, direction="bidirectional", lengths=[1, 5, 2], hidden=True)
        yield layer(name, "rows-first-float16", layout=1, dtype=F16, steps=2)


@differs
def recurrent_differences():
    x, w, r = floats(1, -2, 3, shape=[3, 1, 1]), floats(0.5, shape=[1, 1, 1]), floats(0.25, shape=[1, 1, 1])

    def case(row, followed, attributes=None, *, lengths=None, hidden=None, operator="RNN", weights=(w, r), fixed=True):
        return Difference(row, operator, [x, *weights, None, lengths, hidden], followed,
                          {"hidden_size": 1, **(attributes or {})}, fixed, outputs=2)
    row = "LSTM, GRU, RNN with a direction, `sequence_lens`, `activations`, `clip` or `input_forget`"
    for attributes in ({"direction": "reverse"}, {"activations": ["Sigmoid"]}, {"clip": 0.5}):
        yield case(row, "onnxruntime", attributes)
    yield case(row, "onnxruntime", lengths=ints(2, dtype=I32))
    gates, state = floats(0.5, -0.5, 0.25, 1, shape=[1, 4, 1]), floats(0.1, 0.2, -0.3, 0.4, shape=[1, 4, 1])
    yield case(row, "onnxruntime", {"input_forget": 1}, operator="LSTM", weights=(gates, state))
    zeros, ones = floats(0, 0, 0, shape=[3, 1, 1, 1]), floats(1, shape=[1, 1, 1])
    yield case("LSTM, GRU, RNN of a row of length 0", [zeros, 0.75 * ones], lengths=ints(0, dtype=I32), hidden=0.75 * ones)
    row = "LSTM, GRU, RNN of lengths out of range at run time"
    yield case(row, [zeros, 0 * ones], lengths=ints(-7, dtype=I32), fixed=False)
    yield case("LSTM, GRU, RNN with ThresholdedRelu and no `activation_alpha`",
               [floats(0, 0, 1.5, shape=[3, 1, 1, 1]), 1.5 * ones], {"activations": ["ThresholdedRelu"]})


@checks
def recurrence_checks():
    operands = [tensor("T", "N", "I"), tensor("D", "S", "J"), tensor("E", "R", 3), tensor("F", "B"), None,
                tensor("G", "M", 3)]
    good = [[4, 2, 5], [1, 9, 5], [1, 9, 3], [1, 18], [1, 2, 3]]
    for label, position, wrong, text in (
            ("directions", 1, [2, 9, 5], "dimension 0 of W is 2; it must be 1 with hidden_size 3"),
            ("gates", 1, [1, 8, 5], "dimension 1 of W is 8; it must be 9"),
            ("inputs", 1, [1, 9, 4], "dimension 2 of W is 4; it must be 5"),
            ("state", 2, [1, 12, 3], "dimension 1 of R is 12; it must be 9"),
            ("bias", 3, [1, 9], "dimension 1 of B is 9; it must be 18"),
            ("rows", 4, [1, 3, 3], "dimension 1 of initial_h is 3; it must be 2")):
        bad = [*good[:position], wrong, *good[position + 1:]]
        yield Check(f"gru-{label}", "GRU", operands, good, [(bad, text)], {"hidden_size": 3}, outputs=2)
    cell = [tensor("T", 2, 5), tensor(1, 12, 5), tensor(1, 12, 3), None, None, None, tensor("C", 2, 3), tensor(1, "P")]
    good = [[4, 2, 5], [1, 12, 5], [1, 12, 3], [1, 2, 3], [1, 9]]
    yield Check("lstm-peepholes", "LSTM", cell, good,
                [([*good[:4], [1, 3]], "dimension 1 of P is 3; it must be 9"),
                 ([*good[:3], [2, 2, 3], good[4]], "dimension 0 of initial_c is 2; it must be 1")],
                {"hidden_size": 3}, outputs=3)
    lengths = numpy.array([2, 5], numpy.int32)
    yield Check("rnn-lengths", "RNN", [tensor("T", "N", 4), tensor(1, 3, 4), tensor(1, 3, 3), None, lengths],
                [[5, 2, 4], [1, 3, 4], [1, 3, 3]],
                [([[4, 2, 4], [1, 3, 4], [1, 3, 3]], "sequence_lens has 5; there are 4 steps"),
                 ([[5, 3, 4], [1, 3, 4], [1, 3, 3]], "dimension 0 of sequence_lens is 2; it must be 3")],
                {"hidden_size": 3}, outputs=2)
