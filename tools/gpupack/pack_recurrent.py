"""Recurrent networks for a pack, measured beside cuDNN's: one layer over many steps, by units, rows and type."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx
from onnx import helper

import pack_networks
import pack_products

STEPS = 100
GATES = {"LSTM": 4, "GRU": 3}
# units, rows of the batch
LAYERS = {"LSTM": {(units, rows): ("fp32", "fp16") for units in (128, 512, 1024) for rows in (1, 32)},
          "GRU": {(512, 1): ("fp16",), (512, 32): ("fp16",)}}


def layer(operator, units, rows, precision):
    """As many inputs as units."""
    def make():
        kind, value = pack_products.tensor_type(precision), helper.make_tensor_value_info
        random, gates = numpy.random.default_rng(units), GATES[operator]
        stored = numpy.float16 if precision == "fp16" else numpy.float32
        shapes = {"w": (1, gates * units, units), "r": (1, gates * units, units), "b": (1, 2 * gates * units)}
        drawn = {name: units**-0.5 * random.standard_normal(shape).astype(numpy.float32) for name, shape in shapes.items()}
        weights = [onnx.numpy_helper.from_array(pack_networks.rounded(array).astype(stored), name)
                   for name, array in drawn.items()]
        # torch's GRU resets behind the product of the state.
        attributes = {"linear_before_reset": 1} if operator == "GRU" else {}
        node = helper.make_node(operator, ["x", "w", "r", "b"], ["y"], "layer", hidden_size=units, **attributes)
        return pack_products.finish("recurrent", [node], [value("x", kind, [STEPS, rows, units])],
                                    [value("y", kind, [STEPS, 1, rows, units])], weights)
    return make


def measured():
    """(name, function that makes it, precision, torch's work, GFLOP) of each."""
    for operator, rows_of in LAYERS.items():
        for (units, rows), precisions in rows_of.items():
            work = {"operator": operator, "units": units, "rows": rows, "steps": STEPS}
            for precision in precisions:
                yield (f"{operator.lower()}-{units}x{rows}-{precision}", layer(operator, units, rows, precision), precision,
                       {"recurrent": work, "type": precision}, 4e-9 * STEPS * rows * GATES[operator] * units**2)
