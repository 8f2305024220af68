#!/usr/bin/env python3
"""Constants of this machine's GPU, which estimates of kernels go by: constants.py GROUP...; without a
group all of them, each in a process of its own.

Prints a line of JSON for each constant as soon as it is there: {"name", "unit", "values": [5],
"median", "spread", "clock_mhz", "usable"}. Cycles are those of a multiprocessor."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import json
import sys
import time

import amounts
import driver as cuda
import process
from kernels import REPEATS, Gpu, evaluated

SECONDS = 20  # of a group
THREADS = 1024  # of blocks that stream through memory
SWEEPS = 8
DRAM_BYTES = 1 << 30
# Nodes, bytes from one to the next, steps.
RINGS = (("latency_l2", 1 << 12, 1024, 1 << 12), ("latency_dram", 1 << 16, 4096, 1 << 13))
TYPES = ("f16", "bf16", "tf32", "s8")


def say(name, unit, values, timings=()):
    line = evaluated(name, unit, list(values), [timing.mhz() for timing in timings])
    if amounts.DRY:
        line.update(usable=False, skipped="the fake driver runs no such kernels")
    print(json.dumps(line), flush=True)


def per_round(gpu, name, kernel, of_round, grid=None, block=32, **arguments):
    """Cycles of something that is done `of_round` times a round."""
    rounds, timings = gpu.repeated(kernel, gpu.multiprocessors if grid is None else grid, block,
                                   **arguments)
    say(name, "cycles", (timing.cycles / (rounds * of_round) for timing in timings), timings)


def clocks(gpu):
    """Of the multiprocessors: after a pause, with multiply-adds, with products on Tensor Cores."""
    gpu.load("compute")
    _, timings = gpu.repeated("fma", 1, 32, least_ms=0.5, warm_up=0,
                              before=lambda: time.sleep(0 if amounts.DRY else 0.2))
    say("clock_idle", "MHz", (timing.mhz() for timing in timings), timings)
    clock(gpu, "clock_fma", "fma", 512)
    clock(gpu, "clock_mma", "mma_f16", 512)


def clock(gpu, name, kernel, block):
    """After 400 ms of the same work."""
    _, timings = gpu.repeated(kernel, gpu.multiprocessors, block, least_ms=20, warm_up=20)
    say(name, "MHz", (timing.mhz() for timing in timings), timings)


def launches(gpu):
    """Of empty kernels in a graph, from one to the next: one block, and one a multiprocessor."""
    gpu.load("compute")
    between(gpu, "launch", "empty", False)


def dependent_launches(gpu):
    """The same where the next may start before the one before it has ended."""
    gpu.load("hopper")
    between(gpu, "launch_programmatic", "empty_dependent", True)


def between(gpu, name, kernel, programmatic):
    few, many = 100, 900
    for suffix, grid in (("_one_block", 1), ("", gpu.multiprocessors)):
        def enqueue(count, grid=grid):
            for _ in range(count):
                gpu.enqueue(kernel, grid, 256, programmatic=programmatic)
        graphs = [gpu.graph(lambda count=count: enqueue(count)) for count in (few, many)]
        for replay in graphs * 3:
            replay()
        values = []
        for _ in range(REPEATS):
            short, long = (replay() for replay in graphs)
            values.append(1000 * (long - short) / (many - few))
        say(name + suffix, "us", [1.0] * REPEATS if amounts.DRY else values)


class Stream:
    """Blocks that fill the GPU and read or write memory in sweeps."""

    def __init__(self, gpu):
        self.gpu = gpu
        gpu.load("memory")
        self.grid = 2 * gpu.multiprocessors
        self.sweep = self.grid * THREADS * 16

    def sweeps(self, size):
        """A multiple of four, of `size` bytes at most."""
        return max(4, size // self.sweep // 4 * 4)

    def fill(self, size):
        """Memory with numbers in it."""
        data = self.gpu.allocate(size)
        self.gpu.launch("fill", self.grid, THREADS, data=data, a=size // self.sweep)
        return data


def dram(gpu):
    """Reading, and copying, what is larger than the caches."""
    stream = Stream(gpu)
    count = stream.sweeps(min(DRAM_BYTES, stream.gpu.driver.memory()[0] // 4))
    size = count * stream.sweep
    data = stream.fill(2 * size)
    for name, kernel, moved in (("dram_read", "read", size), ("dram_copy", "copy", 2 * size)):
        rounds, timings = gpu.repeated(kernel, stream.grid, THREADS, rounds=1, data=data, size=size,
                                       a=count)
        say(name, "GB/s", (moved * rounds / timing.milliseconds / 1e6 for timing in timings), timings)


def l2(gpu):
    """Bytes a cycle and multiprocessor from the L2 cache: of plain loads; and of copies of 16 bytes
    to shared memory, of whole pieces of memory and of rows of 128 and 64 bytes, as tiles have them."""
    stream = Stream(gpu)
    count = stream.sweeps(24 << 20)
    size = max(count * stream.sweep, 20 << 20)
    data = stream.fill(size + stream.sweep)

    def rate(name, kernel, grid, block, of_round, **arguments):
        rounds, timings = gpu.repeated(kernel, grid, block, data=data, **arguments)
        say(name, "B/cycle/SM", (
            of_round * rounds / (timing.milliseconds * 1e3 * timing.mhz() * gpu.multiprocessors)
            for timing in timings), timings)
    rate("l2_read", "read", stream.grid, THREADS, count * stream.sweep, a=count)
    panels = 20
    for name, log in (("l2_copy", 9), ("l2_copy_rows_128", 3), ("l2_copy_rows_64", 2)):
        rows = 512 >> log
        grid = 4 * gpu.multiprocessors
        rate(name, "copy_async", grid, 128, grid * 8192, size=(1 << 20) // rows, a=panels, b=log,
             rounds=128)


def latencies(gpu):
    """From a load to its value, one at a time: global memory from L2 and from beyond it, and shared."""
    stream = Stream(gpu)
    for name, nodes, apart, steps in RINGS:
        ring = gpu.allocate(nodes * apart)
        gpu.launch("link", gpu.multiprocessors, 256, data=ring, size=apart, a=nodes)
        other = stream.fill(stream.sweep * SWEEPS * 8)
        timings = []
        for repeat in range(REPEATS + 1):
            if name == "latency_dram":  # what the caches have is something else
                gpu.launch("read", stream.grid, THREADS, data=other, a=SWEEPS * 8)
            timing = gpu.launch("chase", 1, 1, data=ring, rounds=steps // 8)
            if repeat:
                timings.append(timing)
        say(name, "cycles", (timing.cycles / steps for timing in timings), timings)
    gpu.load("compute")
    per_round(gpu, "latency_shared", "shared_chase", 8)


def barriers(gpu):
    """Of a block with so many threads."""
    gpu.load("compute")
    for threads in (128, 256, 512):
        per_round(gpu, f"barrier_{threads}", "barrier", 8, block=threads)


def matrix(gpu):
    """mma.sync: cycles an instruction and partition with 1, 2 and 4 warps in it; and from one to one
    that adds to its result. Multiply-adds on lanes likewise."""
    gpu.load("compute")
    per_round(gpu, "fma", "fma", 32 * 4, block=512)
    per_round(gpu, "fma_latency", "fma_chain", 16)
    for kind in TYPES:
        for warps in (1, 2, 4):
            per_round(gpu, f"mma_{kind}_{warps}", f"mma_{kind}", 8 * warps, block=128 * warps)
        per_round(gpu, f"mma_{kind}_latency", f"mma_{kind}_chain", 4)


def clusters(gpu):
    """A barrier of all blocks of a cluster; a load from another one's shared memory."""
    gpu.load("hopper")
    for size in (2, 4, 8, 16):
        per_round(gpu, f"cluster_barrier_{size}", "cluster_barrier", 4, grid=16, block=128,
                  cluster=size)
        per_round(gpu, f"cluster_load_{size}", "remote_chase", 8, grid=16, cluster=size)


def tensor_copies(gpu):
    """Of the tensor memory accelerator, from issue to arrival, one at a time, from L2."""
    gpu.load("hopper")
    data = gpu.allocate(4 << 20)
    gpu.load("memory")
    gpu.launch("fill", 64, 1024, data=data, a=4)
    for size in (2048, 8192, 16384):
        per_round(gpu, f"bulk_copy_{size}", "bulk_copy", 1, grid=1, data=data, a=size)
    per_round(gpu, "tensor_copy_8192", "tensor_copy", 1, grid=1, data=data,
              more=(tensor_map(gpu, data),))


def tensor_map(gpu, data):
    """Of 2048 rows of 1024 elements of 2 bytes, in boxes of 64x64, swizzled."""
    memory = C.create_string_buffer(128 + 64)
    place = (C.addressof(memory) + 63) // 64 * 64
    encoded = (C.c_uint8 * 128).from_address(place)
    encoded.memory = memory  # lives as long
    if not amounts.DRY:
        uint16, none, swizzle_128, promotion_256 = 1, 0, 3, 3
        gpu.driver.call("cuTensorMapEncodeTiled", C.c_void_p(place), uint16, C.c_uint32(2),
                        C.c_void_p(data), (C.c_uint64 * 2)(1024, 2048), (C.c_uint64 * 1)(2048),
                        (C.c_uint32 * 2)(64, 64), (C.c_uint32 * 2)(1, 1), none, swizzle_128,
                        promotion_256, none)
    return encoded


def warpgroups(gpu):
    """wgmma of f16 from shared memory: cycles an instruction and multiprocessor with 1 and 2 groups."""
    gpu.load("warpgroup")
    for columns in (128, 256):
        for groups in (1, 2):
            per_round(gpu, f"wgmma_m64n{columns}k16_{groups}", f"wgmma_n{columns}", 4 * groups,
                      block=128 * groups)
    clock(gpu, "clock_wgmma", "wgmma_n256", 256)


# Function; the compute capability that it needs, and whether that very one; how many constants.
GROUPS = {
    "clocks": (clocks, (8, 0), False, 3),
    "launches": (launches, (8, 0), False, 2),
    "dram": (dram, (8, 0), False, 2),
    "l2": (l2, (8, 0), False, 4),
    "latencies": (latencies, (8, 0), False, 3),
    "barriers": (barriers, (8, 0), False, 3),
    "matrix": (matrix, (8, 0), False, 18),
    "dependent-launches": (dependent_launches, (9, 0), False, 2),
    "clusters": (clusters, (9, 0), False, 8),
    "tensor-copies": (tensor_copies, (9, 0), False, 4),
    "warpgroups": (warpgroups, (9, 0), True, 5),
}


def main():
    chosen = sys.argv[1:]
    if len(chosen) == 1:
        try:
            GROUPS[chosen[0]][0](Gpu())
        except cuda.DriverError as error:
            print(f"error: {error}", flush=True)
            return 1
        return 0
    bad = 0
    for name in chosen or GROUPS:
        ended = process.run([sys.executable, __file__, name], SECONDS)
        bad += ended.status() != "pass"
        print(ended.output, end="" if ended.code == 0 else f"{name}: {ended.how()}\n", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
