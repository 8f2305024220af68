"""The rows of operators.txt and the names of folded_operators.txt: ROWS maps a promised operator to what tests of all
operators need to know of it."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    family: str  # of the GPU pack; empty where it is of none
    extremes: bool  # the greatest and least numbers of a type have defined results
    places: bool  # operands behind the first hold indices or lengths
    divides: bool  # the second operand may not hold zeros


FLAGS = ("extremes", "places", "divides")


def read(path):
    rows = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        name, family, *flags = words + ["-"] * (len(words) < 2)
        unknown = [flag for flag in flags if flag not in FLAGS]
        if name in rows or unknown:
            raise ValueError(f"{path.name}:{number}: {name} " + (f"is {unknown[0]}, which is none of {FLAGS}"
                                                                if unknown else "is there twice"))
        rows[name] = Row("" if family == "-" else family, *(flag in flags for flag in FLAGS))
    return rows


def read_names(path):
    lines = path.read_text().splitlines()
    return {word for line in lines for word in line.split("#")[0].split()}


ROWS = read(Path(__file__).with_name("operators.txt"))
# Those that are taken out of a model where no run decides.
FOLDED = read_names(Path(__file__).with_name("folded_operators.txt"))


def families():
    """The operators of each family of the GPU pack, in the table's order."""
    result = {}
    for name, row in ROWS.items():
        if row.family:
            result.setdefault(row.family, []).append(name)
    return result
