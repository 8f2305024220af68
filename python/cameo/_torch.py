"""Modules of torch, by the exporter that torch has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cameo._compile import Exported, compile  # noqa: A004
from cameo._model import Model


def exported(module: Any, examples: tuple[Any, ...], name: str, **options: Any) -> Exported:
    """A module for `compile`, by the exporter that traces: graphs of torch's other one need more operators."""
    import torch

    def write(path):
        # Versions of torch that have two exporters choose the other one.
        extra = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
        torch.onnx.export(module, examples, path, **{"opset_version": 17, **options, **extra})
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
