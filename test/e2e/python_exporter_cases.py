#!/usr/bin/env python3
"""Modules that torch.onnx exports by dynamo: each as torch computes it, at the sizes of the export and at others."""
# SPDX-License-Identifier: Apache-2.0
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

import cameo
from python_checks import GROUPS, case, expect, main

# Of the largest element; sums are in another order.
LIMIT = 2e-5
ROWS, STEPS = {0: "n"}, {0: "n", 1: "t"}


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.apart, self.up = nn.Conv2d(8, 8, 3, stride=2, groups=8), nn.ConvTranspose2d(8, 4, 2, stride=2)

    def forward(self, x):
        return self.up(F.hardswish(self.apart(F.relu(self.norm(self.first(x))))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts, self.out, self.norm = nn.Linear(32, 96), nn.Linear(32, 32), nn.LayerNorm(32)

    def forward(self, x):
        parts = self.parts(self.norm(x)).view(x.shape[0], x.shape[1], 3, 4, 8).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True), nn.GRU(8, 4)

    def forward(self, x):
        return self.lstm(x)[0], self.gru(x)[0]


class Selections(nn.Module):
    def forward(self, x, at):
        return (x[:, at], torch.where(x > 0, x, x * 0.1), x.cumsum(1), x.topk(3, -1)[0], x.argsort(-1),
                torch.einsum("bij,bkj->bik", x, x))


class Choice(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.relu() + 1, lambda x: x.neg().exp(), (x,))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.group, self.instance, self.mean = nn.GroupNorm(2, 8), nn.InstanceNorm2d(8, affine=True), nn.RMSNorm(5)

    def forward(self, x):
        return self.mean(self.instance(self.group(x))) + F.gelu(x, approximate="tanh") + F.softplus(x)


class Samples(nn.Module):
    def forward(self, x):
        places = torch.stack([x[:, 0] * 0.1, x[:, 1] * 0.1], -1)
        return (F.interpolate(x, scale_factor=2, mode="bilinear"), F.adaptive_avg_pool2d(x, (3, 2)),
                F.interpolate(x, size=(7, 9), mode="bicubic", align_corners=True),
                F.grid_sample(x, places, align_corners=False))


class Sums(nn.Module):
    def forward(self, x, at):
        return (torch.zeros_like(x).scatter_add(1, at, x), x.index_add(0, torch.tensor([1, 0]), x * 2),
                torch.zeros(2, 9).index_put((at[:, :1] % 2, at[:, 1:2]), torch.ones(1)))


class Spectra(nn.Module):
    def forward(self, x):
        window = torch.hann_window(16)
        return torch.fft.rfft(x).abs(), torch.stft(x, 16, return_complex=True, window=window).abs()


def encoder():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def numbers(*rows):
    return torch.tensor(rows)


# By name: the module, names of its open sizes by input, and inputs, those of the export first.
MODULES = {
    "convolutions": (Convolutions, [ROWS], [torch.randn(2, 3, 9, 10)], [torch.randn(3, 3, 9, 10)]),
    "attention": (Attention, [STEPS], [torch.randn(2, 5, 32)], [torch.randn(3, 9, 32)]),
    "recurrent": (Recurrent, [None], [torch.randn(2, 5, 8)]),
    "selections": (Selections, [ROWS, None], [torch.randn(2, 6, 7), numbers(1, 0, 3)],
                   [torch.randn(4, 6, 7), numbers(5, 5, 2)]),
    "choice": (Choice, [ROWS], [torch.rand(3, 4)], [-torch.rand(5, 4)]),
    "norms": (Norms, [ROWS], [torch.randn(2, 8, 4, 5)], [torch.randn(3, 8, 4, 5)]),
    "samples": (Samples, [ROWS], [torch.randn(2, 3, 8, 8)], [torch.randn(4, 3, 8, 8)]),
    "sums": (Sums, [None, None], [torch.randn(2, 5), numbers([0, 1, 1, 4, 2], [3, 3, 0, 1, 2])]),
    "spectra": (Spectra, [None], [torch.randn(2, 64)]),
    "encoder": (encoder, [STEPS], [torch.randn(2, 6, 32)], [torch.randn(3, 4, 32)]),
}


def check(name):
    make, open_sizes, *given = MODULES[name]
    torch.manual_seed(3)
    module = make().eval()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = Path(folder) / f"{name}.onnx"
        torch.onnx.export(module, tuple(given[0]), path, dynamo=True, dynamic_shapes=tuple(open_sizes), verbose=False)
        model = cameo.compile(path, target="sim:sm_80", device="simulator")
        for inputs in given:
            got, wanted = model(*inputs), module(*inputs)
            results = wanted if isinstance(wanted, tuple) else (wanted,)
            got = got if isinstance(got, (tuple, list)) else (got,)
            expect(len(got) == len(results), f"{len(got)} outputs, not {len(results)}")
            for number, (array, want) in enumerate(zip(got, results)):
                array = torch.as_tensor(array)
                expect(array.shape == want.shape and array.dtype == want.dtype,
                       f"output {number} is {array.dtype} {tuple(array.shape)}, not {want.dtype} {tuple(want.shape)}")
                difference = (array.double() - want.double()).abs().max().item()
                expect(difference <= LIMIT * want.double().abs().max().item(),
                       f"output {number}: a difference of {difference}")


def register(name):
    def run():
        check(name)
    run.__name__ = f"exported_{name}"
    case("exporter")(run)


for each in MODULES:
    register(each)

if __name__ == "__main__":
    expect(len(GROUPS["exporter"]) == len(MODULES), "a module is checked twice or not at all")
    main()
