#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of ONNX operators from the schemas of the pinned onnx package.

These files come out, all committed:
  dialects/onnx/ops/*.td              one ODS op per operator of the default domain, a file a
                                      subject, as ONNX's own sources have them
  dialects/onnx/Schemas.inc           what verifier, importer and exporter ask about an operator
  dialects/onnx/AttributeVersions.inc  which attributes each version of an operator has

Only facts are taken (names, arity, attribute types and defaults, type sets).
With --check, nothing is written and a difference is an error.
"""
import argparse
import pathlib
import sys

import onnx
from onnx import defs

PINNED = "1.21.0"
OPSET = 26
OLDEST_OPSET = 1
AttrType = defs.OpSchema.AttrType
Option = defs.OpSchema.FormalParameterOption

# The order is that of ElementKind in Schema.h.
ELEMENTS = """float double float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool
string complex64 complex128 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0
float4e2m1 int4 uint4 int2 uint2""".split()

# Ops whose constants are written by hand, and those that may not be merged or dropped freely.
BY_HAND = {"Constant"}
IMPURE = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
          "Multinomial", "Dropout"}
KINDS = {AttrType.INT: "Int", AttrType.INTS: "Ints", AttrType.FLOAT: "Float",
         AttrType.FLOATS: "Floats", AttrType.STRING: "String", AttrType.STRINGS: "Strings",
         AttrType.TENSOR: "Tensor", AttrType.GRAPH: "Graph", AttrType.TYPE_PROTO: "Type",
         AttrType.SPARSE_TENSOR: "SparseTensor"}
CONSTRAINTS = {AttrType.INT: "I64Attr", AttrType.INTS: "DenseI64ArrayAttr",
               AttrType.FLOAT: "F32Attr", AttrType.FLOATS: "DenseF32ArrayAttr",
               AttrType.STRING: "StrAttr", AttrType.STRINGS: "StrArrayAttr",
               AttrType.TENSOR: "ElementsAttr", AttrType.TYPE_PROTO: "TypeAttr"}
HEADER = "Written by tools/gen-onnx-ops.py from onnx %s; run it again instead of editing." % PINNED


def schemas():
    latest = {}
    for s in defs.get_all_schemas_with_history():
        if s.domain or s.since_version > OPSET:
            continue
        if s.name not in latest or latest[s.name].since_version < s.since_version:
            latest[s.name] = s
    return [latest[n] for n in sorted(latest) if not latest[n].deprecated]


def attributes(schema):
    return [schema.attributes[n] for n in sorted(schema.attributes)]


def default_of(attr):
    """The C++ spelling of a default value, or None."""
    if not attr.default_value.type:
        return None
    value = onnx.helper.get_attribute_value(attr.default_value)
    if attr.type == AttrType.INT:
        return str(value)
    if attr.type == AttrType.FLOAT:
        text = "%.9g" % value
        return (text if any(c in text for c in ".en") else text + ".0") + "f"
    if attr.type == AttrType.STRING:
        return '\\"%s\\"' % value.decode()
    if attr.type == AttrType.INTS:
        return "{%s}" % ", ".join(map(str, value))
    # A list of strings cannot be a default in ODS; its readers know the operator.
    return None


def ods_attribute(attr):
    constraint = CONSTRAINTS[attr.type]
    default = default_of(attr)
    if default is not None:
        return 'DefaultValuedOptionalAttr<%s, "%s">:$%s' % (constraint, default, attr.name)
    if attr.required:
        return "%s:$%s" % (constraint, attr.name)
    return "OptionalAttr<%s>:$%s" % (constraint, attr.name)


def wrapped(items, indent):
    """Joins items with commas, in lines of at most 100 columns."""
    lines, line = [], ""
    for item in items:
        piece = item if not line else line + ", " + item
        if line and len(piece) + indent > 97:
            lines.append(line + ",")
            line = item
        else:
            line = piece
    return ("\n" + " " * indent).join(lines + [line])


def ods(schema):
    def formals(params, of_result):
        out = []
        for p in params:
            variadic = p.option == Option.Variadic
            out.append("%s:$%s" % ("Variadic<AnyType>" if variadic else "AnyType", p.name))
        return out

    graphs = [a for a in attributes(schema) if a.type == AttrType.GRAPH]
    traits = []
    if graphs:
        traits.append("RecursiveMemoryEffects")
        traits.append("SingleBlock")
    elif schema.name not in IMPURE:
        traits.append("Pure")
    args = formals(schema.inputs, False)
    args += [ods_attribute(a) for a in attributes(schema) if a.type != AttrType.GRAPH]
    results = formals(schema.outputs, True)
    text = 'def ONNX_%sOp : ONNX_Op<"%s", %d, [%s]%s> {\n' % (
        schema.name, schema.name, schema.since_version, ", ".join(traits),
        ", %d" % len(graphs) if graphs else "")
    if args:
        text += "  let arguments = (ins %s);\n" % wrapped(args, 23)
    if results:
        text += "  let results = (outs %s);\n" % wrapped(results, 22)
    if graphs:
        regions = ["SizedRegion<1>:$" + a.name for a in graphs]
        text += "  let regions = (region %s);\n" % wrapped(regions, 24)
    return text + "}\n"


class Sets:
    """Numbers the distinct sets of types."""

    def __init__(self):
        self.index = {}

    def of(self, types):
        masks = [0, 0, 0, 0]
        for t in types:
            for place, (head, tail) in enumerate((("tensor(", ")"), ("seq(tensor(", "))"),
                                                  ("optional(tensor(", "))"),
                                                  ("optional(seq(tensor(", ")))"))):
                if t.startswith(head):
                    masks[place] |= 1 << ELEMENTS.index(t[len(head):-len(tail)])
                    break
            else:
                sys.exit("unknown type " + t)
        return self.index.setdefault(tuple(masks), len(self.index))


def inc(all_schemas):
    sets, formals, attrs, ops = Sets(), [], [], []

    def add(schema, params, variables):
        first = len(formals)
        for p in params:
            # A formal whose type is no variable has a number of its own.
            variable = variables.setdefault(p.type_str, len(variables))
            formals.append('{"%s", Option::%s, %s, %d, %d}' % (
                p.name, p.option.name, "true" if p.is_homogeneous else "false", variable,
                sets.of(p.types)))
        return first, len(params)

    for s in all_schemas:
        variables = {}
        inputs, outputs = add(s, s.inputs, variables), add(s, s.outputs, variables)
        first = len(attrs)
        for a in attributes(s):
            if s.name in BY_HAND and a.name != "value":
                continue
            attrs.append('{"%s", AttrKind::%s, %s}' % (
                a.name, KINDS[a.type], "true" if a.required else "false"))
        ops.append('{"%s", %d, %d, %d, %d, %d, %d, %d, %d, %d}' % (
            s.name, s.since_version, *inputs, *outputs, first, len(attrs) - first, s.min_input,
            s.min_output))
    text = "// SPDX-License-Identifier: Apache-2.0\n// %s\n// clang-format off\n" % HEADER
    text += "static constexpr TypeSet typeSets[] = {\n"
    text += "".join("    {0x%x, 0x%x, 0x%x, 0x%x},\n" % k for k in sets.index)
    text += "};\n\nstatic constexpr Formal formals[] = {\n"
    text += "".join("    %s,\n" % f for f in formals)
    text += "};\n\nstatic constexpr AttrSchema attrs[] = {\n"
    text += "".join("    %s,\n" % a for a in attrs)
    text += "};\n\n// Name, version, inputs, outputs and attributes (each first and count), least arity.\n"
    text += "static constexpr Row rows[] = {\n"
    text += "".join("    %s,\n" % o for o in ops)
    return text + "};\n"


def versions_in_force():
    """The schemas that some opset from OLDEST_OPSET on has, by operator, the oldest first."""
    history = {}
    for s in defs.get_all_schemas_with_history():
        if not s.domain and s.since_version <= OPSET:
            history.setdefault(s.name, []).append(s)
    for name in sorted(history):
        schemas_of_op = sorted(history[name], key=lambda s: s.since_version)
        first = max((s.since_version for s in schemas_of_op if s.since_version <= OLDEST_OPSET),
                    default=0)
        yield name, [s for s in schemas_of_op if s.since_version >= first]


def attribute_versions():
    """One row for each attribute and run of versions that have it alike."""
    rows = []
    for name, versions in versions_in_force():
        runs = {}
        for s in versions:
            for a in attributes(s):
                run = runs.setdefault((a.name, KINDS[a.type], a.required), [])
                run.append(s.since_version)
        for (attribute, kind, required), found in sorted(runs.items()):
            between = [s.since_version for s in versions if found[0] <= s.since_version <= found[-1]]
            assert between == found, (name, attribute)
            rows.append('{"%s", "%s", AttrKind::%s, %s, %d, %d}' % (
                name, attribute, kind, "true" if required else "false", found[0], found[-1]))
    text = "// SPDX-License-Identifier: Apache-2.0\n// %s\n// clang-format off\n" % HEADER
    text += "// Operator, attribute, kind, whether it is required, the first and last version with it.\n"
    text += "static constexpr AttributeVersion versions[] = {\n"
    return text + "".join("    %s,\n" % row for row in rows) + "};\n"


def tds(all_schemas):
    """(name, text) of a file for each subject: the folder of ONNX's sources that defines it."""
    subjects = {}
    for s in all_schemas:
        if s.name not in BY_HAND:
            subjects.setdefault(pathlib.PurePath(s.file).parent.name, []).append(ods(s))
    head = "// SPDX-License-Identifier: Apache-2.0\n// %s\n\n" % HEADER
    for subject, ops in sorted(subjects.items()):
        yield "ops/%s.td" % subject.title().replace("_", ""), head + "\n".join(ops)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    if onnx.__version__ != PINNED:
        sys.exit("needs onnx %s, found %s" % (PINNED, onnx.__version__))
    folder = pathlib.Path(__file__).resolve().parent.parent / "dialects" / "onnx"
    all_schemas = schemas()
    stale = 0
    files = [*tds(all_schemas), ("Schemas.inc", inc(all_schemas)),
             ("AttributeVersions.inc", attribute_versions())]
    for name, text in files:
        path = folder / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print("%s is out of date; run tools/gen-onnx-ops.py" % path)
            stale += 1
    if check:
        print("%d passed, %d failed" % (len(files) - stale, stale))
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
