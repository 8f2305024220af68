"""What the cases of the C interface share: a device, a model, and what it should compute."""
# SPDX-License-Identifier: Apache-2.0
import random
import struct
from pathlib import Path

import cameo
import driver as cuda
from cameo import DEVICE

A, B = (2, 5, 32), (3, 40, 32)
RUNS = 12
CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Wrong(Exception):
    """A result is not what it should be."""


class Skipped(Exception):
    """The case cannot be tried on this machine."""


class Setting:
    """The library, the driver and the model `layers`: x (N, S, 32) to y (N, S, 32), mean (N, 32)."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.driver = cuda.Driver()
        self.runtime = cameo.Library(self.folder / "bin" / "libcameo.so")
        self.device = self.runtime.device()
        self.model = self.load("layers")
        self.random = random.Random(1)
        self.plain = {}

    def load(self, name):
        return self.runtime.model(self.device, self.folder / "models" / name)

    def values(self, count):
        return struct.pack(f"<{count}f", *(self.random.uniform(-2, 2) for _ in range(count)))

    def use(self, shape, context=None, model=None, outputs=2, **options):
        return Use(self, shape, context or self.runtime.context(model or self.model, **options),
                   outputs)

    def expected(self, shape, data):
        """What a context without graphs computes, alone."""
        if shape not in self.plain:
            self.plain[shape] = self.use(shape, flags=cameo.NO_GRAPH)
        return self.plain[shape].compute(data)


class Use:
    """A context with device memory bound to its inputs and outputs."""

    def __init__(self, setting, shape, context, outputs=2):
        self.setting, self.shape, self.context = setting, shape, context
        context.set_shape(0, shape)
        size = 4
        for dim in shape:
            size *= dim
        self.input = cuda.Buffer(setting.driver, size)
        self.outputs = [cuda.Buffer(setting.driver, context.output_bytes(i))
                        for i in range(outputs)]
        self.bind()
        self.helper = setting.driver.stream(cuda.NON_BLOCKING)

    def bind(self):
        """Also the shape, so that uses can take turns with one context."""
        self.context.set_shape(0, self.shape)
        self.context.bind("input", 0, DEVICE, self.input.device, self.input.size)
        for number, buffer in enumerate(self.outputs):
            self.context.bind("output", number, DEVICE, buffer.device, buffer.size)

    def values(self):
        return self.setting.values(self.input.size // 4)

    def compute(self, data):
        """Uploads, runs, waits, downloads: no order of streams is relied on."""
        driver = self.setting.driver
        for buffer in self.outputs:
            buffer.fill(0x7e)
        self.input.set(data)
        self.input.upload(self.helper)
        driver.synchronize(self.helper)
        self.context.run()
        for buffer in self.outputs:
            buffer.download(self.helper)
        driver.synchronize(self.helper)
        return [buffer.bytes() for buffer in self.outputs]

    def check(self, label, data=None):
        data = data or self.values()
        same(label, self.compute(data), self.setting.expected(self.shape, data))


def same(label, actual, expected):
    for number, (has, wanted) in enumerate(zip(actual, expected)):
        if has != wanted:
            differing = sum(has[i:i + 4] != wanted[i:i + 4] for i in range(0, len(has), 4))
            raise Wrong(f"{label}: output {number} differs in {differing} of {len(has) // 4} "
                        "values from a context without graphs")
