"""Exceptions of package cameo: one for each kind of failure that the runtime tells apart, and the compiler's."""

# SPDX-License-Identifier: Apache-2.0


class Error(Exception):
    """A failure of Cameo's. `status` is its kind in words, e.g. "no driver"."""

    status = ""


class InvalidArgumentError(Error, ValueError):
    """A mistake of the caller's: a shape, a name, an order of calls."""


class OutOfRangeError(Error, ValueError):
    """A check of the model's own that failed for these inputs."""


class UnsupportedError(Error):
    """Something that this version or this device cannot do."""


class OutOfMemoryError(Error, MemoryError):
    """Memory of the host or of the device that could not be had."""


class NotFoundError(Error, LookupError):
    """A file, an entry point or a tensor that is not there."""


class ModelFileError(Error):
    """A file that is no model, is damaged, or is of a version that this runtime does not read."""


class NoCodeError(Error):
    """A model without code for this device and its driver."""


class DriverError(Error):
    """A CUDA driver that is missing, or that failed."""


class KernelFaultError(Error):
    """A finding of the simulator's checks."""


class BusyError(Error):
    """A context that another thread is using."""


class NotKnownYetError(Error, ValueError):
    """A shape that a run decides, asked for before there has been one."""


class InternalError(Error):
    """A bug in Cameo."""


class CompileError(Error):
    """A model that was not compiled. `diagnostics` has every message of the compiler's, as `Diagnostic`."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = tuple(diagnostics)


_BY_STATUS = {
    "invalid argument": InvalidArgumentError,
    "out of range": OutOfRangeError,
    "unsupported": UnsupportedError,
    "out of memory": OutOfMemoryError,
    "not found": NotFoundError,
    "input/output": ModelFileError,
    "corrupt": ModelFileError,
    "incompatible": ModelFileError,
    "not a model": ModelFileError,
    "no code for the device": NoCodeError,
    "no driver": DriverError,
    "driver": DriverError,
    "kernel fault": KernelFaultError,
    "busy": BusyError,
    "not known yet": NotKnownYetError,
    "internal error": InternalError,
}


def of_status(status, message):
    """The exception of a cameo_status by its name."""
    error = _BY_STATUS.get(status, Error)(message)
    error.status = status
    return error
