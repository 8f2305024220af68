"""Cameo: ONNX models, compiled ahead of time for NVIDIA GPUs, and run from Python.

    import cameo
    model = cameo.compile("model.onnx", precision="fp16")
    y = model(x)
"""

# SPDX-License-Identifier: Apache-2.0
from cameo._compile import Compilation, Diagnostic, compare, compile, inspect  # noqa: A004
from cameo._errors import (BusyError, CompileError, DriverError, Error, InternalError, InvalidArgumentError,
                           KernelFaultError, ModelFileError, NoCodeError, NotFoundError, NotKnownYetError,
                           OutOfMemoryError, OutOfRangeError, UnsupportedError)
from cameo._model import Context, Device, Launch, Model, TensorInfo, Timing
from cameo._runtime import cuda_device_count, version
from cameo._torch import from_torch
from cameo._torch_compile import torch_backend

# Tracebacks name a class as users import it.
for _error in (BusyError, CompileError, DriverError, Error, InternalError, InvalidArgumentError, KernelFaultError,
               ModelFileError, NoCodeError, NotFoundError, NotKnownYetError, OutOfMemoryError, OutOfRangeError,
               UnsupportedError):
    _error.__module__ = "cameo"
del _error

__version__ = version()

__all__ = [
    "BusyError", "Compilation", "CompileError", "Context", "Device", "Diagnostic", "DriverError", "Error",
    "InternalError", "InvalidArgumentError", "KernelFaultError", "Launch", "Model", "ModelFileError",
    "NoCodeError", "NotFoundError", "NotKnownYetError", "OutOfMemoryError", "OutOfRangeError", "TensorInfo", "Timing",
    "UnsupportedError", "compare", "compile", "cuda_device_count", "from_torch", "inspect", "torch_backend",
    "version",
]
