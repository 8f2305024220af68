"""Reads the text of stage `scheduled`: which schedule computes which sums.

A loop's extent is read off the operands that it runs along; one that is known only at run time is
taken for a long one."""
# SPDX-License-Identifier: Apache-2.0
import math
import re
from dataclasses import dataclass, field

LONG = 1 << 30
THIN = 8  # with fewer rows, columns or steps a product is as good as one with a vector


@dataclass
class Sum:
    """A linalg.generic with reduction loops."""
    extents: list
    kinds: list  # of the loops: "parallel" or "reduction"
    reads: list  # the loops of each input's index map
    multiplies: bool

    @property
    def steps(self):
        return math.prod(extent for extent, kind in zip(self.extents, self.kinds)
                         if kind == "reduction")

    def is_product(self):
        """Of two matrices: each operand has loops of its own."""
        if not self.multiplies or len(self.reads) < 2 or self.steps < THIN:
            return False
        left, right = self.reads[:2]
        return min(self.width(left - right), self.width(right - left)) >= THIN

    def width(self, loops):
        return math.prod(self.extents[loop] for loop in loops if self.kinds[loop] == "parallel")


@dataclass
class Dispatch:
    schedule: str
    location: str  # the first named one
    sums: list = field(default_factory=list)


def extents_of(maps, types, count):
    """Of each loop, from those results of the maps that are a loop by itself."""
    extents = [LONG] * count
    for text, shape in zip(maps, types):
        results = re.search(r"-> \((.*)\)", text)[1]
        sizes = shape.split("x")[:-1]
        for result, size in zip(results.split(", "), sizes):
            if (loop := re.fullmatch(r"d(\d+)", result.strip())) and size != "?":
                extents[int(loop[1])] = int(size)
    return extents


def read_sum(line, body, aliases):
    """None where nothing is reduced."""
    kinds = re.findall(r'"(parallel|reduction)"', re.search(r"iterator_types = \[(.*?)\]", line)[1])
    if "reduction" not in kinds:
        return None
    listed = re.search(r"indexing_maps = \[(.*?)\], iterator_types", line)[1]
    maps = [aliases.get(name, name) for name in re.findall(r"#map\d*|affine_map<.*?\)>", listed)]
    groups = re.findall(r"(?:ins|outs)\([^:]*: ([^)]*)\)", line)
    types = [shape for group in groups for shape in re.findall(r"tensor<([^>]*)>", group)]
    inputs = len(re.findall(r"tensor<", groups[0])) if " ins(" in line else 0
    return Sum(extents_of(maps, types, len(kinds)), kinds,
               [{int(loop) for loop in re.findall(r"d(\d+)", text.split("->")[1])}
                for text in maps[:inputs]],
               re.search(r"math\.fma|arith\.mulf|arith\.muli", body) is not None)


def read(text):
    """The Dispatches of a module's text."""
    aliases = dict(re.findall(r"^(#map\d*) = (affine_map<.*>)$", text, re.MULTILINE))
    dispatches = []
    for part in re.split(r"= kernel\.dispatch ", text)[1:]:
        part = part.split("\n      }", 1)[0]
        schedule = re.search(r'schedule <"(\w+)"', part)
        location = re.search(r'loc\("([^"]*)"', part.rsplit("kernel.yield", 1)[-1])
        dispatch = Dispatch(schedule[1] if schedule else "none", location[1] if location else "")
        pieces = re.split(r"= linalg\.generic ", part)[1:]
        for piece in pieces:
            line, _, body = piece.partition("\n")
            if found := read_sum(line, body.split("linalg.yield")[0], aliases):
                dispatch.sums.append(found)
        dispatches.append(dispatch)
    return dispatches
