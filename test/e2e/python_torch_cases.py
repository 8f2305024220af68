#!/usr/bin/env python3
"""Cases of package cameo with tensors of torch, by an interpreter that has torch and no onnx."""
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import numpy
import torch

import cameo
from python_checks import case, expect, expect_error, main


def plan(name):
    """A model that python_cases.py has compiled."""
    return cameo.Model(Path(sys.argv[2]) / f"{name}.plan", device="simulator")


@case("torch")
def tensors_of_torch():
    model = plan("sums")
    a, b = torch.arange(6, dtype=torch.float32).reshape(2, 3), torch.full((2, 3), 3.0)
    for x, y in ((a, b), (a.T.contiguous().T, b), (a.flip(0), b.expand(2, 3)), (a, b[:1].expand(2, 3))):
        total, difference = model(x, y)
        expect(isinstance(total, torch.Tensor) and total.dtype == torch.float32, f"a {type(total)}")
        expect(torch.equal(total, x + y) and torch.equal(difference, x - y), "values")
    out = [torch.empty(2, 3), torch.empty(3, 2).T]
    model(a, b, out=out)
    expect(torch.equal(out[0], a + b) and torch.equal(out[1], a - b), "out")
    memory = out[0].data_ptr()
    expect(model(a, b, out=out)[0].data_ptr() == memory, "copied")
    expect(isinstance(model(a.numpy(), b)[0], numpy.ndarray), "the first array decides")
    # The memory of such a view is b, and its elements are -b.
    negated = torch.complex(a, b).conj().imag
    expect(torch.equal(model(a, negated)[0], a - b), "a view that negates")
    expect_error(TypeError, "negates", lambda: model(a, b, out=[negated, out[0]]))
    expect_error(TypeError, "gradient", lambda: model(a.clone().requires_grad_(), b))
    kept = torch.zeros(2, 3, requires_grad=True)
    expect_error(TypeError, "output 'sum': the tensor requires gradients", lambda: model(a, b, out=[kept, out[1]]))
    expect(not kept.any(), "written to")
    expect_error(TypeError, "takes a torch.nn.Module, not int", lambda: cameo.from_torch(5, a))
    expect_error(TypeError, "elements of float32, not of float16", lambda: model(a.half(), b))


@case("torch")
def elements_of_torch():
    for name in ("float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"):
        dtype = getattr(torch, name)
        x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
        y = plan(f"turned-{'DOUBLE' if name == 'float64' else name.upper()}")(x)
        expect(y.dtype == dtype, f"{name}: {y.dtype}")
        expect(torch.equal(y.float(), x.T.float()), name)


@case("torch")
def a_module_of_torch():
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(8, 2))
    module.train()
    x = torch.randn(5, 4)
    model = cameo.from_torch(module, x, dynamic_axes={0: {0: "batch"}}, target="sim:sm_80", device="simulator")
    expect(module.training, "the module is left in another mode")
    module.eval()
    with torch.no_grad():
        for rows in (x, x[:2]):
            expect(torch.allclose(model(rows), module(rows), atol=1e-6), "values")


@case("torch")
def from_layers_of_transformers():
    """Which torch computes by a fused kernel where no gradients are wanted."""
    module = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        model = cameo.from_torch(module, x, target="sim:sm_80", device="simulator")
        expect(torch.allclose(model(x), module(x), atol=1e-5), "values")


@case("torch")
def sums_at_indices_that_stand_twice():
    """torch's exporter writes each of them so that the last one wins."""
    functions = {
        "index_put": lambda x, at: torch.zeros(3, 4).index_put((at,), x, accumulate=True),
        "index_put of two": lambda x, at: torch.ones(3, 4, 2).index_put((at, at.abs()), x[:, :2], accumulate=True),
        "index_put_": lambda x, at: torch.zeros(5).index_put_((at,), x[0, 1], accumulate=True) + 1,
        "index_put that writes over": lambda x, at: x.index_put((at[1:],), x[:2] * 2),
        "index_add": lambda x, at: x.index_add(1, at.abs(), x[:, :3], alpha=2),
        "index_add_": lambda x, at: torch.zeros(3, 4).index_add_(0, at.abs(), x) * 2,
    }
    x, at = torch.arange(12.0).reshape(3, 4), torch.tensor([0, 0, -1])
    for name, function in functions.items():
        class Module(torch.nn.Module):
            def forward(self, *given):
                return function(*given)  # pylint: disable=cell-var-from-loop
        model = cameo.from_torch(Module(), (x, at), target="sim:sm_80", device="simulator")
        expect(torch.equal(model(x, at), function(x, at)), name)


if __name__ == "__main__":
    main()
