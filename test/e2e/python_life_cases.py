"""Cases of package cameo around its life: threads, garbage, folders that change."""
# SPDX-License-Identifier: Apache-2.0
import gc
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

import numpy
from onnx import TensorProto

import cameo
from python_cases import compiled, make, sums
from python_checks import case, expect


@case("numpy")
def daemons_that_outlive_the_interpreter():
    """A thread that calls models while the program ends is none of the program's concern."""
    program = ("import threading, sys, time, numpy, cameo\n"
               "model = cameo.Model(sys.argv[1], device='simulator')\n"
               "a = numpy.zeros((64, 3), 'f4')\n"
               "def forever():\n"
               "    while True: model(a, a)\n"
               "for _ in range(4): threading.Thread(target=forever, daemon=True).start()\n"
               "time.sleep(0.2)\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sums.plan"
        compiled(sums()).save(path)
        for _ in range(3):
            step = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60)
            expect(step.returncode == 0, f"exit code {step.returncode}: {step.stderr[-300:]}")


@case("numpy")
def a_context_that_threads_share():
    """A call finds the context in use, or gives what it was called for: never another call's arrays."""
    context, found = compiled(sums()).context(), []

    def work(seed):
        rng = numpy.random.default_rng(seed)
        for _ in range(1500):
            a, b = rng.random((2, int(rng.integers(1, 20)), 3), dtype="f4")
            try:
                total, difference = context(a, b)
            except cameo.BusyError:
                continue
            found.append(numpy.array_equal(total, a + b) and numpy.array_equal(difference, a - b))
    running = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    expect(found and all(found), f"{found.count(False)} of {len(found)} calls give something else")


@case("numpy")
def contexts_that_their_callbacks_refer_to():
    class Watcher:
        def __init__(self, model):
            self.context = model.context()
            self.context.set_taps(self.tap)

        def tap(self, name, value):
            pass

    model = compiled(make([("Neg", ["x"], ["a"], {}), ("Exp", ["a"], ["y"], {})], [("x", TensorProto.FLOAT, (4,))],
                          [("y", TensorProto.FLOAT, (4,))]), taps=["n0"], level=0)
    watcher = Watcher(model)
    gone = weakref.ref(watcher)
    del watcher
    gc.collect()
    expect(gone() is None, "it is still there")


@case("numpy")
def files_where_the_program_moves():
    """A model's file is the one that it was, wherever the program goes."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            compiled(sums()).save("sums.plan")
            os.mkdir("other")
            model = cameo.Model("sums.plan", device="simulator")
            os.chdir("other")
            model.save("copy.plan")
            expect(Path("copy.plan").read_bytes() == Path("../sums.plan").read_bytes(), "another file")
        finally:
            os.chdir(before)
