"""cameo.h through ctypes: the calls that the cases make."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
from pathlib import Path

HOST, DEVICE = 0, 1
NO_GRAPH = 1
CUDA = 1
OUT_OF_MEMORY, NO_CODE = 4, 13


class Failure(Exception):
    """A status other than OK, with the library's message."""

    def __init__(self, status, message):
        super().__init__(f"status {status}: {message}")
        self.status = status


def _structure(name, *fields):
    return type(name, (C.Structure,), {"_fields_": [("struct_size", C.c_size_t), *fields]})


DeviceOptions = _structure("DeviceOptions", ("kind", C.c_int), ("ordinal", C.c_int32),
                           ("sim_threads", C.c_uint32), ("sim_checks", C.c_uint32),
                           ("sim_seed", C.c_uint64))
ModelOptions = _structure("ModelOptions", ("device", C.c_void_p), ("arch", C.c_uint32))
ContextOptions = _structure("ContextOptions", ("entry", C.c_uint32), ("profile", C.c_uint32),
                            ("flags", C.c_uint32), ("reserved", C.c_uint32),
                            ("stream", C.c_void_p), ("arena", C.c_void_p),
                            ("arena_bytes", C.c_uint64), ("user", C.c_void_p),
                            ("allocate", C.c_void_p), ("release", C.c_void_p))
Binding = _structure("Binding", ("memory", C.c_int), ("reserved", C.c_uint32),
                     ("data", C.c_void_p), ("bytes", C.c_uint64))
Timing = _structure("Timing", ("kernel", C.c_char_p), ("onnx_nodes", C.c_char_p),
                    ("grid", C.c_uint32 * 3), ("block", C.c_uint32 * 3), ("start", C.c_double),
                    ("duration", C.c_double))
TensorInfo = _structure("TensorInfo", ("name", C.c_char_p), ("dtype", C.c_int), ("rank", C.c_uint32),
                        ("dims", C.POINTER(C.c_int64)), ("symbols", C.POINTER(C.c_char_p)),
                        ("flags", C.c_uint32))
INPUT, OUTPUT = 0, 1
TIMING_CALLBACK = C.CFUNCTYPE(None, C.c_void_p, C.POINTER(Timing))


def _made(structure, /, **values):
    return structure(struct_size=C.sizeof(structure), **values)


class Library:
    def __init__(self, path):
        self.functions = C.CDLL(str(path))
        self.functions.cameo_last_error.restype = C.c_char_p
        self.functions.cameo_dtype_name.restype = C.c_char_p

    def call(self, name, *arguments):
        status = getattr(self.functions, name)(*arguments)
        if status:
            raise Failure(status, self.functions.cameo_last_error().decode())

    def device(self, ordinal=0):
        device = C.c_void_p()
        self.call("cameo_device_create", C.byref(_made(DeviceOptions, kind=CUDA, ordinal=ordinal)),
                  C.byref(device))
        return device

    def model(self, device, path):
        model = C.c_void_p()
        self.call("cameo_model_load", str(Path(path)).encode(),
                  C.byref(_made(ModelOptions, device=device)), C.byref(model))
        return model

    def unload(self, model):
        self.functions.cameo_model_destroy(model)

    def tensors(self, model, role):
        """[(name, type, dims)] of all inputs or outputs; -1 is an open size."""
        found = []
        for number in range(self.functions.cameo_model_tensor_count(model, 0, role)):
            info = _made(TensorInfo)
            self.call("cameo_model_tensor_info", model, 0, role, number, C.byref(info))
            found.append((info.name.decode(), self.functions.cameo_dtype_name(info.dtype).decode(),
                          tuple(info.dims[:info.rank])))
        return found

    def context(self, model, **options):
        return Context(self, model, **options)


class Context:
    def __init__(self, runtime, model, **options):
        self.runtime = runtime
        self.handle = C.c_void_p()
        runtime.call("cameo_context_create", model, C.byref(_made(ContextOptions, **options)),
                     C.byref(self.handle))

    def call(self, name, *arguments):
        self.runtime.call(f"cameo_context_{name}", self.handle, *arguments)

    def set_shape(self, number, shape):
        self.call("set_input_shape", number, len(shape), (C.c_int64 * len(shape))(*shape))

    def bytes_of(self, role, number):
        size = C.c_uint64()
        self.call("get_bytes", role, number, C.byref(size))
        return size.value

    def output_bytes(self, number):
        return self.bytes_of(OUTPUT, number)

    def arena_bytes(self):
        size = C.c_uint64()
        self.call("get_arena_bytes", C.byref(size))
        return size.value

    def bind(self, direction, number, memory, pointer, size):
        """`direction` is "input" or "output"."""
        self.call(f"bind_{direction}", number,
                  C.byref(_made(Binding, memory=memory, data=pointer, bytes=size)))

    def set_stream(self, stream):
        self.call("set_stream", C.c_void_p(stream))

    def set_arena(self, pointer, size):
        self.call("set_arena", C.c_void_p(pointer), C.c_uint64(size))

    def set_state(self, number, output):
        self.call("set_state", number, output)

    def enqueue(self):
        self.call("enqueue")

    def synchronize(self):
        self.call("synchronize")

    def run(self):
        self.call("run")

    def run_timed(self):
        """[(kernel, milliseconds)] of one run's launches"""
        launches = []

        def add(_user, timing):
            launches.append((timing.contents.kernel.decode(), timing.contents.duration))
        callback = TIMING_CALLBACK(add)
        self.call("run_timed", callback, None)
        return launches

    def destroy(self):
        self.runtime.functions.cameo_context_destroy(self.handle)
