"""Cases of random operators whose results do not depend on what is drawn: intervals of one number, probabilities of 0 and
1; and one with a seed, whose numbers are those of random_reference.py in each first run. What they draw otherwise
random_numbers.py compares."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from difference import Difference, differs, floats
from row_cases import F32, F64, Case, normal, operator, uniform, whole
from spec_kinds import class_types, deviation, drawn_shape, drawn_types, interval, real

ONE = {"low": 1.5, "high": 1.5}
MEAN = {"mean": 2.5, "scale": 1e-30}
DRAWN = {"dtype": drawn_types, "seed": real, "low": interval, "high": interval, "mean": real, "scale": deviation}


@operator("RandomUniform", "RandomNormal", shape=drawn_shape, **DRAWN)
def drawn(name, version):
    only = ONE if name == "RandomUniform" else MEAN
    yield Case("plain", [], {"shape": [2, 3], **only})
    yield Case("double", [], {"shape": [7], "dtype": 11, **only})
    yield Case("half", [], {"shape": [1], "dtype": 10, **only})
    yield Case("seed", [], {"shape": [2, 3], "seed": 4.0})


@operator("RandomUniformLike", "RandomNormalLike", **DRAWN)
def drawn_like(name, version):
    only = ONE if name == "RandomUniformLike" else MEAN
    yield Case("other-type", [whole(0, 9, 3)], {"dtype": 1, **only})
    yield Case("plain", [normal(2, 3)], only)
    yield Case("nothing", [normal(2, 0)], only)
    yield Case("seed", [normal(2, 3)], {"seed": 4.0})


@operator("Bernoulli", seed=real)
def bernoulli(name, version):
    yield Case("plain", [whole(0, 2, 3, 5).astype(F32)])
    yield Case("double", [whole(0, 2, 40).astype(F64)])
    for label, code in (("bool", 9), ("int32", 6), ("double-of-float", 11)):
        yield Case(label, [whole(0, 2, 3, 5).astype(F32)], {"dtype": code})
    yield Case("seed", [uniform(0, 1, 3, 50)], {"seed": 4.0})


@operator("Multinomial", dtype=class_types, seed=real)
def multinomial(name, version):
    # One class of each row is as probable as can be told from certain.
    logs = numpy.full((3, 5), -1e4, F32)
    logs[numpy.arange(3), [0, 4, 2]] = 0
    yield Case("plain", [logs])
    yield Case("samples", [logs], {"sample_size": 7, "dtype": 7})
    yield Case("one-class", [normal(2, 1)], {"sample_size": 3})
    yield Case("seed", [normal(2, 5)], {"sample_size": 50, "seed": 4.0})


@differs
def random_differences():
    yield Difference("Bernoulli", "Bernoulli", [floats(0, 1, 1, 0)], "reference")
