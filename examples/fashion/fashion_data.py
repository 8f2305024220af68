"""Reads Fashion-MNIST as Debian's package dataset-fashion-mnist installs it."""
# SPDX-License-Identifier: Apache-2.0
import gzip
from pathlib import Path

import numpy

FOLDER = Path("/usr/share/datasets/fashion-mnist")
LABELS = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
          "Bag", "Ankle boot"]


def _read_idx(path, magic):
    """An IDX file: magic number, one big-endian size a dimension, then unsigned bytes."""
    with gzip.open(path) as file:
        data = file.read()
    if int.from_bytes(data[:4], "big") != magic:
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    dimensions = numpy.frombuffer(data, ">u4", data[3], 4).astype(int)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * len(dimensions)).reshape(dimensions)


def load(part):
    """Images as float32 N x 1 x 28 x 28 in 0..1 and labels as int64; part: train or test."""
    prefix = {"train": "train", "test": "t10k"}[part]
    images = _read_idx(FOLDER / f"{prefix}-images-idx3-ubyte.gz", 0x803)
    labels = _read_idx(FOLDER / f"{prefix}-labels-idx1-ubyte.gz", 0x801)
    return images[:, None].astype(numpy.float32) / 255.0, labels.astype(numpy.int64)
