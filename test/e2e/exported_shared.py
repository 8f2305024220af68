"""What networks that torch exports have in common."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass

import torch
from torch import nn

from export_torchvision import fill


@dataclass
class Network:
    """`inputs` makes tensors by name for each entry of `sizes`; `axes` are names of open sizes."""
    module: nn.Module
    inputs: object
    sizes: list
    axes: dict
    outputs: tuple
    pack: object = None  # what the module is called with, where that is not its inputs one by one

    @classmethod
    def filled(cls, random, module, *rest, **named):
        fill(module, random)
        return cls(module, *rest, **named)


def normal(random, *sizes, scale=1.0):
    return torch.randn(*sizes, generator=random) * scale


def whole(random, high, *sizes):
    return torch.randint(0, high, sizes, generator=random)
