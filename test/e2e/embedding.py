#!/usr/bin/env python3
"""The examples in C and C++ with compiled models: built with the commands of their README, against libcameo.so and
against a library that holds the model; on the simulator and on the fake CUDA driver."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shlex
import shutil
import sys

import onnx

import harness
import small_models
from cuda_artefacts import references
from payload import Payload

LOG = r"""error: cannot open 'none': No such file or directory
caught: cannot open 'none': No such file or directory
info: model\.plan: simulator image for sm_80 and \d+ bytes of weights loaded in [\d.]+ ms, on simulator \(1 thread\)
debug: '\w+' is prepared for 'image': 2x1x28x28xf32: \d+ launches, \d+ bytes of intermediate values
(debug: \d+ bytes of device memory for [\w ]+
)+caught: notify: there is no function to call
by default
info: model\.plan: simulator image .*
without
"""
EXAMPLE = harness.SOURCE / "examples" / "embed"
SECONDS = 120


def readme_commands(program):
    """The README's lines that begin with `program`."""
    text = (EXAMPLE / "README.md").read_text()
    return [line for _, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
            for line in block.splitlines() if line.startswith(program)]


class Embedding:
    def __init__(self, options):
        self.suite = harness.Suite("embedding", options.build.resolve())
        self.folder = self.suite.work
        # The README's commands are given in the repository's root; here is a folder like it.
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        for name in ("runtime", "examples"):
            (self.folder / name).symlink_to(harness.SOURCE / name)
        (self.folder / "build").symlink_to(self.suite.build)

    def step(self, case, command, code=0, **arguments):
        """Runs a command in the folder; None where it ends otherwise than with `code`."""
        step = harness.run(command, SECONDS, cwd=self.folder, **arguments)
        if step.code == code:
            return step
        self.suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", step)
        return None

    def shell(self, case, line):
        """A line of the README, by the shell; `cc` is the compiler that is sure to be here, and
        warnings are errors."""
        if line.startswith("cc "):
            line = f"clang-19{line[2:]} -std=c99 -Wall -Wextra -Werror -pedantic"
        if line.startswith("c++ "):
            line = f"clang++-19{line[3:]} -Wall -Wextra -Werror -pedantic"
        return self.step(case, ["sh", "-c", line])

    def expect(self, case, command, text, env=None):
        step = self.step(case, command, env=env)
        if step and step.output != text:
            self.suite.fail(case, f"printed {step.output!r}, not {text!r}", step)
        elif step:
            self.suite.ok(case)

    def check_log(self, compile_threads, image_bytes):
        """A logger in C++."""
        source = harness.SOURCE / "test" / "e2e" / "log_checks.cpp"
        line = compile_threads.replace("examples/embed/threads.cpp -o threads", f"{source} -o log_checks")
        if self.shell("c++-log", line) and (step := self.step("log", ["./log_checks", "model.plan", str(image_bytes)])):
            if re.fullmatch(LOG, step.output):
                self.suite.ok("log")
            else:
                self.suite.fail("log", f"printed {step.output!r}", step)

    def check_unloading(self):
        """Libraries that are loaded and unloaded many times leave nothing behind, but what the C library keeps of threads that
        have ended, which does not grow for long."""
        source = harness.SOURCE / "test" / "e2e" / "unload_checks.c"
        if not self.step("cc-unload", ["clang-19", "-Wall", "-Wextra", "-Werror", f"-I{harness.SOURCE / 'runtime'}", source,
                                       "-o", "unload_checks", "-ldl"]):
            return
        for library in ("build/lib/libcameo.so", "./libmodel.so"):
            step = self.step(f"unload-{library}", ["./unload_checks", library, "model.plan", "N=1"])
            if step and (match := re.fullmatch(r"(\d+) bytes a cycle\n", step.output)) and int(match[1]) < 4096:
                self.suite.ok(f"unload-{library}")
            elif step:
                self.suite.fail(f"unload-{library}", f"printed {step.output!r}", step)

    def refuse(self, case, command, text):
        step = self.step(case, command, code=1)
        if step and (text not in step.output or len(step.output.splitlines()) != 1):
            self.suite.fail(case, f"printed {step.output!r}, not {text!r}", step)
        elif step:
            self.suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    tests = Embedding(options)
    suite = tests.suite
    model = small_models.fashion()
    onnx.save(model.model, tests.folder / "model.onnx")
    images = model.feeds[1]["image"]
    images.tofile(tests.folder / "image.raw")
    images[:1].tofile(tests.folder / "one.raw")
    logits = references(model.model, {"image": images})["logits"]
    classes = " ".join(map(str, logits.argmax(1)))
    expected = f"logits: {len(images)} 10 f32, largest at {classes}\n"

    against_runtime, against_model = readme_commands("cc ")
    compile_library, = readme_commands("build/bin/cameoc ")
    run_file, run_self = (shlex.split(line) for line in readme_commands("./classify "))
    size = next(word for word in run_file if "=" in word)
    run_file[run_file.index(size)] = run_self[run_self.index(size)] = f"N={len(images)}"
    fake = {**os.environ, "LD_LIBRARY_PATH": str(suite.build / "fakecuda"),
            "FAKECUDA_ARTEFACT": str(tests.folder / "model")}

    compiled = [tests.step(f"compile-{kind}", [suite.tool("cameoc"), "model.onnx", "-o", name,
                                               f"--emit={kind}"])
                for kind, name in (("exe", "model"), ("plan", "model.plan"))]
    compiled.append(tests.shell("compile-lib", compile_library))
    if None in compiled:
        return suite.close()

    if tests.shell("cc-runtime", against_runtime):
        for name in ("model", "libmodel.so", "model.plan"):
            command = [name if word == "model" else word for word in run_file]
            tests.expect(f"{name}-sim", command, expected)
            command[command.index("sim")] = "cuda"
            tests.expect(f"{name}-cuda", command, expected, fake)
        tests.refuse("no-size", run_file[:-1], "input 'image' has open sizes; give N=SIZE")
        tests.refuse("small-input", [*run_file[:3], "one.raw", run_file[-1]],
                     "bytes are bound, its shape needs")
        tests.refuse("no-model", [*run_file[:2], "none", *run_file[3:]], "cannot open")
        plan = Payload(tests.folder / "model.plan")
        weights, = plan.of_kind("weights")
        damaged = bytearray(plan.data)
        damaged[weights.offset] ^= 1
        (tests.folder / "damaged.plan").write_bytes(damaged)
        tests.refuse("damaged", [*run_file[:2], "damaged.plan", *run_file[3:]],
                     "damaged.plan: damaged model file: the hash of weight chunk 0")
        tests.refuse("no-payload", [*run_file[:2], "image.raw", *run_file[3:]], "image.raw")
        tests.refuse("self-without-model", [*run_file[:2], "self", *run_file[3:]],
                     "not a model file")
    against_cpp, = readme_commands("c++ ")
    if tests.shell("c++-runtime", against_cpp):
        run_threads, = (shlex.split(line) for line in readme_commands("./threads "))
        both = f"logits: {classes}\n" * 2
        tests.expect("threads-sim", run_threads, both)
        tests.expect("threads-cuda", [run_threads[0], "cuda", *run_threads[2:]], both, fake)
        tests.refuse("threads-no-model", [*run_threads[:2], "none", *run_threads[3:]],
                     "not found: cannot open 'none'")
        tests.refuse("threads-no-payload", [*run_threads[:2], "image.raw", *run_threads[3:]],
                     "not a model: image.raw: not a model file")
    tests.check_log(against_cpp, images[0].nbytes)
    tests.shell("c++-20", against_cpp.replace("-std=c++17", "-std=c++20"))
    tests.check_unloading()
    os.remove(tests.folder / "classify")
    if tests.shell("cc-model", against_model):
        tests.expect("self-sim", run_self, expected)
        tests.expect("self-cuda", ["./classify", "cuda", *run_self[2:]], expected, fake)
        # One library serves other files too.
        tests.expect("self-loads-plan", ["./classify", "sim", "model.plan", *run_self[3:]],
                     expected)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
