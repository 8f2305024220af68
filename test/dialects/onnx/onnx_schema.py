#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dialects/onnx/onnx.proto against the schema that the onnx package ships: all that ours declares
has the same name, number, type and label there. What ours leaves out it may leave out.
"""
import pathlib
import subprocess
import sys
import tempfile

import onnx
from google.protobuf import descriptor_pb2

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROTO = "dialects/onnx/onnx.proto"
# What a field is, besides its name.
PROPERTIES = ("number", "type", "label", "default_value")


def our_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "onnx.desc"
        subprocess.run(["protoc", f"--proto_path={SOURCE}", f"--descriptor_set_out={path}", PROTO],
                       check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file[0]


def their_file():
    file = descriptor_pb2.FileDescriptorProto()
    onnx.ModelProto.DESCRIPTOR.file.CopyToProto(file)
    return file


def relative(type_name, package):
    return type_name.removeprefix(f".{package}.")


def compare_fields(where, ours, theirs, packages):
    """Yields what is wrong with the fields of one message."""
    known = {field.name: field for field in theirs.field}
    for field in ours.field:
        other = known.get(field.name)
        if other is None:
            yield f"{where}.{field.name}: ONNX has no such field"
            continue
        for name in PROPERTIES:
            if getattr(field, name) != getattr(other, name):
                yield (f"{where}.{field.name}: its {name} is {getattr(field, name)}, ONNX's "
                       f"{getattr(other, name)}")
        if relative(field.type_name, packages[0]) != relative(other.type_name, packages[1]):
            yield f"{where}.{field.name}: it is a {field.type_name}, ONNX's a {other.type_name}"
        if field.options.packed != other.options.packed:
            yield f"{where}.{field.name}: only one of the two is packed"
        groups = [message.oneof_decl[one.oneof_index].name if one.HasField("oneof_index") else ""
                  for message, one in ((ours, field), (theirs, other))]
        if groups[0] != groups[1]:
            yield f"{where}.{field.name}: it is in oneof '{groups[0]}', ONNX's in '{groups[1]}'"


def compare_enum(where, ours, theirs):
    known = {value.name: value.number for value in theirs.value}
    for value in ours.value:
        if known.get(value.name) != value.number:
            yield f"{where}.{value.name}: it is {value.number}, ONNX's {known.get(value.name)}"


def compare(where, ours, theirs, packages, results):
    """Notes, for each message and enum of ours, what is wrong with it."""
    results[where] = list(compare_fields(where, ours, theirs, packages))
    for kind, comparison in (
            ("nested_type", lambda *pair: compare(*pair, packages, results)),
            ("enum_type", lambda name, *pair: results.update(
                {name: list(compare_enum(name, *pair))}))):
        known = {inner.name: inner for inner in getattr(theirs, kind)}
        for inner in getattr(ours, kind):
            name = f"{where}.{inner.name}"
            if inner.name in known:
                comparison(name, inner, known[inner.name])
            else:
                results[name] = [f"{name}: ONNX has none of that name"]


def compare_files(ours, theirs):
    results = {}
    known = {message.name: message for message in theirs.message_type}
    for message in ours.message_type:
        if message.name in known:
            compare(message.name, message, known[message.name], (ours.package, theirs.package),
                    results)
        else:
            results[message.name] = [f"{message.name}: ONNX has none of that name"]
    return results


def check_comparison(ours, theirs):
    """The comparison itself: a schema that is wrong in each way is refused."""
    def change_number(file):
        file.message_type[0].field[0].number += 100

    def change_type(file):
        file.message_type[0].field[0].type = descriptor_pb2.FieldDescriptorProto.TYPE_INT32

    def rename(file):
        file.message_type[0].field[0].name += "_"

    def rename_message(file):
        file.message_type[0].name += "_"

    def change_packing(file):
        tensor = next(one for one in file.message_type if one.name == "TensorProto")
        field = next(one for one in tensor.field if one.name == "float_data")
        field.options.packed = False

    def change_value(file):
        attribute = next(one for one in file.message_type if one.name == "AttributeProto")
        attribute.enum_type[0].value[1].number += 100

    for change in (change_number, change_type, rename, rename_message, change_packing,
                   change_value):
        changed = descriptor_pb2.FileDescriptorProto()
        changed.CopyFrom(ours)
        change(changed)
        problems = sum(compare_files(changed, theirs).values(), [])
        yield change.__name__, [] if problems else [f"{change.__name__} is not noticed"]


def main():
    ours, theirs = our_file(), their_file()
    results = compare_files(ours, theirs) | dict(check_comparison(ours, theirs))
    for problem in sum(results.values(), []):
        print(problem)
    failed = sum(map(bool, results.values()))
    print(f"onnx-schema: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
