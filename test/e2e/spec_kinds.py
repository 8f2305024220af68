# SPDX-License-Identifier: Apache-2.0
"""Values outside of what the specification's text allows attributes, and inputs that are read as sizes, axes or counts:
kinds of them, by the name of the attribute or input. Where an operator means something else by a name, its row in
row_cases.py says which kind it is."""
import numpy
import onnx
from onnx import TensorProto, defs, helper

I64 = numpy.int64
AttrType = defs.OpSchema.AttrType
MOST = (1 << 63) - 1


def attribute(name, value):
    """Also of an empty list, which has no type of its own."""
    if isinstance(value, list) and not value:
        return helper.make_attribute(name, value, attr_type=onnx.AttributeProto.INTS)
    return helper.make_attribute(name, value)


def text(value):
    if isinstance(value, numpy.ndarray):
        return f"{value.dtype}{list(value.shape)}{value.tolist()}".replace(" ", "")
    if isinstance(value, TensorProto):
        return f"{list(value.dims)}"
    return str(value).replace(" ", "")[:60] or "empty"


def of_other_kind(name, schema):
    """[(label, attribute)] of kinds that the schema does not have."""
    others = {AttrType.INT: ("float", 1.0), AttrType.INTS: ("int", 1),
              AttrType.FLOAT: ("int", 1), AttrType.FLOATS: ("float", 1.0),
              AttrType.STRING: ("int", 1), AttrType.STRINGS: ("string", "1")}
    for kind, value in (others.get(schema.type, ("ints", [1])), ("strings", ["a", "b"])):
        if schema.type != AttrType.STRINGS or kind != "strings":
            yield f"as-{kind}", helper.make_attribute(name, value)


def rank(case, number=0):
    value = case.inputs[number]
    return numpy.ndim(value.array if hasattr(value, "array") else value)


def spatial(case):
    return rank(case) - 2


# --- of attributes: functions of (operator, version, case) that yield (value, must be refused)

def words(*some):
    """Neither in another case nor with a blank."""
    def values(operator, version, case):
        for word in ("bogus", "", some[0].swapcase(), some[0] + " "):
            yield word, True
    return values


def flag(operator, version, case):
    for value in (2, -1):
        yield value, True


def axis_of(before=0, behind=0):
    """As many more than the first operand has, on both sides."""
    def values(operator, version, case):
        for value in (rank(case) + behind, -rank(case) - before - 1, MOST, -MOST - 1):
            yield value, True
    return values


def quantised_axis(operator, version, case):
    """One number for all of a tensor has no axis."""
    for value, refused in axis_of()(operator, version, case):
        yield value, refused and rank(case, 1) > 0


def axes_of(added=False, signed_since=0):
    """`added`: they are axes of the result."""
    def values(operator, version, case):
        def outside(n):
            return rank(case) + n * added

        for value in ([outside(1)], [-outside(1) - 1], [0, outside(2)], [MOST], [-MOST - 1]):
            yield value, True
        yield [0, 0], added and version >= 11
        yield [], False
        if version < signed_since:
            yield [-1], True  # "non-negative integers"
    return values


def at_least(least):
    def values(operator, version, case):
        for value in (least - 1, least - 2, -MOST - 1):
            yield value, True
    return values


def each_at_least(least, count):
    """`count` is how many there must be for the case."""
    def values(operator, version, case):
        n = count(case)
        for bad in (least - 1, -MOST - 1):
            yield [least] * (n - 1) + [bad], True
            yield [bad] * n, True
        yield [max(least, 1)] * (n + 1), True
        yield [max(least, 1)] * (n - 1), n > 1
        # As the text allows; whether the sizes allow it is another matter.
        for value in (4, 30, 1 << 31):
            yield [value] * n, False
    return values


def types(operator, version, case):
    for number in (0, -1, 27, 99, MOST):
        yield number, True
    schema = defs.get_schema(operator)  # types of later versions do no harm
    allowed = next(constraint.allowed_type_strs for constraint in schema.type_constraints
                   if constraint.type_param_str == schema.outputs[0].type_str)
    for name, number in TensorProto.DataType.items():
        yield number, f"tensor({name.lower()})" not in allowed


def float_types(operator, version, case):
    for number in (0, -1, 7, 99):
        yield number, True
    for number in (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE):
        yield number, False


def drawn_types(operator, version, case):
    for number in (0, -1, 27, 99, MOST, TensorProto.STRING, TensorProto.INT32, TensorProto.INT64):
        yield number, True
    yield TensorProto.FLOAT, False


def class_types(operator, version, case):
    for number in (0, -1, 27, 99, MOST, TensorProto.STRING):
        yield number, True
    for number in (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64):
        yield number, False


def interval(operator, version, case):
    """Beyond the other end, which is 1.5, or no number that is drawn by."""
    for value in (float("nan"), float("inf"), float("-inf")):
        yield value, True


def deviation(operator, version, case):
    for value in (float("nan"), -1.0):
        yield value, True


def drawn_shape(operator, version, case):
    for value in ([-1], [2, -MOST - 1]):
        yield value, True
    for value in ([], [0], [2, 2, 2]):
        yield value, False


def quantised_types(operator, version, case):
    """0 says nothing."""
    for number in (-1, 27, 99, MOST):
        yield number, True


def permutation(operator, version, case):
    r = rank(case)
    straight = list(range(r))
    for value in ([0] * r, straight[1:], straight + [r], straight[:-1] + [r],
                  straight[:-1] + [-1]):
        yield value, True


def equation(operator, version, case):
    assert len(case.inputs) == 2
    for value in ("", "->", "ij", "i1,jk->ik", "ij,jk->iz", "ij,jk->ik->", "...ij.,jk->ik",
                  "ij,jk,kl->il", "ij,jk-ik", "i....j,jk->ik", "ijk,jk->ik"):
        yield value, True
    yield "ij,jk->ii", False


def ratio(operator, version, case):
    for value in (-0.1, 1.5, float("nan")):
        yield value, True
    yield 1.0, True


def scales(operator, version, case):
    for value in ([1.0, 1.0, 0.5, 2.0], [1.0, 1.0, 0.0, 2.0], [1.0, 1.0, -1.0, 2.0], [1.0, 1.0, 2.0],
                  [1.0, 1.0, float("nan"), 2.0]):
        yield value, True


def real(operator, version, case):
    """Any number; ONNX Runtime may know better."""
    for value in (float("nan"), float("inf"), -1.0, 0.0):
        yield value, False


def integer(operator, version, case):
    for value in (MOST, -MOST - 1, -1000, 1000):
        yield value, False


def one_element(operator, version, case):
    yield helper.make_tensor("v", TensorProto.INT64, [2], [7, 7]), True
    yield helper.make_tensor("v", TensorProto.INT64, [0], []), True


def anything(operator, version, case):
    return ()


def none_of(*wrong):
    def values(operator, version, case):
        for value in wrong:
            yield value, True
    return values


def slice_bounds(operator, version, case):
    n = len(case.attributes["starts"])
    yield [0] * (n + 1), True
    yield [0] * (n - 1), True


def pads2(operator, version, case):
    n = 2 * rank(case)
    yield [0] * (n - 1), True
    yield [0] * (n + 2), True
    yield [-100] + [0] * (n - 1), True


def split_sizes(operator, version, case):
    yield [7, 0, -1], True
    yield [1, 3], True
    yield [1, 3, 3], True
    yield [], False


def batch_dims(operator, version, case):
    for value in (-1, rank(case), rank(case, 1), MOST):
        yield value, True


def one_of(count):
    """One of the first numbers."""
    def values(operator, version, case):
        for value in (-1, count, MOST):
            yield value, True
    return values


def groups(operator, version, case):
    for value in (0, -1, 5, MOST):
        yield value, True


def number_types(operator, version, case):
    for number in (0, -1, 27, 99, MOST, TensorProto.STRING, TensorProto.COMPLEX64):
        yield number, True


def heads(operator, version, case):
    """Read where tokens have the heads beside one another."""
    for value in (0, -1, 5, MOST):
        yield value, rank(case) == 3


def rotated(operator, version, case):
    for value in (-2, 3, 100, MOST):
        yield value, True


def signal_axis(operator, version, case):
    for value in (rank(case) - 1, -1, rank(case) + 1, -rank(case) - 1, MOST, -MOST - 1):
        yield value, True


def cache_axis(operator, version, case):
    for value in (0, -rank(case), rank(case), MOST, -MOST - 1):
        yield value, True


def pooled_shape(operator, version, case):
    for value in ([2, 0], [-MOST - 1, 2], [2], [2, 2, 2], []):
        yield value, True
    yield [4, 5], False


def hidden_size(operator, version, case):
    for value in (0, -1, case.attributes["hidden_size"] + 1, MOST, -MOST - 1):
        yield value, True


def cell_functions(operator, version, case):
    yield ["Gelu"], True
    yield [""], True
    yield ["Tanh"] * 7, True


def cell_numbers(operator, version, case):
    """Of functions that take none."""
    for value in ([], [0.5] * 9, [float("nan")]):
        yield value, False


# By attribute.
def gram_count(case):
    return len(case.attributes["ngram_indexes"])


def gram_lengths(operator, version, case):
    """No more than there are starts of lengths."""
    for value in (0, -1, len(case.attributes["ngram_counts"]) + 1, MOST):
        yield value, True


def gram_starts(operator, version, case):
    n = len(case.attributes["pool_int64s"])
    for value in ([-1, 4, 10], [0, n + 1], [0, 4, 3], [0, 3, 10]):
        yield value, True


def gram_pool(operator, version, case):
    pool = case.attributes["pool_int64s"]
    for value in (pool[:-3], pool + [9, 9, 9], []):
        yield value, True


ATTRIBUTES = {
    "auto_pad": words("SAME_UPPER"), "direction": words("forward"), "round_mode": words("up"), "mode": words("linear"),
    "approximate": words("tanh"), "nearest_mode": words("floor"), "coordinate_transformation_mode": words("asymmetric"),
    "keep_aspect_ratio_policy": words("stretch"), "equation": equation, "padding_mode": words("border"),
    **{name: flag for name in (
        "align_corners allowzero antialias ceil_mode count_include_pad detect_negative detect_positive "
        "exclude_outside exclusive fmod keepdims noop_with_empty_axes reverse saturate "
        "is_causal select_last_index spatial storage_order training_mode transA transB upper "
        "inverse onesided periodic interleaved input_forget layout linear_before_reset largest "
        "sorted center_point_box").split()},
    "hidden_size": hidden_size, "activations": cell_functions, "activation_alpha": cell_numbers,
    "activation_beta": cell_numbers,
    "output_datatype": number_types, "ignore_index": integer, "reduction": words("sum"),
    "num_heads": heads, "rotary_embedding_dim": rotated,
    "axis": axis_of(), "axes": axes_of(), "perm": permutation, "to": types, "dtype": types,
    "stash_type": float_types, "block_size": at_least(0), "output_dtype": quantised_types,
    "precision": quantised_types,
    "strides": each_at_least(1, spatial), "dilations": each_at_least(1, spatial),
    "kernel_shape": each_at_least(1, spatial), "pads": each_at_least(0, lambda c: 2 * spatial(c)),
    "output_padding": each_at_least(0, spatial), "output_shape": each_at_least(0, spatial),
    "group": groups, "num_groups": groups, "blocksize": at_least(1), "size": at_least(1),
    "offset_group": groups, "output_height": at_least(1), "output_width": at_least(1),
    "sampling_ratio": at_least(0), "pooled_shape": pooled_shape,
    "num_outputs": groups, "batch_dims": batch_dims, "p": none_of(0, -1, -2), "split": split_sizes,
    "ratio": ratio, "scales": scales, "starts": slice_bounds, "ends": slice_bounds,
    **{name: real for name in (
        "alpha beta gamma bias lambd epsilon momentum extrapolation_value cubic_coeff_a min max "
        "value_float scale softcap spatial_scale clip").split()},
    "sample_size": at_least(1), "q_num_heads": groups, "kv_num_heads": groups, "softmax_precision": float_types,
    "qk_matmul_output_mode": one_of(4), "batch_axis": one_of(2), "time_axis": one_of(2), "value": one_element,
    **{name: integer for name in ("k", "start", "end", "seed")},
    **{name: anything for name in (
        "sparse_value value_floats value_int value_ints value_string value_strings").split()},
}


# Other words by which a refusal may name an attribute: what it is called since.
SYNONYMS = {"axes": ["axis"], "split": ["the parts"], "to": ["output 'output'"],
            "dtype": ["output 'output'"], "output_datatype": ["output 'output'"], "kernel_shape": ["a window of"],
            "dilations": ["a window of", "positions of the window"], "strides": ["positions of the window"],
            "pads": ["positions of the window"]}


# --- of inputs: functions of (operator, case, array) that yield (array, must be refused)

def like(array, *numbers):
    return numpy.array(numbers, array.dtype)


def axis_input(operator, case, array, more=0):
    r = rank(case) + more
    for value in (r, -r - 1, MOST if array.dtype == I64 else 2**31 - 1):
        yield numpy.full(array.shape, value, array.dtype), True


def axes_input(added=False, once=False):
    """`added`: they are axes of the result; `once`: none may be there twice."""
    def values(operator, case, array):
        yield from axis_input(operator, case, array, numpy.size(array) if added else 0)
        yield like(array, 0, 0), once
    return values


def sizes_input(operator, case, array):
    for value in (-2, -MOST - 1, -1):
        yield numpy.concatenate([array[:-1], like(array, value)]), True
    yield array.reshape(1, -1), True


def inferred_sizes(operator, case, array):
    """One of which may be -1."""
    for value in (-2, -MOST - 1):
        yield numpy.concatenate([array[:-1], like(array, value)]), True
    for values in ((-1, -1), (5, 7), (0, 0, 0, 0, 0)):
        yield like(array, *values), True
    yield array.reshape(1, -1), True


def repeats_input(operator, case, array):
    yield like(array, 1, -1), True
    yield like(array, 1), True
    yield like(array, 1, 1, 1), True


def steps_input(operator, case, array):
    yield numpy.zeros_like(array), True


def split_input(operator, case, array):
    yield like(array, 7, 0, -1), True
    yield like(array, 1, 3), True
    yield like(array, 1, 3, 3), True


def pads_input(operator, case, array):
    yield array[:-1], True
    yield numpy.concatenate([array, like(array, 0, 0)]), True
    yield numpy.concatenate([like(array, -100), array[1:]]), True


def delta_input(operator, case, array):
    yield numpy.zeros_like(array), True


def count_input(operator, case, array):
    yield numpy.full_like(array, -1), True
    yield numpy.full_like(array, max(case.inputs[0].shape) + 1), True
    yield like(array, 1, 2), True


def depth_input(operator, case, array):
    yield numpy.full_like(array, -1), True
    yield numpy.full_like(array, 0), False
    yield like(array, 3, 4), True


def scales_input(operator, case, array):
    if not array.size:
        return
    for value in (0, -1, float("nan")):
        yield numpy.concatenate([array[:-1], like(array, value)]), True
    yield array[:-1], True
    yield numpy.concatenate([array, like(array, 1)]), True


def resize_sizes_input(operator, case, array):
    yield numpy.concatenate([array[:-1], like(array, -1)]), True
    yield array[:-1], True
    yield numpy.concatenate([array, like(array, 1)]), True


def roi_input(operator, case, array):
    if array.size:
        yield array[:-1], True


def ratio_input(operator, case, array):
    yield like(array, 1.5).reshape(()), True
    yield like(array, -0.5).reshape(()), True


def two_numbers(operator, case, array):
    yield like(array, 1, 2, 3), True
    yield like(array, 1), True


def one_number(operator, case, array):
    yield like(array, 1, 2), True


def indices_input(operator, case, array):
    most = max(case.inputs[0].shape)
    for value in (most, -most - 1) if array.size else ():
        yield numpy.full_like(array, value), True


def lengths_input(operator, case, array):
    for value in (case.inputs[0].shape[case.attributes.get("time_axis", 0)] + 1, -1):
        yield numpy.full_like(array, value), True
    yield array[:-1], True


def step_counts(operator, case, array):
    for value in (case.inputs[0].shape[case.attributes.get("layout", 0)] + 1, -1):
        yield numpy.full_like(array, value), True
    yield array[:-1], True


def one_count(operator, case, array):
    yield like(array, 0).reshape(()), True
    yield like(array, -3).reshape(()), True


def grid_sizes(operator, case, array):
    yield array[:-1], True
    yield numpy.concatenate([array[:-1], like(array, 0)]), True
    yield numpy.concatenate([array[:-1], like(array, -1)]), True


def crop_sizes(operator, case, array):
    yield array[:-1], True
    yield numpy.concatenate([array[:-1], like(array, -1)]), True


def images_input(operator, case, array):
    for value in (len(case.inputs[0]), -1):
        yield numpy.full_like(array, value), True
    yield array[:-1], True


# By input; others hold what a kernel reads, in which nothing is wrong.
INPUTS = {
    "axes": axes_input(), "shape": sizes_input, "repeats": repeats_input, "steps": steps_input, "split": split_input,
    "pads": pads_input, "delta": delta_input, "depth": depth_input, "scales": scales_input, "roi": roi_input,
    "ratio": ratio_input, "dft_length": one_count, "frame_step": one_count, "frame_length": one_count,
    "batch_indices": images_input, "image_shape": grid_sizes, "block_shape": grid_sizes, "constant_value": one_number,
}
