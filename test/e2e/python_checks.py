#!/usr/bin/env python3
"""Shared pieces of the cases of package cameo: python_package.py runs a group of them in an interpreter, and reads a line of
JSON for each. Nothing here needs more than numpy."""
# SPDX-License-Identifier: Apache-2.0
import json
import sys
import traceback

import numpy

GROUPS = {}


def case(group):
    def register(function):
        GROUPS.setdefault(group, []).append(function)
        return function
    return register


def expect(truth, what):
    if not truth:
        raise AssertionError(what)


def expect_equal(got, wanted):
    expect(got.dtype == wanted.dtype, f"elements of {got.dtype}, not of {wanted.dtype}")
    expect(got.shape == wanted.shape, f"shape {got.shape}, not {wanted.shape}")
    same = numpy.array_equal(got.astype(numpy.float64), wanted.astype(numpy.float64))
    expect(same, f"{got.tolist()}, not {wanted.tolist()}")


def expect_error(kind, text, call):
    try:
        call()
    except kind as error:
        expect(text in str(error), f"{type(error).__name__}: {error}, without {text!r}")
        return error
    raise AssertionError(f"no {kind.__name__}")


def main():
    for function in GROUPS[sys.argv[1]]:
        try:
            function()
            problem = None
        except Exception as error:  # pylint: disable=broad-exception-caught
            problem = f"{type(error).__name__}: {error}"
            traceback.print_exc()
        print(json.dumps({"case": function.__name__, "problem": problem}), flush=True)
