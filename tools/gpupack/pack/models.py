"""Cases that run a model's own executable: results, and compute-sanitizer's."""
# SPDX-License-Identifier: Apache-2.0
import re

import process
import tensors
from results import Result

SECONDS, SANITIZER_SECONDS = 90, 90
RUNS = 20  # of which each must give the same bits
SECONDS_TO_SAY = 5  # a program's own time limit is so much less than its process's
SANITIZER_FAILED = 86  # as an exit code of its own, to tell findings from failures of the model
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


class ModelCase:
    """One command, and what is said of how it ended."""
    limit = SECONDS

    def __init__(self, pack, name, model):
        self.pack, self.name, self.model = pack, name, model

    def names(self):
        return [self.name]

    def arguments(self, feed):
        words = [f"--input={key}=@{self.pack.folder / file}" for key, file in feed["inputs"].items()]
        return ["--device=cuda", *words]

    def run(self, seconds):
        command = self.command()
        if "--timeout" in self.pack.about["options"]:
            # The program knows which kernel it waits for.
            command.append(f"--timeout={max(seconds - SECONDS_TO_SAY, seconds / 2):.1f}")
        ended = process.run(command, seconds, env=self.pack.environment_for(self.model))
        status, message, data = ended.status(), ended.how(), {}
        if status == "fail" and "error: not done after " in ended.output:
            status, message = "timeout", ended.first_error()
        elif status == "fail":
            message = f"{ended.how()}: {ended.first_error()}"
        elif status == "pass":
            status, message, data = self.judge(ended)
        return [Result(self.name, status, ended.seconds, message, ended.output, data)], []


class Correct(ModelCase):
    """Outputs against ONNX Runtime's, and bit by bit against the simulator's where kernels call no
    function of libdevice; `way` is "cubin" or "ptx"."""

    def __init__(self, pack, name, model, way, number):
        super().__init__(pack, name, model)
        self.way, self.feed = way, model["feeds"][number]
        self.archive = pack.scratch / (name.replace("/", "-") + ".npz")

    def command(self):
        own = self.model["files"].get(self.way)
        more = [] if own else [f"--arch={self.pack.about['ptx']}"]
        if "--runs" in self.pack.about["options"]:  # the later ones are replays
            more.append(f"--runs={3 if self.pack.dry else RUNS}")
        return [self.pack.folder / (own or self.model["files"]["cubin"]),
                *self.arguments(self.feed), *more, f"--output=@{self.archive}"]

    def judge(self, ended):
        code = re.search(r"running on .*: (\w+) for (sm_\w+)", ended.output)
        if not code:
            return "fail", "does not say which code runs", {}
        kind, architecture = code[1], code[2]
        if kind != self.way:
            if self.way == "cubin" and self.pack.machine.architecture >= (10, 0):
                return "skip", "the pack has no cubin for this GPU", {}
            return "fail", f"{kind} for {architecture} ran, not the {self.way}", {}
        actual = tensors.read_npz(self.archive)
        expected = tensors.read_npz(self.pack.folder / self.feed["expected"])
        for name, value in expected.items():
            if name.endswith(":error"):
                continue
            if name not in actual:
                return "fail", f"no output {name}", {}
            errors = expected.get(f"{name}:error")
            if errors and (reason := tensors.farther(actual[name], value, errors)):
                return "fail", f"against sums in double precision: {name}: {reason}", {}
            if not errors and (reason := tensors.differs(actual[name], value,
                                                         self.model["tolerance"])):
                return "fail", f"against ONNX Runtime: {name}: {reason}", {}
        return self.judge_bits(actual, kind, architecture)

    def judge_bits(self, actual, kind, architecture):
        words = f"{kind} for {architecture}; as it should be"
        if not self.model["exact"]:
            return "pass", f"{words}; all outputs depend on the machine, no bits compared", {}
        stored = self.feed["simulated"].get(architecture)
        if not stored:
            return "fail", f"no simulator's outputs for {architecture} in the pack", {}
        simulated = tensors.read_npz(self.pack.folder / stored)
        for name in self.model["exact"]:
            if reason := tensors.differs_in_bits(actual[name], simulated[name]):
                return "fail", f"against the simulator: {name}: {reason}", {}
        count = f"{len(self.model['exact'])} of {len(actual)} outputs"
        return "pass", f"{words}; bits of {count} as the simulator's", {}


class Sanitized(ModelCase):
    limit = SANITIZER_SECONDS

    def __init__(self, pack, name, model, tool):
        super().__init__(pack, name, model)
        self.tool = tool

    def command(self):
        # Cameo asks the driver of pointers that may not be the driver's: its refusal is an answer.
        more = ["--report-api-errors=no"] if self.tool == "memcheck" else []
        return [self.pack.machine.sanitizer, f"--tool={self.tool}",
                f"--error-exitcode={SANITIZER_FAILED}", "--print-limit=20",
                *more,
                self.pack.folder / self.model["files"]["cubin"],
                *self.arguments(self.model["feeds"][0])]

    def run(self, seconds):
        results, more = super().run(seconds)
        for result in results:
            if result.status != "fail":
                continue
            if "Device not supported" in result.log:
                result.status, result.message = "skip", "compute-sanitizer: Device not supported"
            elif found := re.search(r"^=+ ((?!COMPUTE-SANITIZER).+)$", result.log, re.MULTILINE):
                result.message = found[1].strip()
        return results, more

    def judge(self, ended):
        summary = re.search(r"(?:ERROR|RACECHECK) SUMMARY: .*", ended.output)
        if not summary:
            return "fail", "compute-sanitizer gives no summary", {}
        return "pass", summary[0], {}
