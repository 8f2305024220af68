"""Work of ours and the same work by torch, measured in turns by one process: kernels alone, as nodes of a
graph that has each work several times and is replayed.

beside.py FOLDER JSON, where FOLDER is an unpacked pack and JSON a list of rows
{"name", "file", "shapes", "torch"}; prints a line {"name", "milliseconds", "skipped"} for each."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import json
import random
import statistics
import struct
import sys
from pathlib import Path

import amounts
import cameo
import driver as cuda
from torch_work import Torch

BLOCK = 4096  # random elements, which are repeated
WARM_UP_MS, GRAPH_MS = 25.0, 4.0  # of running, and how long a graph is to take
MOST_NODES = 40  # times that a graph has the work
REPEATS = 9


def random_bytes(kind, size):
    """Values that are neither zeros nor all alike."""
    draw = random.Random(7)
    if kind in ("f32", "bf16"):
        words = [struct.pack("<f", draw.uniform(-1, 1)) for _ in range(BLOCK)]
        block = b"".join(word if kind == "f32" else word[2:] for word in words)
    elif kind == "f16":
        block = struct.pack(f"<{BLOCK}e", *(draw.uniform(-1, 1) for _ in range(BLOCK)))
    elif kind == "i64":  # words of a vocabulary
        block = struct.pack(f"<{BLOCK}q", *(draw.randrange(100) for _ in range(BLOCK)))
    else:
        block = draw.randbytes(BLOCK)
    return (block * (size // len(block) + 1))[:size]


class Work:
    """A model with random inputs, all in the GPU's memory."""

    def __init__(self, driver, runtime, device, path, shapes, stream):
        self.driver, self.runtime, self.memory = driver, runtime, []
        self.model = runtime.model(device, path)
        self.context = runtime.context(self.model, stream=stream)
        inputs = runtime.tensors(self.model, cameo.INPUT)
        for number, (name, _, dims) in enumerate(inputs):
            self.context.set_shape(number, shapes.get(name, dims))
        for number, (_, kind, _) in enumerate(inputs):
            size = self.context.bytes_of(cameo.INPUT, number)
            buffer = self.buffer(size)
            data = C.create_string_buffer(random_bytes(kind, size), size)
            driver.upload(buffer, C.addressof(data), size, stream)
            driver.synchronize(stream)
            self.context.bind("input", number, cameo.DEVICE, buffer, size)
        for number in range(len(runtime.tensors(self.model, cameo.OUTPUT))):
            size = self.context.output_bytes(number)
            self.context.bind("output", number, cameo.DEVICE, self.buffer(size), size)

    def buffer(self, size):
        self.memory.append(self.driver.allocate(size))
        return self.memory[-1]

    def close(self):
        self.context.destroy()
        self.runtime.unload(self.model)
        for pointer in self.memory:
            self.driver.free(pointer)


def measured(driver, stream, graph_of):
    """Milliseconds of one work; `graph_of` makes a function that replays so many of them."""
    once = graph_of(1)
    once()
    driver.synchronize(stream)
    first = max(driver.milliseconds(stream, once), 1e-3)
    nodes = 1 if amounts.DRY else int(max(1, min(MOST_NODES, GRAPH_MS / first)))
    replay = graph_of(nodes) if nodes > 1 else once
    for _ in range(int(0 if amounts.DRY else min(200, WARM_UP_MS / (first * nodes))) + 1):
        replay()
    return statistics.median(driver.milliseconds(stream, replay) / nodes
                             for _ in range(1 if amounts.DRY else REPEATS))


def ours(driver, stream, work):
    work.context.enqueue()  # once outside a capture: what it allocates, it allocates then
    driver.synchronize(stream)

    def graph_of(nodes):
        def enqueue():
            for _ in range(nodes):
                work.context.enqueue()
        graph = driver.capture(stream, enqueue)
        return lambda: driver.launch_graph(graph, stream)
    return measured(driver, stream, graph_of)


def main():
    folder, rows = Path(sys.argv[1]), json.loads(sys.argv[2])
    driver = cuda.Driver()
    runtime = cameo.Library(folder / "bin" / "libcameo.so")
    device = runtime.device()
    stream = driver.stream(cuda.NON_BLOCKING)
    torch = Torch.open()
    for row in rows:
        line = {"name": row["name"], "milliseconds": {}}
        work = Work(driver, runtime, device, folder / row["file"], row["shapes"], stream)
        line["milliseconds"]["cameo"] = ours(driver, stream, work)
        work.close()
        if row["torch"]:
            graph_of = torch if isinstance(torch, str) else torch.graphs_of(row["torch"], stream)
            if isinstance(graph_of, str):
                line["skipped"] = graph_of
            else:
                line["milliseconds"]["torch"] = measured(driver, stream, graph_of)
                torch.forget()
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
