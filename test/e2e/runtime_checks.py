#!/usr/bin/env python3
"""Sizes and values that are wrong only when a model runs: each must end in exit code 2 and one error
that names the node, the value and what it is held against; and right ones, given to the same
artefact, must give what ONNX Runtime gives."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness
import reference

SECONDS = 60
OFF = 1e-6  # how far a result may be from ONNX Runtime's, in parts of the largest one
USAGE = 2  # the exit code of docs/command-line.md
F32, I64, I8, U8 = numpy.float32, numpy.int64, numpy.int8, numpy.uint8


@dataclass
class Check:
    """One node, 'it', over inputs a, b, ...: (dtype, dims), an array that the model holds, None for
    what is absent, or the name of a value that a node of `before` makes; a Beside is not an input of the
    node."""
    label: str
    operator: str
    inputs: list
    good: list  # what each run-time input is given: a shape or, of integers, values
    bad: list  # (the same, text of the error)
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    opset: int = 21
    output_type: int = TensorProto.FLOAT
    later_types: list = field(default_factory=list)  # of outputs behind the first, if they differ
    before: list = field(default_factory=list)  # nodes that make its inputs

    def model(self):
        names, declared, weights = [], [], []
        for letter, given in zip("abcdefgh", self.inputs):
            if not isinstance(given, Beside):
                names.append(letter if given is not None else "")
            if isinstance(given, numpy.ndarray):
                weights.append(numpy_helper.from_array(given, letter))
            elif isinstance(given, tuple):
                dtype, dims = given
                declared.append(helper.make_tensor_value_info(
                    letter, helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), dims))
        results = [f"y{i}" for i in range(self.outputs)]
        kinds = [self.output_type, *(self.later_types or [self.output_type] * (self.outputs - 1))]
        node = helper.make_node(self.operator, names, results, "it", **self.attributes)
        model = helper.make_model(helper.make_graph(
            [*self.before, node], "check", declared,
            [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(results, kinds)],
            weights), opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 10
        return model

    def feeds(self, given):
        """Shapes are filled with random numbers, of which integers are small and none is negative: they may be
        places or lengths, and floats variances."""
        random = numpy.random.default_rng(1)
        names = [letter for letter, value in zip("abcdefgh", self.inputs)
                 if isinstance(value, tuple)]
        types = [value[0] for value in self.inputs if isinstance(value, tuple)]
        for name, dtype, value in zip(names, types, given):
            yield name, (numpy.array(value.values, dtype) if isinstance(value, Values)
                         else numpy.asarray(random.uniform(0.5, 2, value), dtype) if dtype is F32
                         else random.integers(0, 100 if dtype in (I8, U8) else 2, value, dtype))


@dataclass
class Values:
    values: list


class Beside(tuple):
    """The (dtype, dims) of an input of the model alone."""


def tensor(*dims, dtype=F32):
    return (dtype, list(dims))


def ints(*numbers):
    return numpy.array(numbers, I64)


def given(*numbers):
    return Values(list(numbers))


def attention_cases():
    def check(label, inputs, good, bad, text, **attributes):
        return Check(f"attention-{label}", "Attention", inputs, good, [(bad, text)], attributes,
                     opset=24)

    query, value = tensor("N", 2, 3, "D"), tensor("M", 2, "V", 4)
    inputs, scale = [query, tensor("N", 2, "K", "E"), value], {"scale": 0.5}
    good = [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 4]]
    for label, wrong, text in (
            ("batch", [good[0], good[1], [2, 2, 5, 4]], "batch sizes 1 and 2 differ"),
            ("lengths", [good[0], good[1], [1, 2, 6, 4]], "lengths of keys and values 5 and 6 differ"),
            ("sizes", [good[0], [1, 2, 5, 3], good[2]], "head sizes 4 and 3 differ")):
        yield check(label, inputs, good, wrong, text, **scale)
    yield check("heads", [tensor(1, "H", 3, 4), tensor(1, "H", 5, 4), tensor(1, "G", 5, 4)], good,
                [good[0], good[1], [1, 3, 5, 4]], "numbers of heads 2 and 3 differ")
    yield check("packed", [tensor(1, 3, "D"), tensor(1, 5, "E"), tensor(1, 5, 8)],
                [[1, 3, 8], [1, 5, 8], [1, 5, 8]], [[1, 3, 9], [1, 5, 8], [1, 5, 8]],
                "size 9 is not a multiple of q_num_heads 2", q_num_heads=2, kv_num_heads=2, **scale)
    fixed = [tensor(1, 2, 3, 4), tensor(1, 2, 5, 4), tensor(1, 2, 5, 4)]
    yield check("mask", [*fixed, tensor("R", 5)], [*good, [3, 5]], [*good, [2, 5]],
                "sizes of attn_mask and of the scores 2 and 3 differ")
    yield check("mask-keys", [*fixed, tensor(3, "K")], [*good, [3, 4]], [*good, [3, 6]],
                "attn_mask is for 6 keys; there are 5")
    yield check("past", [*fixed, None, tensor(1, 2, "P", 4), tensor(1, 2, "R", 4)],
                [*good, [1, 2, 3, 4], [1, 2, 3, 4]], [*good, [1, 2, 3, 4], [1, 2, 2, 4]],
                "lengths of the past 3 and 2 differ")
    yield check("nonpad", [*fixed, None, None, None, tensor("B", dtype=I64)],
                [*good, given(5)], [*good, [2]], "the number of lengths and the batch 2 and 1 differ")


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


def sampling_checks():
    x, grid = [2, 3, 4, 5], [2, 3, 3, 2]
    operands = [tensor("N", 3, "H", "W"), tensor("M", 3, 3, "D")]
    for label, wrong, text in (
            ("coordinates", [x, [2, 3, 3, 3]], "the grid has 3 coordinates for 2 spatial dimensions"),
            ("batch", [x, [1, 3, 3, 2]], "batch sizes 2 and 1 of X and grid differ"),
            ("empty", [[2, 3, 4, 0], grid], "the input has a size of 0; it must be 1 or more")):
        yield Check(f"grid-sample-{label}", "GridSample", operands, [x, grid], [(wrong, text)])
    operands = [tensor("N", 3, "H", 5), tensor("R", "D"), tensor("I", dtype=I64)]
    for label, wrong, text in (
            ("numbers", [x, [4, 5], given(1, 0, 1, 1)], "rois holds 5 numbers a region; it needs 4"),
            ("count", [x, [4, 4], given(1, 0)], "batch_indices holds 2 numbers for 4 regions"),
            ("empty", [[2, 3, 0, 5], [4, 4], given(1, 0, 1, 1)], "the input has a size of 0")):
        yield Check(f"roi-align-{label}", "RoiAlign", operands, [x, [4, 4], given(1, 0, 1, 1)],
                    [(wrong, text)])
    yield Check("roi-align-images", "RoiAlign", [tensor("N", 3, 4, 5), tensor(2, 4), ints(0, 1)], [x, [2, 4]],
                [([[1, 3, 4, 5], [2, 4]], "batch_indices has image 1 of 1")])
    yield Check("max-roi-pool", "MaxRoiPool", [tensor("N", 3, "H", 5), tensor("R", "D")], [x, [4, 5]],
                [([x, [4, 4]], "rois holds 4 numbers a region; it needs 5"),
                 ([[2, 3, 0, 5], [4, 5]], "the input has a size of 0")], {"pooled_shape": [2, 2]})
    x, w, offset, bias, mask = [2, 4, 5, 6], [3, 4, 3, 2], [2, 12, 3, 5], [3], [2, 6, 3, 5]
    operands = [tensor("N", "C", "H", "W"), tensor("F", "D", 3, 2), tensor("M", "K", "P", "Q"),
                tensor("B"), tensor("L", "J", "R", "S")]
    for label, wrong, text in (
            ("offset-groups", [[2, 3, 5, 6], [3, 3, 3, 2], [2, 24, 3, 5], bias, [2, 12, 3, 5]],
             "3 channels are not a multiple of offset_group 2"),
            ("channels", [x, [3, 3, 3, 2], offset, bias, mask], "the weights take 3 channels, the input has 4"),
            ("bias", [x, w, [2, 24, 3, 5], [4], mask], "the bias has 4 values for 3 filters"),
            ("batch", [x, w, [1, 24, 3, 5], bias, mask], "batch sizes 1 and 2 of the offset and X differ"),
            ("offset", [x, w, offset, bias, mask], "the offset has 12 channels; kernel and offset_group need 24"),
            ("offset-size", [x, w, [2, 24, 3, 4], bias, mask],
             "the offset has a size of 4 for 5 positions of the window"),
            ("mask", [x, w, [2, 24, 3, 5], bias, mask], "the mask has 6 channels; kernel and offset_group need 12"),
            ("empty", [[2, 4, 5, 0], w, [2, 24, 3, 1], bias, [2, 12, 3, 1]],
             "the input has a spatial size of 0; it must be 1 or more")):
        pads = {"pads": [0, 1, 0, 1]} if label == "empty" else {}
        wide = 2 if pads else 0
        yield Check(f"deform-conv-{label}", "DeformConv", operands,
                    [x, w, [2, 24, 3, 5 + wide], bias, [2, 12, 3, 5 + wide]], [(wrong, text)],
                    {"offset_group": 2, **pads})


def cases():
    """In the order of the families' files."""
    yield Check("broadcast", "Add", [tensor("N"), tensor("M")], [[3], [1]],
                [([[3], [4]], "sizes 3 and 4 cannot be broadcast together")])
    yield Check("broadcast-known", "Mul", [tensor("N", 5), tensor("M", 5)], [[1, 5], [7, 5]],
                [([[2, 5], [7, 5]], "sizes 2 and 7 cannot be broadcast together")])
    yield Check("one-name", "Add", [tensor("N"), tensor("N")], [[3], [3]],
                [([[3], [4]], "N")])
    yield Check("one-name-two-places", "Relu", [tensor("N", "N")], [[3, 3]], [([[3, 4]], "N")])
    yield Check("fixed-size", "Relu", [tensor("N", 4)], [[3, 4]], [([[3, 5]], "5")])
    yield Check("rank", "Relu", [tensor("N", 4)], [[3, 4]], [([[12]], "rank")])
    yield Check("matmul", "MatMul", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "inner sizes 3 and 5 differ")])
    for name in ("M", "?"):
        yield Check(f"matmul-batch-{name}", "MatMul", [tensor("N" if name == "M" else "?", 4, 2), tensor(name, 2, 3)],
                    [[5, 4, 2], [1, 2, 3]],
                    [([[5, 4, 2], [2, 2, 3]], "sizes 5 and 2 cannot be broadcast together")])
    yield Check("matmul-batch-known", "MatMul", [tensor(3, 4, 2), tensor("M", 2, 3)], [[3, 4, 2], [3, 2, 3]],
                [([[3, 4, 2], [2, 2, 3]], "sizes 3 and 2 cannot be broadcast together")])
    yield Check("integer-batch", "MatMulInteger",
                [tensor("N", 4, 2, dtype=U8), tensor("M", 2, 3, dtype=U8)], [[5, 4, 2], [5, 2, 3]],
                [([[5, 4, 2], [2, 2, 3]], "sizes 5 and 2 cannot be broadcast together")],
                output_type=TensorProto.INT32)
    yield from attention_cases()
    for rank, dims, good, bad in ((1, ["C"], [5], [4]), (2, ["R", 5], [2, 5], [3, 5]), (2, [3, 1], [3, 1], None)):
        shapes = [[2, 3], [3, 5], good] if bad else [[3, 3], [3, 5], good]
        wrong = [[2, 3], [3, 5], bad or good]
        text = f"dimension 0 of C has size {wrong[2][0]}; it must be 1 or the result's, {5 if rank == 1 else 2}"
        yield Check(f"gemm-addend-{'x'.join(map(str, dims))}", "Gemm", [tensor("N", 3), tensor(3, 5), tensor(*dims)],
                    shapes, [(wrong, text)])
    yield Check("gemm", "Gemm", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "inner sizes 3 and 5 differ")])
    yield Check("einsum", "Einsum", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "sizes 3 and 5")], {"equation": "ij,jk->ik"})
    yield Check("conv-channels", "Conv", [tensor(1, "C", 5), tensor(2, 3, 2)],
                [[1, 3, 5], [2, 3, 2]],
                [([[1, 4, 5], [2, 3, 2]], "the weights take 3 channels, the input has 4")])
    yield Check("conv-extent", "Conv", [tensor(1, 3, "W"), tensor(2, 3, 4)],
                [[1, 3, 4], [2, 3, 4]],
                [([[1, 3, 3], [2, 3, 4]], "a window of 4 elements is larger than the padded input of 3")])
    yield Check("conv-bias", "Conv", [tensor(1, 3, 5), tensor("F", 3, 2), tensor("B")],
                [[1, 3, 5], [2, 3, 2], [2]],
                [([[1, 3, 5], [2, 3, 2], [3]], "the bias has 3 values for 2 filters")])
    yield Check("conv-group", "Conv", [tensor(1, 4, 5), tensor("F", 2, 2)],
                [[1, 4, 5], [4, 2, 2]],
                [([[1, 4, 5], [3, 2, 2]], "3 filters are not a multiple of group 2")], {"group": 2})
    yield Check("conv-kernel", "Conv", [tensor(1, 3, 5), tensor(4, 3, "K")],
                [[1, 3, 5], [4, 3, 2]],
                [([[1, 3, 5], [4, 3, 3]], "kernel_shape has a size of 2, the weights one of 3")],
                {"kernel_shape": [2]})
    yield Check("conv-transpose-channels", "ConvTranspose", [tensor(1, "C", 5), tensor(3, 2, 2)],
                [[1, 3, 5], [3, 2, 2]],
                [([[1, 4, 5], [3, 2, 2]], "the input has 4 channels, the weights 3")])
    yield Check("conv-transpose-group", "ConvTranspose", [tensor(1, "C", 5), tensor("C", 2, 2)],
                [[1, 4, 5], [4, 2, 2]],
                [([[1, 3, 5], [3, 2, 2]], "3 channels are not a multiple of group 2")],
                {"group": 2})
    yield Check("conv-transpose-bias", "ConvTranspose",
                [tensor(1, 3, 5), tensor(3, 2, 2), tensor("B")], [[1, 3, 5], [3, 2, 2], [2]],
                [([[1, 3, 5], [3, 2, 2], [5]], "the bias has 5 values for 2 channels")])
    yield Check("quantised-axis", "DequantizeLinear", [tensor(2, "C", dtype=I8), tensor("S")],
                [[2, 3], [3]], [([[2, 3], [4]], "the scale has 4 numbers for an axis of 3")])
    yield Check("quantised-blocks", "DequantizeLinear",
                [tensor("N", 3, dtype=I8), tensor("B", 3)], [[4, 3], [2, 3]],
                [([[4, 3], [3, 3]], "the scale has a size of 3 where the input's blocks are 2")],
                {"axis": 0, "block_size": 2})
    yield Check("quantised-zero-point", "DequantizeLinear",
                [tensor(2, "C", dtype=I8), tensor("S"), tensor("Z", dtype=I8)], [[2, 3], [3], [3]],
                [([[2, 3], [3], [2]], "the zero point has a size of 2, the scale of 3")])
    yield Check("integer-columns", "MatMulInteger",
                [tensor(2, 3, dtype=U8), tensor(3, "N", dtype=U8), None, tensor("Z", dtype=U8)],
                [[2, 3], [3, 5], [5]],
                [([[2, 3], [3, 5], [4]], "'b_zero_point' has 4 numbers for 5 columns")],
                output_type=TensorProto.INT32)
    yield Check("integer-filters", "ConvInteger",
                [tensor(1, 3, 5, dtype=U8), tensor("F", 3, 2, dtype=U8), None,
                 tensor("Z", dtype=U8)], [[1, 3, 5], [4, 3, 2], [4]],
                [([[1, 3, 5], [4, 3, 2], [3]], "'w_zero_point' has 3 numbers for 4 filters")],
                output_type=TensorProto.INT32)
    yield Check("pool", "MaxPool", [tensor(1, 1, "W")], [[1, 1, 4]],
                [([[1, 1, 3]], "a window of 4 elements is larger than the padded input of 3")],
                {"kernel_shape": [4]})
    yield Check("batch-norm", "BatchNormalization",
                [tensor(1, 3, 4), tensor("C"), *(tensor(3) for _ in range(3))],
                [[1, 3, 4], [3], [3], [3], [3]],
                [([[1, 3, 4], [2], [3], [3], [3]], "has 2 values for 3 channels")])
    yield Check("group-norm", "GroupNormalization", [tensor(1, "C", 4), tensor("C"), tensor("C")],
                [[1, 4, 4], [4], [4]],
                [([[1, 3, 4], [3], [3]], "3 channels are not a multiple of num_groups 2")],
                {"num_groups": 2})
    yield Check("layer-norm", "LayerNormalization", [tensor("N", "K"), tensor("L")],
                [[2, 3], [3]], [([[2, 3], [4]], "size 4 does not broadcast to 3")])
    yield Check("gather-empty", "Gather", [tensor("N", 3), tensor("I", dtype=I64)],
                [[2, 3], given(1)], [([[0, 3], given(0)], "indices into a dimension of size 0")])
    yield Check("gather-constant", "Gather", [tensor("N"), ints(3, -4)], [[4]],
                [([[3]], "index 3 into a dimension of size 3")])
    yield Check("gather-constant-negative", "Gather", [tensor("N"), ints(0, -4)], [[4]],
                [([[3]], "index -4 into a dimension of size 3")])
    yield Check("gather-by-size", "Gather", [tensor("N"), "b", Beside(tensor("M"))], [[4], [3]],
                [([[4], [4]], "index 4 into a dimension of size 4")],
                before=[helper.make_node("Shape", ["c"], ["b"], "size")])
    yield Check("gather-elements", "GatherElements",
                [tensor("N", "M"), tensor("K", "L", dtype=I64)], [[3, 2], [3, 2]],
                [([[3, 2], [4, 2]], "indices have a size of 4, the data of 3")], {"axis": 1})
    yield Check("gather-nd", "GatherND", [tensor("N", 3), tensor("M", 1, dtype=I64)],
                [[2, 3], Values([[1], [1]])],
                [([[2, 3], Values([[1], [1], [1]])], "batch sizes 2 and 3")], {"batch_dims": 1})
    yield Check("scatter-elements", "ScatterElements",
                [tensor("N", "M"), tensor("K", "L", dtype=I64), tensor("P", "Q")], [[3, 2], [3, 2], [3, 2]],
                [([[3, 2], [4, 2], [4, 2]], "indices have a size of 4, the data of 3"),
                 ([[3, 2], [3, 2], [3, 1]], "updates have a size of 1; data and indices make it 2"),
                 ([[3, 0], [3, 2], [3, 2]], "indices into a dimension of size 0")], {"axis": 1})
    yield Check("scatter-nd", "ScatterND", [tensor("N", "M"), tensor("K", 1, dtype=I64), tensor("P", "Q")],
                [[2, 3], given([1], [0]), [2, 3]],
                [([[2, 3], given([1], [0]), [2, 2]], "updates have a size of 2; data and indices make it 3")])
    yield Check("top-k", "TopK", [tensor("N", "M"), tensor(1, dtype=I64)], [[2, 5], given(3)],
                [([[2, 5], given(6)], "k is 6, along an axis of 5 elements"),
                 ([[2, 5], given(-1)], "k is -1; it must be 0 or more")], outputs=2,
                later_types=[TensorProto.INT64])
    yield Check("top-k-of-constant", "TopK", [tensor("N", "M"), ints(3)], [[2, 5]],
                [([[2, 2]], "k is 3, along an axis of 2 elements")], outputs=2, later_types=[TensorProto.INT64])
    yield Check("compress", "Compress", [tensor("N"), tensor("M", dtype=numpy.bool_)], [[5], [4]],
                [([[5], [6]], "a condition of 6 elements for 5")])
    boxes, scores, one = [2, 5, 4], [2, 3, 5], numpy.array([0.5], F32)
    for label, wrong, text in (
            ("numbers", [[2, 5, 3], scores], "boxes have 3 numbers; they need 4"),
            ("batch", [boxes, [1, 3, 5]], "batch sizes 2 and 1 of boxes and scores differ"),
            ("count", [boxes, [2, 3, 4]], "5 boxes have 4 scores")):
        yield Check(f"suppression-{label}", "NonMaxSuppression",
                    [tensor("B", "N", "K"), tensor("C", "M", "S"), ints(3), one], [boxes, scores], [(wrong, text)],
                    output_type=TensorProto.INT64)
    yield Check("reverse-sequence-count", "ReverseSequence",
                [tensor("T", "N"), tensor("L", dtype=I64)], [[3, 2], given(3, 1)],
                [([[3, 2], given(3, 1, 2)], "sequence_lens holds 3 lengths for 2 sequences")])
    yield Check("reverse-sequence-constant", "ReverseSequence", [tensor("T", 2), ints(0, 3)],
                [[3, 2]], [([[2, 2]], "a sequence of length 3 along a time axis of size 2")])
    yield Check("one-hot", "OneHot", [tensor("N", dtype=I64), tensor(dtype=I64), tensor(2)],
                [[3], Values(4), [2]],
                [([[3], Values(-1), [2]], "depth is -1; it must be 1 or more")])
    yield Check("depth-to-space", "DepthToSpace", [tensor(1, "C", 2, 2)], [[1, 8, 2, 2]],
                [([[1, 6, 2, 2]], "6 channels are not a multiple of 4")], {"blocksize": 2})
    yield Check("space-to-depth", "SpaceToDepth", [tensor(1, 2, "H", 2)], [[1, 2, 4, 2]],
                [([[1, 2, 3, 2]], "a size of 3 is not a multiple of blocksize 2")],
                {"blocksize": 2})
    yield Check("tile", "Tile", [tensor("N", 2), tensor(2, dtype=I64)], [[3, 2], given(2, 0)],
                [([[3, 2], given(2, -1)], "repeats has a value of -1; it must be 0 or more")])
    yield Check("expand", "Expand", [tensor("N", 3), tensor(2, dtype=I64)], [[1, 3], given(4, 3)],
                [([[1, 3], given(4, 2)], "sizes 3 and 2 cannot be broadcast together"),
                 ([[1, 3], given(-4, 3)], "the shape has a size of -4; it must be 0 or more")])
    yield Check("concat", "Concat", [tensor("N", "M"), tensor("K", "L")], [[2, 3], [4, 3]],
                [([[2, 3], [4, 5]], "sizes 5 and 3 of two inputs differ in dimension 1")],
                {"axis": 0})
    yield Check("resize-scale", "Resize", [tensor(1, "W"), None, tensor(2)], [[1, 4], Values([1, 2])],
                [([[1, 4], Values([1, 0])], "the scale of dimension 1 is not positive"),
                 ([[1, 4], Values([1, float("nan")])], "the scale of dimension 1 is not positive"),
                 ([[1, 4], Values([1, float("inf")])], "the scaled size of dimension 1 is not a number of 64 bits")])
    yield Check("resize-size", "Resize", [tensor(1, "W"), None, None, tensor(2, dtype=I64)],
                [[1, 4], given(1, 8)],
                [([[1, 4], given(1, -8)], "sizes has a size of -8; it must be 0 or more"),
                 ([[1, 0], given(1, 8)], "a dimension of size 0 cannot become one of size 8")])
    yield from recurrence_checks()
    yield from sampling_checks()
    yield Check("constant-of-shape", "ConstantOfShape", [tensor(2, dtype=I64)], [given(3, 0)],
                [([given(3, -2)], "the shape has a size of -2; it must be 0 or more")])
    yield Check("range", "Range", [tensor(dtype=I64) for _ in range(3)],
                [Values(0), Values(6), Values(2)],
                [([Values(0), Values(6), Values(0)], "delta is 0")],
                output_type=TensorProto.INT64)
    yield Check("range-number", "Range", [tensor() for _ in range(3)], [Values(0), Values(6), Values(2)],
                [([Values(0), Values(float("nan")), Values(1)], "the number of elements is not a number of 64 bits"),
                 ([Values(0), Values(1e30), Values(1)], "the number of elements is not a number of 64 bits")])
    yield Check("reshape-count", "Reshape", [tensor("N", 4), ints(2, 6)], [[3, 4]],
                [([[5, 4]], "20 elements cannot take a shape of 12 elements")])
    yield Check("reshape-rest", "Reshape", [tensor("N"), ints(-1, 6)], [[12]],
                [([[13]], "13 elements")])
    yield Check("reshape-values", "Reshape", [tensor("N"), tensor(2, dtype=I64)],
                [[12], given(-1, 6)],
                [([[12], given(5, 6)], "12 elements cannot take a shape of 30 elements"),
                 ([[12], given(-3, -4)], "the shape has a size of -3; it must be 0 or more")])
    yield Check("reshape-two-open", "Reshape", [tensor("N"), tensor(2, dtype=I64)],
                [[12], given(-1, 6)],
                [([[12], given(-1, -1)],
                  "the shape has 2 sizes of -1; at most one size may be -1")])
    yield Check("squeeze", "Squeeze", [tensor("N", 3), ints(0)], [[1, 3]],
                [([[2, 3]], "a size of 2 cannot be squeezed; only 1 can")])
    yield Check("squeeze-axes", "Squeeze", [tensor("N", 3, 1), tensor(1, dtype=I64)],
                [[2, 3, 1], given(-1)],
                [([[2, 3, 1], given(3)], "the 1 axes name 0 dimensions of a tensor of rank 3"),
                 ([[2, 3, 1], given(0)], "6 elements cannot take a shape of")])
    yield Check("unsqueeze-axes", "Unsqueeze", [tensor("N"), tensor(2, dtype=I64)],
                [[2], given(0, 2)],
                [([[2], given(0, 0)], "the 2 axes name 1 dimensions of a tensor of rank 3")])
    yield Check("reduce-axes", "ReduceSum", [tensor("N", 3), tensor(1, dtype=I64)],
                [[2, 3], given(-1)],
                [([[2, 3], given(2)], "the 1 axes name 0 dimensions of a tensor of rank 2")])
    yield Check("cumsum-axis", "CumSum", [tensor("N", 3), tensor(dtype=I64)], [[2, 3], Values(1)],
                [([[2, 3], Values(-3)], "the 1 axes name 0 dimensions of a tensor of rank 2")])
    slices = [tensor("N", 4), *(tensor(1, dtype=I64) for _ in range(4))]
    yield Check("slice", "Slice", slices, [[5, 4], given(1), given(9), given(-2), given(2)],
                [([[5, 4], given(1), given(9), given(2), given(1)],
                  "the 1 axes name 0 dimensions of a tensor of rank 2"),
                 ([[5, 4], given(1), given(9), given(0), given(0)],
                  "a step of 0; steps must not be 0")])
    yield Check("split-sum", "Split", [tensor("N"), ints(2, 3)], [[5]],
                [([[6]], "the parts add up to 5; the input has 6")], outputs=2)
    yield Check("split-values", "Split", [tensor("N"), tensor(2, dtype=I64)], [[5], given(5, 0)],
                [([[5], given(6, -1)], "split has a size of -1; it must be 0 or more")], outputs=2)
    yield Check("pad-axes", "Pad",
                [tensor("N", 4), tensor(2, dtype=I64), None, tensor(1, dtype=I64)],
                [[3, 4], given(1, -2), given(-1)],
                [([[3, 4], given(1, 1), given(-3)],
                  "the 1 axes name 0 dimensions of a tensor of rank 2")])
    yield Check("pad-crop", "Pad", [tensor("N"), tensor(2, dtype=I64)], [[3], given(-2, 4)],
                [([[3], given(-5, 9)], "pads take away 5 elements of 3")])
    yield Check("split-even", "Split", [tensor("N")], [[4]],
                [([[5]], "a size of 5 does not split into 2 equal parts")], outputs=2, opset=17)
    yield Check("split-count", "Split", [tensor("N")], [[5]],
                [([[4]], "a size of 4 does not split into 3 parts of which only the last")],
                {"num_outputs": 3}, outputs=3)
    yield Check("dropout-ratio", "Dropout", [tensor("N"), tensor()], [[3], Values(0.25)],
                [([[3], Values(1.0)], "ratio is not 0 or more and less than 1"),
                 ([[3], Values(float("nan"))], "ratio is not 0 or more and less than 1"),
                 ([[3], Values(-0.5)], "ratio is not 0 or more and less than 1")])
    yield Check("dropout-training-ratio", "Dropout", [tensor("N"), tensor(), tensor(dtype=bool)],
                [[3], Values(0.0), Values(True)],
                [([[3], Values(1.0), Values(True)], "ratio is not 0 or more and less than 1")])
    # No names of sizes: each is a size of its own.
    for name in ("?", "", "-1", "None"):
        yield Check(f"nameless-{name or 'empty'}", "Add", [tensor(name, 4), tensor(name, 4)],
                    [[3, 4], [1, 4]],
                    [([[3, 4], [2, 4]], "sizes 3 and 2 cannot be broadcast together")])
    yield Check("pad-empty", "Pad", [tensor("N"), ints(1, 1)], [[2]],
                [([[0]], "a dimension of size 0 has no elements to be padded with")],
                {"mode": "edge"})


class RuntimeChecks:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("runtime-checks", options.build.resolve())

    def run_with(self, work, feed, files=()):
        command = [work / "model", f"--device={self.options.device}"]
        for name, array in feed.items():
            file = work / f"{name}.pb"
            file.write_bytes(numpy_helper.from_array(array).SerializeToString())
            command.append(f"--input={name}=@{file}")
        return harness.run([*command, *(f"--output={file.stem}=@{file}" for file in files)], SECONDS)

    def check_good(self, work, check, model):
        """(case, reason or nothing, steps, why nothing was compared)"""
        feed = dict(check.feeds(check.good))
        files = [work / f"{output.name}.pb" for output in model.graph.output]
        step = self.run_with(work, feed, files)
        if step.code:
            return check.label, f"{step.how()}: {harness.first_error(step.output)}", [step], ""
        wanted = reference.expected(model, feed)
        if isinstance(wanted, str):
            return check.label, "", [step], "ONNX Runtime gives no results: run alone"
        for file, right in zip(files, wanted):
            found = numpy_helper.to_array(TensorProto.FromString(file.read_bytes()))
            reason = reference.differs(file.stem, found, right)
            if not reason and right.dtype == F32 and right.size:
                apart = numpy.abs(found - right).max()
                if not apart <= OFF * numpy.abs(right).max():
                    reason = f"{file.stem} is off by {apart:.1e}"
            if reason:
                return check.label, reason, [step], ""
        return check.label, "", [step], ""

    def check(self, check):
        """[(case, reason or nothing, steps, why nothing was compared)]"""
        work = self.suite.work / check.label
        work.mkdir(exist_ok=True)
        model = check.model()
        onnx.save(model, work / "model.onnx")
        step = harness.run([self.suite.tool("cameoc"), work / "model.onnx", "-o", work / "model",
                            f"--target={self.options.target}"], SECONDS)
        if step.code:
            return [(check.label, f"cameoc: {harness.first_error(step.output)}", [step], "")]
        results = [self.check_good(work, check, model)]
        for number, (values, text) in enumerate(check.bad):
            step = self.run_with(work, dict(check.feeds(values)))
            errors = [line for line in step.output.splitlines() if "error: " in line]
            # What an input itself contradicts is said of the input; else of the node.
            where = r"input '\w'" if check.operator == "Relu" or check.label == "one-name" \
                else "node 'it'"
            reason = ""
            said = re.sub(r" \('\w+'\)", "", errors[0]) if errors else ""  # without names of sizes
            if step.code != USAGE:
                reason = f"{step.how()}, not {USAGE}"
            elif len(errors) != 1 or text not in said or not re.search(where, errors[0]):
                reason = f"'{text}' of {where} is not what the error says: {errors}"
            results.append((f"{check.label}-{number}", reason, [step], ""))
        return results

    def run(self):
        chosen = [check for check in cases() if re.search(self.options.filter, check.label)]
        for _, results in harness.for_each(chosen, self.check, self.options.jobs):
            for case, reason, steps, skipped in results:
                if reason:
                    self.suite.fail(case, reason, *steps)
                elif skipped:
                    self.suite.skip(skipped)
                else:
                    self.suite.ok(case)
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return RuntimeChecks(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
