"""NVIDIA's driver through ctypes: what the cases need to act as a program that calls Cameo."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C

LEGACY, PER_THREAD = 1, 2  # handles of the default streams, CU_STREAM_LEGACY and _PER_THREAD
BLOCKING, NON_BLOCKING = 0, 1
# CU_DEVICE_ATTRIBUTE_...
COMPUTE_MAJOR, COMPUTE_MINOR, MULTIPROCESSORS, PAGEABLE_MEMORY_ACCESS = 75, 76, 16, 88
CAPTURE_THREAD_LOCAL = 1
PLACES = ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
          "/run/opengl-driver/lib/libcuda.so.1")


class DriverError(Exception):
    """A call that the driver refused."""


def open_library():
    reasons = []
    for place in PLACES:
        try:
            return C.CDLL(place)
        except OSError as error:
            reasons.append(str(error))
    raise DriverError(f"no driver: {reasons[0]}")


class Driver:
    """One device with its primary context current on the thread that made it."""

    def __init__(self):
        self.functions = open_library()
        self.call("cuInit", 0)
        self.device = C.c_int()
        self.call("cuDeviceGet", C.byref(self.device), 0)
        self.context = C.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", C.byref(self.context), self.device)
        self.make_current()

    def make_current(self):
        """On this thread."""
        self.call("cuCtxPushCurrent_v2", self.context)

    def call(self, name, *arguments):
        result = getattr(self.functions, name)(*arguments)
        if result:
            text = C.c_char_p()
            self.functions.cuGetErrorName(result, C.byref(text))
            word = text.value.decode() if text.value else "unknown"
            raise DriverError(f"{name}: {word} ({result})")

    def attribute(self, number):
        value = C.c_int()
        self.call("cuDeviceGetAttribute", C.byref(value), number, self.device)
        return value.value

    def compute_capability(self):
        return self.attribute(COMPUTE_MAJOR), self.attribute(COMPUTE_MINOR)

    def version(self):
        value = C.c_int()
        self.call("cuDriverGetVersion", C.byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def name(self):
        text = C.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.device)
        return text.value.decode()

    def memory(self):
        """(free, total) bytes"""
        free, total = C.c_size_t(), C.c_size_t()
        self.call("cuMemGetInfo_v2", C.byref(free), C.byref(total))
        return free.value, total.value

    def allocate(self, size):
        pointer = C.c_uint64()
        self.call("cuMemAlloc_v2", C.byref(pointer), C.c_size_t(max(size, 1)))
        return pointer.value

    def free(self, pointer):
        self.call("cuMemFree_v2", C.c_uint64(pointer))

    def pinned(self, size):
        """Page-locked host memory: the transfers from and to it return before they are done."""
        pointer = C.c_void_p()
        self.call("cuMemHostAlloc", C.byref(pointer), C.c_size_t(max(size, 1)), 1)
        return pointer.value

    def stream(self, flags):
        stream = C.c_void_p()
        self.call("cuStreamCreate", C.byref(stream), flags)
        return stream.value

    def upload(self, pointer, host, size, stream):
        self.call("cuMemcpyHtoDAsync_v2", C.c_uint64(pointer), C.c_void_p(host), C.c_size_t(size),
                  C.c_void_p(stream))

    def download(self, host, pointer, size, stream):
        self.call("cuMemcpyDtoHAsync_v2", C.c_void_p(host), C.c_uint64(pointer), C.c_size_t(size),
                  C.c_void_p(stream))

    def synchronize(self, stream):
        self.call("cuStreamSynchronize", C.c_void_p(stream))

    def capture(self, stream, enqueue):
        """A graph of what `enqueue` puts on the stream."""
        graph, executable = C.c_void_p(), C.c_void_p()
        self.call("cuStreamBeginCapture_v2", C.c_void_p(stream), CAPTURE_THREAD_LOCAL)
        enqueue()
        self.call("cuStreamEndCapture", C.c_void_p(stream), C.byref(graph))
        self.call("cuGraphInstantiateWithFlags", C.byref(executable), graph, C.c_uint64(0))
        self.call("cuGraphDestroy", graph)
        return executable

    def launch_graph(self, executable, stream):
        self.call("cuGraphLaunch", executable, C.c_void_p(stream))

    def milliseconds(self, stream, work):
        """From the begin to the end, on the GPU, of what `work` puts on the stream."""
        events = [C.c_void_p() for _ in range(2)]
        for event in events:
            self.call("cuEventCreate", C.byref(event), 0)
        self.call("cuEventRecord", events[0], C.c_void_p(stream))
        work()
        self.call("cuEventRecord", events[1], C.c_void_p(stream))
        self.synchronize(stream)
        found = C.c_float()
        self.call("cuEventElapsedTime", C.byref(found), *events)
        for event in events:
            self.call("cuEventDestroy_v2", event)
        return found.value


class Buffer:
    """Device memory with page-locked host memory of the same size beside it."""

    def __init__(self, driver, size):
        self.driver, self.size = driver, size
        self.device = driver.allocate(size)
        self.host = driver.pinned(size)

    def set(self, data):
        """The host's side."""
        assert len(data) == self.size
        C.memmove(self.host, data, self.size)

    def upload(self, stream):
        self.driver.upload(self.device, self.host, self.size, stream)

    def download(self, stream):
        self.driver.download(self.host, self.device, self.size, stream)

    def bytes(self):
        return C.string_at(self.host, self.size)

    def fill(self, byte):
        """Both sides, at once: what nothing writes is then seen."""
        C.memset(self.host, byte, self.size)
        stream = self.driver.stream(NON_BLOCKING)
        self.upload(stream)
        self.driver.synchronize(stream)
        self.driver.call("cuStreamDestroy_v2", C.c_void_p(stream))
