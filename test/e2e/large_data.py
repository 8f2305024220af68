#!/usr/bin/env python3
"""A model with more than 2 GB of external data, made here and removed: one tensor that is larger than that, and one
behind it. The file is sparse, and artefacts are removed one by one, so that the disk has room for one at a time."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import TensorProto, helper

import harness
import reference

SECONDS = 900
F32, I64 = numpy.float32, numpy.int64
FLOAT = TensorProto.FLOAT
WIDTH = 1024
ROWS = (9 << 28) // (4 * WIDTH)  # 2.25 GiB
# Rows that are not zero: the ends, and both sides of 2^31 bytes and elements' offsets of 2^29.
FULL = (0, 1, (1 << 31) // (4 * WIDTH) - 1, (1 << 31) // (4 * WIDTH), ROWS // 2, ROWS - 1)


def external(name, shape, offset, length):
    """A tensor whose bytes lie in the file."""
    tensor = TensorProto(name=name, data_type=FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_weights(path):
    """The rows that are not zero, and the bias."""
    random = numpy.random.default_rng(1)
    rows = {row: random.integers(-8, 8, WIDTH).astype(F32) for row in FULL}
    bias = random.integers(-8, 8, WIDTH).astype(F32)
    with open(path, "wb") as file:
        for row, numbers in rows.items():
            file.seek(row * WIDTH * 4)
            file.write(numbers.tobytes())
        file.seek(ROWS * WIDTH * 4)
        file.write(bias.tobytes())
    return rows, bias


def save(path, nodes, inputs, outputs):
    size = ROWS * WIDTH * 4
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info(*given) for given in inputs],
                              [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs])
    graph.initializer.extend([external("table", [ROWS, WIDTH], 0, size), external("bias", [WIDTH], size, WIDTH * 4)])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                       ir_version=10).SerializeToString())


def cases(rows, bias):
    """(name, nodes, inputs, feed, what y is)"""
    ids = numpy.array([*FULL, 5], I64)
    table = numpy.stack([rows.get(row, numpy.zeros(WIDTH, F32)) for row in ids])
    yield "rows", [helper.make_node("Gather", ["table", "ids"], ["r"], "look_up"),
                   helper.make_node("Add", ["r", "bias"], ["y"], "add")], [("ids", TensorProto.INT64, ["N"])], \
        {"ids": ids}, table + bias
    x = numpy.arange(WIDTH, dtype=F32).reshape(1, WIDTH) % 5 - 2
    product = numpy.zeros((1, ROWS), F32)
    for row, numbers in rows.items():
        product[0, row] = (x + bias)[0] @ numbers
    yield "product", [helper.make_node("Add", ["x", "bias"], ["s"], "add"),
                      helper.make_node("Gemm", ["s", "table"], ["y"], "product", transB=1)], \
        [("x", FLOAT, [1, WIDTH])], {"x": x}, product


def check(suite, case, feed, wanted):
    artefact, output = suite.work / case, suite.work / "y.npy"
    size = ROWS * WIDTH * 4
    step = harness.run([suite.tool("cameoc"), suite.work / f"{case}.onnx", "-o", artefact, "--target=sim:sm_80"], SECONDS,
                       cwd=suite.work)
    if step.code:
        return suite.fail(f"{case}-compile", step.how(), step)
    suite.ok(f"{case}-compile")
    # Weights are mapped, ordered and written once.
    if step.peak_bytes > 2.5 * size:
        suite.fail(f"{case}-memory", f"{step.peak_bytes / 1e9:.1f} GB at most, of {size / 1e9:.1f} GB of weights", step)
    else:
        suite.ok(f"{case}-memory")
    command = [artefact, "--device=sim", f"--output=y=@{output}"]
    for name, array in feed.items():
        numpy.save(suite.work / f"{name}.npy", array)
        command.append(f"--input={name}=@{suite.work / f'{name}.npy'}")
    run = harness.run(command, SECONDS)
    reason = run.how() if run.code else reference.differs("y", numpy.load(output), wanted)
    if reason:
        suite.fail(f"{case}-run", reason, run)
    else:
        suite.ok(f"{case}-run")
    info = harness.run([artefact, "--info"], SECONDS)
    held = re.search(r"^weights: ([\d.]+) MiB", info.output, re.MULTILINE)
    if info.code or not held or float(held[1]) < size / 2 ** 20:
        suite.fail(f"{case}-info", "less than the model's weights", info)
    else:
        suite.ok(f"{case}-info")
    print(f"{case}: {step.seconds:.0f} s and {step.peak_bytes / 1e9:.1f} GB to compile, {run.seconds:.0f} s and "
          f"{run.peak_bytes / 1e9:.1f} GB to run")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("large-data", options.build.resolve())
    weights = suite.work / "weights.bin"
    try:
        rows, bias = write_weights(weights)
        for case, nodes, inputs, feed, wanted in cases(rows, bias):
            if re.search(options.filter, case):
                save(suite.work / f"{case}.onnx", nodes, inputs, ["y"])
                check(suite, case, feed, wanted)
                (suite.work / case).unlink(missing_ok=True)
        # A file that ends too early is refused, whatever it is read for.
        with open(weights, "r+b") as file:
            file.truncate(ROWS * WIDTH * 4)
        step = harness.run([suite.tool("cameoc"), suite.work / "rows.onnx", "-o", suite.work / "short",
                            "--target=sim:sm_80"], SECONDS, cwd=suite.work)
        if step.code == 1 and "bias" in step.output:
            suite.ok("short")
        else:
            suite.fail("short", step.how(), step)
    finally:
        weights.unlink(missing_ok=True)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
