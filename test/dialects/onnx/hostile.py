#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad files: each gives one clear error and an exit code from 1 to 127, no crash and no hang."""
import argparse
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

import models

# What runs longer hangs. Far above what any case takes, so that a busy machine fails nothing.
HANG_SECONDS = 120
MEMORY = 3 << 30


def varint(number):
    out = b""
    while True:
        out += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return out


def field(number, payload):
    """A length-delimited field of the wire format."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def value(name, shape=(2,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=21, functions=(), imports=None):
    graph = helper.make_graph(list(nodes), "g", inputs if inputs is not None else [value("x")],
                              outputs or [value("y")], initializer=list(initializers))
    proto = helper.make_model(graph, opset_imports=imports or [helper.make_opsetid("", opset)],
                              functions=list(functions))
    proto.ir_version = 10
    return proto


def relu(source="x", target="y", name="n"):
    return helper.make_node("Relu", [source], [target], name=name)


def tensor(**fields):
    proto = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    for key, content in fields.items():
        if isinstance(content, (list, tuple)):
            del getattr(proto, key)[:]
            getattr(proto, key).extend(content)
        else:
            setattr(proto, key, content)
    return proto


def with_weight(weight):
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[weight])


def declared_weight(shape, kind=TensorProto.FLOAT):
    """An initialiser that is an input, too, as up to IR version 3."""
    return model([helper.make_node("Add", ["x", "w"], ["y"])],
                 inputs=[value("x"), value("w", shape, kind)],
                 initializers=[tensor(float_data=[1, 2])])


def with_value(info):
    made = with_weight(tensor(float_data=[1, 2]))
    made.graph.value_info.append(info)
    return made


def one_node(operator, opset, **attributes):
    return model([helper.make_node(operator, ["x"], ["y"], **attributes)], opset=opset)


def external(location, offset=None, length=None):
    proto = tensor(data_location=TensorProto.EXTERNAL)
    for key, content in (("location", location), ("offset", offset), ("length", length)):
        if content is not None:
            proto.external_data.add(key=key, value=str(content))
    return with_weight(proto)


def nested(depth):
    """If within If, written as bytes: Python's protobuf refuses to build it."""
    graph = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu"))
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + varint(20 << 3) + varint(5)
        graph = field(1, field(1, b"c") + field(2, b"y") + field(4, b"If") + field(5, attribute))
    return varint(1 << 3) + varint(10) + field(8, varint(2 << 3) + varint(21)) + field(7, graph)


def nested_types(depth):
    kind = field(1, varint(1 << 3) + varint(1))
    for _ in range(depth):
        kind = field(4, field(1, kind))
    graph = field(11, field(1, b"x") + field(2, kind))
    return varint(1 << 3) + varint(10) + field(8, varint(2 << 3) + varint(21)) + field(7, graph)


def function(name, nodes):
    return helper.make_function("f", name, ["x"], ["y"], nodes, [helper.make_opsetid("", 21),
                                                                helper.make_opsetid("f", 1)])


def calls(*functions):
    return model([helper.make_node(functions[0].name, ["x"], ["y"], domain="f")],
                 functions=functions,
                 imports=[helper.make_opsetid("", 21), helper.make_opsetid("f", 1)])


def doubling(levels):
    """Each function calls the next one twice: 2 ** levels nodes."""
    out = []
    for i in range(levels):
        if i + 1 == levels:
            nodes = [relu()]
        else:
            nodes = [helper.make_node("F%d" % (i + 1), ["x"], ["t"], domain="f"),
                     helper.make_node("F%d" % (i + 1), ["t"], ["y"], domain="f")]
        out.append(function("F%d" % i, nodes))
    return calls(*out)


def call_chain(length):
    return calls(*[function("F%d" % i, [helper.make_node("F%d" % (i + 1), ["x"], ["y"], domain="f")
                                        if i + 1 < length else relu()]) for i in range(length)])


def sparse(dims, indices):
    proto = onnx.SparseTensorProto(dims=dims)
    proto.values.CopyFrom(helper.make_tensor("w", TensorProto.FLOAT, [len(indices)],
                                             [1.0] * len(indices)))
    proto.indices.CopyFrom(helper.make_tensor("i", TensorProto.INT64, [len(indices)], indices))
    out = model([helper.make_node("Add", ["x", "w"], ["y"])])
    out.graph.sparse_initializer.append(proto)
    return out


def with_attributes(*attributes):
    node = helper.make_node("LeakyRelu", ["x"], ["y"])
    node.attribute.extend(attributes)
    return model([node])


def opset(version):
    out = model([relu()])
    out.opset_import[0].version = version
    return out


def million(outputs_used):
    chain = [relu("x" if i == 0 else "v%d" % (i - 1), "v%d" % i, "") for i in range(1_000_000)]
    return model(chain, outputs=[value("v999999" if outputs_used else "nothing")])


def corpus(folder):
    """(name, bytes or model, a part of the message)."""
    good = model([relu()]).SerializeToString()
    rng = random.Random(7)
    yield "empty", b"", "empty"
    for cut in (1, 7, len(good) // 2, len(good) - 1):
        yield "truncated-%d" % cut, good[:cut], ""
    for i in range(20):
        yield "random-%d" % i, bytes(rng.randrange(256) for _ in range(1 + i * 50)), ""
    yield "text", b"this is not a model\n" * 100, "not an ONNX model"
    yield "no-graph", onnx.ModelProto(ir_version=10).SerializeToString(), "no graph"
    yield "new-ir", model([relu()]).SerializeToString().replace(b"\x08\x0a", b"\x08\x63", 1), "IR"
    for version in (0, -1, -7, 27, 2**62):
        yield "opset-%d" % version, opset(version), "1 to 26"
    no_opset = model([relu()])
    del no_opset.opset_import[:]
    yield "no-opset", no_opset, "no opset"
    yield "two-opsets", model([relu()], imports=[helper.make_opsetid("", 21),
                                                 helper.make_opsetid("ai.onnx", 20)]), "two versions"

    yield "raw-too-short", with_weight(tensor(raw_data=b"\0" * 7)), "7 bytes"
    yield "raw-too-long", with_weight(tensor(raw_data=b"\0" * 9)), "9 bytes"
    yield "typed-count", with_weight(tensor(float_data=[1.0])), "1 values"
    yield "two-fields", with_weight(tensor(float_data=[1, 2], raw_data=b"\0" * 8)), "two fields"
    yield "wrong-field", with_weight(tensor(int64_data=[1, 2])), "another type"
    yield "no-values", with_weight(tensor()), "0 values"
    yield "unknown-type", with_weight(tensor(data_type=99)), "element type 99"
    yield "negative-dim", with_weight(tensor(dims=[-2])), "negative dimension"
    yield "overflow", with_weight(tensor(dims=[2**32, 2**32])), "too many elements"
    yield "overflow-zero", with_weight(tensor(dims=[0, 2**40, 2**40])), "too many elements"
    yield "huge", with_weight(tensor(dims=[2**40])), "0 values"
    yield "rank", with_weight(tensor(dims=[1] * 1000, float_data=[1.0])), "rank 1000"
    yield "int8-range", with_weight(tensor(data_type=TensorProto.INT8, int32_data=[300, 1])), "300"
    yield "input-overflow", model([relu()], inputs=[value("x", (2**40, 2**40))]), "too many elements"
    yield "input-no-type", model([relu()], inputs=[onnx.ValueInfoProto(name="x")]), "no type"
    yield "sparse-huge", sparse([2**40], [3]), "unfolds"
    yield "sparse-outside", sparse([4], [7]), "outside"
    yield "sparse-negative", sparse([4], [-1]), "outside"

    (folder / "data.bin").write_bytes(b"\0" * 64)
    (folder.parent / "secret.bin").write_bytes(b"\0" * 64)
    os.symlink("../secret.bin", folder / "link.bin")
    os.symlink("..", folder / "linked")
    os.mkdir(folder / "sub")
    os.mkfifo(folder / "pipe")
    yield "external-parent", external("../secret.bin"), "beneath"
    yield "external-inner-parent", external("sub/../../secret.bin"), "beneath"
    yield "external-absolute", external(str(folder.parent / "secret.bin")), "relative path"
    yield "external-link", external("link.bin"), "symbolic link"
    yield "external-linked-folder", external("linked/secret.bin"), "symbolic link"
    yield "external-missing", external("nothing.bin"), "nothing.bin"
    yield "external-folder", external("sub"), "regular file"
    yield "external-pipe", external("pipe"), "regular file"
    yield "external-empty-name", external(""), "file name"
    yield "external-zero-byte", external("data.bin\0x"), "file name"
    yield "external-negative", external("data.bin", -8, 8), "not a number"
    yield "external-beyond", external("data.bin", 60, 8), "has 64 bytes"
    yield "external-oversized", external("data.bin", 2**64 - 4, 8), "has 64 bytes"
    yield "external-overflow", external("data.bin", 2**70, 8), "not a number"
    yield "external-length", external("data.bin", 0, 16), "16 bytes"
    both = external("data.bin", 0, 8)
    both.graph.initializer[0].raw_data = b"\0" * 8
    yield "external-and-raw", both, "two fields"

    yield "undefined", model([relu("q")]), "nothing makes"
    yield "no-output", model([relu("x", "z")]), "nothing makes"
    yield "twice", model([relu(), relu(name="m")]), "made twice"
    # Of the model as a whole, whose path the place says.
    yield "output-twice", model([relu()], outputs=[value("y"), value("y")]), \
        "): the output 'y' is listed twice"
    # One problem, whatever uses what it leaves undefined; a single one comes without a list.
    lost = external("nothing.bin")
    lost.graph.node.append(helper.make_node("Mul", ["y", "w"], ["z"]))
    yield "external-users", lost, ".onnx\"): external data of 'w': cannot open 'nothing.bin'"
    yield "no-opset", model([helper.make_node("Twist", ["x"], ["a"], domain="acme"), relu("a")]), \
        ".onnx: Twist: no opset of the domain 'acme' is imported"
    yield "unsorted", model([relu("a", "y", "late"), relu("x", "a", "early")]), "sorted"
    yield "cycle", model([relu("b", "a", "first"), relu("a", "b", "second"), relu("b")]), "cycle"
    yield "self-cycle", model([relu("y", "y")]), "cycle"
    yield "no-inputs", model([helper.make_node("Relu", [], ["y"])]), "input"
    yield "many-inputs", model([helper.make_node("Relu", ["x"] * 1000, ["y"])]), "inputs"
    yield "absent-input", model([helper.make_node("Relu", [""], ["y"])]), "lacks the input"
    yield "many-outputs", model([helper.make_node("Relu", ["x"], ["y", "z"])]), "outputs"
    yield "wrong-type", model([helper.make_node("And", ["x", "x"], ["y"])]), "cannot be"
    yield "mixed-types", model([helper.make_node("Add", ["x", "i"], ["y"])],
                               inputs=[value("x"), value("i", (2,), TensorProto.INT64)]), "the same type variable"
    yield "declared-type", model([relu()], outputs=[value("y", (2,), TensorProto.INT64)]), "declared"
    yield "unknown-attribute", with_attributes(helper.make_attribute("beta", 1.0)), "unknown attribute"
    yield "attribute-kind", with_attributes(helper.make_attribute("alpha", [1])), "wrong kind"
    yield "attribute-twice", with_attributes(helper.make_attribute("alpha", 1.0),
                                             helper.make_attribute("alpha", 2.0)), "twice"
    yield "attribute-newer", one_node("AveragePool", opset=9, kernel_shape=[1], ceil_mode=1), \
        "unknown attribute 'ceil_mode', known from version 10 of it on"
    yield "attribute-older", one_node("ReduceMax", opset=18, axes=[0]), \
        "unknown attribute 'axes', known up to version 13 of it"
    yield "attribute-missing", one_node("Upsample", opset=8), "lacks the attribute 'scales'"
    yield "attribute-kind-older", one_node("Squeeze", opset=11, axes=1), "must be a list of ints"
    yield "constant-kind", model([helper.make_node("Constant", [], ["y"], value_int=[1])],
                                 inputs=[]), "wrong kind"
    yield "constant-newer", model([helper.make_node("Constant", [], ["y"], value_int=1)], inputs=[],
                                  opset=11), "unknown attribute 'value_int'"
    yield "axes-negative", one_node("Squeeze", opset=9, axes=[-1]), "each must be 0 or more"
    yield "scales-below-one", one_node("Upsample", opset=8, scales=[0.5]), "= [0.5]; each must be"
    yield "ratio", one_node("Dropout", opset=9, ratio=1.0), "= 1; it must be 0 or more and less than 1"
    yield "clip-order", one_node("Clip", opset=9, min=2.0, max=1.0), "min must not be above max"
    yield "num-groups", model([helper.make_node("GroupNormalization", ["x", "w", "w"], ["y"],
                                                num_groups=3)], opset=18, initializers=[
        tensor(float_data=[1, 2])]), "'num_groups' = 3 and a scale of 2 numbers"
    yield "initializer-shape", declared_weight((3,)), "'w' is declared to be float[3] but is float[2]"
    yield "initializer-type", declared_weight((2,), TensorProto.INT64), "declared to be int64[2]"
    # Other shapes are warned of: test/e2e/declared_shapes.py.
    yield "initializer-output", model([relu()], outputs=[value("y"), value("w", (2,), TensorProto.INT64)],
                                      initializers=[tensor(float_data=[1, 2])]), "int64[2]"
    yield "initializer-value", with_value(value("w", (2,), TensorProto.INT64)), \
        "'w' is declared to be int64[2]"
    two = helper.make_attribute("alpha", 1.0)
    two.i = 3
    yield "attribute-two-values", with_attributes(two), "or two"
    yield "constant-empty", model([helper.make_node("Constant", [], ["y"])], inputs=[]), "Constant"

    yield "recursive", calls(function("A", [helper.make_node("A", ["x"], ["y"], domain="f")])), "calls itself"
    yield "mutual", calls(function("A", [helper.make_node("B", ["x"], ["y"], domain="f")]),
                          function("B", [helper.make_node("A", ["x"], ["y"], domain="f")])), "calls itself"
    yield "doubling", doubling(40), "more than"
    yield "call-chain", call_chain(10_000), "deep"
    yield "function-twice", calls(function("A", [relu()]), function("A", [relu()])), "defined twice"
    yield "function-arity", model([helper.make_node("A", ["x", "x"], ["y"], domain="f")],
                                  functions=[function("A", [relu()])],
                                  imports=[helper.make_opsetid("", 21),
                                           helper.make_opsetid("f", 1)]), "inputs"
    yield "function-output", calls(function("A", [relu("x", "z")])), "nothing makes"
    yield "nested-40", nested(40), "nested"
    yield "nested-10000", nested(10_000), "nested"
    yield "nested-types", nested_types(10_000), ""
    yield "million", million(False), "nothing makes"
    yield "million-unsorted", model([relu("v%d" % (i + 1), "v%d" % i, "") for i in
                                     range(200_000)], outputs=[value("v0")]), "problems"


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(command, name, expected):
    try:
        done = subprocess.run(command, capture_output=True, timeout=HANG_SECONDS,
                              preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "ran longer than %d s" % HANG_SECONDS
    text = done.stderr.decode(errors="replace")
    if not 1 <= done.returncode <= 127:
        return "exit code %d: %s" % (done.returncode, text[-300:])
    errors = [line for line in text.splitlines() if "error:" in line]
    if len(errors) != 1:
        return "%d error lines: %s" % (len(errors), text[:600])
    if expected not in text:
        return "says '%s', not '%s'" % (text.strip()[:300], expected)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--translate", default=models.TRANSLATE)
    parser.add_argument("--only", default="", help="a part of the names to test")
    parser.add_argument("--keep", help="a folder to write the corpus to instead")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "models"
        folder.mkdir()
        for name, content, expected in corpus(folder):
            if args.only not in name:
                continue
            data = content if isinstance(content, bytes) else content.SerializeToString()
            path = pathlib.Path(args.keep or folder) / (name + ".onnx")
            path.write_bytes(data)
            if args.keep:
                continue
            problem = run([args.translate, "--import-onnx", str(path), "-o", "/dev/null"], name,
                          expected)
            if problem:
                failed += 1
                print("FAILED %s: %s" % (name, problem))
            else:
                passed += 1
            path.unlink()
        if not args.only and not args.keep:
            # A million good nodes are no error.
            path = folder / "million-good.onnx"
            path.write_bytes(million(True).SerializeToString())
            done = subprocess.run([args.translate, "--import-onnx", str(path), "-o", "/dev/null"],
                                  capture_output=True, timeout=HANG_SECONDS)
            if done.returncode:
                failed += 1
                print("FAILED million-good: exit %d" % done.returncode)
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
