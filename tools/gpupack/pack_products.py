"""Products and convolutions for a pack: those of test/e2e whose results are known to the last bits, and
some to be measured beside cuBLAS and cuDNN and in other schedules than the chosen one."""
# SPDX-License-Identifier: Apache-2.0
import itertools
import re

import numpy
import onnx
from onnx import TensorProto, helper

import batch
import matrix_products
import pack_networks
import product_shapes

CASES_OF_A_MODEL = 24
MOST_RESULTS = 1 << 16  # of a case: random numbers do not compress
# What operands are stored in; what products compute in, as cameoc's --precision.
STORED = {"fp32": "f32", "tf32": "f32", "fp16": "f16", "bf16": "bf16", "int8": "s8"}
# How the compiler is asked for products that no operand's type asks for.
OPTIONS = {"tf32": ("--precision=tf32",)}


class Tf32Case(product_shapes.ShapeCase):
    """Operands that TF32 holds."""

    def values(self, *shape):
        bits = super().values(*shape).view(numpy.uint32)
        return (bits & 0xffffe000).view(numpy.float32)


def tables(kind):
    """{name: function of a case} for operands of this type."""
    products = matrix_products.CASES
    shapes = {f"{group}-{name}": make for group, (makers, _, _, _) in product_shapes.GROUPS.items()
              for name, make in makers.items()}
    if kind == "f16":
        return products | shapes
    if kind == "f32":
        return {name: make for name, make in (products | shapes).items()
                if not re.match("cast|quantised", name)}
    return {name: make for name, make in shapes.items()
            if re.match("split|open|depthwise", name) and not re.search(
                "computed|bias|residual|[13]x[13]$|siblings", name)}


def correctness(precision):
    """[(name, function that makes model, feeds and expected values)] of all cases of a type."""
    kind = STORED[precision]
    makers = tables(kind)
    if precision == "tf32":
        # What is computed on the way to a product is rounded there, which bounds know nothing of.
        makers = {name: make for name, make in makers.items()
                  if not re.search("computed|rectified", name)}
    made = []
    for number in range(0, len(makers), CASES_OF_A_MODEL):
        chosen = dict(itertools.islice(makers.items(), number, number + CASES_OF_A_MODEL))
        made.append((f"products-{precision}-{number // CASES_OF_A_MODEL}",
                     lambda chosen=chosen: merged(chosen, kind, precision)))
    return made


def stored(exact, error):
    """Both in few bytes, the error with what that takes away."""
    if numpy.issubdtype(exact.dtype, numpy.integer):
        return exact.astype(numpy.int32), numpy.full(exact.shape, 0.5, numpy.float16)
    short = exact.astype(numpy.float32)
    wide = (numpy.broadcast_to(error, exact.shape) + abs(exact - short)) * (1 + 2.0**-9) + 2.0**-24
    return short, wide.astype(numpy.float16)


def merged(makers, kind, precision):
    entries, expected = [], {}
    for name, make in makers.items():
        case = (Tf32Case if precision == "tf32" else product_shapes.ShapeCase)(name, kind)
        result = make(case)
        if case.exact.size > MOST_RESULTS:
            continue
        results = [("", case.exact, case.error), *case.others]
        for output, (_, exact, error) in enumerate(results):
            value = f"{len(entries)}/y{output}"
            expected[value], expected[f"{value}:error"] = stored(numpy.asarray(exact), error)
        entries.append(case.entry(result))
    feed = {f"{number}/{key}": array for number, entry in enumerate(entries)
            for key, array in entry.feed.items()}
    return batch.merged(entries), [feed], [expected]


def tensor_type(precision):
    return {"fp16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
            "int8": TensorProto.INT8}.get(precision, TensorProto.FLOAT)


def finish(name, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model, [], None


def product(sizes, precision):
    def make():
        m, k, n = sizes
        kind = tensor_type(precision)
        value = helper.make_tensor_value_info
        operator, result = ("MatMulInteger", TensorProto.INT32) if precision == "int8" else (
            "MatMul", kind)
        return finish("product", [helper.make_node(operator, ["a", "b"], ["c"], "product")],
                      [value("a", kind, [m, k]), value("b", kind, [k, n])],
                      [value("c", result, [m, n])])
    return make


def convolution(c, precision):
    """In FP32 as ONNX stores images; else with channels innermost."""
    def make():
        kind, value = tensor_type(precision), helper.make_tensor_value_info
        random = numpy.random.default_rng(c["inputs"])
        shape = (c["outputs"], c["inputs"] // c["groups"], c["kernel"], c["kernel"])
        out = (c["size"] + c["kernel"] // 2 * 2 - c["kernel"]) // c["stride"] + 1
        last = precision != "fp32"
        if precision == "int8":
            weights = [helper.make_tensor("w", kind, shape, random.integers(
                -8, 8, shape).astype(numpy.int8).tobytes(), raw=True)]
            operator, result = "ConvInteger", TensorProto.INT32
        else:
            array = pack_networks.rounded(random.standard_normal(shape).astype(numpy.float32))
            stored = array.astype(numpy.float16) if precision == "fp16" else array
            weights = [onnx.numpy_helper.from_array(stored, "w")]
            operator, result = "Conv", kind
        image = [c["batch"], *[c["size"]] * 2]
        image = [*image, c["inputs"]] if last else [image[0], c["inputs"], *image[1:]]
        results = [c["batch"], out, out, c["outputs"]] if last else [
            c["batch"], c["outputs"], out, out]
        conv = helper.make_node(operator, ["first" if last else "x", "w"], ["second" if last else "y"],
                                "conv", strides=[c["stride"]] * 2, pads=[c["kernel"] // 2] * 4,
                                group=c["groups"])
        turns = [helper.make_node("Transpose", ["x"], ["first"], "turn", perm=[0, 3, 1, 2]), conv,
                 helper.make_node("Transpose", ["second"], ["y"], "turn_back", perm=[0, 2, 3, 1])]
        return finish("convolution", turns if last else [conv], [value("x", kind, image)],
                      [value("y", result, results)], weights)
    return make


PRODUCTS = {(4096, 4096, 4096): ("fp32", "tf32", "fp16", "bf16", "int8"),
            (1024, 768, 3072): ("fp32", "tf32", "fp16", "bf16", "int8"),
            **{sizes: ("fp16",) for sizes in ((1024, 3072, 768), (1024, 768, 768), (128, 768, 768),
                                              (128, 3072, 768), (512, 512, 512), (1024, 1024, 1024),
                                              (2048, 2048, 2048), (8192, 8192, 8192),
                                              (1, 4096, 4096), (16, 4096, 4096), (64, 4096, 4096))},
            (1000, 1000, 1000): ("fp32",), (1, 4096, 4097): ("fp16",)}
# batch, channels in and out, size, kernel, stride, groups
CONVOLUTIONS = {(32, 64, 64, 56, 3, 1, 1): ("fp32", "tf32", "fp16", "int8"),
                **{row: ("fp16",) for row in ((32, 3, 64, 224, 7, 2, 1), (32, 64, 256, 56, 1, 1, 1),
                                              (32, 128, 128, 28, 3, 1, 1),
                                              (32, 256, 256, 14, 3, 1, 1),
                                              (32, 512, 512, 7, 3, 1, 1),
                                              (32, 1024, 256, 14, 1, 1, 1),
                                              (32, 512, 1024, 28, 1, 2, 1),
                                              (1, 64, 64, 56, 3, 1, 1), (1, 256, 256, 14, 3, 1, 1),
                                              (1, 512, 512, 7, 3, 1, 1))},
                (32, 192, 192, 28, 3, 1, 192): ("fp32", "fp16"),
                (32, 256, 256, 14, 3, 1, 1): ("fp32", "fp16", "int8")}
NAMES = ("batch", "inputs", "outputs", "size", "kernel", "stride", "groups")


def measured():
    """(name, function that makes it, precision, torch's work, GFLOP) of each."""
    for sizes, precisions in PRODUCTS.items():
        m, k, n = sizes
        for precision in precisions:
            yield (f"gemm-{m}x{k}x{n}-{precision}", product(sizes, precision), precision,
                   {"matmul": list(sizes), "type": precision}, 2e-9 * m * k * n)
    for row, precisions in CONVOLUTIONS.items():
        c = dict(zip(NAMES, row))
        label = "conv-{batch}x{inputs}x{size}-{outputs}-k{kernel}s{stride}g{groups}".format(**c)
        out = (c["size"] - 1) // c["stride"] + 1
        gflop = (2e-9 * c["batch"] * c["outputs"] * out**2
                 * (c["inputs"] // c["groups"]) * c["kernel"]**2)
        for precision in precisions:
            yield (f"{label}-{precision}", convolution(c, precision), precision,
                   {} if precision == "int8" else {"conv": c, "type": precision}, gflop)


def measured_together(precision):
    """One model of all rows in a precision; a row's label is the name of its product or convolution, and
    begins those of the nodes around it."""
    def make():
        entries = []
        for label, make_row, own, _, _ in measured():
            if own != precision:
                continue
            model, _, _ = make_row()
            for node in model.graph.node:
                node.name = f"{label}/{node.name}" if node.op_type == "Transpose" else label
            entries.append(batch.Entry(label, model, {}))
        return batch.merged(entries), [], None
    return make
