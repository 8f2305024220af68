#!/usr/bin/env python3
"""Loops and branches of several sizes in turn in one context of the Python package: `case: problem` lines, which
`trips` reads."""
# SPDX-License-Identifier: Apache-2.0
import numpy

import cameo
import trip_cases
from nested_graphs import reference
from reference import differs


def problem_of(model, feeds):
    context = cameo.compile(model, device="simulator", target="sim:sm_80").context()
    for number, feed in enumerate(feeds):
        found = context.run(feed)
        for (name, array), want in zip(found.items(), reference(model, feed)):
            if array.size == 0 == want.size:
                continue # ONNX Runtime does not know how large parts of no trip would be
            if reason := differs(name, numpy.asarray(array), want):
                return f"run {number}: {reason}"
    return ""


for case, made, given in trip_cases.sizes_in_turn():
    print(f"{case}: {problem_of(made, given)}", flush=True)
