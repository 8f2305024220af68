#!/usr/bin/env python3
"""Writes a network of torchvision as ONNX files: FOLDER/NAME-open.onnx has an open batch, FOLDER/NAME-1.onnx
a batch of 1. Debian's own python3 runs this, with its python3-torch and python3-torchvision.

Weights are random, from a seed. They are scaled so that signals neither die out nor grow through a
hundred layers, batch norms have the statistics of random images, and no two tensors are equal: the
exporter would make one of them.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys
import warnings
import zlib
from pathlib import Path

import torch
import torchvision
from torch import nn

OPSET = 16
SAMPLES = 32  # images that batch norms have their statistics of
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


@torch.no_grad()
def fill(network, random):
    """Random weights: of products and convolutions so that the variance stays, of norms around 1. So are the
    biases of batch norms, for most of what follows them to be in the straight part of its activation: around 0,
    fifty layers make 500 times as much of every rounding."""
    for module in network.modules():
        gain = 2.0 if isinstance(module, (nn.Conv2d, nn.Conv3d)) else 1.0
        for name, weights in module.named_parameters(recurse=False):
            fan_in = weights[0].numel()
            if weights.dim() > 1 and fan_in > 1:
                weights.normal_(0, (gain / fan_in) ** 0.5, generator=random)
            elif weights.dim() > 1:  # a scale of a residual branch
                weights.uniform_(0.1, 0.3, generator=random)
            elif "weight" in name:
                weights.uniform_(0.8, 1.2, generator=random)
            else:
                weights.normal_(1 if isinstance(module, BATCH_NORMS) else 0, 0.1, generator=random)


@torch.no_grad()
def calibrate(network, images):
    """Gives batch norms the statistics of images. Only they are trained, so that nothing is dropped out."""
    norms = [module for module in network.modules() if isinstance(module, BATCH_NORMS)]
    for norm in norms:
        norm.momentum = 1.0  # only these images count
        norm.train()
    if norms:
        network(images)
    network.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", help="of the files")
    parser.add_argument("function", help="of torchvision, which makes the network")
    parser.add_argument("sizes", help="of an input, behind the batch: 3x32x32")
    parser.add_argument("--arguments", type=json.loads, default={}, help="of the function, as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of torch's tracer
    sizes = [int(size) for size in options.sizes.split("x")]
    random = torch.Generator().manual_seed(zlib.crc32(options.name.encode()))
    network = torchvision.models.get_model(options.function, weights=None, **options.arguments).eval()
    fill(network, random)
    calibrate(network, torch.randn(SAMPLES, *sizes, generator=random))
    options.folder.mkdir(parents=True, exist_ok=True)
    for batch, axes in (("1", {}), ("open", {"image": {0: "N"}})):
        torch.onnx.export(network, torch.randn(1, *sizes, generator=random),
                          options.folder / f"{options.name}-{batch}.onnx", opset_version=OPSET,
                          input_names=["image"], dynamic_axes=axes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
