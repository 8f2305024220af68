#!/usr/bin/env python3
"""Every element type that ONNX gives an operator: a node of each (operator, type parameter, type)
of the newest opset computes what the reference does.

The types are all but strings and complex numbers: bool, integers from 2 to 64 bits, floats from 4
to 64. Each is compiled and run in every way, as by row_tests.py."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
import zlib

import ml_dtypes
import numpy
import onnx

import batch
import harness
import reference
import row_cases
from node_tests import IMPORTED_AS_ANOTHER
from operator_table import ROWS
from row_cases import Case, Fixed

TYPES = {"bool": numpy.bool_, "uint8": numpy.uint8, "uint16": numpy.uint16,
         "uint32": numpy.uint32, "uint64": numpy.uint64, "int8": numpy.int8,
         "int16": numpy.int16, "int32": numpy.int32, "int64": numpy.int64,
         "float16": numpy.float16, "bfloat16": ml_dtypes.bfloat16, "float": numpy.float32,
         "double": numpy.float64}
NARROW = {"float8e4m3fn": ml_dtypes.float8_e4m3fn, "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
          "float8e5m2": ml_dtypes.float8_e5m2, "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
          "float8e8m0": ml_dtypes.float8_e8m0fnu, "float4e2m1": ml_dtypes.float4_e2m1fn,
          "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4,
          "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2}
TYPES |= NARROW
FLOATS = [dtype for name, dtype in NARROW.items() if name.startswith("float")]
# The other type of as many bits.
LIKE = {"int4": "uint4", "uint4": "int4", "int2": "uint2", "uint2": "int2", "float4e2m1": "uint4"}

# The result's type is not one that an operand has, or is the point.
TYPE_CHANGING = {"BitCast", "Cast", "CastLike", "EyeLike", "Identity", "Bernoulli", "Multinomial", "RandomNormal",
                 "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# Parameters that the specification keeps apart and that go together all the same.
LINKED = {("Attention", "T1"): "T2", ("Attention", "T2"): "T1",
          ("RMSNormalization", "T"): "V", ("RMSNormalization", "V"): "T"}
# Results whose type is another parameter's where nothing says otherwise.
RESULTS = {"DequantizeLinear": "T2"}
# What docs/generated/operators.md says is not supported of a parameter: the types that are.
SUPPORTED = {("Attention", "U"): {"bool", "float"}}  # of the cases, whose other operands are float
# What no reference computes: a scale that no result can have the type of; what pads with zero where
# there is none, which numpy makes NaN.
WITHOUT_REFERENCE = {("DequantizeLinear", "T2", "float8e8m0"), ("Pad", "T", "float8e8m0")}


def kind_of(dtype):
    """f, i, u or b: what numpy does not say of the types of ml_dtypes."""
    name = numpy.dtype(dtype).name.removeprefix("b")  # bfloat16, bool
    return "b" if name == "ool" else name[0]


def retyped(array, dtype, operator, position):
    """The values of `array` as another type, kept small and meaningful in it."""
    if array.dtype == dtype:
        return array
    if dtype == numpy.bool_:
        words = array > array.mean() if array.size > 1 else array != 0
        if operator == "Attention":
            words[..., 0] = True  # a query that sees no key has no result
        return words
    if operator in ("QuantizeLinear", "DequantizeLinear") and position == 2 and dtype in FLOATS:
        return numpy.zeros_like(array, dtype)  # the zero point of floats is zero
    kind = kind_of(dtype)
    if kind not in "iu":
        return array.astype(dtype)
    limits = ml_dtypes.iinfo(dtype)
    small_reals = array.dtype.kind == "f" and abs(array).max(initial=0) < 4
    values = numpy.rint(array.astype(numpy.float64) * (4 if small_reals else 1))
    values = numpy.clip(values, max(int(limits.min), -60), min(int(limits.max), 60)).astype(dtype)
    if operator == "Pow":
        values = 1 + values % 3
    elif operator == "ReduceProd":
        values = (1 + (values % 8 == 0)).astype(dtype)
    row = ROWS[operator]
    if row.divides and position == 1:
        values[values == 0] = 1
    # Results that overflow are not the point; extreme operands of others give results that the reference does not define.
    elif row.extremes and values.size > 4 and not (row.places and position):
        values.flat[1], values.flat[3] = limits.max, limits.min
    return values


def type_attribute(schema, parameter):
    """What tells the type of results that no operand has."""
    if any(operand.type_str == parameter for operand in schema.inputs):
        return None
    return next((name for name in ("to", "dtype", "output_datatype", "value") if name in schema.attributes), None)


def formal(schema, position):
    """The formal parameter of an operand."""
    return schema.inputs[min(position, len(schema.inputs) - 1)]


def other_kind(case, dtype):
    kinds = {"f": "f", "i": "i", "u": "i", "b": "b"}
    first = next((value for value in case.inputs if value is not None), None)
    if first is None:
        return False
    array = first.array if isinstance(first, Fixed) else first
    return kinds[kind_of(array.dtype)] != kinds[kind_of(dtype)]


def with_type(case, schema, parameter, name):
    """`case` with another type for one type parameter; None where the case does not have it."""
    dtype, found = TYPES[name], False
    inputs = []
    for position, value in enumerate(case.inputs):
        if value is not None and formal(schema, position).type_str in (
                parameter, LINKED.get((schema.name, parameter))):
            found = True
            if isinstance(value, Fixed):
                value = Fixed(retyped(value.array, dtype, schema.name, position))
            else:
                value = retyped(value, dtype, schema.name, position)
        inputs.append(value)
    attributes = dict(case.attributes)
    code = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    if teller := type_attribute(schema, parameter):
        value = onnx.numpy_helper.from_array(numpy.array([3], dtype)) if teller == "value" else code
        attributes[teller], found = value, True
    if schema.name == "BitCast":  # from and to an integer of the same width
        found, other = True, LIKE.get(name, f"uint{8 * numpy.dtype(dtype).itemsize}")
        attributes["to"] = code
        inputs = [retyped(case.inputs[0], TYPES[other], schema.name, 0)]
        if parameter == "T1":
            attributes["to"] = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(TYPES[other]))
            inputs = [retyped(case.inputs[0], dtype, schema.name, 0)]
    label = f"{schema.name}-{parameter}-{name}"
    return Case(label, inputs, attributes, case.outputs) if found else None


def replaced(case, change):
    """The case with `change` done to every operand."""
    inputs = [Fixed(change(value.array)) if isinstance(value, Fixed) else
              change(value) if value is not None else None for value in case.inputs]
    return Case(case.label, inputs, case.attributes, case.outputs)


def references(case, schema, version):
    """As reference.expected. Of 16-bit floats: computed in float, rounded once. Of booleans that the
    references lack: as uint8."""
    given = {formal(schema, i).type_str: (value.array if isinstance(value, Fixed) else value).dtype
             for i, value in enumerate(case.inputs) if value is not None}

    def result(change):
        changed = replaced(case, change)
        return reference.expected(changed.model(schema.name, version), changed.feed())

    narrow = any(dtype.name in ("float16", "bfloat16") for dtype in given.values())
    if narrow and schema.name not in TYPE_CHANGING:
        values = result(lambda array: array.astype(numpy.float32)
                        if array.dtype.name in ("float16", "bfloat16") else array)
    else:
        values = result(lambda array: array)
        if isinstance(values, str) and numpy.bool_ in given.values():
            values = result(lambda array: array.astype(numpy.uint8)
                            if array.dtype == numpy.bool_ else array)
    if isinstance(values, str):
        return values
    for i, value in enumerate(values):
        own = schema.outputs[min(i, len(schema.outputs) - 1)].type_str
        dtype = given.get(RESULTS.get(schema.name, own))
        if dtype is not None and schema.name not in TYPE_CHANGING:
            with numpy.errstate(over="ignore"):
                values[i] = value.astype(dtype)
    return values


class TypeTests:
    def __init__(self, options):
        self.options = options
        self.suite = harness.Suite("types", options.build.resolve())
        self.runner = batch.Runner(self.suite, options)

    def cases(self, operator):
        """(schema, [Case], what has no case) of the operator's newest version."""
        schema = onnx.defs.get_schema(operator)
        row_cases.random = numpy.random.default_rng(zlib.crc32(operator.encode()))
        bases = list(row_cases.CASES[operator](schema.since_version))
        found, lacking = [], []
        for constraint in schema.type_constraints:
            parameter = constraint.type_param_str
            if not (any(operand.type_str == parameter for operand in schema.inputs)
                    or type_attribute(schema, parameter)):
                continue  # of results alone, and one type
            for name in TYPES:
                if ((operator, parameter, name) in WITHOUT_REFERENCE
                        or f"tensor({name})" not in constraint.allowed_type_strs
                        or name not in SUPPORTED.get((operator, parameter), TYPES)):
                    continue
                # First those of the kind that is wanted: they have the attributes for it.
                for base in sorted(bases, key=lambda base: other_kind(base, TYPES[name])):
                    case = with_type(base, schema, parameter, name)
                    if case:
                        found.append(case)
                        break
                else:
                    lacking.append(f"{operator}-{parameter}-{name}")
        return schema, found, lacking

    def check(self, operator):
        """[(label, reason, steps)] of one operator."""
        schema, cases, lacking = self.cases(operator)
        version = schema.since_version
        results = [(label, "no case in row_cases.py has this operand", []) for label in lacking]
        entries, wanted = [], {}
        for case in cases:
            if not re.search(self.options.filter, case.label):
                continue
            values = references(case, schema, version)
            if isinstance(values, str):
                results.append((case.label, values, []))
                continue
            model = case.model(operator, version)
            for output, value in zip(model.graph.output, values):
                output.CopyFrom(onnx.helper.make_tensor_value_info(
                    output.name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            entries.append(batch.Entry(case.label, model, case.feed()))
            wanted[case.label] = values
        self.runner.run(operator, entries)
        for entry in entries:
            results.append((entry.label, batch.judge(entry, wanted[entry.label]), entry.steps))
        return results

    def run(self):
        claimed = sorted(set(ROWS) - IMPORTED_AS_ANOTHER)
        names = [name for name in claimed if re.search(self.options.operators, name)]
        for _, results in harness.for_each(names, self.check, self.options.jobs):
            for label, reason, steps in results:
                if reason:
                    self.suite.fail(label, reason, *steps)
                else:
                    self.suite.ok(label)
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(every_way=True)
    parser.add_argument("--operators", default="", help="only operators whose name matches this")
    return TypeTests(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
