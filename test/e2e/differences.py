#!/usr/bin/env python3
"""Where ONNX's reference evaluator and ONNX Runtime differ: each row of
dialects/onnx/Differences.cpp has a case here. The two must differ as the row says, Cameo must follow whom it
says, and `cameoc --remarks` must speak of the node."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
import warnings
from dataclasses import dataclass, field

import numpy
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import batch
import harness

F32, I32, I64 = numpy.float32, numpy.int32, numpy.int64
NAN, INF = numpy.nan, numpy.inf
PAGE = harness.SOURCE / "docs" / "generated" / "differences.md"
onnxruntime.set_default_logger_severity(4)
warnings.filterwarnings("ignore")


@dataclass
class Difference:
    """One node over `inputs`; if `fixed`, all but the one that is `given` are constants. `followed` is
    "reference", "onnxruntime", or what Cameo computes where it is neither."""
    row: str  # the first cells of the page's row
    operator: str
    inputs: list
    followed: object
    attributes: dict = field(default_factory=dict)
    fixed: bool = True
    opset: int = 22
    outputs: int = 1
    given: int = 0
    joined: bool = False  # its result is a sequence, of which one tensor is made

    def model(self):
        names, values, weights = [], [], []
        for number, array in enumerate(self.inputs):
            names.append("" if array is None else f"x{number}")
            if array is None:
                continue
            if number != self.given and self.fixed:
                weights.append(numpy_helper.from_array(array, names[-1]))
            else:
                values.append(helper.make_tensor_value_info(
                    names[-1], helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        results = [f"y{number}" for number in range(self.outputs)]
        nodes = [helper.make_node(self.operator, names, results, name="it", **self.attributes)]
        if self.joined:
            nodes[0].output[0] = "sequence"
            nodes.append(helper.make_node("ConcatFromSequence", ["sequence"], results, axis=0))
        model = helper.make_model(helper.make_graph(
            nodes, "difference", values, [helper.make_empty_tensor_value_info(r) for r in results],
            weights), opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 10
        return model

    def feed(self):
        return {f"x{number}": array for number, array in enumerate(self.inputs)
                if array is not None and (number == self.given or not self.fixed)}


def floats(*numbers, shape=None):
    return numpy.array(numbers, F32).reshape(shape or [len(numbers)])


def ints(*numbers, dtype=I64):
    return numpy.array(numbers, dtype)


def ramp(*shape):
    return numpy.arange(numpy.prod(shape), dtype=F32).reshape(shape)


def attention_cases():
    query, key, value = (ramp(1, 1, rows, 4) / 8 for rows in (2, 3, 3))
    hidden = numpy.array([[False, False, False], [True, False, True]])
    yield Difference("Attention of a query that sees no key", "Attention",
                     [query, key, value, hidden], "onnxruntime", opset=24)
    for mask in (floats(0, 1, 2, shape=[1, 3]), floats(0, 1, 2, 3, shape=[2, 2])):
        yield Difference("Attention, `attn_mask` with one row, or fewer keys", "Attention",
                         [query, key, value, mask], "reference", opset=24)
    mask = floats(0, 1, -2, 3, 1, 0, shape=[2, 3])
    yield Difference("Attention, `softcap` beside a mask", "Attention", [query, key, value, mask],
                     "onnxruntime", {"softcap": 0.5}, opset=24)
    for mode, cap in ((1, 0.0), (2, 0.5)):
        yield Difference("Attention, `qk_matmul_output_mode` 1 and 2", "Attention",
                         [query, key, value, mask], "onnxruntime",
                         {"qk_matmul_output_mode": mode, "softcap": cap}, opset=24, outputs=4)


def recurrent_cases():
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


def one_element_cases():
    for mode in ("linear", "cubic"):
        yield Difference("GridSample, `reflection` with `align_corners` in a size of 1", "GridSample",
                         [ramp(1, 1, 1, 4), floats(-0.5, -2.5, 0.1, 3.7, shape=[1, 1, 2, 2])], "onnxruntime",
                         {"mode": mode, "padding_mode": "reflection", "align_corners": 1})
    yield Difference("DeformConv of one row or column", "DeformConv",
                     [ramp(1, 1, 1, 4), floats(1, 2, shape=[1, 1, 1, 2]),
                      floats(*[0.25] * 12, shape=[1, 4, 1, 3])], "onnxruntime")


def sampling_cases():
    x = floats(1, NAN, 2, 3, shape=[1, 1, 2, 2])
    row = "RoiAlign with `max`, MaxRoiPool of NaN"
    yield Difference(row, "RoiAlign", [x, floats(0, 0, 1, 1, shape=[1, 4]), ints(0)], [floats(NAN, shape=[1, 1, 1, 1])],
                     {"mode": "max", "sampling_ratio": 2}, opset=16)
    yield Difference(row, "MaxRoiPool", [x, floats(0, 0, 0, 1, 1, shape=[1, 5])], [floats(NAN, shape=[1, 1, 1, 1])],
                     {"pooled_shape": [1, 1]}, opset=16)
    row = "RoiAlign, MaxRoiPool, an image out of range or a region that is no number, at run time"
    x, regions = floats(1, 1, 1, 1, shape=[1, 1, 2, 2]), floats(0, 0, 2, 2, 0, 0, NAN, 2, shape=[2, 4])
    yield Difference(row, "RoiAlign", [x, regions, ints(5, 0)], [floats(1, 0, shape=[2, 1, 1, 1])],
                     fixed=False, opset=16)
    yield Difference(row, "MaxRoiPool", [x, floats(7, 0, 0, 1, 1, shape=[1, 5])], [floats(1, shape=[1, 1, 1, 1])],
                     {"pooled_shape": [1, 1]}, fixed=False, opset=16)
    x, row = ramp(1, 1, 2, 3) + 1, "GridSample at a coordinate that is infinite, NaN or beyond integers"
    far = floats(NAN, -1, INF, -1, -1e30, -1, 1e30, -1, shape=[1, 1, 4, 2])
    for padding, wanted in (("zeros", [0, 0, 0, 0]), ("border", [1, 3, 1, 3])):
        yield Difference(row, "GridSample", [x, far], [floats(*wanted, shape=[1, 1, 1, 4])],
                         {"padding_mode": padding, "align_corners": 1})
    yield Difference("GridSample of integers, `linear` or `cubic`", "GridSample",
                     [ints(0, 10, 20, 33, dtype=I32).reshape(1, 1, 2, 2), floats(0.2, 0.4, shape=[1, 1, 1, 2])],
                     [ints(21, dtype=I32).reshape(1, 1, 1, 1)], {"align_corners": 1})


def cases():
    """In the order of the page."""
    for mode in ("nearest", "linear"):
        yield Difference("Resize, `align_corners`", "Resize", [ramp(1, 1, 5), None,
                                                                floats(1, 1, 0.5)], "reference",
                         {"mode": mode, "coordinate_transformation_mode": "align_corners"})
    for operator in ("ReduceMax", "ReduceMin"):
        yield Difference("ReduceMax, ReduceMin of NaN", operator, [floats(1, NAN, 3)], "reference")
    large = ints(2**30, 2**30, 2**30, dtype=I32)
    for operator in ("ReduceSum", "ReduceProd", "ReduceL1"):
        yield Difference("ReduceSum, ReduceProd, ReduceL1, ReduceSumSquare of int32", operator,
                         [large], "reference")
    yield Difference("ReduceMean of no elements", "ReduceMean",
                     [numpy.zeros((2, 0), F32), ints(1)], "reference")
    yield Difference("MeanVarianceNormalization of equal elements", "MeanVarianceNormalization",
                     [numpy.ones((1, 2, 3, 4), F32)], "reference")
    yield Difference("Clip with a bound that is NaN", "Clip",
                     [floats(1, -1), numpy.array(NAN, F32), numpy.array(1, F32)], "reference")
    for bounds in ([], [numpy.array(1, F32)]):
        yield Difference("Clip without a bound, of infinity", "Clip", [floats(2, INF), *bounds], "reference")
    yield Difference("Pad, `reflect`, beyond the size", "Pad", [floats(1, 2, 3), ints(4, 5)],
                     "reference", {"mode": "reflect"})
    yield Difference("MaxPool of nothing but -inf", "MaxPool",
                     [floats(-INF, -INF, -INF, 3, shape=[1, 1, 4])], "reference",
                     {"kernel_shape": [2]})
    x = ramp(1, 1, 3, 3) ** 2
    outside = floats(-1.2, 0, 1.4, 0.3, shape=[1, 1, 2, 2])
    for align in (0, 1):
        yield Difference("GridSample, `cubic` with `border`", "GridSample", [x, outside], "reference",
                         {"mode": "cubic", "padding_mode": "border", "align_corners": align})
    yield from attention_cases()
    yield from recurrent_cases()
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Difference("Softmax, LogSoftmax, Hardmax before opset 13", operator,
                         [ramp(2, 3, 4) / 5], "onnxruntime", {"axis": 1}, opset=11)
    for auto_pad in ("VALID", "SAME_UPPER"):
        yield Difference("Conv with `auto_pad`", "Conv",
                         [ramp(1, 1, 5, 7), numpy.ones((1, 1, 3, 3), F32)], "onnxruntime",
                         {"auto_pad": auto_pad, "strides": [3, 2]})
    x = ramp(1, 1, 7)
    for operator in ("AveragePool", "LpPool"):
        yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", operator, [x],
                         "onnxruntime", {"kernel_shape": [3], "strides": [3], "ceil_mode": 1})
    yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", "MaxPool", [x], "onnxruntime",
                     {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_LOWER"})
    yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", "MaxPool", [ramp(1, 1, 3, 4)],
                     "onnxruntime", {"kernel_shape": [2, 2]}, outputs=2)
    yield from one_element_cases()
    yield Difference("OneHot of an index out of range", "OneHot",
                     [ints(-5, -4, 4, 0, 3), numpy.array(4), floats(0, 1)], "onnxruntime")
    yield Difference("LRN", "LRN", [ramp(1, 8, 1, 1)], "onnxruntime", {"size": 3})
    yield Difference("ReduceLogSumExp of nothing but -inf", "ReduceLogSumExp", [floats(-INF, -INF)],
                     "onnxruntime")
    for operator in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        yield Difference("ReduceMean, ReduceL2, ReduceLogSum, ReduceLogSumExp of integers", operator,
                         [large], "onnxruntime")
    yield Difference("QuantizeLinear of float16", "QuantizeLinear",
                     [(numpy.arange(6000) / 64).astype(numpy.float16),
                      numpy.array(0.37, numpy.float16), numpy.array(0, numpy.uint8)], "onnxruntime")
    yield Difference("SplitToSequence, a scalar `split` of 1 with `keepdims` 0", "SplitToSequence",
                     [ramp(3, 2), numpy.array(1)], "onnxruntime", {"keepdims": 0}, joined=True)
    yield Difference("DynamicQuantizeLinear of nothing but zeros", "DynamicQuantizeLinear",
                     [numpy.zeros(3, F32)], "onnxruntime", outputs=3)
    yield Difference("Pow of an integer to a negative power", "Pow",
                     [ints(2, -2, 0, 3, dtype=I32), ints(-1, 3, 0, -2, dtype=I32)], "onnxruntime")
    yield Difference("Resize, `pytorch_half_pixel`, to one element", "Resize",
                     [ramp(1, 1, 5), None, floats(1, 1, 0.3)], "onnxruntime",
                     {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"})
    yield Difference("Pad with negative amounts", "Pad", [floats(1, 2, 3), ints(2, -1)],
                     "onnxruntime")
    yield Difference("Cast of what does not fit to int32", "Cast",
                     [floats(NAN, INF, -INF, 3e9, -3e9, 2.5)],
                     [ints(0, 2**31 - 1, -2**31, 2**31 - 1, -2**31, 2, dtype=I32)],
                     {"to": TensorProto.INT32})
    yield Difference("Cast of what does not fit to int32", "Cast", [floats(NAN, INF, 300, -300)],
                     [ints(0, -1, 44, -44, dtype=numpy.int8)], {"to": TensorProto.INT8})
    # Of four channels one is before and two are behind.
    x = floats(1, 2, 3, 4, 5, shape=[1, 5, 1, 1])
    sums = floats(14, 30, 54, 50, 41, shape=[1, 5, 1, 1])
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["doubled"]),
         helper.make_node("Constant", [], ["ends"], value=numpy_helper.from_array(numpy.array(False)))], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("ends", TensorProto.BOOL, []),
         helper.make_tensor_value_info("doubled", TensorProto.FLOAT, [2])])
    yield Difference("Loop without a condition, whose body yields one that is false", "Loop",
                     [ints(2), None, floats(1, 2)], [floats(4, 8)], {"body": body}, given=2)
    yield Difference("LRN of an even size", "LRN", [x], [x / (1 + sums / 4)],
                     {"size": 4, "alpha": 1.0, "beta": 1.0})
    row = "Pools, `SAME_...`, with a kernel shorter than its stride"
    for operator, wanted in (("AveragePool", [1.5, 5.5]), ("LpPool", [5**0.5, 61**0.5]), ("MaxPool", [2, 6])):
        yield Difference(row, operator, [ramp(1, 1, 8) + 1], [floats(*wanted, shape=[1, 1, 2])],
                         {"kernel_shape": [2], "strides": [4], "auto_pad": "SAME_UPPER"})
    yield Difference("ConvTranspose, `SAME_...`, with a kernel shorter than its stride", "ConvTranspose",
                     [floats(1, 2, 3, shape=[1, 1, 3]), numpy.ones((1, 1, 1), F32)],
                     [floats(1, 0, 2, 0, 3, 0, shape=[1, 1, 6])], {"strides": [2], "auto_pad": "SAME_UPPER"})
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "ArgMax", [floats(1, NAN, 3)], [ints(2)])
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "ArgMin", [floats(NAN, 1, 3)], [ints(1)])
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "Hardmax", [floats(NAN, 1, 2)],
                     [floats(0, 0, 1)])
    yield Difference("MaxPool, GlobalMaxPool of NaN", "MaxPool",
                     [floats(1, NAN, 2, 3, shape=[1, 1, 4])], [floats(NAN, NAN, 3, shape=[1, 1, 3])],
                     {"kernel_shape": [2]})
    yield Difference("MaxPool, GlobalMaxPool of NaN", "GlobalMaxPool",
                     [floats(1, NAN, 2, shape=[1, 1, 3])], [floats(NAN, shape=[1, 1, 1])])
    yield from sampling_cases()
    yield Difference("Gather, GatherElements, GatherND, SequenceAt, classes of losses out of range at run time", "GatherElements",
                     [floats(1, 2, 3, 4), ints(4, -5)], [floats(4, 1)], fixed=False)
    yield Difference("ScatterElements, ScatterND, MaxUnpool out of range at run time", "ScatterElements",
                     [floats(1, 2, 3), ints(3, -4), floats(5, 6)], [floats(6, 2, 5)], fixed=False)
    yield Difference("NonZero of a scalar", "NonZero", [numpy.array(2, F32)], [numpy.zeros((0, 1), I64)])
    yield Difference("NonZero of a scalar", "NonZero", [numpy.array(2, F32)], [numpy.zeros((0, 1), I64)], fixed=False)
    yield Difference("Bernoulli", "Bernoulli", [floats(0, 1, 1, 0)], "reference")
    yield Difference("MaxUnpool with an `output_shape` larger than its windows make", "MaxUnpool",
                     [floats(1, 2, 3, 4, shape=[1, 1, 2, 2]), ints(5, 7, 13, 15).reshape(1, 1, 2, 2), ints(1, 1, 5, 5)],
                     "reference", {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Difference("TfIdfVectorizer with `weights`", "TfIdfVectorizer", [ints(4, 3, 4)], "onnxruntime",
                     {"mode": "TFIDF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
                      "ngram_counts": [0], "ngram_indexes": [1, 0], "pool_int64s": [3, 4], "weights": [0.5, 2.0]})
    yield Difference("ReverseSequence of lengths out of range at run time", "ReverseSequence",
                     [floats(1, 2, 3, 4, 5, 6, shape=[3, 2]), ints(4, -1)],
                     [floats(5, 2, 3, 4, 1, 6, shape=[3, 2])], fixed=False)


def same(values, wanted):
    """Whether two lists of arrays, of which one may be an error's text, agree."""
    if isinstance(values, str) or isinstance(wanted, str):
        return False
    return all(value.shape == other.shape and value.dtype == other.dtype and
               (numpy.allclose(value, other, rtol=1e-4, atol=1e-5, equal_nan=True)
                if value.dtype.kind == "f" else numpy.array_equal(value, other))
               for value, other in zip(values, wanted, strict=True))


def attempt(run):
    try:
        with numpy.errstate(all="ignore"):
            return [numpy.asarray(value) for value in run()]
    except Exception as error:  # pylint: disable=broad-except
        return f"an error: {str(error)[:100]}"


class Differences:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("differences", options.build.resolve())
        self.runner = batch.Runner(self.suite, options)

    def judge(self, case, entry, remarks):
        """What is wrong, or None."""
        if entry.failure or entry.refusal:
            return entry.failure or f"refused: {entry.refusal}"
        if not isinstance(case.followed, str):
            if not same(entry.outputs, case.followed):
                return f"{entry.outputs}, not {case.followed}"
        elif not same(entry.outputs, entry.sides[case.followed]):
            return f"{entry.outputs}, not {case.followed}'s {entry.sides[case.followed]}"
        for name, values in entry.sides.items():
            if name != case.followed and same(entry.outputs, values):
                return f"is {name}'s result, too: the page says otherwise"
        if not remarks:
            return "cameoc --remarks says nothing of it"
        return None

    def run(self):
        chosen = [case for case in cases() if re.search(self.options.filter, case.row)]
        page = PAGE.read_text()
        groups = {}
        for number, case in enumerate(chosen):
            entry = batch.Entry(f"{number}-{case.operator}", case.model(), case.feed())
            bytes_of = entry.model.SerializeToString()
            entry.sides = {
                "reference": attempt(lambda: onnx.reference.ReferenceEvaluator(entry.model).run(
                    None, entry.feed)),
                "onnxruntime": attempt(lambda: onnxruntime.InferenceSession(bytes_of).run(
                    None, entry.feed))}
            known = next(values for values in (*entry.sides.values(), case.followed)
                         if not isinstance(values, str))
            for output, value in zip(entry.model.graph.output, known):
                output.CopyFrom(helper.make_tensor_value_info(
                    output.name, helper.np_dtype_to_tensor_dtype(value.dtype), None))
            groups.setdefault(case.opset, []).append((case, entry))
        for opset, members in groups.items():
            entries = [entry for _, entry in members]
            self.runner.run(f"opset-{opset}", entries)
            model = self.suite.work / f"{opset}.onnx"
            onnx.save(batch.merged(entries), model)
            step = harness.run([self.suite.tool("cameoc"), model, "--remarks",
                                "--stop-after=imported", "-o", model.with_suffix(".mlir")], 60)
            for at, (case, entry) in enumerate(members):
                remarks = re.findall(rf"^{at}/it: remark: .*\(docs/generated/differences\.md\)$", step.output,
                                     re.MULTILINE)
                reason = self.judge(case, entry, remarks)
                if f"\n| {case.row} |" not in page:
                    reason = "there is no such row"
                if reason:
                    self.suite.fail(f"{case.row}: {case.operator}", reason, *entry.steps, step)
                else:
                    self.suite.ok(case.row)
        table = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
        for row in set(table[1:]) - {case.row for case in cases()}:
            self.suite.fail(row, "is a row without a case here")
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sim:sm_80")
    return Differences(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
