"""The rows of operators that tests draw from: CASES maps an operator to a function that, given the version of the
operator's definition, yields the Cases that this version allows, small models of one node. ATTRIBUTES and INPUTS have
the kinds of values (spec_kinds.py) that one of its attributes or inputs may not have, where its name alone does not say
which."""
# SPDX-License-Identifier: Apache-2.0
import collections
from dataclasses import dataclass, field

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import spec_kinds
from difference import INF, NAN, Difference, differs, floats, ints, ramp
from runtime_check import Check, Values, checks, given, tensor
from spec_kinds import axis_input, none_of, one_number, words

F16, F32, F64 = numpy.float16, numpy.float32, numpy.float64
I8, U8, I32, I64, BOOL = numpy.int8, numpy.uint8, numpy.int32, numpy.int64, numpy.bool_
CASES = {}
ATTRIBUTES, INPUTS = {}, {}  # by operator and name
random = numpy.random.default_rng(1)  # reseeded before each row


@dataclass
class Fixed:
    """An input whose value the model holds."""
    array: numpy.ndarray


@dataclass
class Case:
    """One node. An input is an array (given at run time), a Fixed, or None (left out)."""
    label: str
    inputs: list
    attributes: dict = field(default_factory=dict)
    outputs: int = 1

    def feed(self):
        return {f"x{i}": array for i, array in enumerate(self.inputs)
                if isinstance(array, numpy.ndarray)}

    def model(self, operator, version):
        opset = max(version, 7)
        names = ["" if value is None else f"x{i}" for i, value in enumerate(self.inputs)]
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(operator, names, results, name=f"the_{operator}",
                                **self.attributes)
        weights = [numpy_helper.from_array(value.array, f"x{i}")
                   for i, value in enumerate(self.inputs) if isinstance(value, Fixed)]
        inputs = [helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.feed().items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in results]
        opsets = [helper.make_opsetid("", opset)]
        model = helper.make_model(helper.make_graph([node], "row", inputs, outputs, weights),
                                  opset_imports=opsets)
        model.ir_version = max(4, helper.find_min_ir_version_for(opsets, True))
        return model


def schemas_by_name():
    """Of all versions."""
    found = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            found[schema.name].append(schema)
    return found


HISTORY = schemas_by_name()


def rows():
    """(operator, version, whether it is the oldest or the newest one) of every definition that a
    model of opset 7 or newer may use."""
    for operator in sorted(CASES):
        versions = [schema.since_version for schema in HISTORY[operator]]
        if operator == "Upsample":
            versions.remove(10)  # which removes it
        oldest = max((version for version in versions if version <= 7), default=min(versions))
        versions = sorted(version for version in versions if version >= oldest)
        for version in versions:
            yield operator, version, version in (versions[0], versions[-1])


def normal(*shape, dtype=F32):
    return random.standard_normal(shape).astype(dtype)


def uniform(low, high, *shape, dtype=F32):
    return random.uniform(low, high, shape).astype(dtype)


def whole(low, high, *shape, dtype=I64):
    return random.integers(low, high, shape).astype(dtype)


def fixed(*numbers, dtype=I64):
    return Fixed(numpy.array(numbers, dtype))


def scalar(number, dtype=F32):
    return Fixed(numpy.array(number, dtype))


def operator(*names, inputs=None, **attributes):
    """The row of each of these operators: its cases, and kinds of values that attributes and inputs may not have."""
    schemas = [schema for name in names for schema in HISTORY[name]]
    unknown = set(attributes) - {name for schema in schemas for name in schema.attributes}
    unknown |= set(inputs or ()) - {formal.name for schema in schemas for formal in schema.inputs}
    if unknown:
        raise ValueError(f"{names[0]} has no {min(unknown)}")

    def add(function):
        for name in names:
            CASES[name] = lambda version, name=name: function(name, version)
            ATTRIBUTES.update({(name, key): kind for key, kind in attributes.items()})
            INPUTS.update({(name, key): kind for key, kind in (inputs or {}).items()})
        return function
    return add


def outside(operator, version, name, case):
    """(value that the attribute may not have, whether the specification says so)."""
    kind = ATTRIBUTES.get((operator, name)) or spec_kinds.ATTRIBUTES.get(name)
    if not kind:
        raise ValueError(f"{operator}: neither @operator in row_cases.py nor spec_kinds.py has values that '{name}' may not have")
    return kind(operator, version, case)


def outside_input(operator, name, case, number):
    """The same of an input."""
    kind = INPUTS.get((operator, name)) or spec_kinds.INPUTS.get(name)
    value = case.inputs[number]
    array = value.array if isinstance(value, Fixed) else value
    return list(kind(operator, case, array)) if kind else []


def same_label(types):
    return [(numpy.dtype(dtype).name, dtype) for dtype in types]


# --- elementwise

RANGES = {"Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Acosh": (1.1, 4),
          "Log": (0.1, 4), "Sqrt": (0, 4), "Reciprocal": (0.3, 4), "Tan": (-1.2, 1.2)}
PARAMETERS = {"LeakyRelu": {"alpha": 0.2}, "ThresholdedRelu": {"alpha": 0.4}, "Elu": {"alpha": 1.5},
              "Celu": {"alpha": 1.5}, "Selu": {"alpha": 1.5, "gamma": 1.2},
              "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "Shrink": {"lambd": 0.6, "bias": 0.1},
              "Swish": {"alpha": 1.3}, "Gelu": {"approximate": "tanh"}}
ONLY_F32 = {"Celu", "Swish"}


@operator("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp",
          "Floor", "Log", "Reciprocal", "Round", "Sin", "Sinh", "Sqrt", "Tan", "Tanh", "Relu",
          "LeakyRelu", "ThresholdedRelu", "Elu", "Celu", "Selu", "Gelu", "HardSigmoid", "HardSwish",
          "Mish", "Shrink", "Sigmoid", "Softplus", "Softsign", "Swish")
def unary(name, version):
    low, high = RANGES.get(name, (-3, 3))
    for label, dtype in same_label([F32] if name in ONLY_F32 else [F32, F16, F64]):
        yield Case(label, [uniform(low, high, 3, 37, dtype=dtype)])
    if name in PARAMETERS:
        yield Case("parameters", [uniform(low, high, 3, 37)], PARAMETERS[name])


@operator("Abs", "Neg", "Sign")
def unary_of_any_number(name, version):
    for label, dtype in same_label([F32, F64, I32, I64, I8]):
        yield Case(label, [uniform(-50, 50, 5, 9).astype(dtype)])


@operator("IsInf", "IsNaN")
def classification(name, version):
    x = normal(2, 6)
    x[0, 1], x[0, 3], x[1, 2] = numpy.inf, -numpy.inf, numpy.nan
    yield Case("float32", [x])
    if name == "IsInf":
        yield Case("negative", [x], {"detect_positive": 0})
        yield Case("positive", [x], {"detect_negative": 0})


@operator("Add", "Sub", "Mul", "Div")
def arithmetic(name, version):
    for label, dtype in same_label([F32, F64, I32, I64]):
        yield Case(label, [uniform(1, 50, 2, 3, 17).astype(dtype),
                           uniform(1, 9, 2, 3, 17).astype(dtype)])
    yield Case("broadcast", [normal(2, 1, 5), uniform(1, 2, 3, 1)])
    yield Case("weight", [normal(4, 8), Fixed(uniform(1, 2, 8))])
    if version >= 14:
        yield Case("uint8", [whole(9, 20, 4, 4, dtype=U8), whole(1, 9, 4, dtype=U8)])
        yield Case("float16", [normal(4, 4, dtype=F16), uniform(1, 2, 4, dtype=F16)])


@operator("Mod")
def modulus(name, version):
    for label, dtype in same_label([I32, I64]):
        yield Case(label, [whole(-20, 20, 4, 7, dtype=dtype), whole(1, 6, 7, dtype=dtype)])
    yield Case("negative", [whole(-20, 20, 4, 7), whole(-6, -1, 7)])
    yield Case("fmod", [normal(4, 7), uniform(0.5, 2, 7)], {"fmod": 1})


@operator("Pow")
def power(name, version):
    yield Case("float32", [uniform(0.2, 3, 3, 5), uniform(-2, 2, 5)])
    yield Case("square", [normal(3, 5), scalar(2)])
    if version >= 12:
        yield Case("mixed", [uniform(0.2, 3, 3, 5), whole(-2, 3, 5)])
        yield Case("int32", [whole(-3, 4, 3, 5, dtype=I32), whole(0, 4, 5, dtype=I32)])


@operator("Max", "Min", "Mean", "Sum")
def variadic(name, version):
    yield Case("three", [normal(3, 4), normal(3, 4), normal(3, 4)])
    yield Case("one", [normal(3, 4)])
    if version >= 8:
        yield Case("broadcast", [normal(3, 4), normal(4), normal(3, 1)])
        # More than one kernel can take.
        yield Case("hundreds", [normal(3, 4), *(normal(4) for _ in range(298)), normal(3, 1)])
    if version >= 12 and name in ("Max", "Min"):
        yield Case("int64", [whole(-9, 9, 3, 4), whole(-9, 9, 4)])
        yield Case("float16", [normal(3, 4, dtype=F16), normal(4, dtype=F16)])


@operator("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def comparison(name, version):
    if name == "Equal" or version >= 9:
        yield Case("int32", [whole(0, 4, 3, 8, dtype=I32), whole(0, 4, 8, dtype=I32)])
    if name != "Equal" or version >= 11:
        yield Case("float32", [numpy.round(normal(3, 8)), numpy.round(normal(8))])
    if version >= 9:
        yield Case("int64", [whole(0, 4, 3, 8), whole(0, 4, 8)])


@operator("And", "Or", "Xor")
def logic(name, version):
    yield Case("bool", [normal(3, 4) > 0, normal(4) > 0])


@operator("Not")
def negation(name, version):
    yield Case("bool", [normal(3, 4) > 0])


@operator("BitShift", direction=words("LEFT"))
def shift(name, version):
    for direction in ("LEFT", "RIGHT"):
        for label, dtype in same_label([U8, numpy.uint32, numpy.uint64]):
            yield Case(f"{direction.lower()}-{label}",
                       [whole(0, 200, 4, 5, dtype=dtype), whole(0, 7, 5, dtype=dtype)],
                       {"direction": direction})


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bits(name, version):
    for label, dtype in same_label([I32, U8, I64]):
        yield Case(label, [whole(0, 120, 4, 5, dtype=dtype), whole(0, 120, 5, dtype=dtype)])


@operator("BitwiseNot")
def complement(name, version):
    for label, dtype in same_label([I32, U8, I64]):
        yield Case(label, [whole(0, 120, 4, 5, dtype=dtype)])


@operator("Where")
def where(name, version):
    for label, dtype in same_label([F32, I64, I32, U8]):
        yield Case(label, [normal(3, 1, 5) > 0, uniform(0, 99, 4, 5).astype(dtype),
                           uniform(0, 99, 3, 4, 1).astype(dtype)])


@operator("Clip", inputs={"min": one_number})
def clip(name, version):
    if version < 11:
        yield Case("both", [normal(4, 6)], {"min": -0.5, "max": 0.7})
        yield Case("max", [normal(4, 6)], {"max": 0.7})
        # Bounds that are absent are the greatest finite numbers.
        ends = numpy.array([-numpy.inf, -1, 5, numpy.inf], F32)
        yield Case("infinite", [ends])
        yield Case("infinite-min", [ends], {"min": 0.0})
        yield Case("infinite-max", [ends], {"max": 3.0})
        return
    yield Case("both", [normal(4, 6), scalar(-0.5), scalar(0.7)])
    yield Case("max", [normal(4, 6), None, scalar(0.7)])
    yield Case("none", [normal(4, 6)])
    # ONNX Runtime refuses bounds of one dimension; onnx's reference broadcasts them.
    yield Case("one-element", [normal(4, 6), Fixed(numpy.array([-0.5], F32)), numpy.array([[0.5]], F32)])
    yield Case("given", [normal(4, 6), numpy.array(-0.5, F32), numpy.array(0.5, F32)])
    if version >= 12:
        yield Case("int64", [whole(-9, 9, 4, 6), scalar(-3, I64), scalar(5, I64)])
        yield Case("uint8", [whole(0, 20, 4, 6, dtype=U8), scalar(3, U8), scalar(9, U8)])


@operator("PRelu")
def prelu(name, version):
    yield Case("channel", [normal(2, 3, 4, 5), Fixed(uniform(0.1, 0.4, 3, 1, 1))])
    yield Case("same", [normal(2, 3), uniform(0.1, 0.4, 2, 3)])
    yield Case("scalar", [normal(2, 3, 4), Fixed(uniform(0.1, 0.4, 1))])


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(name, version):
    x = numpy.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype(F32)
    random.shuffle(x.reshape(-1))  # no ties, for Hardmax
    yield Case("default", [x / 20])
    for axis in (0, 1, 2, 3):
        yield Case(f"axis-{axis}", [x / 20], {"axis": axis})
    if version >= 11:
        yield Case("axis-last", [x / 20], {"axis": -1})
    yield Case("float64", [(x / 20).astype(F64)])
    if name != "Hardmax":
        yield Case("float16", [(x / 20).astype(F16)])


# --- products, convolutions, normalisation, pooling

@operator("BatchNormalization")
def batch_norm(name, version):
    parameters = [Fixed(uniform(0.5, 1.5, 3)), Fixed(normal(3)), Fixed(normal(3)),
                  Fixed(uniform(0.5, 2, 3))]
    yield Case("4-d", [normal(2, 3, 4, 5), *parameters])
    yield Case("2-d", [normal(5, 3), *parameters], {"epsilon": 0.01})
    yield Case("given", [normal(2, 3, 4), *(value.array for value in parameters)])
    if version >= 14:
        yield Case("training", [normal(2, 3, 4), *parameters], {"training_mode": 1, "momentum": 0.7}, outputs=3)


@operator("InstanceNormalization")
def instance_norm(name, version):
    yield Case("4-d", [normal(2, 3, 4, 5), Fixed(uniform(0.5, 1.5, 3)), Fixed(normal(3))])
    yield Case("3-d", [normal(2, 3, 17), uniform(0.5, 1.5, 3), normal(3)], {"epsilon": 0.01})


@operator("GroupNormalization")
def group_norm(name, version):
    size = 2 if version < 21 else 6  # by group, then by channel
    yield Case("4-d", [normal(2, 6, 4, 5), Fixed(uniform(0.5, 1.5, size)), Fixed(normal(size))],
               {"num_groups": 2})


@operator("LayerNormalization")
def layer_norm(name, version):
    yield Case("last", [normal(2, 3, 50), Fixed(uniform(0.5, 1.5, 50)), Fixed(normal(50))])
    yield Case("axis-1", [normal(2, 3, 5), Fixed(uniform(0.5, 1.5, 3, 5))], {"axis": 1})
    yield Case("statistics", [normal(2, 3, 50), Fixed(uniform(0.5, 1.5, 50))], outputs=3)
    yield Case("statistics-bfloat16", [normal(2, 3, 50), Fixed(uniform(0.5, 1.5, 50))],
               {"stash_type": TensorProto.BFLOAT16}, outputs=3)


@operator("RMSNormalization")
def rms_norm(name, version):
    yield Case("last", [normal(2, 3, 50), Fixed(uniform(0.5, 1.5, 50))])
    yield Case("axis-1", [normal(2, 3, 5), Fixed(uniform(0.5, 1.5, 3, 5))], {"axis": 1})


@operator("MeanVarianceNormalization")
def mean_variance_norm(name, version):
    yield Case("default", [normal(2, 3, 4, 5)])
    yield Case("axes", [normal(2, 3, 4, 5)], {"axes": [1, 2]})


@operator("LRN")
def lrn(name, version):
    yield Case("size-3", [normal(2, 7, 4, 5)], {"size": 3})
    yield Case("size-5", [normal(2, 7, 4, 5)], {"size": 5, "alpha": 0.1, "beta": 0.6, "bias": 2.0})


@operator("LpNormalization", p=none_of(0, 3, -1, spec_kinds.MOST))
def lp_norm(name, version):
    yield Case("l2", [normal(2, 3, 5)])
    yield Case("l1-axis-1", [normal(2, 3, 5)], {"p": 1, "axis": 1})


@operator("MaxPool", "AveragePool", "LpPool")
def pool(name, version):
    x = normal(2, 3, 9, 10)
    yield Case("plain", [x], {"kernel_shape": [3, 2]})
    yield Case("pads", [x], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})
    yield Case("same-upper", [x], {"kernel_shape": [3, 3], "strides": [2, 2],
                                   "auto_pad": "SAME_UPPER"})
    yield Case("same-lower", [x], {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})
    yield Case("1-d", [normal(2, 3, 11)], {"kernel_shape": [3], "strides": [2]})
    yield Case("3-d", [normal(1, 2, 5, 6, 7)], {"kernel_shape": [2, 2, 3]})
    if name == "AveragePool":
        yield Case("include-pad", [x], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1],
                                        "count_include_pad": 1})
    if version >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[name]:
        yield Case("ceil", [x], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1})
    if version >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[name]:
        yield Case("dilations", [x], {"kernel_shape": [2, 3], "dilations": [2, 3]})
    if name == "MaxPool" and version >= 8:
        yield Case("indices", [x], {"kernel_shape": [2, 2], "strides": [2, 2]}, outputs=2)
        yield Case("indices-column-major", [x], {"kernel_shape": [2, 2], "storage_order": 1},
                   outputs=2)
    if name == "MaxPool" and version >= 12:
        yield Case("uint8", [whole(0, 255, 1, 2, 6, 6, dtype=U8)], {"kernel_shape": [2, 2]})
    if name == "LpPool":
        yield Case("p-3", [x], {"kernel_shape": [3, 3], "p": 3})


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(name, version):
    yield Case("4-d", [normal(2, 3, 4, 5)])
    yield Case("3-d", [normal(2, 3, 40)])
    if name == "GlobalLpPool":
        yield Case("p-1", [normal(2, 3, 4, 5)], {"p": 1})


# --- reductions

@operator("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
          "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")
def reduce(name, version):
    as_input = version >= (13 if name == "ReduceSum" else 18)

    def one(label, axes, dtype=F32, **attributes):
        x = uniform(0.5, 2, 3, 4, 5).astype(dtype)
        if axes and as_input:
            return Case(label, [x, fixed(*axes)], attributes)
        return Case(label, [x], {**attributes, **({"axes": axes} if axes else {})})

    yield one("all", None)
    yield one("last", [2])
    yield one("first", [0], keepdims=0)
    yield one("two", [0, 2], keepdims=0)
    if version >= 11:
        yield one("negative", [-2])
    if as_input:
        yield one("no-op", None, noop_with_empty_axes=1)
    if name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"):
        yield one("int32", [1], I32)
    yield one("float64", [1], F64)


@operator("ArgMax", "ArgMin")
def arg_reduce(name, version):
    yield Case("default", [normal(3, 4, 5)])
    yield Case("axis-1", [normal(3, 4, 5)], {"axis": 1, "keepdims": 0})
    yield Case("ties", [numpy.round(normal(3, 40))], {"axis": 1})
    yield Case("int32", [whole(-9, 9, 3, 40, dtype=I32)], {"axis": 1})
    if version >= 12:
        yield Case("last-tie", [numpy.round(normal(3, 40))], {"axis": 1, "select_last_index": 1})


@operator("CumSum", "CumProd", inputs={"axis": axis_input})
def cumsum(name, version):
    yield Case("plain", [normal(3, 20), scalar(1, I64)])
    # Long lines: several warps, one and more rounds of a block. (Products stay finite.)
    yield Case("long", [uniform(0.9, 1.1, 2, 600), scalar(1, I64)])
    yield Case("long-reverse", [uniform(0.9, 1.1, 100, 3), scalar(0, I64)], {"reverse": 1})
    yield Case("long-exclusive", [uniform(0.9, 1.1, 1, 64), scalar(1, I64)], {"exclusive": 1})
    # By several blocks, in runs of which the last one is not whole.
    few = uniform(0.999, 1.001, 2, 9000)
    yield Case("very-long", [few, scalar(1, I64)])
    yield Case("very-long-reverse", [few.T.copy(), scalar(0, I64)], {"reverse": 1})
    yield Case("very-long-exclusive", [few, scalar(1, I64)], {"exclusive": 1, "reverse": 1})
    yield Case("very-long-int32", [whole(0, 9, 8192, dtype=I32), scalar(0, I64)], {"exclusive": 1})
    yield Case("first-axis", [normal(3, 20), scalar(0, I32)])
    yield Case("exclusive", [normal(3, 20), scalar(-1, I64)], {"exclusive": 1})
    yield Case("reverse", [normal(3, 20), scalar(1, I64)], {"reverse": 1, "exclusive": 1})
    yield Case("int64", [whole(0, 9, 3, 20), scalar(1, I64)])


@differs
def reduction_differences():
    for operator in ("ReduceMax", "ReduceMin"):
        yield Difference("ReduceMax, ReduceMin of NaN", operator, [floats(1, NAN, 3)], "reference")
    large = ints(2**30, 2**30, 2**30, dtype=I32)
    for operator in ("ReduceSum", "ReduceProd", "ReduceL1"):
        yield Difference("ReduceSum, ReduceProd, ReduceL1, ReduceSumSquare of int32", operator,
                         [large], "reference")
    yield Difference("ReduceMean of no elements", "ReduceMean",
                     [numpy.zeros((2, 0), F32), ints(1)], "reference")
    yield Difference("ReduceLogSumExp of nothing but -inf", "ReduceLogSumExp", [floats(-INF, -INF)],
                     "onnxruntime")
    for operator in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        yield Difference("ReduceMean, ReduceL2, ReduceLogSum, ReduceLogSumExp of integers", operator,
                         [large], "onnxruntime")


@differs
def elementwise_differences():
    yield Difference("Clip with a bound that is NaN", "Clip",
                     [floats(1, -1), numpy.array(NAN, F32), numpy.array(1, F32)], "reference")
    for bounds in ([], [numpy.array(1, F32)]):
        yield Difference("Clip without a bound, of infinity", "Clip", [floats(2, INF), *bounds], "reference")
    yield Difference("Pow of an integer to a negative power", "Pow",
                     [ints(2, -2, 0, 3, dtype=I32), ints(-1, 3, 0, -2, dtype=I32)], "onnxruntime")


@differs
def normalization_differences():
    yield Difference("MeanVarianceNormalization of equal elements", "MeanVarianceNormalization",
                     [numpy.ones((1, 2, 3, 4), F32)], "reference")
    yield Difference("LRN", "LRN", [ramp(1, 8, 1, 1)], "onnxruntime", {"size": 3})
    # Of four channels one is before and two are behind.
    x = floats(1, 2, 3, 4, 5, shape=[1, 5, 1, 1])
    sums = floats(14, 30, 54, 50, 41, shape=[1, 5, 1, 1])
    yield Difference("LRN of an even size", "LRN", [x], [x / (1 + sums / 4)],
                     {"size": 4, "alpha": 1.0, "beta": 1.0})
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Difference("Softmax, LogSoftmax, Hardmax before opset 13", operator,
                         [ramp(2, 3, 4) / 5], "onnxruntime", {"axis": 1}, opset=11)


@differs
def pool_differences():
    yield Difference("MaxPool of nothing but -inf", "MaxPool",
                     [floats(-INF, -INF, -INF, 3, shape=[1, 1, 4])], "reference",
                     {"kernel_shape": [2]})
    x = ramp(1, 1, 7)
    for operator in ("AveragePool", "LpPool"):
        yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", operator, [x],
                         "onnxruntime", {"kernel_shape": [3], "strides": [3], "ceil_mode": 1})
    yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", "MaxPool", [x], "onnxruntime",
                     {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_LOWER"})
    yield Difference("Pools with `ceil_mode`, `auto_pad` or Indices", "MaxPool", [ramp(1, 1, 3, 4)],
                     "onnxruntime", {"kernel_shape": [2, 2]}, outputs=2)
    row = "Pools, `SAME_...`, with a kernel shorter than its stride"
    for operator, wanted in (("AveragePool", [1.5, 5.5]), ("LpPool", [5**0.5, 61**0.5]), ("MaxPool", [2, 6])):
        yield Difference(row, operator, [ramp(1, 1, 8) + 1], [floats(*wanted, shape=[1, 1, 2])],
                         {"kernel_shape": [2], "strides": [4], "auto_pad": "SAME_UPPER"})
    yield Difference("MaxPool, GlobalMaxPool of NaN", "MaxPool",
                     [floats(1, NAN, 2, 3, shape=[1, 1, 4])], [floats(NAN, NAN, 3, shape=[1, 1, 3])],
                     {"kernel_shape": [2]})
    yield Difference("MaxPool, GlobalMaxPool of NaN", "GlobalMaxPool",
                     [floats(1, NAN, 2, shape=[1, 1, 3])], [floats(NAN, shape=[1, 1, 1])])


@differs
def search_differences():
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "ArgMax", [floats(1, NAN, 3)], [ints(2)])
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "ArgMin", [floats(NAN, 1, 3)], [ints(1)])
    yield Difference("ArgMax, ArgMin, Hardmax of NaN", "Hardmax", [floats(NAN, 1, 2)],
                     [floats(0, 0, 1)])


@checks
def elementwise_checks():
    yield Check("broadcast", "Add", [tensor("N"), tensor("M")], [[3], [1]],
                [([[3], [4]], "sizes 3 and 4 cannot be broadcast together")])
    yield Check("broadcast-known", "Mul", [tensor("N", 5), tensor("M", 5)], [[1, 5], [7, 5]],
                [([[2, 5], [7, 5]], "sizes 2 and 7 cannot be broadcast together")])
    yield Check("pool", "MaxPool", [tensor(1, 1, "W")], [[1, 1, 4]],
                [([[1, 1, 3]], "a window of 4 elements is larger than the padded input of 3")],
                {"kernel_shape": [4]})
    yield Check("batch-norm", "BatchNormalization",
                [tensor(1, 3, 4), tensor("C"), *(tensor(3) for _ in range(3))],
                [[1, 3, 4], [3], [3], [3], [3]],
                [([[1, 3, 4], [2], [3], [3], [3]], "has 2 values for 3 channels")])
    yield Check("group-norm", "GroupNormalization", [tensor(1, "C", 4), tensor("C"), tensor("C")],
                [[1, 4, 4], [4], [4]],
                [([[1, 3, 4], [3], [3]], "3 channels are not a multiple of num_groups 2")],
                {"num_groups": 2})
    yield Check("layer-norm", "LayerNormalization", [tensor("N", "K"), tensor("L")],
                [[2, 3], [3]], [([[2, 3], [4]], "size 4 does not broadcast to 3")])
    yield Check("reduce-axes", "ReduceSum", [tensor("N", 3), tensor(1, dtype=I64)],
                [[2, 3], given(-1)],
                [([[2, 3], given(2)], "the 1 axes name 0 dimensions of a tensor of rank 2")])
    yield Check("cumsum-axis", "CumSum", [tensor("N", 3), tensor(dtype=I64)], [[2, 3], Values(1)],
                [([[2, 3], Values(-3)], "the 1 axes name 0 dimensions of a tensor of rank 2")])


import row_cases_expanded  # noqa: E402  the other parts; they add to CASES
import row_cases_layout  # noqa: E402
import row_cases_products  # noqa: E402
import row_cases_quantized  # noqa: E402
import row_cases_random  # noqa: E402
import row_cases_recurrent  # noqa: E402
import row_cases_sampling  # noqa: E402
import row_cases_sorting  # noqa: E402
