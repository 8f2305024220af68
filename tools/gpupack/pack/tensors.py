"""Tensors of .npy and .npz files, and comparing them, without numpy."""
# SPDX-License-Identifier: Apache-2.0
import array
import ast
import io
import math
import struct
import zipfile
from dataclasses import dataclass

CODES = {"f4": "f", "f8": "d", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
         "i8": "q", "u8": "Q", "b1": "B"}


@dataclass
class Tensor:
    dtype: str  # e.g. "f4"
    shape: tuple
    data: bytes

    def values(self):
        if self.dtype == "f2":
            return struct.unpack(f"<{len(self.data) // 2}e", self.data)
        return array.array(CODES[self.dtype], self.data)


def read_npy(file):
    """Of a binary file object."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY":
        raise ValueError("not an .npy file")
    size, = struct.unpack("<H", file.read(2)) if magic[6] == 1 else struct.unpack("<I",
                                                                                   file.read(4))
    header = ast.literal_eval(file.read(size).decode("latin1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("a tensor in Fortran order")
    return Tensor(header["descr"].lstrip("<|="), tuple(header["shape"]), file.read())


def read_npz(path):
    """{name: Tensor}"""
    with zipfile.ZipFile(path) as archive:
        return {name[:-len(".npy")]: read_npy(io.BytesIO(archive.read(name)))
                for name in archive.namelist()}


def differs(actual, expected, tolerance):
    """What is wrong with a tensor, or None; the tolerances are those of ordinary comparisons,
    |actual - expected| <= absolute + relative * |expected|, `of_largest` of the largest value."""
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"is {actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    if actual.data == expected.data:
        return None
    has, wanted = actual.values(), expected.values()
    if not expected.dtype.startswith("f"):
        return _first(has, wanted, lambda a, b: a == b)
    largest = max((abs(x) for x in wanted if math.isfinite(x)), default=0.0)
    floor = tolerance.get("absolute", 0.0) + tolerance.get("of_largest", 0.0) * largest
    relative = tolerance.get("relative", 0.0)

    def near(a, b):
        if a == b or a != a and b != b:
            return True
        return abs(a - b) <= floor + relative * abs(b)
    return _first(has, wanted, near)


def farther(actual, expected, errors):
    """What is wrong with a tensor whose elements may be off by so much each, or None."""
    if actual.shape != expected.shape:
        return f"is of shape {actual.shape}, not {expected.shape}"
    allowed = iter(errors.values())
    return _first(actual.values(), expected.values(), lambda a, b: abs(a - b) <= next(allowed))


def differs_in_bits(actual, expected):
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"is {actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    if actual.data == expected.data:
        return None
    # NaN's bits are the machine's own; zeros have a sign.
    return _first(actual.values(), expected.values(), lambda a, b: (
        a == b and math.copysign(1, a) == math.copysign(1, b)) or a != a and b != b)


def _first(has, wanted, near):
    wrong = [i for i, (a, b) in enumerate(zip(has, wanted)) if not near(a, b)]
    if not wrong:
        return None
    i = wrong[0]
    worst = max(wrong, key=lambda i: abs(has[i] - wanted[i]) if has[i] == has[i] else math.inf)
    return (f"{len(wrong)} of {len(wanted)} values differ; element {i} is {has[i]:.9g}, not "
            f"{wanted[i]:.9g}; the farthest, element {worst}, is {has[worst]:.9g}, not "
            f"{wanted[worst]:.9g}")
