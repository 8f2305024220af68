"""Models with graphs within graphs, written as functions of graphs."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
INT32, FLOAT16 = TensorProto.INT32, TensorProto.FLOAT16


def info(name, kind=FLOAT, sizes=None):
    return helper.make_tensor_value_info(name, kind, sizes)


class Graph:
    """A graph under construction; values are names, and a graph may read those of the graphs around it. A result that
    is not of FLOAT is given as (name, kind)."""

    def __init__(self, outer=None):
        self.nodes, self.weights, self.inputs, self.outer = [], {}, [], outer
        self.counter = outer.counter if outer else [0]

    def name(self, stem):
        self.counter[0] += 1
        return f"{stem}{self.counter[0]}"

    def input(self, name, kind=FLOAT, sizes=()):
        self.inputs.append(info(name, kind, list(sizes)))
        return name

    def array(self, values, dtype=None):
        name = self.name("w")
        self.weights[name] = numpy.asarray(values, dtype)
        return name

    def ints(self, *values):
        return self.array(values, numpy.int64)

    def number(self, value):
        return self.array(value, numpy.int64)

    def float(self, value):
        return self.array(value, numpy.float32)

    def add(self, kind, *operands, outputs=1, **attributes):
        names = [self.name("v") for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(operands), names, f"{kind}_{names[0]}", **attributes))
        return names if outputs > 1 else names[0]

    def cast(self, value, kind):
        return self.add("Cast", value, to=kind)

    def size(self, value, axis):
        return self.add("Gather", self.add("Shape", value), self.number(axis))

    def finished(self, outputs):
        return helper.make_graph(self.nodes, "graph", self.inputs, [info(*pair(output)) for output in outputs],
                                 [numpy_helper.from_array(array, name) for name, array in self.weights.items()])

    def choose(self, condition, then, other):
        """If: `then` and `other` take a graph and give its results."""
        graphs, count = [], 0
        for branch in (then, other):
            inner = Graph(self)
            results = branch(inner)
            count = len(results)
            graphs.append(inner.finished(results))
        return self.listed("If", [condition], count, then_branch=graphs[0], else_branch=graphs[1])

    def loop(self, count, condition, carried, body):
        """`body` takes a graph, the trip's number and what is carried; it gives the condition ("": as it was), what is
        carried next and the parts."""
        inner = Graph(self)
        trip, goes_on = inner.input(self.name("i"), INT64), inner.input(self.name("c"), BOOL)
        held = [inner.name("in") for _ in carried]
        inner.inputs += [info(name, pair(given)[1]) for name, given in zip(held, carried)]
        end, after, parts = body(inner, trip, *held)
        results = [(inner.add("Identity", end or goes_on), BOOL), *after, *parts]
        results[0] = (results[0][0], BOOL)
        made = inner.finished(results)
        made.output[0].CopyFrom(info(results[0][0], BOOL, []))
        operands = [count, condition, *(pair(given)[0] for given in carried)]
        return self.listed("Loop", operands, len(results) - 1, body=made)

    def scan(self, states, entries, body, **attributes):
        inner = Graph(self)
        held = [inner.name("in") for _ in (*states, *entries)]
        inner.inputs += [info(name, pair(given)[1]) for name, given in zip(held, (*states, *entries))]
        after, parts = body(inner, *held)
        results = [*after, *parts]
        return self.listed("Scan", [pair(given)[0] for given in (*states, *entries)], len(results),
                           body=inner.finished(results), num_scan_inputs=len(entries), **attributes)

    def listed(self, kind, operands, count, **attributes):
        names = self.add(kind, *operands, outputs=count, **attributes)
        return names if isinstance(names, list) else [names]

    def model(self, *outputs, opset=18):
        names = [f"y{i}" for i in range(len(outputs))]
        nodes = [*self.nodes, *(helper.make_node("Identity", [pair(output)[0]], [name])
                                for name, output in zip(names, outputs))]
        return self.made(nodes, [(name, pair(output)[1]) for name, output in zip(names, outputs)], opset)

    def direct_model(self, *outputs, opset=18):
        """Whose outputs are the values themselves."""
        return self.made(self.nodes, map(pair, outputs), opset)

    def made(self, nodes, outputs, opset):
        graph = helper.make_graph(nodes, "trips", self.inputs, [info(*output) for output in outputs],
                                  [numpy_helper.from_array(array, name) for name, array in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 8
        return model


def pair(value):
    """(name, kind), or (name, kind, sizes)"""
    return value if isinstance(value, tuple) else (value, FLOAT)


def reference(model, feed):
    """What ONNX Runtime gives, or onnx's evaluator, or the words of an error. ONNX Runtime optimises nothing: where it
    takes an If's branch that holds a loop into the graph, it may crash; and it loses what a graph yields twice."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)
    except Exception as missing:  # pylint: disable=broad-exception-caught
        try:
            return [numpy.asarray(value) for value in ReferenceEvaluator(model).run(None, feed)]
        except Exception as error:  # pylint: disable=broad-exception-caught
            return f"no reference: {str(missing)[:300]}; {error}"


