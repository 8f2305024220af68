"""The models of a pack, as a table: what each is, what it is fed with, and what it serves for."""
# SPDX-License-Identifier: Apache-2.0
import itertools
import zlib
from dataclasses import dataclass, field

import numpy
from onnx import TensorProto, helper

import batch
import modern_networks
import operator_table
import pack_networks
import pack_products
import pack_recurrent
import reference
import row_cases
import small_models

# As test/e2e judges them: single operators by value, networks by their largest one.
BY_VALUE = {"relative": 1e-3, "absolute": 1e-5}
BY_LARGEST = {"of_largest": 1e-3}
# Networks of fixed sizes, whose kernels are measured in other schedules, too.
TUNED = ("resnet50-fp16", "resnet50-fp16-batch-32", "resnet50-int8", "mobilenet_v2-fp16",
         "mobilenet_v2-int8", "encoder-fp16")
LOWERED = {"fp16": {"of_largest": 2e-2}, "bf16": {"of_largest": 1e-1}, "int8": {"of_largest": 3e-1}}


@dataclass
class PackModel:
    name: str
    # "model": small; "family": operators of one kind; "network"; "benchmark"; "helper"; "tuning": a bundle
    kind: str
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
    options: tuple = ()  # of cameoc
    calibrated: bool = False  # with the first feed


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


def family(operators):
    """One model of many nodes that have nothing to do with each other."""
    def make():
        newest = {name: version for name, version, _ in row_cases.rows()}
        opset = max(newest.values())
        entries, expected = [], {}
        for name in operators:
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


def measured():
    """Products, convolutions and recurrent layers beside cuBLAS and cuDNN."""
    for label, make, precision, work, gflop in (*pack_products.measured(), *pack_recurrent.measured()):
        yield PackModel(label, "benchmark", make, benchmark=label, ptx=False, torch=work, gflop=gflop,
                        small=label in ("gemm-512x512x512-fp16", "conv-1x256x14-256-k3s1g1-fp16", "lstm-128x1-fp16"),
                        options=pack_products.OPTIONS.get(precision, ()))


def lowered(name, make, precision, **more):
    """A network in another precision than FP32, held to ONNX Runtime's FP32 results."""
    options = (f"--precision={precision}", *more.pop("options", ()))
    return PackModel(f"{name}-{precision}", "network", make, ptx=False, tolerance=LOWERED[precision],
                     options=options, calibrated=precision == "int8", **more)


def networks():
    """Those that torch has, with the sizes that it is given: code for any size is slower."""
    for name, make in pack_networks.NETWORKS.items():
        shapes = pack_networks.SHAPES[name]
        torch = pack_networks.TORCH.get(name, {})
        fixed = (f"--shapes={shapes}",) if torch else ()
        for precision in pack_networks.PRECISIONS[name]:
            work = {**torch, "type": precision} if torch and precision != "int8" else {}
            label = f"{name}-{precision}"
            if precision == "fp32":
                yield PackModel(label, "network", make, ptx=not torch, benchmark=label, shapes=shapes,
                                torch=work, options=fixed)
            else:
                yield lowered(name, make, precision, benchmark=label, shapes=shapes, torch=work,
                              options=fixed)
    shapes = "image:32x3x224x224"
    yield PackModel("resnet50-fp16-batch-32", "benchmark", pack_networks.NETWORKS["resnet50"],
                    ptx=False, benchmark="resnet50-fp16-batch-32", shapes=shapes,
                    options=("--precision=fp16", f"--shapes={shapes}"),
                    torch={"network": "resnet50", "batch": 32, "type": "fp16"})
    for name, make in modern_networks.SMALL_NETWORKS.items():
        network = pack_networks.of_small(make)
        yield PackModel(name, "network", network, ptx=False)
        yield lowered(name, network, "fp16")


def products():
    """Of every type, held to sums in double precision."""
    for precision in pack_products.STORED:
        if precision == "bf16":  # has no NumPy type: networks stand for it
            continue
        for name, make in pack_products.correctness(precision):
            yield PackModel(name, "family", make, ptx=False, tolerance={},
                            options=pack_products.OPTIONS.get(precision, ()))


def bundles(of):
    """Tuning bundles: a small one, and those of products and of networks, which are among `of`."""
    yield PackModel("tuning-layers", "tuning", small_model("layers"), small=True,
                    options=("--shapes=x:8x128x32", "--tuning-candidates=6"))
    for precision in pack_products.STORED:
        yield PackModel(f"tuning-products-{precision}", "tuning",
                        pack_products.measured_together(precision),
                        options=pack_products.OPTIONS.get(precision, ()))
    for model in of:
        if model.name in TUNED:
            yield PackModel(f"tuning-{model.name}", "tuning", model.make, options=model.options,
                            calibrated=model.calibrated)


def table():
    """All models, first those that say most, and behind them the bundles."""
    models = [
        PackModel("layers", "model", small_model("layers"), small=True, sanitize=True,
                  benchmark="layers", shapes="x:8x128x32"),
        PackModel("shapes", "model", small_model("shapes"), small=True, sanitize=True),
        PackModel("fashion", "model", small_model("fashion"), small=True, sanitize=True,
                  benchmark="fashion", shapes="image:64x1x28x28"),
        PackModel("outer", "helper", outer, small=True, ptx=False),
        *(PackModel(f"layers-{arch}", "helper", small_model("layers"), small=True, ptx=False,
                    target=arch) for arch in ("sm_75", "sm_90a")),
        *(lowered("fashion", small_model("fashion"), precision, small=precision == "fp16",
                  sanitize=True) for precision in ("fp16", "int8")),
    ]
    for name, operators in operator_table.families().items():
        models.append(PackModel(name, "family", family(operators), small=name in ("scans",),
                                tolerance=BY_VALUE, sanitize=name in ("scans", "windows")))
    models += [*products(), *networks(), *measured()]
    return [*models, *bundles(models)]
