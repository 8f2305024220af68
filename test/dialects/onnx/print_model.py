# SPDX-License-Identifier: Apache-2.0
"""Prints a model for FileCheck."""
import sys

import onnx


def dims(value):
    shape = value.type.tensor_type.shape
    return "[%s]" % ", ".join(str(d.dim_param or d.dim_value) for d in shape.dim)


def show(graph, indent):
    for node in graph.node:
        op = (node.domain + "." if node.domain else "") + node.op_type
        print("%s%s: %s(%s) -> %s" % (indent, node.name, op, ", ".join(node.input),
                                      ", ".join(node.output)))
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                print("%s  %s" % (indent, attribute.name))
                show(attribute.g, indent + "    ")


model = onnx.load(sys.argv[1], load_external_data=False)
print("opset %s, IR %d" % (next(o.version for o in model.opset_import if not o.domain),
                           model.ir_version))
for opset in model.opset_import:
    if opset.domain:
        print("opset %s %d" % (opset.domain, opset.version))
for tensor in model.graph.initializer:
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        entries = {e.key: e.value for e in tensor.external_data}
        print("external %(location)s %(offset)s %(length)s" % entries)
for value in model.graph.input:
    print("input %s %s" % (value.name, dims(value)))
show(model.graph, "")
for value in model.graph.output:
    print("output %s %s" % (value.name, dims(value)))
