"""Bad model files, each made from scratch: CASES maps a name to a function that writes model.onnx
(and what belongs to it) into a folder."""
# SPDX-License-Identifier: Apache-2.0
import os

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = {}
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


def value(name, shape=(2, 3), data_type=F32):
    return helper.make_tensor_value_info(name, data_type, shape)


def graph(nodes, initializers=(), inputs=("x",), outputs=("y",)):
    return helper.make_graph(nodes, "g", [value(i) if isinstance(i, str) else i for i in inputs],
                             [value(o) if isinstance(o, str) else o for o in outputs], initializers)


def model(*arguments, opset=17, functions=(), **keywords):
    built = helper.make_model(graph(*arguments, **keywords), functions=functions, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("local", 1)])
    built.ir_version = 8
    return built


def write(folder, content):
    data = content if isinstance(content, bytes) else content.SerializeToString()
    (folder / "model.onnx").write_bytes(data)


def good():
    weight = numpy_helper.from_array(numpy.ones((2, 3), numpy.float32), "w")
    return model([helper.make_node("Add", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])],
                 [weight])


def add_tensor(**fields):
    """x + w, where w is as told."""
    tensor = TensorProto(name="w", data_type=F32)
    tensor.dims.extend(fields.pop("dims", (2, 3)))
    for name, content in fields.items():
        if isinstance(content, list):
            getattr(tensor, name).extend(content)
        else:
            setattr(tensor, name, content)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor])


# --- files that are not a model

@case
def empty(folder):
    write(folder, b"")


@case
def missing(folder):
    pass


@case
def a_folder(folder):
    (folder / "model.onnx").mkdir(exist_ok=True)


@case
def text(folder):
    write(folder, b"this is not a model\n" * 100)


@case
def only_an_ir_version(folder):
    write(folder, onnx.ModelProto(ir_version=8))


@case
def no_opset(folder):
    built = good()
    del built.opset_import[:]
    write(folder, built)


@case
def future_opset(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y"])], opset=9999))


@case
def negative_opset(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y"])], opset=-3))


@case
def future_ir_version(folder):
    built = good()
    built.ir_version = 1000
    write(folder, built)


for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
    def truncated(folder, share=share):
        data = good().SerializeToString()
        write(folder, data[:int(len(data) * share)])
    CASES[f"truncated-at-{share}"] = truncated

for seed in range(8):
    def random_bytes(folder, seed=seed):
        write(folder, numpy.random.default_rng(seed).bytes(64 << seed))
    CASES[f"random-bytes-{seed}"] = random_bytes


# --- tensors

@case
def raw_data_too_short(folder):
    write(folder, add_tensor(raw_data=b"\0" * 23))


@case
def raw_data_too_long(folder):
    write(folder, add_tensor(raw_data=b"\0" * 28))


@case
def too_few_floats(folder):
    write(folder, add_tensor(float_data=[1.0, 2.0]))


@case
def two_value_fields(folder):
    write(folder, add_tensor(raw_data=b"\0" * 24, float_data=[0.0] * 6))


@case
def values_in_the_wrong_field(folder):
    write(folder, add_tensor(int64_data=[1] * 6))


@case
def no_values(folder):
    write(folder, add_tensor())


@case
def negative_dimension(folder):
    write(folder, add_tensor(dims=(-2, -3), raw_data=b"\0" * 24))


@case
def dimensions_that_overflow(folder):
    write(folder, add_tensor(dims=(1 << 33, 1 << 33), raw_data=b""))


@case
def dimensions_that_overflow_to_the_size(folder):
    # 2^62 x 4 elements are 0 modulo 2^64.
    write(folder, add_tensor(dims=(1 << 62, 4), raw_data=b""))


@case
def undefined_type(folder):
    write(folder, add_tensor(data_type=0, raw_data=b"\0" * 24))


@case
def unknown_type(folder):
    write(folder, add_tensor(data_type=77, raw_data=b"\0" * 24))


@case
def constant_of_terabytes(folder):
    shape = numpy_helper.from_array(numpy.array([1 << 20, 1 << 20], numpy.int64), "s")
    write(folder, model([helper.make_node("ConstantOfShape", ["s"], ["c"]),
                         helper.make_node("ReduceSum", ["c"], ["r"], keepdims=0),
                         helper.make_node("Add", ["x", "r"], ["y"])], [shape]))


@case
def expansion_that_overflows(folder):
    one = numpy_helper.from_array(numpy.ones((1, 1, 1), numpy.float32), "o")
    shape = numpy_helper.from_array(numpy.array([1 << 31, 1 << 31, 1 << 31], numpy.int64), "s")
    write(folder, model([helper.make_node("Expand", ["o", "s"], ["e"]),
                         helper.make_node("ReduceSum", ["e"], ["r"], keepdims=0),
                         helper.make_node("Add", ["x", "r"], ["y"])], [one, shape]))


@case
def input_shape_that_overflows(folder):
    big = value("x", (1 << 40, 1 << 40))
    write(folder, model([helper.make_node("Relu", ["x"], ["y"])], inputs=[big],
                        outputs=[value("y", (1 << 40, 1 << 40))]))


# --- external data

def external(folder, **entries):
    (folder / "weights.bin").write_bytes(b"\0" * 24)
    built = add_tensor(data_location=TensorProto.EXTERNAL)
    for key, content in entries.items():
        built.graph.initializer[0].external_data.add(key=key, value=str(content))
    write(folder, built)


@case
def external_above_the_folder(folder):
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    external(folder, location="../outside.bin")


@case
def external_above_by_a_detour(folder):
    (folder / "sub").mkdir(exist_ok=True)
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    external(folder, location="sub/../../outside.bin")


@case
def external_absolute(folder):
    external(folder, location="/etc/hostname", length=4)


@case
def external_symbolic_link(folder):
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    link = folder / "link.bin"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.parent / "outside.bin")
    external(folder, location="link.bin")


@case
def external_link_to_a_folder(folder):
    (folder.parent / "outside.bin").write_bytes(b"\0" * 24)
    link = folder / "up"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.parent)
    external(folder, location="up/outside.bin")


@case
def external_missing(folder):
    external(folder, location="nowhere.bin")


@case
def external_without_location(folder):
    external(folder, offset=0)


@case
def external_folder(folder):
    (folder / "sub").mkdir(exist_ok=True)
    external(folder, location="sub")


@case
def external_pipe(folder):
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    external(folder, location="pipe")


@case
def external_too_short(folder):
    external(folder, location="weights.bin", offset=8)


@case
def external_negative_offset(folder):
    external(folder, location="weights.bin", offset=-8)


@case
def external_offset_that_overflows(folder):
    external(folder, location="weights.bin", offset=(1 << 64) - 8, length=24)


@case
def external_offset_no_number(folder):
    external(folder, location="weights.bin", offset="8z")


@case
def external_wrong_length(folder):
    external(folder, location="weights.bin", offset=0, length=20)


@case
def external_name_with_zero_byte(folder):
    external(folder, location="weights.bin\0/../../etc/passwd")


# --- graphs

@case
def cycle(folder):
    write(folder, model([helper.make_node("Add", ["x", "b"], ["a"]),
                         helper.make_node("Relu", ["a"], ["b"]),
                         helper.make_node("Relu", ["b"], ["y"])]))


@case
def node_that_feeds_itself(folder):
    write(folder, model([helper.make_node("Add", ["x", "y"], ["y"])]))


@case
def undefined_input(folder):
    write(folder, model([helper.make_node("Add", ["x", "nobody"], ["y"])]))


@case
def output_defined_twice(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y"]),
                         helper.make_node("Neg", ["x"], ["y"])]))


@case
def undefined_graph_output(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["z"])]))


@case
def unknown_operator(folder):
    write(folder, model([helper.make_node("Frobnicate", ["x"], ["y"])]))


@case
def unknown_domain(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y"], domain="com.nobody")]))


@case
def too_many_inputs(folder):
    write(folder, model([helper.make_node("Relu", ["x", "x", "x"], ["y"])]))


@case
def too_few_inputs(folder):
    write(folder, model([helper.make_node("Add", ["x"], ["y"])]))


@case
def too_many_outputs(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y", "z"])]))


@case
def missing_attribute(folder):
    write(folder, model([helper.make_node("Concat", ["x", "x"], ["y"])]))


@case
def attribute_of_the_wrong_type(folder):
    write(folder, model([helper.make_node("Softmax", ["x"], ["y"], axis="one")]))


@case
def unknown_attribute(folder):
    write(folder, model([helper.make_node("Relu", ["x"], ["y"], colour="green")]))


@case
def attribute_out_of_range(folder):
    write(folder, model([helper.make_node("Softmax", ["x"], ["y"], axis=99)]))


@case
def shapes_that_do_not_fit(folder):
    weight = numpy_helper.from_array(numpy.ones((5, 7), numpy.float32), "w")
    write(folder, model([helper.make_node("MatMul", ["x", "w"], ["y"])], [weight]))


@case
def types_that_do_not_fit(folder):
    weight = numpy_helper.from_array(numpy.ones((2, 3), numpy.int64), "w")
    write(folder, model([helper.make_node("Add", ["x", "w"], ["y"])], [weight]))


@case
def division_of_constants_by_zero(folder):
    one = numpy_helper.from_array(numpy.array([1], numpy.int64), "one")
    zero = numpy_helper.from_array(numpy.array([0], numpy.int64), "zero")
    write(folder, model([helper.make_node("Div", ["one", "zero"], ["s"]),
                         helper.make_node("Reshape", ["x", "s"], ["y"])], [one, zero]))


@case
def reshape_to_another_size(folder):
    shape = numpy_helper.from_array(numpy.array([4, 5], numpy.int64), "s")
    write(folder, model([helper.make_node("Reshape", ["x", "s"], ["y"])], [shape]))


@case
def convolution_with_zero_stride(folder):
    weight = numpy_helper.from_array(numpy.ones((1, 1, 3, 3), numpy.float32), "w")
    write(folder, model([helper.make_node("Conv", ["x", "w"], ["y"], strides=[0, 0])], [weight],
                        inputs=[value("x", (1, 1, 8, 8))], outputs=[value("y", None)]))


@case
def convolution_with_zero_groups(folder):
    weight = numpy_helper.from_array(numpy.ones((1, 1, 3, 3), numpy.float32), "w")
    write(folder, model([helper.make_node("Conv", ["x", "w"], ["y"], group=0)], [weight],
                        inputs=[value("x", (1, 1, 8, 8))], outputs=[value("y", None)]))


@case
def pooling_window_larger_than_its_input(folder):
    write(folder, model([helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[9, 9])],
                        inputs=[value("x", (1, 1, 4, 4))], outputs=[value("y", None)]))


@case
def slice_step_of_zero(folder):
    numbers = [numpy_helper.from_array(numpy.array([v], numpy.int64), n)
               for n, v in (("start", 0), ("end", 2), ("axis", 0), ("step", 0))]
    write(folder, model([helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"])],
                        numbers))


# --- functions

def function(name, nodes):
    return helper.make_function("local", name, ["a"], ["b"], nodes, [
        helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


def call(name, source, result):
    return helper.make_node(name, [source], [result], domain="local")


@case
def function_that_calls_itself(folder):
    write(folder, model([call("F", "x", "y")], functions=[function("F", [call("F", "a", "b")])]))


@case
def functions_that_call_each_other(folder):
    write(folder, model([call("F", "x", "y")], functions=[
        function("F", [call("G", "a", "b")]), function("G", [call("F", "a", "b")])]))


@case
def functions_that_multiply(folder):
    """40 levels of two calls each: 2^40 nodes once inlined."""
    functions = [function("F0", [helper.make_node("Relu", ["a"], ["b"])])]
    for level in range(1, 40):
        below = f"F{level - 1}"
        functions.append(function(f"F{level}", [call(below, "a", "m"), call(below, "m", "b")]))
    write(folder, model([call("F39", "x", "y")], functions=functions))


@case
def functions_in_a_long_chain(folder):
    """10,000 levels of one call each: no multiplication, but deep."""
    functions = [function("F0", [helper.make_node("Frobnicate", ["a"], ["b"])])]
    functions += [function(f"F{level}", [call(f"F{level - 1}", "a", "b")])
                  for level in range(1, 10000)]
    write(folder, model([call("F9999", "x", "y")], functions=functions))


# --- depth: protobuf messages by hand, since the library refuses to build them

def field(number, payload):
    """A length-delimited field of a protobuf message."""
    def varint(number):
        encoded = bytearray()
        while number >= 0x80:
            encoded.append(number & 0x7F | 0x80)
            number >>= 7
        return bytes(encoded + bytes([number]))
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested_subgraphs(depth):
    graph_type = bytes([20 << 3 & 0x7F | 0x80, 1, 5])  # AttributeProto.type = GRAPH
    body = field(1, helper.make_node("Relu", ["x"], ["y"]).SerializeToString())
    branch = body + field(2, b"g") + field(12, value("y").SerializeToString())
    for _ in range(depth):
        attributes = b"".join(field(5, field(1, name) + field(6, branch) + graph_type)
                              for name in (b"then_branch",))
        node = field(1, b"c") + field(2, b"y") + field(4, b"If") + attributes
        branch = field(1, node) + field(2, b"g") + field(12, value("y").SerializeToString())
    top = branch + field(11, value("x").SerializeToString())
    top += field(11, value("c", (), TensorProto.BOOL).SerializeToString())
    opset = field(8, helper.make_opsetid("", 17).SerializeToString())
    return bytes([1 << 3, 8]) + field(7, top) + opset


for depth in (30, 100, 1000, 5000):
    CASES[f"subgraphs-nested-{depth}"] = lambda folder, depth=depth: write(
        folder, nested_subgraphs(depth))
