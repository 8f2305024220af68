"""Back end "cameo" of torch.compile: graphs that torch captures, exported to ONNX and compiled."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cameo._compile import compile  # noqa: A004
from cameo._errors import UnsupportedError
from cameo._torch import exported

_KEPT = 16  # models of a graph, for the shapes of its last calls


def torch_backend(graph: Any, examples: Sequence[Any], *, options: Mapping[str, Any] | None = None,
                  mode: str | None = None) -> Callable[..., tuple[Any, ...]]:
    """Back end of `torch.compile(module, backend="cameo", options={"precision": "fp16"})`, for each graph that it captures.

    Options are those of `cameo.compile`. A graph is exported and compiled when it is called with other shapes than before,
    and its weights are constants: a weight that is written to makes it compile again. Tensors on the CPU run on the first
    GPU, or on device="simulator". There are no gradients: call it under torch.no_grad() or torch.inference_mode().
    """
    if mode not in (None, "default"):
        raise ValueError(f'mode="{mode}" is none of back end "cameo"')
    return _Graph(graph, dict(options or {}))


def _kind(value):
    """The kind of an argument, for which a model is compiled: a tensor's shape, elements and device, or a number itself."""
    return (value.shape, value.dtype, value.device) if hasattr(value, "shape") else value


# torch's names of fused layers, which it takes where no gradients are wanted.
_FUSED = ("_transformer_encoder_layer_fwd", "_native_multi_head_attention")


def _expect_operators(graph):
    for node in graph.graph.nodes:
        if node.op == "call_function" and getattr(node.target, "__name__", "") in _FUSED:
            raise UnsupportedError(f"the graph has torch's fused {node.target.__name__}; "
                                   "torch.backends.mha.set_fastpath_enabled(False) before it is captured leaves operators")


def _numbers_read(graph):
    """Arguments that the graph reads as numbers: as such torch passes floats where it keeps sizes open."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    found = set()
    for node in graph.graph.nodes:
        if node.op != "call_method" or node.target != "item":
            continue
        if node.args[0] not in arguments:
            raise UnsupportedError("the graph reads a number that it computes (item), which a compiled model does not")
        found.add(arguments.index(node.args[0]))
    return found


def _version(value):
    """A number that changes where a tensor is written to; tensors of torch.inference_mode() have none."""
    return None if not hasattr(value, "is_inference") or value.is_inference() else value._version


class _Graph:
    """A captured graph, with a model for each kind of arguments."""

    def __init__(self, graph, options):
        self._graph, self._options, self._models = graph, options, {}
        _expect_operators(graph)
        self._numbers = _numbers_read(graph)

    def __call__(self, *arguments):
        import torch
        if torch.is_grad_enabled() and any(getattr(value, "requires_grad", False) for value in arguments):
            raise TypeError("a tensor requires gradients, which a compiled model does not compute: call it under "
                            "torch.no_grad() or torch.inference_mode()")
        kinds = tuple(value.item() if i in self._numbers else _kind(value) for i, value in enumerate(arguments))
        model = self._models.pop(kinds, None)
        if model is None or not model.is_current(arguments):
            model = _Specialized(self._graph, arguments, self._numbers, self._options)
        self._models[kinds] = model  # the last
        if len(self._models) > _KEPT:
            del self._models[next(iter(self._models))]
        return model(arguments)


class _Specialized:
    """A graph for arguments of one kind. Weights and numbers are those that it was compiled with."""

    def __init__(self, graph, arguments, numbers, options):
        import torch
        weights = {i for i, value in enumerate(arguments) if isinstance(value, torch.nn.Parameter) or
                   getattr(value, "_dynamo_static_input_type", None) is not None}
        self._weights = [(i, arguments[i], _version(arguments[i])) for i in weights]
        self._inputs = [i for i, value in enumerate(arguments)
                        if isinstance(value, torch.Tensor) and i not in weights and i not in numbers]
        with torch.no_grad():
            before = list(map(_version, arguments))
            results = graph(*arguments)
            if before != list(map(_version, arguments)):
                raise UnsupportedError("the graph writes to its inputs or weights, which a compiled model does not; "
                                       "normalizations that train do, module.eval() ends that")
        # Numbers follow from the kinds of arguments, as which they are not compared again.
        self._results = [None if isinstance(value, torch.Tensor) else value for value in results]
        self._outputs = [i for i, value in enumerate(results) if isinstance(value, torch.Tensor)]
        fixed = [value.detach() if isinstance(value, torch.Tensor) else value for value in arguments]

        class Function(torch.nn.Module):
            def forward(_, *given):  # noqa: N805
                filled = list(fixed)
                for i, value in zip(self._inputs, given):
                    filled[i] = value
                values = graph(*filled)
                return tuple(values[i] for i in self._outputs)

        inputs = tuple(fixed[i] for i in self._inputs)
        if not inputs:
            raise UnsupportedError("the graph has no inputs, only weights")
        if "device" not in options and inputs[0].is_cuda:
            options = {**options, "device": f"cuda:{inputs[0].device.index}"}
        self._model = compile(exported(Function(), inputs, "graph"), **options)

    def is_current(self, arguments):
        return all(arguments[i] is value and _version(value) == version for i, value, version in self._weights)

    def __call__(self, arguments):
        values = self._model(*[arguments[i].detach().contiguous() for i in self._inputs])
        results = list(self._results)
        for i, value in zip(self._outputs, values if len(self._outputs) > 1 else [values]):
            results[i] = value
        return tuple(results)
