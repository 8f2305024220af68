"""Valid models made wrong: bytes of the file, and parts of the protobuf with the rest kept well
formed."""
# SPDX-License-Identifier: Apache-2.0
import onnx
from onnx import TensorProto, helper

SIZES = [-(2 ** 63), -(2 ** 31) - 1, -2, -1, 0, 1, 2, 3, 7, 255, 65537, 2 ** 31 - 1, 2 ** 31, 2 ** 40,
         2 ** 62, 2 ** 63 - 1]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 3e38, float("inf"), float("nan"), 1e9]
WORDS = ["", "x", "half_pixel", "SAME_UPPER", "nearest", "cubic", "reflect", "bij,bjk->bik", "ij,jk",
         "\0", "a" * 300, "é", "NOTSET", "..", "DCR"]


def mutate_bytes(random, data):
    """Flips, inserts, deletes, copies or cuts bytes."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        at = int(random.integers(0, len(data) or 1))
        length = int(random.integers(1, 9))
        kind = random.integers(0, 6)
        if kind == 0:
            data[at:at + 1] = bytes([data[at] ^ (1 << int(random.integers(0, 8)))]) if data else b"\1"
        elif kind == 1:
            data[at:at + length] = random.bytes(length)
        elif kind == 2:
            del data[at:at + length]
        elif kind == 3:
            data[at:at] = random.bytes(length)
        elif kind == 4:
            start = int(random.integers(0, len(data) or 1))
            data[at:at] = data[start:start + 16 * length]
        else:
            del data[max(at, 8):]
    return bytes(data)


class Mutator:
    """Changes a model in place, at a random place."""

    def __init__(self, random, model):
        self.random, self.model, self.graph = random, model, model.graph

    def choose(self, items):
        items = list(items)
        return items[self.random.integers(len(items))] if items else None

    def names(self):
        values = [value.name for value in [*self.graph.input, *self.graph.output]]
        values += [tensor.name for tensor in self.graph.initializer]
        return [*values, *(name for node in self.graph.node for name in node.output), "", "nothing"]

    # One function per kind of change; each returns silently where there is nothing to change.

    def dimension(self):
        value = self.choose([*self.graph.input, *self.graph.output, *self.graph.value_info])
        if value is not None:
            dims = value.type.tensor_type.shape.dim
            dim = self.choose(dims)
            kind = self.random.integers(0, 5)
            if kind == 0 or dim is None:
                dims.add().dim_value = self.choose(SIZES)
            elif kind == 1:
                dim.dim_param = self.choose(["N", "M", "", "batch size", "-1", "N + 1"])
            elif kind == 2:
                del dims[-1]
            elif kind == 3:
                value.type.tensor_type.ClearField("shape")
            else:
                dim.dim_value = self.choose(SIZES)

    def element_type(self):
        value = self.choose([*self.graph.input, *self.graph.output])
        if value is not None:
            value.type.tensor_type.elem_type = int(self.random.integers(0, 28))

    def kind_of_type(self):
        value = self.choose([*self.graph.input, *self.graph.output])
        if value is not None:
            inner = onnx.TypeProto()
            inner.CopyFrom(value.type)
            value.type.Clear()
            field = self.choose(["sequence_type", "optional_type"])
            getattr(value.type, field).elem_type.CopyFrom(inner)

    def attribute(self):
        node = self.choose(self.graph.node)
        attribute = self.choose(node.attribute) if node is not None else None
        if attribute is None:
            return
        if attribute.type == onnx.AttributeProto.INT:
            attribute.i = self.choose(SIZES)
        elif attribute.type == onnx.AttributeProto.FLOAT:
            attribute.f = self.choose(NUMBERS)
        elif attribute.type == onnx.AttributeProto.STRING:
            attribute.s = self.choose(WORDS).encode()
        elif attribute.type == onnx.AttributeProto.INTS:
            kind = self.random.integers(0, 3)
            if kind == 0 and attribute.ints:
                attribute.ints[int(self.random.integers(0, len(attribute.ints)))] = \
                    self.choose(SIZES)
            elif kind == 1 and attribute.ints:
                del attribute.ints[-1]
            else:
                attribute.ints.append(self.choose(SIZES))
        else:
            attribute.type = int(self.random.integers(0, 16))

    def new_attribute(self):
        node = self.choose(self.graph.node)
        if node is not None:
            name = self.choose(["axis", "axes", "pads", "strides", "kernel_shape", "mode", "group",
                                "perm", "to", "keepdims", "auto_pad", "dilations", "p", "nothing"])
            value = self.choose([self.choose(SIZES), [self.choose(SIZES), 1],
                                 self.choose(WORDS[1:]), self.choose(NUMBERS)])
            for attribute in [a for a in node.attribute if a.name == name]:
                node.attribute.remove(attribute)
            node.attribute.append(helper.make_attribute(name, value))

    def lost_attribute(self):
        node = self.choose(self.graph.node)
        if node is not None and node.attribute:
            del node.attribute[int(self.random.integers(0, len(node.attribute)))]

    def edge(self):
        node = self.choose(self.graph.node)
        if node is not None and node.input:
            node.input[int(self.random.integers(0, len(node.input)))] = self.choose(self.names())

    def more_or_fewer_inputs(self):
        node = self.choose(self.graph.node)
        if node is not None:
            if self.random.integers(0, 2) and node.input:
                del node.input[-1]
            else:
                node.input.append(self.choose(self.names()))

    def outputs(self):
        node = self.choose(self.graph.node)
        if node is not None:
            kind = self.random.integers(0, 3)
            if kind == 0:
                node.output.append(self.choose([*self.names(), "extra"]))
            elif kind == 1 and node.output:
                del node.output[-1]
            elif node.output:
                node.output[0] = self.choose(self.names())

    def operator(self):
        node = self.choose(self.graph.node)
        if node is not None:
            known = [schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain]
            node.op_type = self.choose([*known, "", "relu", "NoSuchOperator"])

    def domain(self):
        node = self.choose(self.graph.node)
        if node is not None:
            node.domain = self.choose(["ai.onnx", "com.microsoft", "ai.onnx.ml", "acme"])

    def opset(self):
        entry = self.choose(self.model.opset_import)
        if entry is not None:
            entry.version = self.choose([*range(5, 29), -1, 0, 2 ** 31, 2 ** 63 - 1])

    def order(self):
        if len(self.graph.node) > 1:
            node = self.graph.node[-1]
            self.graph.node.insert(0, node)
            del self.graph.node[-1]

    def twice(self):
        node = self.choose(self.graph.node)
        if node is not None:
            self.graph.node.append(node)

    def lost_node(self):
        if self.graph.node:
            del self.graph.node[int(self.random.integers(0, len(self.graph.node)))]

    def weight_shape(self):
        tensor = self.choose(self.graph.initializer)
        if tensor is not None:
            kind = self.random.integers(0, 3)
            if kind == 0 or not tensor.dims:
                tensor.dims.append(self.choose([0, 1, *SIZES]))
            elif kind == 1:
                tensor.dims[int(self.random.integers(0, len(tensor.dims)))] = self.choose(SIZES)
            else:
                del tensor.dims[-1]

    def weight_type(self):
        tensor = self.choose(self.graph.initializer)
        if tensor is not None:
            tensor.data_type = int(self.random.integers(0, 28))

    def weight_values(self):
        tensor = self.choose([t for t in self.graph.initializer if t.raw_data])
        if tensor is not None:
            width = {TensorProto.INT64: 8, TensorProto.DOUBLE: 8, TensorProto.FLOAT: 4}.get(
                tensor.data_type, 1)
            data = bytearray(tensor.raw_data)
            at = int(self.random.integers(0, len(data) // width or 1)) * width
            if tensor.data_type == TensorProto.INT64:
                data[at:at + 8] = self.choose(SIZES).to_bytes(8, "little", signed=True)
            else:
                data[at:at + width] = self.random.bytes(width)
            tensor.raw_data = bytes(data)

    def name(self):
        self.choose([*self.graph.input, *self.graph.output, *self.graph.initializer]).name = \
            self.choose([*self.names(), "a b", "\n", "../x", "x" * 500])

    def run(self):
        """Which changes were made."""
        kinds = [getattr(self, name) for name in vars(Mutator)
                 if not name.startswith("_") and name not in ("run", "choose", "names")]
        made = [self.choose(kinds) for _ in range(int(self.random.integers(1, 4)))]
        for change in made:
            change()
        return "+".join(change.__name__ for change in made)


def mutate(random, model):
    """(description, bytes)"""
    if random.integers(0, 4) == 0:
        return "bytes", mutate_bytes(random, model.SerializeToString())
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    made = Mutator(random, changed).run()
    return made, changed.SerializeToString()
