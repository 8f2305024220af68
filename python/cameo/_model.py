"""Models that are called with arrays."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cameo import _runtime
from cameo._errors import DriverError

if TYPE_CHECKING:
    from cameo._compile import Compilation

Array = Any  # of numpy, or with __dlpack__
Path = str | os.PathLike[str]
Device = _runtime.Device


@dataclass(frozen=True)
class TensorInfo:
    """An input, an output or a tap. `shape` has numbers, names of open sizes, and None for open sizes without one.
    `dtype` is numpy's name of the elements, or that of package ml_dtypes. `is_on_host`: its values decide about shapes,
    and are read on the host. `state`: of an input, the output that becomes it after each run of a context."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    is_on_host: bool = False
    state: str | None = None


@dataclass(frozen=True)
class Launch:
    """A kernel of a run: the ONNX nodes that it computes, and its times in milliseconds."""

    kernel: str
    nodes: tuple[str, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    start: float
    duration: float


@dataclass(frozen=True)
class Timing:
    """Times of whole runs, in milliseconds, as the caller waits for them."""

    runs: int
    median: float
    fastest: float
    slowest: float


def gpu_of(device: str | Device) -> int | None:
    """The number of a GPU: of a Device, of "cuda" or "cuda:1"; None of the simulator."""
    if isinstance(device, Device):
        return device.ordinal if device.is_cuda else None
    if device in ("simulator", "sim"):  # as the option of executables has it
        return None
    found = re.fullmatch(r"cuda(?::(\d{1,9}))?", device) if isinstance(device, str) else None
    if not found:
        raise ValueError(f'a device is "cuda", "cuda:1", "simulator" or a cameo.Device, not {device!r}')
    return int(found[1] or 0)


def device_of(device: str | Device) -> Device:
    """A Device: of one, of "cuda", "cuda:1" or "simulator"."""
    if isinstance(device, Device):
        return device
    gpu = gpu_of(device)
    if gpu is None:
        return Device.simulator()
    try:
        return Device.cuda(gpu)
    except DriverError as error:
        error.add_note('device="simulator" runs a model that was compiled for sim:sm_80 (which the default target '
                       "includes) without a GPU")
        raise


def _library(array):
    """The module of an array's library, e.g. torch; None of numpy."""
    name = type(array).__module__.partition(".")[0]
    return None if name == "numpy" else sys.modules.get(name)


def _stream_handle(stream):
    """A CUstream as a number: of a number, of an object with `__cuda_stream__`, or of torch's or CuPy's."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    if hasattr(stream, "__cuda_stream__"):
        handle = stream.__cuda_stream__()[1]
    else:
        handle = getattr(stream, "cuda_stream", getattr(stream, "ptr", None))
    if handle is None:
        raise TypeError(f"a stream was expected, of torch, of CuPy or as a number, not {type(stream).__name__}")
    return handle or 1  # CU_STREAM_LEGACY, which torch and CuPy call 0


def _maker(torch, first):
    """A function that makes a tensor of torch's for an output, where the first input is."""
    def make(name, shape):
        dtype = getattr(torch, name, None)
        if dtype is None:
            raise TypeError(f"this torch has no elements of {name}")
        return torch.empty(shape, dtype=dtype, device=first.device)
    return make


class Context:
    """Runs a model, by one thread at a time, with memory, states and taps of its own. Called as the model is, but
    that states need not be given, and outputs that become states are not returned unless `out` has arrays for them."""

    def __init__(self, model: Model, use_graphs: bool = True, keeps_states: bool = True):
        model._load()
        self._handle = _runtime.Context(model._handle, model._entry, use_graphs, keeps_states)
        self._inputs = model._input_index
        self._outputs = model._output_index
        self._taps = model.taps
        self._states = {tensor.name for tensor in model.inputs if tensor.state and keeps_states}

    def __call__(self, *arrays: Array, out: Array | Sequence[Array] | None = None, stream: Any = None,
                 **named: Array) -> Any:
        results = [result for result in self._run(self._list(arrays, named), out, stream) if result is not None]
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, feeds: Mapping[str, Array], out: Mapping[str, Array] | None = None,
            stream: Any = None) -> dict[str, Array]:
        """A dictionary of outputs by name, for one of inputs. `out` may have arrays for some outputs."""
        if out is not None:
            out = self._by_name(out, self._outputs, "output")
        inputs = self._by_name(feeds, self._inputs, "input")
        self._expect_all(set(map(self._inputs.get, feeds)))
        results = self._run(inputs, out, stream)
        return {name: result for name, result in zip(self._outputs, results) if result is not None}

    def output_shapes(self, *inputs: Any, **named: Any) -> dict[str, tuple[int | None, ...]]:
        """Shapes of outputs by name, for inputs of which each is an array or a shape. An input whose values decide
        about shapes needs an array. A size is None where it goes by values that only a run computes."""
        return dict(zip(self._outputs, self._handle.output_shapes(self._list(inputs, named))))

    def set_state(self, input: str, output: str | None) -> None:  # noqa: A002
        """Makes `output` the `input` of the next run, which begins with the array of the first run, or with zeros where
        that passes None. An `output` of None ends it."""
        number = None if output is None else self._index(self._outputs, output, "output")
        self._handle.set_state(self._index(self._inputs, input, "input"), number)
        if output is None:
            self._states.discard(input)
        else:
            self._states.add(input)

    def state(self, input: str) -> Array:  # noqa: A002
        """A copy of what the next run begins with, of an input that an output has become."""
        return self._handle.state(self._index(self._inputs, input, "input"))

    def reserve_state(self, input: str, capacity: int) -> None:  # noqa: A002
        """Makes room for so many elements along the dimension along which a state grows. Without it the room grows as
        it is needed, and each time the state is copied."""
        self._handle.reserve_state(self._index(self._inputs, input, "input"), capacity)

    def reset_states(self) -> None:
        """Has states begin anew at the next run."""
        self._handle.reset_states()

    def set_seed(self, seed: int) -> None:
        """Lets the next run draw the first random numbers of a seed, which is 0 in a new context; each run draws others.
        Models without random operators do not go by it."""
        self._handle.set_seed(seed)

    def set_taps(self, callback: Callable[[str, Array], Array | None] | None) -> None:
        """Calls `callback(name, array)` for each tapped value of the runs to come, in order; in a loop the name ends in
        the trip's number, `step#2`, or in those of all loops around it, `step#0.2`. An array that it returns
        is written over the value, where it returns None the value stays; an exception ends the run. None ends it.
        Models are compiled with taps=..."""
        if callback is not None and not callable(callback):
            raise TypeError(f"a callback is a function of a name and an array, or None, not {type(callback).__name__}")
        if callback is not None and not self._taps:
            raise ValueError("the model has no taps; compile it with taps=...")
        self._handle.set_taps(callback)

    def profile(self, *arrays: Array, **named: Array) -> list[Launch]:
        """Runs once more slowly, and returns its launches."""
        return [Launch(kernel, tuple(nodes.split(",")) if nodes else (), grid, block, start, duration)
                for kernel, nodes, grid, block, start, duration
                in self._handle.profile(self._list(arrays, named))]

    def synchronize(self) -> None:
        """Waits for runs that were enqueued."""
        self._handle.synchronize()

    @property
    def is_done(self) -> bool:
        """True once they are done, without waiting."""
        return self._handle.is_done()

    @property
    def arena_bytes(self) -> int:
        """Device memory of intermediate values, for the shapes of the last run."""
        return self._handle.arena_bytes()

    def __reduce__(self):
        raise TypeError("a cameo.Context has memory of a device and is not pickled")

    def _index(self, names, name, role):
        if name not in names:
            raise KeyError(f"no {role} is named {name!r}; there are {', '.join(map(repr, names))}")
        return names[name]

    def _by_name(self, given, names, role):
        if not isinstance(given, Mapping):
            raise TypeError(f"arrays by names of {role}s are a dictionary, not {type(given).__name__}")
        values = [None] * len(names)
        for name, value in given.items():
            values[self._index(names, name, role)] = value
        return values

    def _list(self, arrays, named):
        if len(arrays) == len(self._inputs) and not named:
            return list(arrays)
        if len(arrays) > len(self._inputs):
            count = "1 input" if len(self._inputs) == 1 else f"{len(self._inputs)} inputs"
            raise TypeError(f"the model has {count}, not {len(arrays)}")
        values = list(arrays) + [None] * (len(self._inputs) - len(arrays))
        given = set(range(len(arrays)))
        for name, value in named.items():
            number = self._index(self._inputs, name, "input")
            if number in given:
                raise TypeError(f"input {name!r} is given twice")
            given.add(number)
            values[number] = value
        self._expect_all(given)
        return values

    def _expect_all(self, given):
        missing = [name for name, number in self._inputs.items() if number not in given and name not in self._states]
        if missing:
            raise TypeError(f"no array for input {', '.join(map(repr, missing))}")

    def _run(self, inputs, out, stream):
        first = next((array for array in inputs if array is not None), None)
        library = _library(first)
        outputs = [None] * len(self._outputs)
        if out is not None:
            outputs = list(out) if isinstance(out, (list, tuple)) else [out]
            if len(outputs) != len(self._outputs):
                raise TypeError(f"the model has {len(self._outputs)} outputs, not {len(outputs)}")
        handle, is_asynchronous = _stream_handle(stream), stream is not None
        if library is None:
            return self._handle.run(inputs, outputs, None, False, handle, is_asynchronous)
        if library.__name__ == "torch":
            if stream is None and first.is_cuda:
                handle, is_asynchronous = _stream_handle(library.cuda.current_stream(first.device)), True
            return self._handle.run(inputs, outputs, _maker(library, first), False, handle, is_asynchronous)
        on_device = hasattr(first, "__dlpack_device__") and first.__dlpack_device__()[0] in (2, 13)
        results = self._handle.run(inputs, outputs, None, on_device, handle, is_asynchronous)
        convert = getattr(library, "from_dlpack", lambda value: value)
        return [value if given is not None else convert(value) for given, value in zip(outputs, results)]


class Model:
    """A compiled model: a file that cameoc or `cameo.compile` has written, or its bytes.

    `device` is "cuda", "cuda:1", "simulator" or a `cameo.Device`; without one the model is loaded for the first GPU when
    it is first called. Nothing is taken instead of a device that is not there.

        model = cameo.Model("resnet50.plan")
        scores = model(images)                 one output; a tuple where there are more
        results = model.run({"x": images})     by names

    Arrays are numpy's or any library's that speaks DLPack; outputs are of the first one's library, and on the GPU where
    it is there. Elements are never converted: another type is a TypeError. Arrays that are not contiguous are copied.
    Calls of several threads at once run in contexts of their own.
    """

    def __init__(self, source: Path | bytes | bytearray | memoryview, device: str | Device | None = None,
                 entry: str | None = None):
        if isinstance(source, (bytearray, memoryview)):
            source = bytes(source)
        # The file is read again where the model is loaded or saved, wherever the program is by then.
        self._source = source if isinstance(source, bytes) else os.path.abspath(os.fsdecode(source))
        if isinstance(self._source, str):
            os.stat(source)
            if os.path.isdir(self._source):
                raise IsADirectoryError(f"'{source}' is a folder")
        given = source if isinstance(source, bytes) else os.fsdecode(source)  # as errors call it
        self._handle = _runtime.Model(given, None if device is None else device_of(device))
        entries = self._handle.entries()
        if entry is not None and entry not in entries:
            raise KeyError(f"no entry point is named {entry!r}; there are {', '.join(map(repr, entries))}")
        self._entry = 0 if entry is None else entries.index(entry)
        self.entries = tuple(entries)
        self.inputs, self.outputs, self.taps = (
            tuple(TensorInfo(*fields) for fields in self._handle.describe(self._entry, role)) for role in range(3))
        self._input_index = {tensor.name: i for i, tensor in enumerate(self.inputs)}
        self._output_index = {tensor.name: i for i, tensor in enumerate(self.outputs)}
        self._idle: list[Context] = []
        self.compilation: Compilation | None = None  # of cameo.compile

    def __reduce__(self):
        raise TypeError("a cameo.Model is loaded for a device and is not pickled; pass on the path of its file, "
                        "which save() writes")

    def _load(self):
        if self._handle.device is None:
            self._handle = _runtime.Model(self._source, device_of("cuda"))

    def __repr__(self):
        def text(tensors):
            return ", ".join(f"{t.name}: {t.dtype}[{', '.join('?' if s is None else str(s) for s in t.shape)}]"
                             for t in tensors)
        return f"<cameo.Model ({text(self.inputs)}) -> ({text(self.outputs)})>"

    @property
    def device(self) -> Device | None:
        """The device that the model is loaded for; None before the first call of a model without one."""
        return self._handle.device

    @property
    def manifest(self) -> str:
        """The file's own description, as JSON."""
        return self._handle.manifest()

    def context(self, use_graphs: bool = True) -> Context:
        """A context of one's own: states, taps, runs that follow one another on a stream."""
        return Context(self, use_graphs)

    def save(self, path: Path) -> None:
        """Writes the model's file."""
        if isinstance(self._source, str):
            shutil.copyfile(self._source, path)
        else:
            with open(path, "wb") as file:
                file.write(self._source)

    def _with_context(self, call):
        try:
            context = self._idle.pop()
        except IndexError:
            context = Context(self, keeps_states=False)
        try:
            return call(context)
        finally:
            self._idle.append(context)

    def __call__(self, *arrays: Array, out: Array | Sequence[Array] | None = None, stream: Any = None,
                 **named: Array) -> Any:
        """Runs the model: an array for each input, in order or by its name. `out` is an array for each output, which is
        written to. `stream`: where it runs, of torch, of CuPy or a CUstream's number; torch's current one where arrays
        are torch's. Runs on a stream whose arrays are all on the GPU are enqueued, all others waited for."""
        return self._with_context(lambda context: context(*arrays, out=out, stream=stream, **named))

    def run(self, feeds: Mapping[str, Array], out: Mapping[str, Array] | None = None,
            stream: Any = None) -> dict[str, Array]:
        """A dictionary of outputs by name, for one of inputs; any name is possible here."""
        return self._with_context(lambda context: context.run(feeds, out, stream))

    def output_shapes(self, *inputs: Any, **named: Any) -> dict[str, tuple[int | None, ...]]:
        """Shapes of outputs by name, for inputs of which each is an array or a shape. A size is None where it goes by
        values that only a run computes."""
        return self._with_context(lambda context: context.output_shapes(*inputs, **named))

    def profile(self, *arrays: Array, **named: Array) -> list[Launch]:
        """The launches of a run, with times."""
        return self._with_context(lambda context: context.profile(*arrays, **named))

    def benchmark(self, *arrays: Array, runs: int = 100, warmup: int = 10, **named: Array) -> Timing:
        """Times of whole runs with these arrays, outputs in arrays that are made once."""
        def measure(context):
            out = context(*arrays, **named)
            out = list(out) if len(self.outputs) > 1 else [out]
            times = []
            for _ in range(warmup + runs):
                start = time.perf_counter()
                context(*arrays, out=out, **named)
                context.synchronize()
                times.append((time.perf_counter() - start) * 1e3)
            times = times[warmup:]
            return Timing(runs, statistics.median(times), min(times), max(times))
        if runs < 1 or warmup < 0:
            raise ValueError("one run at least is measured")
        return self._with_context(measure)
