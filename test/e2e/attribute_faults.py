#!/usr/bin/env python3
"""The faults of test/attribute_mutants.txt, which are each attribute and each optional input of the operators that Cameo
promises; run as a script, it adds to the list those that are new."""
# SPDX-License-Identifier: Apache-2.0
import collections
import functools
import re
from dataclasses import dataclass

import onnx
from onnx import defs, helper

import harness
from operator_table import FOLDED, ROWS

LIST = harness.SOURCE / "test" / "attribute_mutants.txt"


@dataclass(frozen=True)
class Fault:
    number: int
    operator: str
    name: str  # an attribute, or the position of an input and its name
    unseen: str = ""  # why no case can find it

    @property
    def environment(self):
        return f"{self.operator}:{self.word}"

    @property
    def word(self):
        return self.name.split()[0]

    def value(self, node, opset):
        """What the fault takes from a node: an attribute or the name of an input; None where it has none, or none that
        may be left out."""
        if node.op_type != self.operator or node.domain not in ("", "ai.onnx"):
            return None
        if not self.word.isdigit():
            return next((attribute for attribute in node.attribute if attribute.name == self.word), None)
        position = int(self.word)
        formals = next((schema.inputs for schema in history()[self.operator] if schema.since_version <= opset), [])
        if position >= len(formals) or formals[position].option != defs.OpSchema.FormalParameterOption.Optional:
            return None
        return next(iter(node.input[position:position + 1]), "") or None

    def order(self, nodes, opset):
        """None of a model's nodes that the fault leaves as they are; the least of those that it is likeliest to be seen in."""
        values = [value for value in (self.value(node, opset) for node in nodes) if value is not None]
        if not values:
            return None
        known = [attributes[self.name].default_value for attributes in attributes_of(self.operator)
                 if self.name in attributes]
        defaults = [helper.get_attribute_value(default) for default in known[:1] if default.type]
        return all(isinstance(value, onnx.AttributeProto) and helper.get_attribute_value(value) in defaults
                   for value in values)


@functools.cache
def history():
    """The versions of each operator of the tables, the newest first."""
    found = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain and schema.name in set(ROWS) | FOLDED:
            found[schema.name].append(schema)
    return {name: sorted(schemas, key=lambda schema: -schema.since_version) for name, schemas in sorted(found.items())}


def attributes_of(operator):
    return [schema.attributes for schema in history()[operator]]


def faults_of_the_table():
    """(operator, name) of each attribute that is no graph, which no operator is without, and each optional input."""
    for operator, schemas in history().items():
        yield from ((operator, name) for name in sorted(
            {name for schema in schemas for name, known in schema.attributes.items()
             if known.type != defs.OpSchema.AttrType.GRAPH}))
        inputs = {}
        for schema in schemas:
            for position, formal in enumerate(schema.inputs):
                if formal.option == defs.OpSchema.FormalParameterOption.Optional:
                    inputs.setdefault(position, formal.name)
        yield from ((operator, f"{position} {name}") for position, name in sorted(inputs.items()))


def read_list():
    rows = [[part.strip() for part in line.split("|")] for line in LIST.read_text().splitlines()
            if re.match(r"\d", line)]
    return [Fault(int(number), *rest) for number, *rest in rows]


def missing():
    """What the table has and the list has not."""
    listed = {(fault.operator, fault.name) for fault in read_list()}
    return [fault for fault in faults_of_the_table() if fault not in listed]


def unknown():
    """What the list has and the table has not."""
    table = set(faults_of_the_table())
    return [(fault.operator, fault.name) for fault in read_list() if (fault.operator, fault.name) not in table]


def main():
    """Adds what is missing under the next numbers."""
    number = len(read_list())
    with LIST.open("a") as file:
        for operator, name in missing():
            number += 1
            file.write(f"{number} | {operator} | {name}\n")


if __name__ == "__main__":
    main()
