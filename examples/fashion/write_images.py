#!/usr/bin/env python3
"""Writes images of Fashion-MNIST as PNG files, in a folder per class: a data set as users have theirs.

    write_images.py train|test FOLDER COUNT
"""
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import numpy
from PIL import Image

import fashion_data


def main():
    part, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    images, labels = fashion_data.load(part)
    chosen = numpy.random.default_rng(1).permutation(len(images))[:count]
    for index in chosen:
        name = fashion_data.LABELS[labels[index]].replace("/", "-")
        (folder / f"{labels[index]} {name}").mkdir(parents=True, exist_ok=True)
        pixels = (images[index, 0] * 255).round().astype(numpy.uint8)
        Image.fromarray(pixels).save(folder / f"{labels[index]} {name}" / f"{index:05}.png")


if __name__ == "__main__":
    main()
