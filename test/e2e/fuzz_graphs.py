"""Random well-formed models. Nodes are drawn one after another and evaluated by ONNX Runtime at
once, so that types and shapes are known and what it refuses, or what leaves the range in which
results can be compared, is drawn again.

A dimension is a number, or a symbol that stands for one only when the model runs; values whose
dimensions have one symbol have one size, whatever the inputs. The model does not name a symbol that
begins with a question mark."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

OPSET = 21
F16, F32, F64 = numpy.float16, numpy.float32, numpy.float64
I32, I64, U8, BOOL = numpy.int32, numpy.int64, numpy.uint8, numpy.bool_
MOST_ELEMENTS, MOST_MAGNITUDE = 20000, 1e3
OPERATORS = []  # functions of a Graph that draw one node


@dataclass
class Value:
    name: str
    array: numpy.ndarray
    dims: tuple  # a number or a symbol for each dimension
    exact: bool  # has the same bits everywhere

    @property
    def rank(self):
        return self.array.ndim

    @property
    def fixed(self):
        return all(isinstance(dim, int) for dim in self.dims)

    @property
    def dtype(self):
        return self.array.dtype.type


@dataclass
class Graph:
    random: numpy.random.Generator
    sizes: dict  # of the symbols that inputs have
    values: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)  # name to array
    counter: int = 0

    # --- drawing

    def chance(self, probability):
        return self.random.random() < probability

    def choose(self, items):
        return items[self.random.integers(len(items))]

    def integer(self, low, high):
        """Both included."""
        return int(self.random.integers(low, high + 1))

    def pick(self, accepts):
        """A value for which `accepts` holds, one of the newer ones more often; raises Redraw."""
        found = [value for value in self.values if accepts(value)]
        if not found:
            raise Redraw()
        return found[max(self.integer(0, len(found) - 1), self.integer(0, len(found) - 1))]

    def floats(self, rank=None, types=(F32, F16, F64)):
        return self.pick(lambda v: v.dtype in types and (rank is None or v.rank in rank))

    def fresh(self):
        self.counter += 1
        return f"v{self.counter}"

    def symbol(self):
        self.counter += 1
        return f"d{self.counter}"

    def array(self, dtype, shape):
        if dtype is BOOL:
            return self.random.integers(0, 2, shape).astype(BOOL)
        if numpy.dtype(dtype).kind in "iu":
            return self.random.integers(0 if dtype is U8 else -9, 10, shape).astype(dtype)
        return self.random.uniform(-2, 2, shape).astype(dtype)

    def constant(self, array):
        """An initializer."""
        array = numpy.asarray(array)
        name = self.fresh()
        self.weights.append(numpy_helper.from_array(array, name))
        self.constants[name] = array
        return Value(name, array, array.shape, True)

    def ints(self, *numbers):
        return self.constant(numpy.array(numbers, I64))

    def weight(self, dtype, shape):
        return self.constant(self.array(dtype, shape))

    def input(self, dtype, dims):
        name = self.fresh()
        shape = [self.sizes.get(dim, dim) for dim in dims]
        value = Value(name, self.array(dtype, shape), tuple(dims), True)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def partner(self, value):
        """A value, or a new weight, that broadcasts with `value`."""
        def fits(other):
            return other.dtype is value.dtype and other is not value and all(
                a == b or 1 in (a, b) for a, b in zip(reversed(value.dims), reversed(other.dims)))
        if self.chance(0.6):
            try:
                return self.pick(fits)
            except Redraw:
                pass
        rank = self.integer(0, value.rank)
        shape = [dim if isinstance(dim, int) and self.chance(0.7) else 1
                 for dim in value.dims[value.rank - rank:]]
        return self.weight(value.dtype, shape)

    # --- nodes

    def add(self, operator, inputs, dims=None, exact=None, outputs=1, **attributes):
        """Evaluates a node and adds it. `dims` are those of its results where they are not all
        known; a function of the results, or a tuple for the only one."""
        names = [value.name if value else "" for value in inputs]
        results = [self.fresh() for _ in range(outputs)]
        node = helper.make_node(operator, names, results, name=f"n{len(self.nodes)}_{operator}",
                                **attributes)
        given = [value for value in inputs if value]
        arrays = evaluate(node, given)
        fixed = all(value.fixed for value in given)
        if exact is None:
            exact = all(value.exact for value in given)
        for i, (name, array) in enumerate(zip(results, arrays)):
            if array.size > MOST_ELEMENTS or (array.dtype.kind == "f" and array.size and not
                                              numpy.abs(array).max() < MOST_MAGNITUDE):
                raise Redraw()
            if dims is None:
                known = tuple(self.symbol() for _ in array.shape)
            else:
                known = dims(i, array) if callable(dims) else tuple(dims)
            if not array.size and (len(known) != array.ndim or any(
                    isinstance(told, int) and told != size
                    for told, size in zip(known, array.shape))):
                raise Redraw()  # ONNX Runtime keeps axes of what it reduces where there is nothing
            assert len(known) == array.ndim, (operator, known, array.shape)
            if fixed:
                known = array.shape
            self.values.append(Value(name, array, known, exact or array.dtype.kind not in "f"))
        self.nodes.append(node)


class Redraw(Exception):
    """What was drawn is not possible."""


_sessions = onnxruntime.SessionOptions()
_sessions.intra_op_num_threads = _sessions.inter_op_num_threads = 1
_sessions.log_severity_level = 4


def session(model, optimise=True):
    _sessions.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC if optimise
        else onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    return onnxruntime.InferenceSession(model.SerializeToString(), _sessions)


def as_input(name, array, dims=None):
    dims = [None if str(dim).startswith("?") else dim
            for dim in (array.shape if dims is None else dims)]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def assemble(nodes, inputs, outputs, weights, opset=OPSET):
    """inputs: ValueInfoProtos; outputs: names, or ValueInfoProtos."""
    outputs = [helper.make_empty_tensor_value_info(output) if isinstance(output, str) else output
               for output in outputs]
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(helper.make_graph(nodes, "fuzz", inputs, outputs, weights),
                              opset_imports=opsets)
    model.ir_version = max(8, helper.find_min_ir_version_for(opsets, True))
    return model


def evaluate(node, values):
    """A node's results; raises Redraw where ONNX Runtime refuses it."""
    unique = {value.name: value.array for value in values}
    model = assemble([node], [as_input(*item) for item in unique.items()], list(node.output), [])
    try:
        arrays = [numpy.asarray(array) for array in session(model, False).run(None, unique)]
    except Exception as refused:  # pylint: disable=broad-except
        raise Redraw() from refused
    if any(array.dtype.kind == "f" and not numpy.isfinite(array).all() for array in arrays):
        raise Redraw()
    return arrays


@dataclass
class Sample:
    model: onnx.ModelProto
    feeds: list  # of dicts; the second has other sizes for the symbols
    types: dict  # output name to dtype


def draw(seed, most_nodes=14, sizes=None):
    """A Sample, the same for a seed; `sizes` are of symbols of which no others are drawn."""
    import fuzz_operators  # pylint: disable=import-outside-toplevel,unused-import
    random = numpy.random.default_rng(seed)
    graph = Graph(random, {"N": int(random.integers(1, 5)), "M": int(random.integers(1, 9)),
                           **(sizes or {})})
    main = graph.choose([F32, F32, F32, F32, F64, F16])
    for _ in range(graph.integer(1, 3)):
        rank = graph.choose([1, 2, 2, 3, 3, 4, 4])
        dims = [graph.choose(["N", "M", 1, 2, 3, 4, 6, 8]) if graph.chance(0.8)
                else graph.integer(1, 19) for _ in range(rank)]
        if graph.chance(0.4):
            dims = [graph.sizes.get(dim, dim) for dim in dims]
        graph.input(main if graph.chance(0.8) else graph.choose([I64, I32, BOOL, U8, F32]), dims)
    wanted, tries = graph.integer(2, most_nodes), 0
    while len(graph.nodes) < wanted and tries < 40 * most_nodes:
        tries += 1
        kept = (len(graph.weights), len(graph.values), len(graph.nodes))
        try:
            graph.choose(OPERATORS)(graph)
        except Redraw:
            del graph.weights[kept[0]:], graph.values[kept[1]:], graph.nodes[kept[2]:]
    if not graph.nodes:
        return draw(seed + (1 << 32), most_nodes, sizes)
    return sample_of(graph, 0.15)


def sample_of(graph, inner):
    """A Sample; its outputs are what nothing reads, and of the rest this share."""
    used = {name for node in graph.nodes for name in node.input}
    results = [value for value in graph.values if value not in graph.inputs]
    outputs = [value for value in results if value.name not in used]
    outputs += [value for value in results if value.name in used and graph.chance(inner)]
    graph.weights = [weight for weight in graph.weights if weight.name in used]
    model = assemble(graph.nodes, [as_input(v.name, v.array, v.dims) for v in graph.inputs],
                     [v.name for v in outputs], graph.weights)
    for output, value in zip(model.graph.output, outputs):
        output.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(value.array.dtype)
    feeds = [{value.name: value.array for value in graph.inputs}]
    if any(not value.fixed for value in graph.inputs):
        sizes = {**graph.sizes, "N": graph.integer(1, 7), "M": graph.integer(1, 12)}
        feeds.append({value.name: graph.array(value.dtype,
                                              [sizes.get(dim, dim) for dim in value.dims])
                      for value in graph.inputs})
    return Sample(model, feeds, {value.name: value.dtype for value in outputs})


def join(samples):
    """One Sample of several, whose graphs have nothing to do with one another: `renamed` by their
    places."""
    joined = onnx.ModelProto()
    joined.CopyFrom(samples[0].model)
    for part in ("node", "input", "output", "initializer"):
        joined.graph.ClearField(part)
    feeds = [{} for _ in range(max(len(sample.feeds) for sample in samples))]
    for number, sample in enumerate(samples):
        part = renamed(sample, number)
        for field_name in ("node", "input", "output", "initializer"):
            getattr(joined.graph, field_name).extend(getattr(part.model.graph, field_name))
        for place, feed in enumerate(feeds):
            feed.update(part.feeds[min(place, len(part.feeds) - 1)])
    return Sample(joined, feeds, {})


def prefix_of(number):
    return f"m{number}_"


def renamed(sample, number):
    """The Sample with a prefix to every name, of sizes, too."""
    prefix = prefix_of(number)
    model = onnx.ModelProto()
    model.CopyFrom(sample.model)
    graph = model.graph
    for node in graph.node:
        node.name = prefix + node.name
        for names in (node.input, node.output):
            names[:] = [name and prefix + name for name in names]
    for named in (*graph.input, *graph.output, *graph.initializer):
        named.name = prefix + named.name
    for dim in (dim for put in graph.input for dim in put.type.tensor_type.shape.dim):
        if dim.dim_param:
            dim.dim_param = prefix + dim.dim_param
    feeds = [{prefix + name: array for name, array in feed.items()} for feed in sample.feeds]
    return Sample(model, feeds, {prefix + name: dtype for name, dtype in sample.types.items()})
