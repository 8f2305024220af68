"""Kernels of the .ptx files beside this: compiled by the driver, launched, timed."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import re
import statistics
import struct
from pathlib import Path

import amounts
import driver as cuda

OUT_BYTES = 65536 * 2  # clocks of up to 2048 blocks, then what keeps the work alive
LOG_BYTES = 1 << 14
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
NON_PORTABLE_CLUSTER = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
PORTABLE_BLOCKS = 8
CLUSTER, PROGRAMMATIC = 4, 6  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, ..._PROGRAMMATIC_STREAM_SERIALIZATION
LEAST_MS = 2.0  # of a timing
REPEATS = 5
MOST_ROUNDS = 1 << 28
MOST_SPREAD = 0.1  # of a constant that is used
# What a dry run takes all launches to last.
DRY_MS, DRY_CYCLES, DRY_NS = 1.0, 1_500_000, 1_000_000


class Attribute(C.Structure):
    """CUlaunchAttribute: its value is a union of 64 bytes, aligned to 8."""
    _fields_ = [("id", C.c_int), ("pad", C.c_int), ("value", C.c_uint32 * 16)]


class Config(C.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", C.c_uint * 3), ("block", C.c_uint * 3), ("shared", C.c_uint),
                ("stream", C.c_void_p), ("attributes", C.POINTER(Attribute)), ("count", C.c_uint)]


class Timing:
    """One launch: milliseconds by events; clock cycles and nanoseconds between which block 0 worked."""

    def __init__(self, milliseconds, cycles, nanoseconds):
        self.milliseconds, self.cycles, self.nanoseconds = milliseconds, cycles, nanoseconds

    def mhz(self):
        return 1000 * self.cycles / self.nanoseconds


class Gpu:
    def __init__(self):
        self.driver = cuda.Driver()
        self.multiprocessors = self.driver.attribute(cuda.MULTIPROCESSORS)
        self.stream = self.driver.stream(cuda.NON_BLOCKING)
        self.out = cuda.Buffer(self.driver, OUT_BYTES)
        self.functions = {}
        self.modules = []

    def load(self, name):
        """All kernels of a file."""
        text = (Path(__file__).resolve().parent / "ptx" / f"{name}.ptx").read_text()
        names = re.findall(r"^\.visible \.entry (\w+)\(", text, re.MULTILINE)
        if amounts.DRY:  # the fake driver runs kernels of artefacts alone
            self.functions.update(dict.fromkeys(names))
            return
        image, log = C.create_string_buffer(text.encode()), C.create_string_buffer(LOG_BYTES)
        options = (C.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (C.c_void_p * 2)(C.addressof(log), LOG_BYTES)
        module = C.c_void_p()
        try:
            self.driver.call("cuModuleLoadDataEx", C.byref(module), image, C.c_uint(2), options, values)
        except cuda.DriverError as error:
            said = log.value.decode("utf-8", "replace").strip()
            raise cuda.DriverError(f"{name}.ptx: {error}: {said}") from None
        self.modules.append(module)
        for kernel in names:
            function = C.c_void_p()
            self.driver.call("cuModuleGetFunction", C.byref(function), module, kernel.encode())
            self.functions[kernel] = function

    def allocate(self, size):
        return self.driver.allocate(4096 if amounts.DRY else size)

    def enqueue(self, kernel, grid, block, arguments=(), cluster=0, programmatic=False):
        """`arguments`: values of ctypes, or none at all."""
        function = self.functions[kernel]
        pointers = (C.c_void_p * max(len(arguments), 1))(*(C.addressof(value) for value in arguments))
        attributes = (Attribute * 2)()
        count = 0
        if cluster:
            attributes[count].id = CLUSTER
            attributes[count].value[0:3] = [cluster, 1, 1]
            count += 1
        if programmatic:
            attributes[count].id = PROGRAMMATIC
            attributes[count].value[0] = 1
            count += 1
        if amounts.DRY:
            return
        if cluster > PORTABLE_BLOCKS:
            self.driver.call("cuFuncSetAttribute", function, C.c_int(NON_PORTABLE_CLUSTER), C.c_int(1))
        if not count:
            self.driver.call("cuLaunchKernel", function, *map(C.c_uint, (grid, 1, 1, block, 1, 1, 0)),
                             C.c_void_p(self.stream), pointers, C.c_void_p())
            return
        config = Config((C.c_uint * 3)(grid, 1, 1), (C.c_uint * 3)(block, 1, 1), 0, self.stream,
                        attributes, count)
        self.driver.call("cuLaunchKernelEx", C.byref(config), function, pointers, C.c_void_p())

    def arguments(self, data=0, size=0, rounds=1, a=0, b=0):
        return (C.c_uint64(self.out.device), C.c_uint64(data), C.c_uint64(size), C.c_uint32(rounds),
                C.c_uint32(a), C.c_uint32(b))

    def launch(self, kernel, grid, block, more=(), cluster=0, **arguments):
        """Runs to the end; its Timing. `more`: arguments behind the usual ones."""
        given = (*self.arguments(**arguments), *more)
        milliseconds = self.driver.milliseconds(
            self.stream, lambda: self.enqueue(kernel, grid, block, given, cluster))
        self.out.download(self.stream)
        self.driver.synchronize(self.stream)
        begin, end, first, last = struct.unpack_from("<4Q", self.out.bytes())
        if amounts.DRY:
            return Timing(DRY_MS, DRY_CYCLES, DRY_NS)
        if end <= begin or last <= first:
            raise cuda.DriverError(f"{kernel}: clocks {begin} to {end}, {first} to {last} ns")
        return Timing(milliseconds, end - begin, last - first)

    def repeated(self, kernel, grid, block, rounds=64, least_ms=LEAST_MS, warm_up=2, before=None,
                 **arguments):
        """(rounds, Timings), each of as many rounds as last long enough."""
        def run():
            if before:
                before()
            return self.launch(kernel, grid, block, rounds=rounds, **arguments)
        run()
        for _ in range(3):  # the first guesses are of short runs
            found = run().milliseconds
            if found >= least_ms:
                break
            rounds = min(MOST_ROUNDS, int(rounds * max(1.1, min(100.0, 1.2 * least_ms / found))) + 1)
        for _ in range(warm_up):
            run()
        return rounds, [run() for _ in range(REPEATS)]

    def graph(self, enqueue):
        """A function that replays what `enqueue` puts on the stream; returns milliseconds."""
        if amounts.DRY:
            enqueue()
            return lambda: DRY_MS
        executable = self.driver.capture(self.stream, enqueue)
        return lambda: self.driver.milliseconds(
            self.stream, lambda: self.driver.launch_graph(executable, self.stream))


def evaluated(name, unit, values, clocks=()):
    """What is said of a constant: `spread` is the distance between the extremes over the median."""
    median = statistics.median(values)
    spread = (max(values) - min(values)) / median if median > 0 else float("inf")
    return {"name": name, "unit": unit, "values": [round(value, 6) for value in values],
            "median": round(median, 6), "spread": round(spread, 4) if spread < 1e6 else None,
            "clock_mhz": round(statistics.median(clocks), 1) if clocks else None,
            "usable": spread <= MOST_SPREAD}
