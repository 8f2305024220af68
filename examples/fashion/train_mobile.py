#!/usr/bin/python3
"""Trains a network of the kind that INT8 is hard on, and exports it as fashion_mobile.onnx.

    image (N x 1 x 28 x 28, 0..1) -> (x - mean) / std -> 3x3 convolution (stride 2), 16 channels
      -> five inverted bottlenecks as in MobileNet-v3: 1x1 convolution, depthwise 3x3 or 5x5,
         squeeze-and-excite (all but the first two), 1x1 convolution, shortcut where shapes allow;
         ReLU in the first three, hard-swish in the others
      -> 1x1 convolution -> global average pool -> two fully connected -> logits (N x 10)

What makes it hard: depthwise weights, of which each channel has few and its own range; the
products of squeeze-and-excite; hard-swish, which is not linear near zero; and channels of very
different size in one tensor, because the scales of the batch-norms begin spread over a factor of
SPREAD, as they end in large networks that were trained for long.

49,110 parameters; 90.46 % of the 10,000 test images right after 16 minutes of one core of a busy CPU.
Batch-norms stay nodes of their own, as in fashion.onnx.
Seeded; whether another run gives the same file to the bit has not been tried. Needs what train.py needs.

    examples/fashion/train_mobile.py [--epochs=8] [--seed=7] [--output=fashion_mobile.onnx]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import math
from pathlib import Path

import torch
from torch import nn

import train
from fashion_data import load

SPREAD = 30.0


def norm(channels):
    """A batch-norm whose scales begin log-uniform over SPREAD, with one as the geometric mean."""
    layer = nn.BatchNorm2d(channels)
    with torch.no_grad():
        layer.weight.copy_(torch.exp((torch.rand(channels) - 0.5) * math.log(SPREAD)))
    return layer


class SqueezeExcite(nn.Module):
    """Scales each channel by a number in 0..1 that the means of all channels decide."""

    def __init__(self, channels):
        super().__init__()
        hidden = max(8, channels // 4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, hidden, 1)
        self.expand = nn.Conv2d(hidden, channels, 1)
        self.activate, self.gate = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        return x * self.gate(self.expand(self.activate(self.reduce(self.pool(x)))))


class Bottleneck(nn.Module):
    def __init__(self, inputs, hidden, outputs, kernel, stride, excite, activate):
        super().__init__()
        layers = []
        if hidden != inputs:
            layers += [nn.Conv2d(inputs, hidden, 1, bias=False), norm(hidden), activate()]
        layers += [nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden,
                             bias=False), norm(hidden), activate()]
        if excite:
            layers.append(SqueezeExcite(hidden))
        layers += [nn.Conv2d(hidden, outputs, 1, bias=False), norm(outputs)]
        self.layers = nn.Sequential(*layers)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.shortcut else self.layers(x)


class FashionMobile(nn.Module):
    # Inputs, hidden, outputs, kernel, stride, squeeze-and-excite, activation.
    BLOCKS = [(16, 16, 16, 3, 1, False, nn.ReLU),
              (16, 48, 24, 3, 2, False, nn.ReLU),
              (24, 72, 24, 3, 1, True, nn.ReLU),
              (24, 72, 32, 5, 1, True, nn.Hardswish),
              (32, 96, 32, 3, 1, True, nn.Hardswish)]

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1, bias=False), norm(16), nn.Hardswish())
        self.blocks = nn.Sequential(*[Bottleneck(*each) for each in self.BLOCKS])
        self.head = nn.Sequential(nn.Conv2d(32, 128, 1, bias=False), norm(128), nn.Hardswish())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.hidden, self.activate = nn.Linear(128, 96), nn.Hardswish()
        self.classify = nn.Linear(96, classes)

    def forward(self, image):
        x = (image - train.PIXEL_MEAN) / train.PIXEL_STD
        x = self.pool(self.head(self.blocks(self.stem(x)))).flatten(1)
        return self.classify(self.activate(self.hidden(x)))


def main():
    parser = argparse.ArgumentParser(description="trains and exports the hard network")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path,
                        default=Path(__file__).parent / "fashion_mobile.onnx")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    images, labels = (torch.from_numpy(array) for array in load("train"))
    model = FashionMobile()
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    train.train(model, images, labels, options.epochs, options.seed, batch_size=256)
    test_images, test_labels = (torch.from_numpy(array) for array in load("test"))
    print(f"test accuracy: {train.accuracy(model, test_images, test_labels):.2f} %")
    train.export(model, options.output)
    print(f"wrote {options.output}, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
