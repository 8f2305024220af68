#!/usr/bin/python3
"""Trains the demo's network on Fashion-MNIST and exports it as fashion.onnx.

    image (N x 1 x 28 x 28, 0..1) -> (x - mean) / std -> 3x3 convolution, 16 channels
      -> residual blocks of 16, 32 (stride 2) and 64 (stride 2) channels
      -> global average pool -> fully connected -> logits (N x 10)

77,754 parameters; 92.43 % of the 10,000 test images right after 7 minutes on one CPU core.
Batch-norms stay nodes of their own in the file, so that the compiler has them to fold.
The same seed, torch release and CPU give the same file.

Needs Debian's python3-torch and dataset-fashion-mnist; nothing else in the repository needs torch.

    examples/fashion/train.py [--epochs=10] [--seed=7] [--output=fashion.onnx]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from fashion_data import load

# Mean and standard deviation of the training images' pixels in 0..1.
PIXEL_MEAN, PIXEL_STD = 0.2860, 0.3530


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut, which is projected where the shape changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.project = None
        if stride != 1 or inputs != outputs:
            self.project = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        shortcut = x if self.project is None else self.project(x)
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(y)) + shortcut)


class FashionNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.block1 = Block(16, 16, 1)
        self.block2 = Block(16, 32, 2)
        self.block3 = Block(32, 64, 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(64, classes)

    def forward(self, image):
        x = (image - PIXEL_MEAN) / PIXEL_STD
        x = functional.relu(self.norm(self.conv(x)))
        x = self.block3(self.block2(self.block1(x)))
        return self.classify(self.pool(x).flatten(1))


def augment(batch, generator):
    """Mirrors each image with probability 1/2 and shifts the batch by up to 1 pixel."""
    mirror = torch.rand(batch.shape[0], generator=generator) < 0.5
    batch = torch.where(mirror[:, None, None, None], batch.flip(3), batch)
    down, right = torch.randint(0, 3, (2,), generator=generator).tolist()
    return functional.pad(batch, (1, 1, 1, 1))[:, :, down:down + 28, right:right + 28]


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        right = sum((model(images[i:i + 500]).argmax(1) == labels[i:i + 500]).sum().item()
                    for i in range(0, len(images), 500))
    return 100.0 * right / len(images)


def train(model, images, labels, epochs, seed, batch_size=128):
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * (len(images) // batch_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True,
                                weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=steps)
    start = time.time()
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(images), generator=generator)
        for step in range(len(images) // batch_size):
            index = order[step * batch_size:(step + 1) * batch_size]
            loss = functional.cross_entropy(model(augment(images[index], generator)),
                                            labels[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 100 == 0:
                print(f"epoch {epoch + 1}/{epochs}, step {step}: loss {loss.item():.3f}, "
                      f"{time.time() - start:.0f} s", flush=True)


def export(model, path):
    model.eval()
    # PRESERVE keeps the batch-norms: EVAL would fold them into the convolutions.
    torch.onnx.export(model, torch.zeros(1, 1, 28, 28), str(path), opset_version=16,
                      input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def main():
    parser = argparse.ArgumentParser(description="trains and exports the demo's network")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "fashion.onnx")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    images, labels = (torch.from_numpy(array) for array in load("train"))
    model = FashionNet()
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    train(model, images, labels, options.epochs, options.seed)
    test_images, test_labels = (torch.from_numpy(array) for array in load("test"))
    print(f"test accuracy: {accuracy(model, test_images, test_labels):.2f} %")
    export(model, options.output)
    print(f"wrote {options.output}, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
