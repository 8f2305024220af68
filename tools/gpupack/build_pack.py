"""Compiles a pack's models and instruction tests, and computes what they should give."""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import shutil

import numpy
import onnx
import onnxruntime

import harness
import payload

SECONDS = 1800
TARGET = "sm_75,sm_80,sm_90a,ptx,sim:sm_80"
SMALL_TARGET = "sm_80,ptx,sim:sm_80"
PTX, PTX_TARGET = "sm_80", "ptx,sim:sm_80"  # PTX for the same architecture as in TARGET
INSTRUCTION_ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a")
SMALL_INSTRUCTION_ARCHITECTURES = ("sm_80",)
# What the fake driver is taken for, and the simulator image of all instruction tests.
DRY_GPU, DRY_INSTRUCTIONS = "8.0", "sm_90a"
# Functions whose bits are the machine's: libdevice's, and the approximate instructions.
INEXACT = re.compile(r"@__nv_|\.approx\b|_approx")


class Failed(Exception):
    """A step of the making went wrong."""


def run(command, **arguments):
    step = harness.run(command, SECONDS, **arguments)
    if step.code:
        raise Failed(f"{step.text()}")
    return step.output


class Builder:
    def __init__(self, tools, work, content, small):
        self.tools, self.work, self.content, self.small = tools, work, content, small
        self.target = SMALL_TARGET if small else TARGET
        for folder in ("models", "data", "bin", "instructions", "dry"):
            (content / folder).mkdir(parents=True)
        work.mkdir(parents=True, exist_ok=True)

    def compile(self, source, result, target, *more):
        run([self.tools / "bin" / "cameoc", source, "-o", result, f"--target={target}", "-j1", *more])

    def model(self, entry):
        """Compiles one; its line of the pack's table of contents."""
        model, feeds, expected = entry.make()
        for number, node in enumerate(model.graph.node):
            node.name = node.name or f"{node.op_type}_{number}"
        source = self.work / f"{entry.name}.onnx"
        onnx.save(model, source)
        files = {"cubin": f"models/{entry.name}"}
        self.compile(source, self.content / files["cubin"], entry.target or self.target)
        if entry.ptx:
            files["ptx"] = f"models/{entry.name}-ptx"
            self.compile(source, self.content / files["ptx"], PTX_TARGET)
        exact = self.exact_outputs(entry, model, source) if feeds and entry.kind != "helper" else []
        simulator = self.simulator(entry, source) if exact else None
        lines = []
        for number, feed in enumerate([] if entry.kind in ("helper", "benchmark") else feeds):
            lines.append(self.feed(entry, model, number, feed, expected and expected[number],
                                   simulator))
        return {"name": entry.name, "kind": entry.kind, "files": files, "feeds": lines,
                "exact": exact, "tolerance": entry.tolerance, "sanitize": entry.sanitize,
                "benchmark": entry.benchmark, "shapes": entry.shapes, "torch": entry.torch,
                "gflop": entry.gflop}

    def feed(self, entry, model, number, feed, expected, simulator):
        """Writes one set of inputs, and what it should give."""
        start = f"data/{entry.name}.{number}"
        inputs = {}
        for position, (name, array) in enumerate(feed.items()):
            inputs[name] = f"{start}.{position}.npy"
            numpy.save(self.content / inputs[name], array)
        if expected is None:
            session = onnxruntime.InferenceSession(model.SerializeToString())
            names = [output.name for output in session.get_outputs()]
            expected = dict(zip(names, session.run(names, feed)))
        numpy.savez(self.content / f"{start}.expected.npz", **expected)
        simulated = {}
        for architecture in simulator[1] if simulator else ():
            simulated[architecture] = f"{start}.{architecture}.npz"
            run([simulator[0], "--device=sim", f"--arch={architecture}",
                 *(f"--input={key}=@{self.content / file}" for key, file in inputs.items()),
                 f"--output=@{self.content / simulated[architecture]}"])
        return {"inputs": inputs, "expected": f"{start}.expected.npz", "simulated": simulated}

    def simulator(self, entry, source):
        """An artefact with simulator images alone, and their architectures."""
        architectures = [word for word in self.target.split(",") if word.startswith("sm_")]
        artefact = self.work / f"{entry.name}.sim"
        self.compile(source, artefact, ",".join(f"sim:{name}" for name in architectures))
        return artefact, architectures

    def exact_outputs(self, entry, model, source):
        """Outputs that no kernel with a function of libdevice has a part in: their bits are the same
        on every machine, the simulator included."""
        device = self.work / f"{entry.name}.mlir"
        self.compile(source, device, "sim:sm_80", "--stop-after=device")
        kernels = payload.Payload(self.content / "models" / entry.name).kernels(0)
        nodes, kernel = set(), None
        for line in device.read_text().splitlines():
            if found := re.search(r"llvm\.func @(\w+)\(", line):
                kernel = found[1] if found[1] in kernels else None
            elif INEXACT.search(line):
                if not kernel:  # a function that any kernel may call
                    return []
                nodes.update(kernels[kernel].nodes.split(","))
        device.unlink()
        if not nodes <= {node.name for node in model.graph.node}:
            return []
        inexact = set()
        for node in model.graph.node:
            if node.name in nodes or inexact.intersection(node.input):
                inexact.update(node.output)
        return [output.name for output in model.graph.output if output.name not in inexact]

    def instructions(self, architecture):
        """Cubin and names of the tests that the architecture has."""
        program = self.tools / "bin" / "cameo-instructions"
        source = self.work / f"{architecture}.mlir"
        source.write_text(run([program, f"--print-kernels={architecture}"]))
        names = run([program, "--list", f"--arch={architecture}"]).split()
        cubin = f"instructions/{architecture}.cubin"
        made = {"names": names}
        if not self.small or architecture in SMALL_INSTRUCTION_ARCHITECTURES:
            run([self.tools / "bin" / "cameo-translate", "--kernel-to-cubin",
                 f"--arch={architecture}", source, "-o", self.content / cubin])
            made["cubin"] = cubin
        if architecture == DRY_INSTRUCTIONS:
            made["simulated"] = f"instructions/{architecture}.so"
            run([self.tools / "bin" / "cameo-translate", "--kernel-to-sim-image",
                 f"--arch={architecture}", source, "-o", self.content / made["simulated"]])
        return architecture, made

    def programs(self):
        """What is not specific to a model."""
        for file in ("bin/cameo-instructions", "lib/libcameo.so", "fakecuda/libcuda.so.1"):
            folder = "dry" if "fakecuda" in file else "bin"
            shutil.copy(self.tools / file, self.content / folder)

    def write_contents(self, models, instructions, made):
        help_text = run([self.content / models[0]["files"]["cubin"], "--help"])
        contents = {"made": made, "options": re.findall(r"(?<!\S)--\w+", help_text),
                    "models": models, "instructions": dict(instructions),
                    "ptx": PTX,
                    "dry": {"gpu": DRY_GPU, "instructions": DRY_INSTRUCTIONS}}
        (self.content / "pack.json").write_text(json.dumps(contents, indent=1))
