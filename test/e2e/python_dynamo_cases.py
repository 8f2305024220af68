#!/usr/bin/env python3
"""Cases of torch.compile(backend="cameo"), on the simulator."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import torch
from torch import nn

import cameo
from python_checks import case, expect, expect_error, main

OPTIONS = {"device": "simulator", "target": "sim:sm_80"}
# Sums in another order, of layers whose values are of the order of 1.
LIMIT = 1e-5


def compiled(module, **options):
    torch._dynamo.reset()  # pylint: disable=protected-access
    return torch.compile(module, backend="cameo", options={**OPTIONS, **options})


def expect_close(got, wanted, limit=LIMIT):
    expect(isinstance(got, torch.Tensor) and got.dtype == wanted.dtype and got.shape == wanted.shape,
           f"{got}, not like {wanted}")
    difference = (got - wanted).abs().max().item()
    expect(difference <= limit * wanted.abs().max().item(), f"a difference of {difference}")


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8), nn.Softmax(-1)).eval()


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.max_pool2d(x + torch.relu(self.second(x)), 2)
        return self.last(x.mean((2, 3)))


@case("dynamo")
def a_perceptron():
    module = perceptron()
    with torch.no_grad():
        run = compiled(module)
        for batch in (1, 4, 4, 7, 5, 4):
            x = torch.randn(batch, 16)
            expect_close(run(x), module(x))


@case("dynamo")
def open_sizes_and_floats():
    """Where sizes stay open, torch passes floats of the module as tensors that the graph reads."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 8)).eval()
    torch._dynamo.reset()  # pylint: disable=protected-access
    run = torch.compile(module, backend="cameo", options=OPTIONS, dynamic=True)
    with torch.no_grad():
        for batch in (4, 5, 9):
            x = torch.randn(batch, 16)
            expect_close(run(x), module(x))
        module[2].eps = 0.5
        expect_close(run(x), module(x))


@case("dynamo")
def layers_of_transformers():
    torch.manual_seed(0)
    module = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        model = cameo.from_torch(module, x, **OPTIONS)
        expect_close(model(x), module(x))
        fast = torch.backends.mha.get_fastpath_enabled()
        expect(fast, "torch is left in another mode")
        expect_error(Exception, "set_fastpath_enabled(False)", lambda: compiled(module)(x))
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            expect_close(compiled(module)(x), module(x))
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)


@case("dynamo")
def a_convolutional_network():
    module = Convolutions().eval()
    with torch.no_grad():
        run = compiled(module)
        for shape in ((1, 3, 8, 8), (2, 3, 8, 8), (2, 3, 12, 16)):
            x = torch.randn(shape)
            expect_close(run(x), module(x))


@case("dynamo")
def values_of_other_precisions():
    module = Convolutions().eval()
    x = torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        wanted, got = module(x), compiled(module, precision="fp16")(x)
        expect(not torch.equal(got, wanted), "not of 16 bits")
        expect_close(got, wanted, 1e-2)


@case("dynamo")
def weights_are_constants():
    from cameo import _torch_compile
    models = []
    kept, _torch_compile.compile = _torch_compile.compile, lambda *a, **o: models.append(kept(*a, **o)) or models[-1]
    try:
        with torch.no_grad():
            compiled(Convolutions().eval())(torch.randn(1, 3, 8, 8))
    finally:
        _torch_compile.compile = kept
    expect([model.inputs[0].shape for model in models] == [(1, 3, 8, 8)] and len(models[0].inputs) == 1, str(models))


@case("dynamo")
def weights_that_are_written_to():
    module = perceptron()
    x = torch.randn(3, 16)
    with torch.no_grad():
        run = compiled(module)
        first = run(x)
        module[0].weight.mul_(-1)
        expect_close(run(x), module(x))
        expect(not torch.allclose(run(x), first), "the weights of before")
        module[2].bias = nn.Parameter(torch.ones(8))
        expect_close(run(x), module(x))


@case("dynamo")
def functions_in_parts():
    """Two graphs have between them what torch cannot capture; one has several inputs and outputs, and an integer."""
    def function(x, y, times):
        z = x * times + y
        if z.sum().item() > 0:
            return z.exp(), y.t(), z.shape[0]
        return z, x, 0
    x, y = torch.rand(3, 4), torch.rand(3, 4)
    with torch.no_grad():
        run = compiled(function)
        for times in (1, 2, 3):
            got, wanted = run(x, y, times), function(x, y, times)
            expect(got[2] == wanted[2] == 3, str(got))
            expect_close(got[0], wanted[0])
            expect_close(got[1], wanted[1])
        x = x[:, ::2], y[:, 1::2]
        expect_close(run(*x, 2)[0], function(*x, 2)[0])


@case("dynamo")
def what_is_refused():
    module = perceptron()
    x = torch.randn(2, 16)
    expect_error(TypeError, "requires gradients", lambda: compiled(module)(x))
    with torch.no_grad():
        expect_error(cameo.UnsupportedError, "writes to its inputs or weights",
                     lambda: compiled(nn.BatchNorm1d(16).train())(x))
        expect_error(cameo.CompileError, "", lambda: compiled(torch.linalg.det)(torch.eye(5)))
        error = expect_error(cameo.CompileError, "--precision", lambda: compiled(module, precision="fp12")(x))
        expect("fp12" in str(error), str(error))


@case("dynamo")
def memory_of_tensors():
    """A tensor is read where it is: what numpy shares with it is what runs see."""
    run = compiled(lambda x: x + x)
    array = numpy.ones((2, 3), numpy.float32)
    x = torch.from_numpy(array)
    with torch.no_grad():
        for value in (1, 5):
            array[...] = value
            expect(run(x).tolist() == (x + x).tolist(), "other values")


@case("dynamo")
def modules_by_from_torch():
    module = perceptron()
    x = torch.randn(5, 16)
    model = cameo.from_torch(module, x, dynamic_axes={0: {0: "batch"}}, **OPTIONS)
    expect_close(model(x[:3]), module(x[:3]).detach())


if __name__ == "__main__":
    main()
