"""Modules of torch, by the exporter that torch has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cameo._compile import Exported, compile  # noqa: A004
from cameo._errors import UnsupportedError
from cameo._model import Model


@contextlib.contextmanager
def _without_fused_attention() -> Iterator[None]:
    """Has torch compute layers of transformers by operators of ONNX, and not by its fused kernels."""
    import torch
    mha = getattr(torch.backends, "mha", None)
    if mha is None:  # older versions take them only where no gradients are wanted
        with torch.enable_grad():
            yield
        return
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


def _sum_at(target, dim, index, source, alpha=1):
    """index_add by scatter_add."""
    shape = [1] * source.dim()
    shape[dim] = -1
    index = (index % target.shape[dim]).reshape(shape).expand_as(source)
    return target.scatter_add(dim, index, source if alpha == 1 else source * alpha)


def _sum_put(target, indices, values):
    """index_put that accumulates, by scatter_add on rows of the dimensions that are indexed."""
    import torch
    if any(index is None or index.dtype == torch.bool for index in indices):
        raise UnsupportedError("index_put that accumulates at a mask, or along all of a dimension, is not exported for "
                               "indices that stand twice; scatter_add is")
    indices = torch.broadcast_tensors(*indices)
    sizes, rest = target.shape[:len(indices)], target.shape[len(indices):]
    place = torch.zeros_like(indices[0])
    for index, size in zip(indices, sizes):
        place = place * size + index % size
    values = values.expand(*indices[0].shape, *rest).reshape(-1, *rest)
    return _sum_at(target.reshape(-1, *rest), 0, place.reshape(-1), values).reshape(target.shape)


@contextlib.contextmanager
def _with_sums_at_repeated_indices() -> Iterator[None]:
    """torch's exporter writes index_add, and index_put that accumulates, as if no index stood twice; scatter_add it
    writes as it is."""
    import torch
    from torch.overrides import TorchFunctionMode
    tensor = torch.Tensor

    class Sums(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            named = named or {}
            if function in (torch.index_add, tensor.index_add, tensor.index_add_):
                target, made = arguments[0], _sum_at(*arguments, **named)
                return target.copy_(made) if function is tensor.index_add_ else made
            if function in (torch.index_put, tensor.index_put, torch.index_put_, tensor.index_put_):
                target, indices, values = (*arguments, *named.values())[:3]
                if named.get("accumulate", len(arguments) > 3 and arguments[3]):
                    made = _sum_put(target, indices, values)
                    return target.copy_(made) if function in (torch.index_put_, tensor.index_put_) else made
            return function(*arguments, **named)
    with Sums():
        yield


def _of_given(module, count):
    """The module as a function of the first arguments. torch's exporter makes inputs of defaults of others: a False would
    be a tensor."""
    import torch
    others = list(inspect.signature(module.forward).parameters.values())[count:]
    if all(other.default in (None, inspect.Parameter.empty) for other in others):
        return module

    class Given(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module
            self.training = module.training

        def forward(self, *arguments):
            return self.module(*arguments)
    return Given()


def exported(module: Any, examples: tuple[Any, ...], name: str, **options: Any) -> Exported:
    """A module for `compile`, by the exporter that traces: graphs of torch's other one need more operators."""
    import torch

    def write(path):
        # Versions of torch that have two exporters choose the other one.
        extra = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
        with _without_fused_attention(), _with_sums_at_repeated_indices():
            torch.onnx.export(_of_given(module, len(examples)), examples, path, **{"opset_version": 17, **options, **extra})
    return Exported(name, write)


def from_torch(module: Any, example: Any, *, dynamic_axes: Mapping[int | str, Mapping[int, str]] | None = None,
               input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None, opset: int = 17,
               **options: Any) -> Model:
    """Exports a module of torch to ONNX, compiles it, and returns a `Model` that is called with tensors as the module is.

    `example` is a tensor, or a tuple of them, that the module is called with once. `dynamic_axes` says which sizes stay
    open, by the input's number or name: {0: {0: "batch"}}. Options are those of `cameo.compile`. The module is exported
    as it evaluates (dropout does nothing), and left in the mode that it is in.
    """
    import torch
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"from_torch takes a torch.nn.Module, not {type(module).__name__}")
    examples = example if isinstance(example, tuple) else (example,)
    names = list(input_names or (f"input{i}" for i in range(len(examples))))
    axes = {names[key] if isinstance(key, int) else key: sizes for key, sizes in (dynamic_axes or {}).items()}
    return compile(exported(module, examples, type(module).__name__, input_names=names, output_names=output_names,
                            dynamic_axes=axes, opset_version=opset), **options)
