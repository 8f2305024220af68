"""Modules of torch, by the exporter that torch has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cameo._compile import Exported, compile  # noqa: A004
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
        with _without_fused_attention():
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
