"""Compiling models: cameoc, called as a program of its own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import decimal
import json
import math
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cameo._errors import CompileError
from cameo._model import Array, Device, Model, Path, gpu_of

Samples = Path | Mapping[str, Array]
Progress = bool | Callable[[str, int, int], Any]
Sizes = Mapping[str, int | None | Sequence[int | str | None]]
Values = Mapping[str, float | Path | Sequence[float] | Array]


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler's: `severity` is "error", "warning", "remark" or "note", `where` a node's name, a file's
    or empty."""

    severity: str
    where: str
    text: str
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self):
        head = f"{self.where}: {self.severity}: " if self.where else f"{self.severity}: "
        return "\n".join([head + self.text, *map(str, self.notes)])

    @classmethod
    def of(cls, message):
        return cls(message["severity"], message["where"], message["text"], tuple(map(cls.of, message["notes"])))


@dataclass(frozen=True)
class Compilation:
    """Lines of the summary, warnings and remarks of a model that cameoc compiled."""

    summary: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Exported:
    """A model that `write` makes a file of, with external data beside it where it is large."""

    name: str
    write: Callable[[str], Any]


def tool(name):
    """The command of one of the compiler's programs, and the environment that it runs in."""
    try:
        import cameo_compiler
    except ImportError:
        path = shutil.which(name)
        if path is None:
            raise CompileError(f"there is no {name}: install the wheel cameo-compiler, or put {name} on the PATH") from None
        return [path], None
    return cameo_compiler.command(name), cameo_compiler.environment()


def _shapes(shapes):
    if not isinstance(shapes, Mapping):
        raise TypeError(f'shapes are a dictionary, such as {{"x": (1, 3, 224, 224), "batch": 8}}, '
                        f"not {type(shapes).__name__}")

    def text(size):
        return "?" if size is None or isinstance(size, str) else str(operator.index(size))

    def entries(name, value):
        if isinstance(value, str) or not isinstance(value, Iterable):
            return [f"{name}={value}" if isinstance(value, str) else f"{name}:{text(value)}"]
        value = list(value)
        return [f"{name}:{'x'.join(map(text, value))}",
                *(f"{name}.{at}={size}" for at, size in enumerate(value) if isinstance(size, str))]
    return ",".join(entry for name, value in shapes.items() for entry in entries(name, value))


def _expect_no_mask(array, what):
    if hasattr(array, "mask") and hasattr(array, "filled"):
        raise TypeError(f"{what}: a masked array, whose mask means nothing to a model; .filled(VALUE) is one without")


def _number(value):
    """A number as cameoc takes it: of a float, all digits."""
    if isinstance(value, float) and math.isfinite(value):
        return format(decimal.Decimal(value), "f")
    return str(value).lower()


def _shape_values(values):
    if not isinstance(values, Mapping):
        raise TypeError(f'shape_values are a dictionary, such as {{"rate": 16000, "sizes": [1, 3, 224, 224]}}, '
                        f"not {type(values).__name__}")

    def text(value):
        if isinstance(value, (str, os.PathLike)):
            return f"@{os.fspath(value)}"
        import numpy
        _expect_no_mask(value, "shape_values")
        # Python's own numbers stay what they are: numpy would make floats of large integers.
        array = value if hasattr(value, "dtype") else numpy.array(value, dtype=object)
        return ",".join(_number(number) for number in numpy.asarray(array).ravel().tolist())
    return [f"--shape-values={name}={text(value)}" for name, value in values.items()]


class _Files:
    """A temporary folder for what the caller has in memory. Messages call its files by names of the caller's."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="cameo-")
        self._names = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._folder.cleanup()

    def path(self, file, name):
        """The path of a file, which messages call by the name."""
        path = os.path.join(self._folder.name, file)
        self._names[path] = name
        return path

    def model(self, model):
        """The path of a model; its bytes, an onnx.ModelProto or what is exported are written into the folder."""
        if isinstance(model, (str, os.PathLike)):
            path = os.fsdecode(model)
            return os.path.join(os.curdir, path) if path.startswith("-") else path  # no option of the program's
        if isinstance(model, Exported):
            path = self.path(f"{model.name}.onnx", f"<{model.name}>")
            model.write(path)
            return path
        is_bytes = isinstance(model, (bytes, bytearray, memoryview))
        if not is_bytes and not hasattr(model, "SerializeToString"):
            raise TypeError(f"a model is a path, its bytes or an onnx.ModelProto, not {type(model).__name__}")
        data = bytes(model) if is_bytes else model.SerializeToString()
        path = self.path("model.onnx", "<model>")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def samples(self, data, name):
        """The path of samples; arrays by the names of inputs are written into the folder."""
        if isinstance(data, (str, os.PathLike)):
            return os.fspath(data)
        if not isinstance(data, Mapping):
            raise TypeError("samples are a path, or a dictionary with an array for each input, its first axis over "
                            "samples")
        import numpy
        path = self.path(f"{name}.npz", f"<{name}>")
        for input_, array in data.items():
            _expect_no_mask(array, f"samples of {input_!r}")
        # cameoc reads neither other orders of bytes nor Fortran's order.
        arrays = {name: numpy.ascontiguousarray(array) for name, array in data.items()}
        numpy.savez(path, **{name: array.astype(array.dtype.newbyteorder("="), copy=False)
                             for name, array in arrays.items()})
        return path

    def named(self, text):
        """A text of a program's, with names for paths. Other files of the folder are those that a model in memory
        refers to: its external data."""
        for path, name in self._names.items():
            text = text.replace(path, name)
        return text.replace(self._folder.name + os.sep, "").replace(self._folder.name, "<memory>")


def _pairs(states):
    if not isinstance(states, Mapping):
        raise TypeError(f'states are "auto" or a dictionary, such as {{"past.*": "present.*"}}, not {type(states).__name__}')
    return [f"{before}:{after}" for before, after in states.items()]


def _joined(value, mark):
    return value if isinstance(value, str) else mark.join(value)


def _others(options, taken):
    """Options of the program's in its own words, but for those that the call decides."""
    if isinstance(options, (str, bytes)):
        raise TypeError('options are a list of texts, such as ["--layout=auto"]')
    options = list(options)
    for option in options:
        name = option.partition("=")[0]
        if name in taken:
            raise ValueError(f"options: {option!r} is what the call itself says")
    return options


def _arguments(given, files):
    """cameoc's options of those of `compile` that are not None."""
    forms = {
        "target": lambda v: [f"--target={_joined(v, ',')}"],
        "precision": lambda v: [f"--precision={v}"],
        "precision_of": lambda v: [f"--precision-of={glob}={type_}" for glob, type_ in dict(v).items()],
        "calibration_data": lambda v: [f"--calibration-data={files.samples(v, 'calibration_data')}"],
        "ranges": lambda v: [f"--ranges={os.fspath(v)}"],
        "accuracy": lambda v: [f"--accuracy={v}"],
        "shapes": lambda v: [f"--shapes={text}" for text in [_shapes(v)] if text],
        "shape_values": _shape_values,
        "overridable": lambda v: [f"--overridable={name}" for name in ([v] if isinstance(v, str) else v)],
        "states": lambda v: [f"--state={pair}" for pair in ([v] if isinstance(v, str) else _pairs(v))],
        "taps": lambda v: [f"--tap={name}" for name in ([v] if isinstance(v, str) else v)],
        "level": lambda v: [f"-O{v}"],
        "report": lambda v: [f"--report={os.fspath(v)}"],
        "cache_dir": lambda v: [f"--cache-dir={os.fspath(v)}"],
        "jobs": lambda v: [f"-j{v}"],
    }
    return [argument for name, value in given.items() if value is not None for argument in forms[name](value)]


class _Line:
    """Progress on standard error: one line that changes on a terminal, elsewhere a line every ten seconds."""

    def __init__(self):
        self._what, self._shown, self._width = "", 0.0, 0

    def __call__(self, what, done, all_):
        text = f"{what}: {done} of {all_}"
        if sys.stderr.isatty():
            print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(text)
            return
        now = time.monotonic()
        if what != self._what or done == all_ or now - self._shown >= 10:
            print(text, file=sys.stderr, flush=True)
            self._what, self._shown = what, now

    def close(self):
        if self._width:
            print("\r" + " " * self._width, end="\r", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _listener(progress):
    """A function of (what, done, all), or None where nobody wants to know."""
    if progress is not True:
        if progress and not callable(progress):
            raise TypeError(f"progress is True or a function of (what, done, all), not {type(progress).__name__}")
        yield progress or None
        return
    with contextlib.closing(_Line()) as line:
        yield line


def run_tool(name, arguments, files, on_progress=None, codes=(0,)):
    """Runs one of the compiler's programs, and returns its standard output and what it said. A CompileError where it
    ends with another code than `codes`."""
    command, environment = tool(name)
    with tempfile.TemporaryFile() as output, subprocess.Popen(
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
            env=environment) as process:
        try:
            diagnostics, summary, other = [], [], []
            for line in process.stderr:
                text = files.named(line.decode(errors="replace"))
                try:
                    message = json.loads(text)
                except ValueError:
                    other.append(text.rstrip())
                    continue
                if message["kind"] == "diagnostic":
                    diagnostics.append(Diagnostic.of(message))
                elif message["kind"] == "summary":
                    summary.append(message["text"])
                elif on_progress:
                    on_progress(message["what"], message["done"], message["all"])
        except BaseException:
            process.kill()
            raise
        code = process.wait()
        if code not in codes:
            errors = [str(message) for message in diagnostics if message.severity == "error"]
            text = "\n".join(errors or other or [f"{name} ended with {code}"])
            raise CompileError(text, diagnostics)
        output.seek(0)
        return output.read(), Compilation(tuple(summary), tuple(diagnostics))


def inspect(model: Any, *, shapes: Sizes | None = None, shape_values: Values | None = None) -> dict[str, Any]:
    """Describes an ONNX model without compiling it: a dictionary with inputs, outputs, operators and whether all of it is
    supported, as `cameoc --inspect=json` prints it. `problems` has what is not, as `Diagnostic`."""
    with _Files() as files:
        arguments = ["--inspect=json", files.model(model), "--message-format=json",
                     *_arguments({"shapes": shapes, "shape_values": shape_values}, files)]
        output, said = run_tool("cameoc", arguments, files, codes=(0, 1))
    errors = [message for message in said.diagnostics if message.severity == "error"]
    if not output:
        raise CompileError("\n".join(map(str, errors)), said.diagnostics)
    return {**json.loads(output), "problems": errors}


def compare(model: Any, data: Samples, *, precision: str | Iterable[str] = ("fp32", "fp16"),
            calibration_data: Samples | None = None, labels: Path | None = None,
            values: str | Iterable[str] | None = None, device: str | Device = "simulator", shapes: Sizes | None = None,
            shape_values: Values | None = None, level: int | None = None,
            options: Iterable[str] = ()) -> dict[str, Any]:
    """A model at several precisions, the reference first, side by side: a dictionary, as `cameo-compare --report=FILE.json`
    writes it. `data` and `calibration_data` are paths, or {input: array} with samples along the first axis. `device` is
    what a `Model` takes."""
    gpu = gpu_of(device)
    with _Files() as files:
        report = files.path("report.json", "<report>")
        arguments = [files.model(model), f"--data={files.samples(data, 'data')}", f"--report={report}",
                     f"--device={'sim' if gpu is None else f'cuda:{gpu}'}",
                     f"--precision={_joined(precision, ',')}",
                     *_arguments({"calibration_data": calibration_data, "shapes": shapes,
                                  "shape_values": shape_values, "level": level}, files)]
        given = {"labels": labels, "values": None if values is None else _joined(values, ";")}
        arguments += [f"--{name}={value}" for name, value in given.items() if value is not None]
        run_tool("cameo-compare", [*arguments, *_others(options, ("--report", "--data", "--precision"))], files)
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def compile(model: Any, *, output: Path | None = None, emit: str | None = None,  # noqa: A001
            device: str | Device | None = None, target: str | Iterable[str] | None = None, precision: str | None = None,
            precision_of: Mapping[str, str] | None = None, calibration_data: Samples | None = None,
            ranges: Path | None = None, accuracy: str | None = None, shapes: Sizes | None = None,
            shape_values: Values | None = None, overridable: str | Iterable[str] | None = None,
            states: str | Mapping[str, str] | None = None, taps: str | Iterable[str] | None = None,
            level: int | None = None, report: Path | None = None, cache_dir: Path | None = None,
            jobs: int | None = None, options: Iterable[str] = (), progress: Progress = False) -> Model:
    """Compiles an ONNX model, and returns it as a `Model` for `device`.

    `model` is a path, a model's bytes or an onnx.ModelProto. The options are cameoc's, as `cameoc --help-all` has them:
    target      "sm_90a", "sim:sm_80", ..., one or a list
    precision   "fp32", "fp16", "bf16", "tf32", "int8"; precision_of: {"conv*": "fp16"}
    calibration_data    a path, or {input: array} with samples along the first axis
    accuracy    "99%", "-0.3%", "30dB"
    shapes      {"x": (1, 3, 224, 224), "batch": 8}; None leaves a size open, and "y.0" makes it that of y's first
                dimension
    shape_values    {"rate": 16000, "sizes": [1, 3, 224, 224]}, an array or a path of an .npy file: inputs that
                become constants
    overridable names of initialisers that become inputs
    states      {"past.*": "present.*"}: inputs that outputs become after each run of a `Context`; "auto" finds them
    taps        names of values that `Context.set_taps` will show
    level       0, 1 or 2
    report      a path ending in .html or .json
    options     anything else, e.g. ["--layout=auto", "--remarks"]
    output      where the file is kept: a plan, or as `emit` says, "exe", "lib" or "plan"
    progress    True prints how far kernels, calibration and trials are; a function is called with (what, done, all)

    A model that is not compiled is a `CompileError`, whose `diagnostics` name the nodes. `Model.compilation` has warnings,
    remarks and the summary.
    """
    if emit not in (None, "exe", "lib", "plan"):
        raise ValueError(f'emit is "exe", "lib" or "plan", not {emit!r}; cameoc writes other forms')
    if output is None and emit not in (None, "plan"):
        raise ValueError(f'emit="{emit}" needs an output')
    if device is not None:
        gpu_of(device)  # a wrong one is told before the model is compiled
    given = dict(target=target, precision=precision, precision_of=precision_of, calibration_data=calibration_data,
                 ranges=ranges, accuracy=accuracy, shapes=shapes, shape_values=shape_values, overridable=overridable,
                 states=states, taps=taps, level=level, report=report, cache_dir=cache_dir, jobs=jobs)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(_Files())
        path = files.path("model.plan", "<plan>") if output is None else os.fspath(output)
        arguments = [files.model(model), "-o", path, "--message-format=json", f"--emit={emit or 'plan'}",
                     *_arguments(given, files), *_others(options, ("-o", "--emit", "--message-format", "--stop-after", "--inspect"))]
        with _listener(progress) as on_progress:
            _, compilation = run_tool("cameoc", arguments, files, on_progress)
        if not os.path.exists(path):
            raise ValueError(f"options: {' '.join(options)}: no model is written")
        compiled = Model(path, device=device)
        compiled.compilation = compilation
        if output is None:
            # The file is needed again where the model is loaded for a device or saved.
            weakref.finalize(compiled, stack.pop_all().close)
        return compiled
