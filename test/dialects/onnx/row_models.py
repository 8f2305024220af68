# SPDX-License-Identifier: Apache-2.0
"""Models of operators as they were, for the rows that the importer converts."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


def make(opset, op, inputs, outputs=1, constants=(), dynamic=False, **attributes):
    """A model of one node. `inputs` holds arrays, or None for what is absent; those whose numbers
    are in `constants` become initialisers; with `dynamic`, the others have symbolic dimensions."""
    names, values, initializers, feeds = [], [], [], {}
    for i, array in enumerate(inputs):
        name = "i%d" % i
        names.append("" if array is None else name)
        if array is None:
            continue
        if i in constants:
            initializers.append(numpy_helper.from_array(array, name))
            continue
        shape = ["%s_%d" % (name, d) for d in range(array.ndim)] if dynamic else array.shape
        values.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
        feeds[name] = array
    results = ["o%d" % i for i in range(outputs)]
    node = helper.make_node(op, names, results, name="node", **attributes)
    out = [helper.make_empty_tensor_value_info(r) for r in results]
    graph = helper.make_graph([node], "row", values, out, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(7, opset))])
    model.ir_version = 8
    return model, feeds


def reductions(op, v):
    x = positive(2, 3, 4)
    return [make(v, op, [x], axes=[1], keepdims=0), make(v, op, [x], axes=[0, 2]),
            make(v, op, [x], keepdims=0), make(v, op, [x], dynamic=True, axes=[2], keepdims=1)]


def softmaxes(op, v):
    x = floats(2, 3, 4)
    cases = [make(v, op, [x]), make(v, op, [x], axis=0), make(v, op, [x], axis=2),
             make(v, op, [x], dynamic=True), make(v, op, [x], dynamic=True, axis=2)]
    if v == 11:
        cases += [make(v, op, [x], axis=-2), make(v, op, [x], axis=-1)]
    return cases


def batch_norm(op, v):
    x, channels = floats(2, 3, 4), [positive(3) for _ in range(4)]
    cases = [make(v, op, [x, *channels]), make(v, op, [x, *channels], epsilon=0.1)]
    if v == 7:
        cases.append(make(v, op, [x, *[positive(3, 4) for _ in range(4)]], spatial=0))
    return cases


def resizes(op, v):
    x = np.arange(1 * 1 * 4 * 6, dtype=np.float32).reshape(1, 1, 4, 6)
    up, down = np.array([1, 1, 2, 1.5], np.float32), np.array([1, 1, 0.5, 0.6], np.float32)
    both = np.array([1, 1, 2, 0.5], np.float32)
    if v == 7:
        return [make(v, op, [x], scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"),
                make(v, op, [x], scales=[1.0, 1.0, 2.0, 2.5], mode="linear")]
    if v == 9:
        return [make(v, op, [x, up], constants=(1,), mode=m) for m in ("nearest", "linear")] + [
            make(v, op, [x, up], mode="nearest")]
    if v == 10:
        return [make(v, op, [x, s], constants=(1,), mode=m) for s in (up, down, both)
                for m in ("nearest", "linear")] + [make(v, op, [x, both], mode="nearest")]
    empty = np.zeros([0], np.float32)
    sizes = np.array([1, 1, 3, 9], np.int64)
    cases = [make(v, op, [x, empty, up], constants=(1, 2), mode=m) for m in
             ("nearest", "linear", "cubic")]
    cases += [make(v, op, [x, empty, empty, sizes], constants=(1, 2, 3), mode=m,
                   coordinate_transformation_mode=c) for m in ("nearest", "linear")
              for c in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")]
    if v == 11:
        cases += [make(v, op, [x, empty, empty, sizes], constants=(1, 2, 3), mode="nearest",
                       coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode=n)
                  for n in ("floor", "round_prefer_floor")]
    return cases


def scan8(op, v):
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Identity", ["t"], ["u"])],
        "body", [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2,)) for n in "sx"],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2,)) for n in "tu"])
    inputs = [None, floats(3, 2), floats(3, 5, 2)]
    return [make(v, op, inputs, outputs=2, body=body, num_scan_inputs=1),
            make(v, op, inputs, outputs=2, body=body, num_scan_inputs=1, directions=[1])]


def splits(op, v):
    x = floats(2, 6)
    if v == 13:
        return [make(v, op, [x], outputs=3, axis=1),
                make(v, op, [x, np.array([2, 4], np.int64)], outputs=2, axis=1)]
    return [make(v, op, [x], outputs=3, axis=1), make(v, op, [x], outputs=2, axis=1, split=[1, 5])]


def pads(op, v):
    x = floats(2, 3, 4)
    return [make(v, op, [x], pads=[0, 1, 2, 0, 0, 1]),
            make(v, op, [x], pads=[0, 1, 2, 0, 0, 1], value=1.5),
            make(v, op, [x], pads=[0, 1, 2, 0, 0, 1], mode="reflect"),
            make(v, op, [x], pads=[0, 1, -1, 0, 0, 1], mode="edge")]


def grid_sample(op, v):
    x, grid = floats(1, 1, 4, 5), RNG.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(np.float32)
    return [make(v, op, [x, grid]), *[make(v, op, [x, grid], mode=m, align_corners=1)
                                      for m in ("bilinear", "nearest", "bicubic")]]


def roi_align(op, v):
    rois = np.array([[0.5, 0.5, 3, 4], [1, 0, 4, 4]], np.float32)
    return [make(v, op, [floats(1, 2, 6, 6), rois, np.array([0, 0], np.int64)], output_height=2,
                 output_width=3, sampling_ratio=2, mode=m) for m in ("avg", "max")]


def scatter(op, v):
    return [make(v, op, [floats(3, 3), np.array([[1, 0, 2]], np.int64), floats(1, 3)], axis=0)]


def clips(op, v):
    x = floats(3, 4)
    half = x.astype(np.float16)
    return [make(v, op, [x], min=-0.5, max=0.5), make(v, op, [x], min=0.0), make(v, op, [x]),
            make(v, op, [half], max=0.25), make(v, op, [x.astype(np.float64)], min=-0.1)]



def loops(op, v):
    """Sums a vector until the sum is large, and scans the sums."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"]),
         helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["t"], ["u"])],
        "body", [helper.make_tensor_value_info("n", TensorProto.INT64, ()),
                 helper.make_tensor_value_info("c", TensorProto.BOOL, ()),
                 helper.make_tensor_value_info("s", TensorProto.FLOAT, (3,))],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, ()),
         helper.make_tensor_value_info("t", TensorProto.FLOAT, (3,)),
         helper.make_tensor_value_info("u", TensorProto.FLOAT, (3,))])
    node = helper.make_node("Loop", ["m", "", "x"], ["sum", "sums"], name="node", body=body)
    return [graph_of(v, [node], {"m": np.array(4, np.int64), "x": floats(3)}, ["sum", "sums"])]


def scans(op, v):
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Mul", ["t", "x"], ["u"])],
        "body", [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2,)) for n in "sx"],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2,)) for n in "tu"])
    return [make(v, op, [floats(2), floats(5, 2)], outputs=2, body=body, num_scan_inputs=1),
            make(v, op, [floats(2), floats(2, 5)], outputs=2, body=body, num_scan_inputs=1,
                 scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1])]


def graph_of(opset, nodes, feeds, outputs):
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
              for n, a in feeds.items()]
    graph = helper.make_graph(nodes, "row", values,
                              [helper.make_empty_tensor_value_info(o) for o in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(7, opset))])
    model.ir_version = 8
    return model, feeds


def sequences(op, v):
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "y"], ["a"]),
        helper.make_node("SequenceInsert", ["a", "x"], ["b"]),
        helper.make_node("SequenceErase", ["b", "zero"], ["c"]),
        helper.make_node("SequenceEmpty", [], ["e"], dtype=TensorProto.FLOAT),
        helper.make_node("SequenceInsert", ["e", "y"], ["f"]),
        helper.make_node("SequenceLength", ["c"], ["length"]),
        helper.make_node("SequenceAt", ["f", "zero"], ["at"]),
        helper.make_node("ConcatFromSequence", ["c"], ["joined"], axis=0)]
    feeds = {"x": floats(2, 3), "y": floats(2, 3), "zero": np.array(0, np.int64)}
    return [graph_of(v, nodes, feeds, ["length", "at", "joined"])]


def optionals(op, v):
    nodes = [helper.make_node("Optional", ["x"], ["a"]),
             helper.make_node("OptionalGetElement", ["a"], ["y"])]
    return [graph_of(v, nodes, {"x": floats(2, 3)}, ["y"])]


def randoms(op, v):
    if op == "Multinomial":
        return [make(v, op, [floats(2, 5)], sample_size=4, seed=1.0)]
    if op.endswith("Like"):
        return [make(v, op, [floats(2, 5)], seed=1.0)]
    return [make(v, op, [], shape=[2, 5], seed=1.0)]


BUILDERS = {
    ("DepthToSpace", 1): lambda op, v: [make(v, op, [floats(1, 8, 2, 3)], blocksize=2)],
    ("Clip", 6): clips,
    ("Pad", 2): pads,
    ("Slice", 1): lambda op, v: [
        make(v, op, [floats(4, 5)], starts=[1, -3], ends=[3, 1000], axes=[0, 1]),
        make(v, op, [floats(4, 5)], starts=[1, 2], ends=[-1, 4])],
    ("TopK", 1): lambda op, v: [make(v, op, [floats(3, 5)], outputs=2, k=2),
                                make(v, op, [floats(3, 5)], outputs=2, k=2, axis=0)],
    ("Dropout", 7): lambda op, v: [make(v, op, [floats(3, 5)], ratio=0.3),
                                   make(v, op, [floats(3, 5)], outputs=2)],
    ("Dropout", 10): lambda op, v: [make(v, op, [floats(3, 5)], ratio=0.3),
                                    make(v, op, [floats(3, 5)], outputs=2)],
    ("DFT", 17): lambda op, v: [make(v, op, [floats(1, 4, 5, 1)]),
                                make(v, op, [floats(1, 4, 5, 1)], axis=2, onesided=1),
                                make(v, op, [floats(1, 4, 5, 2)], inverse=1)],
    ("GridSample", 16): grid_sample,
    ("RoiAlign", 10): roi_align,
    ("Scatter", 9): scatter,
    ("Scatter", 11): scatter,
    ("GroupNormalization", 18): lambda op, v: [
        make(v, op, [floats(2, 6, 4), floats(3), floats(3)], num_groups=3),
        make(v, op, [floats(2, 6, 4), floats(3), floats(3)], num_groups=3, epsilon=0.1,
             dynamic=True)],
    ("Scan", 8): scan8,
    ("Squeeze", 1): lambda op, v: [make(v, op, [floats(1, 3, 1)]),
                                   make(v, op, [floats(1, 3, 1)], axes=[2])],
    ("Squeeze", 11): lambda op, v: [make(v, op, [floats(1, 3, 1)], axes=[-1])],
    ("Unsqueeze", 1): lambda op, v: [make(v, op, [floats(3, 2)], axes=[0, 2])],
    ("Unsqueeze", 11): lambda op, v: [make(v, op, [floats(3, 2)], axes=[-1])],
}


def build(op, version):
    """The hand-made models of a row, with their inputs; none where the operator did not change."""
    if (op, version) in BUILDERS:
        return BUILDERS[op, version](op, version)
    if op.startswith("Reduce") and version < (13 if op == "ReduceSum" else 18):
        return reductions(op, version)
    if op in ("Softmax", "LogSoftmax", "Hardmax") and version < 13:
        return softmaxes(op, version)
    if op == "BatchNormalization" and version < 14:
        return batch_norm(op, version)
    if op in ("Resize", "Upsample"):
        return resizes(op, version)
    if op in ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
              "Multinomial"):
        return randoms(op, version)
    if op == "GlobalLpPool":
        return [make(version, op, [floats(1, 3, 4, 5)], p=p) for p in (1, 2)]
    if op == "MaxRoiPool":
        rois = np.array([[0, 0, 0, 3, 4], [0, 1, 1, 4, 4]], np.float32)
        return [make(version, op, [floats(1, 2, 6, 6), rois], pooled_shape=[2, 2])]
    if op == "Loop":
        return loops(op, version)
    if op == "Scan" and version > 8:
        return scans(op, version)
    if op in ("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceLength",
              "SequenceAt", "ConcatFromSequence"):
        return sequences(op, version)
    if op == "Optional":
        return optionals(op, version)
    if op == "Split" and version < 18:
        return splits(op, version)
    return []
