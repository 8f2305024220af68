#!/usr/bin/env python3
"""Writes networks of many shapes as torch exports them: FOLDER/NAME.onnx, and inputs of three sizes in
FOLDER/NAME-0.npz to NAME-2.npz. Debian's own python3 runs this, with its python3-torch and python3-torchvision.

Weights are random, from a seed, as export_torchvision.py fills them. Widths and depths are those that were
published, or lower ones with 20 million parameters.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys
import warnings
import zlib
from pathlib import Path

import numpy
import torch

import exported_images
import exported_tables
import exported_text
from export_torchvision import OPSET

NETWORKS = {**exported_text.NETWORKS, **exported_images.NETWORKS, **exported_tables.NETWORKS}


def names_of(inputs):
    """The model's inputs by name, those of lists by their numbers."""
    return {name: value for name, value in inputs.items() if value is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", choices=NETWORKS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of torch's tracer
    random = torch.Generator().manual_seed(zlib.crc32(options.name.encode()))
    torch.manual_seed(zlib.crc32(options.name.encode()))  # of weights that their modules draw
    with torch.no_grad():
        made = NETWORKS[options.name](random)
    module = made.module.eval()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"{options.name}.onnx"
    # Sizes of the first inputs are traced: what the others need has to stay open.
    first = names_of(made.inputs(*made.sizes[0]))
    arguments = tuple(first.values()) if made.pack is None else made.pack(*first.values())
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()) and \
            not isinstance(module, torch.jit.ScriptModule):
        module = torch.jit.trace(module, arguments, check_trace=False)  # the exporter alone does not look into them
    axes = {name: dict(enumerate(sizes)) if isinstance(sizes, tuple) else sizes for name, sizes in made.axes.items()}
    torch.onnx.export(module, arguments, path, opset_version=OPSET, input_names=list(first),
                      output_names=list(made.outputs), dynamic_axes=axes)
    for number, sizes in enumerate(made.sizes):
        inputs = names_of(made.inputs(*sizes))
        numpy.savez(options.folder / f"{options.name}-{number}.npz",
                    **{name: tensor.numpy() for name, tensor in inputs.items()})
    parameters = sum(tensor.numel() for tensor in module.parameters())
    path.with_suffix(".json").write_text(json.dumps({"parameters": parameters, "sizes": made.sizes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
