"""The models of a pack, as a table: what each is, what it is fed with, and what it serves for."""
# SPDX-License-Identifier: Apache-2.0
import itertools
import zlib
from dataclasses import dataclass, field

import numpy
from onnx import TensorProto, helper

import batch
import pack_networks
import reference
import row_cases
import small_models

# As test/e2e judges them: single operators by value, networks by their largest one.
BY_VALUE = {"relative": 1e-3, "absolute": 1e-5}
BY_LARGEST = {"of_largest": 1e-3}
F16 = {"relative": 4e-3, "absolute": 1e-3}


@dataclass
class PackModel:
    name: str
    kind: str  # "model": small; "family": operators of one kind; "network"; "benchmark"; "helper"
    make: object  # function: (ModelProto, feeds, what they should give or None)
    small: bool = False  # part of the small pack, too
    ptx: bool = True  # also as a file with PTX alone
    target: str = ""  # instead of the pack's
    tolerance: dict = field(default_factory=lambda: BY_LARGEST)
    sanitize: bool = False
    benchmark: str = ""  # its row in the table of times
    shapes: str = ""  # of the benchmark's inputs
    torch: dict = field(default_factory=dict)  # the same work for torch_cases.py
    gflop: float = 0.0


def small_model(name):
    def make():
        made = small_models.MODELS[name]()
        return made.model, made.feeds, None
    return make


def outer():
    """A column times a row: for a matrix larger than any memory, of small inputs."""
    values = [("column", TensorProto.FLOAT, ["N", 1]), ("row", TensorProto.FLOAT, [1, "M"])]
    nodes = [helper.make_node("MatMul", ["column", "row"], ["matrix"], "matmul_outer"),
             helper.make_node("Softmax", ["matrix"], ["rows"], "softmax_outer", axis=-1),
             helper.make_node("ReduceMax", ["rows"], ["largest"], "max_outer", keepdims=0)]
    model = small_models.build("outer", nodes, values, [("largest", TensorProto.FLOAT, [])], {})
    random = numpy.random.default_rng(3)
    return model, [{"column": small_models.normal(random, 40, 1),
                    "row": small_models.normal(random, 1, 30)}], None


FAMILIES = {
    "elementwise": "Add Sub Mul Div Mod Max Min Sum Equal Greater And Or Not BitShift BitwiseAnd "
                   "Where Clip PRelu Relu LeakyRelu Abs Neg Sign Ceil Floor Round Sqrt Reciprocal "
                   "IsInf IsNaN Cast HardSwish",
    "functions": "Acos Asinh Atan Cos Erf Exp Log Sin Tan Tanh Pow Sigmoid Gelu Mish Softplus",
    "products": "MatMul Gemm Einsum",
    "convolutions": "Conv ConvTranspose",
    "windows": "MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool LRN",
    "rows": "ReduceSum ReduceMax ReduceMean ReduceProd ReduceL2 ReduceLogSumExp ArgMax ArgMin "
            "Softmax LogSoftmax Hardmax LayerNormalization InstanceNormalization "
            "GroupNormalization RMSNormalization BatchNormalization",
    "scans": "CumSum CumProd",
    "layout": "Concat Split Slice Pad Transpose Expand Tile Gather GatherElements GatherND Trilu "
              "ReverseSequence OneHot Resize DepthToSpace SpaceToDepth",
}


def family(operators):
    """One model of many nodes that have nothing to do with each other."""
    def make():
        newest = {name: version for name, version, _ in row_cases.rows()}
        opset = max(newest.values())
        entries, expected = [], {}
        for name in operators.split():
            version = newest[name]
            row_cases.random = numpy.random.default_rng(zlib.crc32(name.encode()) + version)
            for case in itertools.islice(row_cases.CASES[name](version), 12):
                if sum(isinstance(value, numpy.ndarray) for value in case.inputs) > 100:
                    continue
                model, feed = case.model(name, opset), case.feed()
                values = reference.expected(model, feed)
                if isinstance(values, str):
                    continue
                number = len(entries)
                for output, value in zip(model.graph.output, values):
                    output.CopyFrom(helper.make_tensor_value_info(
                        output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
                    expected[f"{number}/{output.name}"] = value
                entries.append(batch.Entry(case.label, model, feed))
        feed = {f"{number}/{key}": array for number, entry in enumerate(entries)
                for key, array in entry.feed.items()}
        return batch.merged(entries), [feed], [expected]
    return make


def product(m, k, n):
    def make():
        nodes = [helper.make_node("MatMul", ["a", "b"], ["c"], "matmul")]
        model = small_models.build(f"gemm{m}", nodes, [("a", TensorProto.FLOAT, [m, k]),
                                                       ("b", TensorProto.FLOAT, [k, n])],
                                   [("c", TensorProto.FLOAT, [m, n])], {})
        return model, [], None
    return make


def convolution(c):
    def make():
        random = numpy.random.default_rng(c["inputs"])
        weights = {"w": pack_networks.rounded(small_models.normal(
            random, c["outputs"], c["inputs"] // c["groups"], c["kernel"], c["kernel"]))}
        node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", strides=[c["stride"]] * 2,
                                pads=[c["kernel"] // 2] * 4, group=c["groups"])
        result = (c["size"] - 1) // c["stride"] + 1
        model = small_models.build(
            "conv", [node], [("x", TensorProto.FLOAT, [c["batch"], c["inputs"], *[c["size"]] * 2])],
            [("y", TensorProto.FLOAT, [c["batch"], c["outputs"], result, result])], weights)
        return model, [], None
    return make


GEMMS = ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096),
         (8192, 8192, 8192), (128, 768, 3072), (1, 4096, 4096))
CONVOLUTIONS = [dict(zip(("batch", "inputs", "outputs", "size", "kernel", "stride", "groups"), row))
                for row in ((1, 64, 64, 56, 3, 1, 1), (32, 64, 64, 56, 3, 1, 1),
                            (32, 256, 256, 14, 3, 1, 1), (32, 256, 512, 28, 1, 2, 1),
                            (32, 192, 192, 28, 3, 1, 192))]


def _gemm(sizes):
    m, k, n = sizes
    label = f"gemm-{m}x{k}x{n}"
    return PackModel(label, "benchmark", product(*sizes), benchmark=label, ptx=False,
                     small=m == 512, torch={"matmul": list(sizes)}, gflop=2e-9 * m * k * n)


def _convolution(c):
    label = "conv-{batch}x{inputs}x{size}-{outputs}-k{kernel}s{stride}g{groups}".format(**c)
    outputs = c["batch"] * c["outputs"] * ((c["size"] - 1) // c["stride"] + 1) ** 2
    return PackModel(label, "benchmark", convolution(c), benchmark=label, ptx=False,
                     torch={"conv": c},
                     gflop=2e-9 * outputs * c["inputs"] // c["groups"] * c["kernel"] ** 2)


def table():
    """All models, first those that say most."""
    models = [
        PackModel("layers", "model", small_model("layers"), small=True, sanitize=True,
                  benchmark="layers", shapes="x:8x128x32"),
        PackModel("shapes", "model", small_model("shapes"), small=True, sanitize=True),
        PackModel("fashion", "model", small_model("fashion"), small=True, sanitize=True,
                  benchmark="fashion", shapes="image:64x1x28x28"),
        PackModel("outer", "helper", outer, small=True, ptx=False),
        *(PackModel(f"layers-{arch}", "helper", small_model("layers"), small=True, ptx=False,
                    target=arch) for arch in ("sm_75", "sm_90a")),
    ]
    for name, operators in FAMILIES.items():
        models.append(PackModel(name, "family", family(operators), small=name in ("scans",),
                                tolerance=BY_VALUE, sanitize=name in ("scans", "windows")))
    for name, make in pack_networks.NETWORKS.items():
        heavy = name == "resnet50"  # its weights are stored once
        known = {"torch": {"network": name, "batch": 1}} if name in pack_networks.IN_TORCH else {}
        models.append(PackModel(name, "network", make, ptx=not heavy, benchmark=name,
                                shapes=pack_networks.SHAPES[name], **known))
    return models + [_gemm(sizes) for sizes in GEMMS] + [_convolution(c) for c in CONVOLUTIONS]
