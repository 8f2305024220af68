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

SECONDS, BUNDLE_SECONDS = 1800, 10800
TARGET = "sm_75,sm_80,sm_90a"
SMALL_TARGET = "sm_80"
BESIDES = ",ptx,sim:sm_80"  # of all but what is only measured
PTX = "sm_80"  # of TARGET
INSTRUCTION_ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a")
SMALL_INSTRUCTION_ARCHITECTURES = ("sm_80",)
# What the fake driver is taken for, and the simulator image of all instruction tests.
DRY_GPU, DRY_INSTRUCTIONS = "8.0", "sm_90a"
# Functions whose bits are the machine's: libdevice's, and the approximate instructions.
# Products of floats on Tensor Cores are summed in the machine's own order.
INEXACT = re.compile(r"@__nv_|\.approx\b|_approx|mma_sync_\w*_f(16|32)|mma\.sync.*f(16|32)")


# What each pack has, and of a pack in parts the first: the models that the C interface is tried with.
ALWAYS = ("layers", "fashion", "outer", "shapes", "layers-sm_75", "layers-sm_90a")


class Failed(Exception):
    """A step of the making went wrong."""


def architecture_of(target):
    """"sm_90a" of "sm_90a:h200"."""
    return target.partition(":")[0]


def run(command, seconds=SECONDS):
    step = harness.run(command, seconds)
    if step.code:
        raise Failed(f"{step.text()}")
    return step.output


class Builder:
    """`targets`: those of cubins, separated by commas, such as "sm_80,sm_90a:h200"."""

    def __init__(self, tools, work, content, small, targets=""):
        self.tools, self.work, self.content, self.small = tools, work, content, small
        self.targets = targets or (SMALL_TARGET if small else TARGET)
        # PTX, and the simulator's bits, are of the same kernels: of the same board.
        self.by_architecture = {architecture_of(target): target
                                for target in [PTX, *self.targets.split(",")]}
        self.boards = {}  # by architecture: what schedules are chosen for and estimates are of
        for folder in ("models", "data", "bin", "instructions", "dry"):
            (content / folder).mkdir(parents=True)
        work.mkdir(parents=True, exist_ok=True)

    def compile(self, source, result, target, *more):
        """What is estimated for its targets: board, and microseconds."""
        report = self.work / f"{result.name}.report.json"
        run([self.tools / "bin" / "cameoc", source, "-o", result, f"--target={target}", "-j1",
             f"--report={report}", *more])
        return {variant["target"]: variant["estimate"]
                for variant in json.loads(report.read_text())["variants"]}

    def source(self, entry):
        """(model, feeds, expected values, file, cameoc's options) of one."""
        model, feeds, expected = entry.make()
        for number, node in enumerate(model.graph.node):
            node.name = node.name or f"{node.op_type}_{number}"
        source = self.work / f"{entry.name}.onnx"
        onnx.save(model, source)
        options = [*entry.options]
        if entry.calibrated:
            data = self.work / f"{entry.name}.npz"
            numpy.savez(data, **feeds[0])
            options += [f"--calibration-data={data}", "--calibration-batch=1"]
        return model, feeds, expected, source, options

    def bundle(self, entry):
        """Makes one of the newest target's schedules; its line of the pack's table of contents."""
        *_, source, options = self.source(entry)
        target = self.targets.split(",")[-1]
        architecture = architecture_of(target)
        # The fake driver computes by the simulator's code.
        simulated = self.small and architecture == PTX
        file = f"models/{entry.name}"
        run([self.tools / "bin" / "cameoc", source, "-o", self.content / file, "--emit=tuning",
             f"--target={target}{f',sim:{target}' if simulated else ''}", "-j1", *options],
            BUNDLE_SECONDS)
        rows = [line.split() for line in run([self.content / file, "--list"]).splitlines()[1:]]
        schedules = [int(row[2]) for row in rows if not row[0].startswith("sim:")]
        return {"name": entry.name, "kind": entry.kind, "files": {"bundle": file}, "feeds": [],
                "exact": [], "architecture": architecture, "simulated": simulated,
                "kernels": len(schedules), "schedules": sum(schedules)}

    def model(self, entry):
        """Compiles one; its line of the pack's table of contents."""
        model, feeds, expected, source, options = self.source(entry)
        files = {"cubin": f"models/{entry.name}"}
        target = entry.target or self.targets + (
            "" if entry.kind == "benchmark" and not self.small else BESIDES)
        estimates = self.compile(source, self.content / files["cubin"], target, *options)
        if not entry.target:
            self.boards.update((architecture_of(target), estimate["board"])
                               for target, estimate in estimates.items())
        if entry.ptx:
            files["ptx"] = f"models/{entry.name}-ptx"
            self.compile(source, self.content / files["ptx"],
                         f"ptx,sim:{self.by_architecture[PTX]}", *options)
        exact = (self.exact_outputs(entry, model, source, options)
                 if feeds and entry.kind != "helper" else [])
        simulator = self.simulator(entry, source, options) if exact else None
        lines = []
        for number, feed in enumerate([] if entry.kind in ("helper", "benchmark") else feeds):
            lines.append(self.feed(entry, model, number, feed, expected and expected[number],
                                   simulator))
        return {"name": entry.name, "kind": entry.kind, "files": files, "feeds": lines,
                "exact": exact, "tolerance": entry.tolerance, "sanitize": entry.sanitize,
                "benchmark": entry.benchmark, "shapes": entry.shapes, "torch": entry.torch,
                "gflop": entry.gflop, "estimates_us": {
                    target: estimate["microseconds"] for target, estimate in estimates.items()}}

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

    def simulator(self, entry, source, options):
        """An artefact with simulator images alone, and their architectures."""
        targets = self.by_architecture
        artefact = self.work / f"{entry.name}.sim"
        self.compile(source, artefact, ",".join(f"sim:{target}" for target in targets.values()),
                     *options)
        return artefact, sorted(targets)

    def exact_outputs(self, entry, model, source, options):
        """Outputs that no kernel with a function of libdevice, or with floats on Tensor Cores, has a
        part in: their bits are the same on every machine, the simulator included."""
        device = self.work / f"{entry.name}.mlir"
        run([self.tools / "bin" / "cameoc", source, "-o", device,
             f"--target=sim:{self.by_architecture[PTX]}", "--stop-after=device", *options])
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

    def close(self, models, instructions, made):
        """All that parts are made of: the table's lines of models, tests of instructions, and what the
        pack says of itself."""
        help_text = run([self.content / models[0]["files"]["cubin"], "--help"])
        self.models = models
        self.sizes = {model["name"]: sum((self.content / file).stat().st_size
                                         for file in self.files(model)) for model in models}
        own = map(architecture_of, self.targets.split(","))
        self.about = {"made": made, "boards": {name: self.boards[name] for name in own},
                      "options": re.findall(r"(?<!\S)--\w+", help_text),
                      "instructions": dict(instructions), "ptx": PTX,
                      "dry": {"gpu": DRY_GPU, "instructions": DRY_INSTRUCTIONS}}

    def files(self, model):
        """Those of one line, relative to the content."""
        made = [*model["files"].values()]
        for feed in model["feeds"]:
            made += [*feed["inputs"].values(), feed["expected"], *feed["simulated"].values()]
        return made

    def parts(self, count):
        """The models of so many parts, or fewer: shares of about the same size, in the table's order."""
        total = sum(self.sizes[model["name"]] for model in self.models)
        shares, before = [[] for _ in range(count)], 0
        for model in self.models:
            always = model["name"] in ALWAYS
            shares[0 if always else int(count * before / total)].append(model)
            before += self.sizes[model["name"]]
        return [share for share in shares if share]

    @staticmethod
    def can_split(models, is_first):
        """Whether a part could have fewer models."""
        return sum(model["name"] not in ALWAYS for model in models) > (0 if is_first else 1)

    def correct_sizes(self, models, size):
        """What models take together, compressed, is known by now: some compress better than others."""
        factor = size / sum(self.sizes[model["name"]] for model in models)
        for model in models:
            self.sizes[model["name"]] *= factor

    def write_contents(self, models, is_first):
        """A part's table of contents; all its files, relative to the content."""
        contents = {**self.about, "models": [model for model in models if model["kind"] != "tuning"],
                    "bundles": [model for model in models if model["kind"] == "tuning"]}
        folders = ["bin", "dry"]
        if is_first:
            folders.append("instructions")
        else:
            contents["instructions"] = None
        (self.content / "pack.json").write_text(json.dumps(contents, indent=1))
        programs = [path.relative_to(self.content) for folder in folders
                    for path in (self.content / folder).iterdir()]
        return dict.fromkeys(map(str, ["pack.json", *programs, *(
            file for model in models for file in self.files(model))]))
