# SPDX-License-Identifier: Apache-2.0
"""Exits 1 unless all models hold the same constants, whatever their names and encodings."""
import sys

import onnx
from onnx import numpy_helper


def constants(path):
    return [numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer]


first = constants(sys.argv[1])
for path in sys.argv[2:]:
    other = constants(path)
    if len(other) != len(first) or not all(
            a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(first, other)):
        sys.exit("%s holds other constants than %s" % (path, sys.argv[1]))
