#!/usr/bin/env python3
"""Writes small models of what networks are made of, as torch exports them: FOLDER/NAME.onnx, and inputs of two sizes in
FOLDER/NAME-0.npz and NAME-1.npz. Debian's own python3 runs this, with its python3-torch and python3-torchvision.

Traced ones are traced with the first sizes; those of scripts have branches and loops in which data decide.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import sys
import warnings
import zlib
from pathlib import Path
from typing import List, Tuple

import numpy
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from export_torchvision import OPSET, fill

SAMPLES = {}
ROWS = {0: "N"}


def normal(*sizes):
    return torch.randn(sizes)


def sample(*inputs, axes=None):
    """Adds a class of modules, or a function that makes one. `inputs` are functions of the batch; `axes` are those that are
    open, of each input: the first where nothing is said."""
    def add(made):
        SAMPLES[made.__name__.lower()] = made, inputs, axes or [ROWS] * len(inputs)
        return made
    return add


class Traced(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


# --- modules

@sample(lambda n: normal(n, 3, 12, 12))
class Convolutions(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True),
                         nn.Conv2d(8, 8, 3, groups=8, dilation=2), nn.Hardswish(), nn.AvgPool2d(2, count_include_pad=False),
                         nn.Flatten(), nn.Linear(8, 5), nn.LogSoftmax(1))


@sample(lambda n: normal(n, 4, 5, 6))
class Upsampling(nn.Sequential):
    def __init__(self):
        super().__init__(nn.ConvTranspose2d(4, 8, 3, stride=2, output_padding=1), nn.PixelShuffle(2), nn.ReflectionPad2d(2),
                         nn.Conv2d(2, 3, 3), nn.ReplicationPad2d((1, 0, 2, 1)))


@sample(lambda n: normal(n, 6, 8))
class Norms(nn.Sequential):
    def __init__(self):
        super().__init__(nn.GroupNorm(3, 6), nn.LayerNorm(8), nn.InstanceNorm1d(6, affine=True), nn.BatchNorm1d(6),
                         nn.PReLU(6), nn.LocalResponseNorm(3))


@sample(lambda n: normal(n, 3, 9, 7))
class Pools(nn.Module):
    def forward(self, x):
        return torch.cat([F.adaptive_avg_pool2d(x, 1), F.adaptive_max_pool2d(x, 1), F.lp_pool2d(x, 2, 3).mean((2, 3), True),
                          F.max_pool2d(x, 2, padding=1, stride=1).amax((2, 3), True)], 1)


@sample(lambda n: normal(n, 7, 16), axes=[{0: "N", 1: "T"}])
class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")

    def forward(self, x):
        return self.layer(x)


@sample(lambda n: normal(n, 5, 16), lambda n: normal(n, 7, 16), lambda n: torch.arange(7)[None] >= torch.arange(n)[:, None] + 3)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, query, key, mask):
        return self.heads(query, key, key, key_padding_mask=mask, need_weights=False)[0]


class Recurrent(nn.Module):
    """Of rows of several lengths, the longest first. A state that is not given has the batch of the trace."""
    def __init__(self, kind, layers=1, **named):
        super().__init__()
        self.layers = layers
        self.cells = kind(4, 6, layers, batch_first=True, bidirectional=True, **named)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        state = torch.full((2 * self.layers, x.size(0), 6), 0.1)
        y, state = self.cells(packed, (state, -state) if isinstance(self.cells, nn.LSTM) else state)
        y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True)
        return (y, *state) if isinstance(state, tuple) else (y, state)


SEQUENCES = (lambda n: normal(n, 6, 4), lambda n: torch.arange(6, 6 - n, -1))
OPEN = [{0: "N", 1: "T"}, ROWS]


@sample(*SEQUENCES, axes=OPEN)
def lstm():
    return Recurrent(nn.LSTM, 2)


@sample(*SEQUENCES, axes=OPEN)
def gru():
    return Recurrent(nn.GRU)


@sample(*SEQUENCES, axes=OPEN)
def rnn():
    return Recurrent(nn.RNN, nonlinearity="relu")


@sample(lambda n: torch.arange(8) % 5, lambda n: torch.tensor([0, 3, 4, 7][:n + 1]), axes=[{0: "L"}, ROWS])
class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags = nn.EmbeddingBag(5, 4, mode="sum")

    def forward(self, words, offsets):
        return self.bags(words, offsets)


@sample(lambda n: normal(n, 4))
class Quantized(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4), torch.quantization.FakeQuantize(quant_min=0, quant_max=255), nn.Linear(4, 3))
        self[1].disable_observer()
        self[1].scale.fill_(0.04)
        self[1].zero_point.fill_(100)


# --- functions

def function(*inputs, **named):
    """A sample of a function that is traced."""
    def add(made):
        sample(*inputs, **named)(made)
        SAMPLES[made.__name__] = (lambda: Traced(made), *SAMPLES[made.__name__][1:])
        return made
    return add


IMAGE = (lambda n: normal(n, 2, 5, 6),)


@function(*IMAGE)
def interpolate(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear"), F.interpolate(x, size=(7, 9), mode="bicubic", align_corners=True)


@function(*IMAGE, lambda n: torch.rand(n, 3, 4, 2) * 2.4 - 1.2)
def grid_sample(x, grid):
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


@function(lambda n: normal(n, 3, 4), lambda n: normal(n, 4, 5))
def einsum(x, y):
    return torch.einsum("nij,njk->nki", x, y), torch.bmm(x, y)


@function(*IMAGE)
def moved(x):
    return torch.roll(x, (1, -2), (2, 3)), x.flip(1), x.cumsum(2), x.permute(0, 3, 1, 2).reshape(x.size(0), -1)


@function(lambda n: normal(n, 4, 4))
def masked(x):
    mask = torch.ones(4, 4).tril() == 0
    return F.softmax(x.masked_fill(mask, float("-inf")), -1), x.triu(1), torch.where(x > 0, x, x.exp())


@function(lambda n: normal(n, 12), lambda n: normal(n, 3, 4))
def sizes(x, y):
    return x.view(y.size(0), y.size(1), -1) + y, x.new_zeros(y.shape), torch.arange(y.size(0)) + y.size(2)


@function(lambda n: normal(n, 5, 3))
def assigned(x):
    y = x.clone()
    y[:, 1:3] = 0
    y[:, -1, ::2] += 1
    return y


@function(lambda n: normal(n, 9))
def ordered(x):
    values, places = x.topk(4)
    order, _ = x.sort(1, descending=True)
    return values, places, order, x.argmax(1), x.argsort(1)


@function(lambda n: torch.arange(n * 6).reshape(n, 6) % 4)
def found(x):
    return torch.nonzero(x > 1), torch.unique(x), x[x > 2], F.one_hot(x, 4)


@function(lambda n: normal(6, 4), lambda n: torch.arange(n) * 2, lambda n: normal(n, 4), axes=[{}, ROWS, ROWS])
def scattered(x, places, values):
    rows = places[:, None].expand(-1, 4)
    return (x.index_put((places,), values), x.scatter(0, rows, values), x.scatter_add(0, rows, values),
            x.index_select(0, places), x.gather(0, rows), x.index_add(0, places, values))


@function(lambda n: normal(n, 3, 8))
def statistics(x):
    return (x.std(1), x.var(2, unbiased=False), x.logsumexp(2), x.norm(dim=2), x.prod(1), x.amin((1, 2)),
            F.normalize(x, dim=1), F.cosine_similarity(x[:, 0], x[:, 1]))


@function(lambda n: normal(n, 8))
def activations(x):
    return torch.cat([F.gelu(x), F.silu(x), F.mish(x), F.elu(x), F.selu(x), F.celu(x, 1.5), F.softplus(x, 2), F.hardtanh(x),
                      F.hardsigmoid(x), F.leaky_relu(x, 0.2), F.softsign(x), F.tanhshrink(x), F.hardshrink(x),
                      F.softshrink(x), F.logsigmoid(x), F.glu(x), F.relu6(x), torch.erf(x)], 1)


@function(lambda n: torch.arange(n * 6).reshape(n, 6) - 5, lambda n: torch.arange(1, 7)[None].repeat(n, 1))
def whole_numbers(x, y):
    # The exporter rounds x // y to zero, and torch down.
    return (x.abs() // y, x % y, torch.div(x, y, rounding_mode="trunc"), torch.remainder(x.float(), y.float()),
            torch.fmod(x.float(), y.float()), x.clamp(-2, 3), (x > y) & (x < 9), torch.bitwise_not(x > 0), x.float() / y)


@function(lambda n: normal(n, 2, 3))
def repeated(x):
    return x.repeat(1, 2, 3), x[:, None].expand(-1, 4, -1, -1), x.unsqueeze(1).squeeze(2), torch.stack([x, x * 2], 1), \
        torch.chunk(x, 2, 1)[1], x.repeat_interleave(2, 1)


@function(lambda n: normal(n, 2, 6, 6))
def patches(x):
    columns = F.unfold(x, 3, padding=1, stride=2)
    return columns, F.pad(x, (1, 2, 0, 1), value=0.5), F.pad(x[:, 0], (1, 2), mode="reflect")


@function(lambda n: torch.tensor([[0.0, 0, 4, 4], [0, 1, 4, 5], [5, 5, 9, 9], [5, 5, 9, 8]]),
          lambda n: torch.tensor([0.9, 0.8, 0.3 * n, 0.7]), axes=[{0: "K"}, {0: "K"}])
def suppressed(boxes, scores):
    return torchvision.ops.nms(boxes, scores, 0.5)


@function(*IMAGE, lambda n: torch.tensor([[0, 0.5, 0.5, 4, 4], [1, 1, 0, 5, 3.5], [0, 2, 1, 3, 4]][:n]), axes=[ROWS, {0: "K"}])
def aligned(x, boxes):
    # Without `aligned` the exporter writes the same node.
    return torchvision.ops.roi_align(x, boxes, (2, 2), sampling_ratio=2, aligned=True)


# --- scripts

def script(*inputs, **named):
    """A sample of a function that is compiled with its branches and loops."""
    def add(made):
        sample(*inputs, **named)(made)
        scripted = torch.jit.script(made)

        class Scripted(nn.Module):
            def forward(self, *given):
                return scripted(*given)
        SAMPLES[made.__name__] = (Scripted, *SAMPLES[made.__name__][1:])
        return made
    return add


@script(lambda n: normal(2, 3), lambda n: torch.tensor(n), axes=[ROWS, {}])
def branch_on_number(x, k):
    # type: (torch.Tensor, torch.Tensor) -> torch.Tensor
    if bool(k > 2):
        y = x * 2
    else:
        y = x - 1
    return y


@script(lambda n: normal(2, 3), lambda n: torch.tensor(n), axes=[ROWS, {}])
def loop_of_number(x, k):
    # type: (torch.Tensor, torch.Tensor) -> torch.Tensor
    for i in range(int(k)):
        x = x * 0.5 + i
    return x


@script(lambda n: normal(n, 3))
def branch_on_size(x):
    # type: (torch.Tensor) -> torch.Tensor
    if x.size(0) > 2:
        y = x.relu()
    else:
        y = -x
    return y


@script(lambda n: torch.full((2, 3), float(n)))
def until_small(x):
    # type: (torch.Tensor) -> torch.Tensor
    while bool(x.sum() > 1):
        x = x * 0.6
    return x


@script(lambda n: normal(n, 3), lambda n: torch.tensor(n + 1), axes=[ROWS, {}])
def growing(x, k):
    # type: (torch.Tensor, torch.Tensor) -> torch.Tensor
    y = x
    for i in range(int(k)):
        y = torch.cat([y, x * float(i)], 0)
    return y


@script(lambda n: normal(4, 3))
def listed(x):
    # type: (torch.Tensor) -> torch.Tensor
    parts: List[torch.Tensor] = []
    state = torch.zeros(3)
    for i in range(x.size(0)):
        state = torch.tanh(state + x[i])
        parts.append(state)
    return torch.stack(parts)


@script(lambda n: 1.3 * normal(4 * n, 3))
def passed_by(x):
    # type: (torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]
    total, count = torch.zeros_like(x[0]), 0
    for i in range(x.size(0)):
        row = x[i]
        if bool(row.sum() < -1):
            continue
        if bool(row.max() > 2.5):
            break
        total = total * 0.5 + row
        count += 1
    return total, torch.tensor(count)


@script(lambda n: normal(n, 3))
def returned_early(x):
    # type: (torch.Tensor) -> torch.Tensor
    if bool(x.sum() > 1):
        return x * 2
    if bool(x.sum() < -1):
        longer = torch.cat([x, x], 0)
        if bool(longer.max() > 1):
            return longer + 1
        return longer[:1]
    return x.mean(0, keepdim=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(SAMPLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of torch's tracer
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        make, inputs, axes = SAMPLES[name]
        torch.manual_seed(zlib.crc32(name.encode()))
        module = make().eval()
        fill(module, torch.Generator().manual_seed(1))
        names = [f"x{number}" for number in range(len(inputs))]
        feeds = [tuple(given(batch) for given in inputs) for batch in (2, 3)]
        torch.onnx.export(module, feeds[0], options.folder / f"{name}.onnx", opset_version=OPSET, input_names=names,
                          dynamic_axes=dict(zip(names, axes)))
        for number, feed in enumerate(feeds):
            with torch.no_grad():
                results = module(*feed)
            results = results if isinstance(results, tuple) else (results,)
            numpy.savez(options.folder / f"{name}-{number}.npz",
                        **{key: value.numpy() for key, value in zip(names, feed)},
                        **{f"result{i}": value.numpy() for i, value in enumerate(results)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
