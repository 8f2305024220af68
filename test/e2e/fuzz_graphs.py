"""Random well-formed models. Nodes are drawn one after another and evaluated by ONNX Runtime at
once, so that types and shapes are known and what it refuses, or what leaves the range in which
results can be compared, is drawn again.

A dimension is a number, or a symbol that stands for one only when the model runs; values whose
dimensions have one symbol have one size, whatever the inputs. The model does not name a symbol that
begins with a question mark.

Sizes of two names may meet: N1 and N2 are 1 or N's, so that one of them is 1 where the other is not; N0 is
N's. H and W are sizes that windows fit in."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

OPSET = 21
F16, F32, F64 = FLOATS = numpy.float16, numpy.float32, numpy.float64
I32, I64, U8, BOOL = numpy.int32, numpy.int64, numpy.uint8, numpy.bool_
MOST_ELEMENTS = 20000
MOST_MAGNITUDES = (1e3, 1e3, 1e3, 1e6)  # of which a graph has one
ONE_OR = {name + digit: name for name in "NM" for digit in "12"}
EQUAL = {"N0": "N", "M0": "M"}
LEAST = {"N": 1, "M": 1, "H": 7, "W": 7}  # sizes that symbols of inputs have
NUMBERS = (1, 2, 0.5, 3, 4, 0.25, -1, -1.5, 1e-3)
# Opsets that graphs are drawn for, and versions of the file's format, of which a graph has one that has its
# opset. Before 13, axes of reductions are attributes and Softmax is of another shape.
OPSETS = (21, 21, 21, 21, 17, 17, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24)
IR_VERSIONS = (6, 7, 8, 9, 10, 11, 12, 13)
OPERATORS = []  # functions of a Graph that draw one node; fuzz_operators.py fills it


@dataclass
class Value:
    name: str
    array: numpy.ndarray
    dims: tuple  # a number or a symbol for each dimension
    exact: bool  # has the same bits everywhere
    kind: str = "plain"  # of numbers, for inputs: "given" of those that are the same in each run

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
    sizes: dict  # of the symbols that inputs have, in the first run
    opset: int = OPSET
    most: float = 1e3  # no magnitude is above
    wild: float = 0.1  # which share of inputs and weights has numbers that are not around 1
    values: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)  # name to array
    made: dict = field(default_factory=dict)  # (dimension, what is done with it) to symbol
    least: dict = field(default_factory=lambda: dict(LEAST))  # size that a symbol has
    computed: set = field(default_factory=set)  # symbols
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
        """A name for a size that results have; inputs take none."""
        self.counter += 1
        self.computed.add(f"d{self.counter}")
        return f"d{self.counter}"

    def least_of(self, dim):
        """The size that a dimension has at least, in any run."""
        if isinstance(dim, int):
            return dim
        name = EQUAL.get(dim, dim)
        return min(self.least.get(name, 0), self.sizes.get(name, self.least.get(name, 0)))

    def derived(self, dim, key, size):
        """The dimension that `size` gives, a function that grows: the same symbol for the same `key`."""
        if isinstance(dim, int):
            return size(dim)
        dim = EQUAL.get(dim, dim)
        if (dim, key) not in self.made:
            self.made[dim, key] = name = self.symbol()
            self.least[name] = size(self.least_of(dim))
            if dim in self.sizes:
                self.sizes[name] = size(self.sizes[dim])
        return self.made[dim, key]

    def kind(self):
        """The kind of numbers: around 1, or what is seldom."""
        if not self.chance(self.wild):
            return "plain"
        return self.choose(["zeros", "zeros", "splat", "splat", "large", "tiny", "denormal"])

    def array(self, dtype, shape, kind="plain"):
        if dtype is BOOL:
            return self.random.integers(0, 2, shape).astype(BOOL)
        if numpy.dtype(dtype).kind in "iu":
            return self.random.integers(0 if dtype is U8 else -9, 10, shape).astype(dtype)
        array = self.random.uniform(-2, 2, shape)
        if kind == "zeros":  # of both signs, one in eight everywhere
            array = array * (self.random.uniform(size=shape) < self.choose([0.5] * 7 + [0]))
        elif kind == "splat":
            array = numpy.full(shape, self.choose(NUMBERS))
        elif kind == "large":
            array = array * min(5e3, self.most / 4)
        elif kind == "tiny":
            array = array * 1e-18 if dtype is not F16 else array * 1e-3
        elif kind == "denormal":
            array = array * float(numpy.finfo(dtype).tiny)
        return array.astype(dtype)

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
        return self.constant(self.array(dtype, shape, self.kind()))

    def input(self, dtype, dims):
        if self.computed & set(dims):
            raise Redraw()
        name, kind = self.fresh(), self.kind()
        shape = [self.sizes.get(dim, dim) for dim in dims]
        value = Value(name, self.array(dtype, shape, kind), tuple(dims), True, kind)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def given(self, array):
        """An input that is the same in each run."""
        value = Value(self.fresh(), array, array.shape, True, "given")
        self.inputs.append(value)
        self.values.append(value)
        return value

    def partner(self, value):
        """A value, or a new weight, that broadcasts with `value`."""
        def fits(other):
            return other.dtype is value.dtype and other is not value and all_meet(value.dims, other.dims)
        if self.chance(0.6):
            try:
                # One that has a size of another name comes first.
                if self.chance(0.3):
                    return self.pick(lambda v: fits(v) and any(
                        a != b and 1 not in (a, b) for a, b in zip(value.dims[::-1], v.dims[::-1])))
                return self.pick(fits)
            except Redraw:
                pass
        rank = self.integer(0, value.rank)
        shape = [dim if isinstance(dim, int) and self.chance(0.7) else 1
                 for dim in value.dims[value.rank - rank:]]
        return self.weight(value.dtype, shape)

    # --- nodes

    def add(self, operator, inputs, dims=None, exact=None, outputs=1, finite=True, counted=False, **attributes):
        """Evaluates a node and adds it. `dims` are those of its results where they are not all
        known; a function of the results, or a tuple for the only one. `finite`: no infinity, and nothing
        larger than what the graph may have. `counted`: what operands hold decides on sizes of results."""
        if operator.startswith("Reduce") and operator != "ReduceSum" and self.opset < 18 and inputs[1:]:
            attributes["axes"] = self.constants[inputs[1].name].tolist()
            inputs = inputs[:1]
        names = [value.name if value else "" for value in inputs]
        results = [self.fresh() for _ in range(outputs)]
        node = helper.make_node(operator, names, results, name=f"n{len(self.nodes)}_{operator}",
                                **attributes)
        given = [value for value in inputs if value]
        arrays = evaluate(node, given, self.opset, finite)
        fixed = not counted and all(value.fixed for value in given)
        if exact is None:
            exact = all(value.exact for value in given)
        for i, (name, array) in enumerate(zip(results, arrays)):
            if array.size > MOST_ELEMENTS or (finite and array.dtype.kind == "f" and array.size and not
                                              float(numpy.abs(array).max()) < self.most):
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
            wrong = [(dim, size) for dim, size in zip(known, array.shape)
                     if size != (dim if isinstance(dim, int) else self.seen(dim, size))]
            if wrong and array.size:
                if attributes.get("ceil_mode"):
                    raise Redraw()  # a size that ONNX Runtime takes from another version of the text
                raise AssertionError((operator, attributes, known, array.shape))
            if fixed:
                known = array.shape
            self.values.append(Value(name, array, known, exact or array.dtype.kind not in "f"))
        self.nodes.append(node)

    def seen(self, symbol, size):
        """The size that a symbol has in the first run; `size` where nothing is known of it."""
        return self.sizes.setdefault(symbol, size)


class Redraw(Exception):
    """What was drawn is not possible."""


def root(dim):
    return ONE_OR.get(dim, EQUAL.get(dim, dim))


def meet(a, b):
    """Whether one dimension broadcasts with another in every run."""
    return a == b or 1 in (a, b) or (isinstance(a, str) and root(a) == root(b))


def all_meet(a, b):
    return all(meet(*pair) for pair in zip(reversed(a), reversed(b)))


def same(a, b):
    """Whether dimensions have the same sizes in every run."""
    return len(a) == len(b) and all(EQUAL.get(x, x) == EQUAL.get(y, y) for x, y in zip(a, b))


def broadcast(a, b):
    """The dimensions of what two values give that broadcast."""
    dims, shorter = (list(a), b) if len(a) >= len(b) else (list(b), a)
    for i in range(1, len(shorter) + 1):
        one, other = dims[-i], shorter[-i]
        if one == 1 or (one != other and root(one) == root(other)):
            dims[-i] = other if one == 1 else root(one)
    return tuple(dims)


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


def assemble(nodes, inputs, outputs, weights, opset=OPSET, ir_version=8):
    """inputs: ValueInfoProtos; outputs: names, or ValueInfoProtos. The version of the format is the first that has
    the opset, from `ir_version` on."""
    outputs = [helper.make_empty_tensor_value_info(output) if isinstance(output, str) else output
               for output in outputs]
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(helper.make_graph(nodes, "fuzz", inputs, outputs, weights),
                              opset_imports=opsets)
    model.ir_version = max(ir_version, helper.find_min_ir_version_for(opsets, True))
    return model


def opset_of(model):
    return model.opset_import[0].version


def evaluate(node, values, opset=OPSET, finite=True):
    """A node's results; raises Redraw where ONNX Runtime refuses it, or, with `finite`, one of them is not."""
    unique = {value.name: value.array for value in values}
    if not onnx.defs.has(node.op_type, max_inclusive_version=opset):
        raise Redraw()  # ONNX Runtime has some before ONNX does
    model = assemble([node], [as_input(*item) for item in unique.items()], list(node.output), [], opset)
    try:
        arrays = [numpy.asarray(array) for array in session(model, False).run(None, unique)]
    except Exception as refused:  # pylint: disable=broad-except
        raise Redraw() from refused
    if finite and any(array.dtype.kind == "f" and not numpy.isfinite(array).all() for array in arrays):
        raise Redraw()
    return arrays


@dataclass
class Sample:
    model: onnx.ModelProto
    feeds: list  # of dicts; the second has other sizes for the symbols
    types: dict  # output name to dtype


def draw_sizes(random, batch=4, length=8):
    """Sizes of the symbols that inputs have, and of a second run. One of N1 and N2 is 1 in the first one, the
    other in the second one."""
    runs = [{"N": int(random.integers(1, batch + 1)), "M": int(random.integers(1, length + 1)),
             "H": int(random.integers(7, 13)), "W": int(random.integers(7, 13))} for _ in range(2)]
    turned = {name: int(random.integers(2)) for name in "NM"}
    for number, sizes in enumerate(runs):
        complete(sizes, {name: (number + turn) % 2 for name, turn in turned.items()})
    return runs


def complete(sizes, turned=None):
    """Adds the sizes of symbols that depend on others."""
    for name in set(sizes) & set("NM"):
        turn = (turned or {}).get(name, 0)
        sizes.update({f"{name}0": sizes[name], f"{name}{turn + 1}": 1, f"{name}{2 - turn}": sizes[name]})
    return sizes


def begin(seed, **options):
    """A Graph whose opset, sizes and greatest magnitude are drawn, and the sizes of a second run."""
    random = numpy.random.default_rng(seed)
    first, second = draw_sizes(random)
    graph = Graph(random, first, **options)
    graph.opset, graph.most = graph.choose(OPSETS), graph.choose(MOST_MAGNITUDES)
    return graph, second


# Symbols of inputs of which some meet others.
SYMBOLS = ("N", "N", "M", "M", "N1", "N2", "N0", "M1", "M2", "H")


def draw(seed, most_nodes=14, sizes=None, opset=None):
    """A Sample, the same for a seed; `sizes` are of symbols of which no others are drawn."""
    import fuzz_operators  # pylint: disable=import-outside-toplevel,unused-import
    graph, second = begin(seed)
    graph.opset = opset or graph.opset
    if sizes:
        graph.sizes = complete({**graph.sizes, **sizes})
    main = graph.choose([F32, F32, F32, F32, F64, F16])
    for number in range(graph.integer(1, 3)):
        rank = graph.choose([1, 2, 2, 3, 3, 4, 4])
        dims = [graph.choose(SYMBOLS if graph.chance(0.3) else [1, 2, 3, 4, 6, 8]) if graph.chance(0.8)
                else graph.integer(1, 19) for _ in range(rank)]
        if graph.chance(0.3):  # images
            dims = [graph.choose(["N", 1, 2]), graph.choose([1, 2, 3, 4, 6]), "H"]
            dims += [graph.choose(["H", "W", "W", 8])] if graph.chance(0.7) else []
        if number and graph.chance(0.4):
            dims = [relative(graph, dim) for dim in graph.inputs[0].dims]
        if graph.chance(0.2):
            dims = [graph.sizes.get(dim, dim) for dim in dims]
        graph.input(main if graph.chance(0.8) else graph.choose([I64, I32, BOOL, U8, F32]), dims)
    wanted, tries = graph.integer(2, most_nodes), 0
    while len(graph.nodes) < wanted and tries < 40 * most_nodes:
        tries += 1
        attempt(graph, graph.choose(OPERATORS))
    if not graph.nodes:
        return draw(seed + (1 << 32), most_nodes, sizes, opset)
    return sample_of(graph, 0.15, second)


def relative(graph, dim):
    """A dimension that meets `dim`: of another name, the same, or 1."""
    names = [name for name in (*ONE_OR, *EQUAL) if root(name) == root(dim)]
    return graph.choose(names) if names and graph.chance(0.8) else 1 if graph.chance(0.2) else dim


def attempt(graph, function):
    """What a function draws, or nothing; whether it did."""
    kept = (len(graph.weights), len(graph.inputs), len(graph.nodes), list(graph.values))
    try:
        function(graph)
        return True
    except Redraw:
        del graph.weights[kept[0]:], graph.inputs[kept[1]:], graph.nodes[kept[2]:]
        graph.values[:] = kept[3]
        return False


def sample_of(graph, inner, second=None):
    """A Sample; its outputs are what nothing reads, and of the rest this share. `second`: the sizes of another
    run."""
    used = {name for node in graph.nodes for name in node.input}
    results = [value for value in graph.values if value not in graph.inputs]
    outputs = [value for value in results if value.name not in used]
    outputs += [value for value in results if value.name in used and graph.chance(inner)]
    graph.weights = [weight for weight in graph.weights if weight.name in used]
    model = assemble(graph.nodes, [as_input(v.name, v.array, v.dims) for v in graph.inputs],
                     [v.name for v in outputs], graph.weights, graph.opset, graph.choose(IR_VERSIONS))
    for output, value in zip(model.graph.output, outputs):
        output.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(value.array.dtype)
    feeds = [{value.name: value.array for value in graph.inputs}]
    if second and any(not value.fixed for value in graph.inputs):
        feeds.append({value.name: value.array if value.kind == "given" else graph.array(
            value.dtype, [second.get(dim, dim) for dim in value.dims], value.kind) for value in graph.inputs})
    sample = Sample(model, feeds, {value.name: value.dtype for value in outputs})
    return as_exported(sample, graph) if graph.chance(0.4) else sample


# --- names

def as_exported(sample, graph):
    """The Sample with names as exporters write them: torch's with slashes, TensorFlow's with colons, numbers and
    nodes without names, or words with blanks."""
    style = graph.choose([
        ("input.{0}", "/layer{0}/{1}_output_0", "/layer{0}/{1}", "layer{0}.weight", "batch_size_{0}"),
        ("serving_default_input_{0}:0", "model/dense_{0}/{1}:0", "model/dense_{0}/{1}",
         "model/dense_{0}/ReadVariableOp:0", "unk__{0}"),
        ("x.{0}", "{0}", "", "onnx::{0}_weight", "s{0}"),
        ("the input {0}", "a value, {0} [{1}]", "node ({0})", "weight \u00e4{0}", "N + {0}")])
    names, model = {"": ""}, sample.model

    def name(key, number, operator=""):
        names.setdefault(key, style[number].format(len(names), operator))
        return names[key]
    for given in model.graph.input:
        name(given.name, 0)
    for weight in model.graph.initializer:
        name(weight.name, 3)
    for node in model.graph.node:
        for output in filter(None, node.output):
            name(output, 1, node.op_type)
    nodes = {node.name: style[2].format(number, node.op_type) for number, node in enumerate(model.graph.node)}
    dims = {}
    return renamed_by(sample, names.__getitem__, nodes.__getitem__,
                      lambda dim: dims.setdefault(dim, style[4].format(len(dims))))


def renamed_by(sample, value, node_name, size):
    """The Sample with the names that functions give to values, nodes and sizes."""
    model = onnx.ModelProto()
    model.CopyFrom(sample.model)
    graph = model.graph
    for node in graph.node:
        node.name = node_name(node.name)
        for names in (node.input, node.output):
            names[:] = [name and value(name) for name in names]
    for named in (*graph.input, *graph.output, *graph.initializer):
        named.name = value(named.name)
    for dim in (dim for put in graph.input for dim in put.type.tensor_type.shape.dim):
        if dim.dim_param:
            dim.dim_param = size(dim.dim_param)
    feeds = [{value(name): array for name, array in feed.items()} for feed in sample.feeds]
    return Sample(model, feeds, {value(name): dtype for name, dtype in sample.types.items()})


def join(samples):
    """One Sample of several of one opset, whose graphs have nothing to do with one another: `renamed` by their
    places."""
    assert len({opset_of(sample.model) for sample in samples}) == 1
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
    def prefixed(name):
        return name and prefix_of(number) + name
    return renamed_by(sample, prefixed, prefixed, prefixed)
