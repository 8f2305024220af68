"""Models of value_forms.py: a form of arithmetic, made node by node, and numbers that it is fed."""
# SPDX-License-Identifier: Apache-2.0
import numpy

import artefact
from batches import FLOAT, Nodes

ROWS, DEPTH = 4, 8


class Form:
    """A model that is made node by node, and what it is fed."""

    def __init__(self, seed=0, opset=18):
        self.b, self.feeds, self.kinds, self.opset = Nodes(seed), {}, {}, opset

    def input(self, name, array, kind=FLOAT):
        self.feeds[name], self.kinds[name] = array, kind
        return name

    def add(self, *arguments, **attributes):
        return self.b.add(*arguments, **attributes)

    def number(self, value):
        return self.array(numpy.float32(value))

    def array(self, values):
        name = f"w{len(self.b.weights)}"
        self.b.weights[name] = numpy.asarray(values)
        return name

    def axes(self, *values):
        return self.b.constant(*values)

    def product(self, x, size):
        """x, as the result of a product."""
        return self.add("MatMul", x, self.array(numpy.eye(size, dtype=numpy.float32)))

    def model(self, result):
        self.b.output(result, "y")
        shapes = [(name, self.kinds[name], list(array.shape)) for name, array in self.feeds.items()]
        return artefact.model("value_form", self.b.nodes, shapes, [("y", FLOAT, None)], self.b.weights,
                              opset=self.opset)


def held(array):
    """The nearest numbers that FP16 and BF16 have both."""
    bits = numpy.asarray(array, numpy.float32).view(numpy.uint32) & 0xffff0000
    return bits.view(numpy.float32).reshape(numpy.shape(array)).astype(numpy.float16).astype(numpy.float32)


def random(seed, *shape):
    return held(numpy.random.default_rng(seed).standard_normal(shape))
