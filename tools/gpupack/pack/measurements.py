"""Cases that measure: a model's own benchmark, and the times of its kernels."""
# SPDX-License-Identifier: Apache-2.0
import json
import re

import sys

import process
from models import ModelCase
from results import Result

BENCHMARK_SECONDS, BESIDE_SECONDS = 60, 400
MOST_SIMULATED = 5  # GFLOP
KERNELS = 15  # that a profile's result names


class Benchmark(ModelCase):
    limit = BENCHMARK_SECONDS

    def __init__(self, pack, name, model, transfers):
        super().__init__(pack, name, model)
        self.transfers = transfers

    def command(self):
        amounts = (["--warmUp=0", "--duration=0", "--iterations=3"] if self.pack.dry
                   else ["--warmUp=300", "--duration=1"])
        return [self.pack.folder / self.model["files"]["cubin"], "--device=cuda",
                "--benchmark=json", *amounts,
                *([] if self.transfers else ["--noDataTransfers"]),
                *([f"--shapes={self.model['shapes']}"] if self.model["shapes"] else [])]

    def judge(self, ended):
        found = re.search(r"^\{.*", ended.output, re.MULTILINE | re.DOTALL)
        try:
            data, _ = json.JSONDecoder().raw_decode(found[0])
            median = data["compute_ms"]["median"]
        except (TypeError, ValueError, KeyError) as error:
            return "fail", f"no figures in the output ({type(error).__name__}: {error})", {}
        column = "with transfers" if self.transfers else "executable"
        return "pass", f"median {median:.4f} ms of computation", {
            "milliseconds": {column: median}, "benchmark": data}


class Beside:
    """Rows of work by us and by torch, by one process: starting torch takes longer than most rows. What
    ends the process costs its row alone."""
    limit = BESIDE_SECONDS

    def __init__(self, pack, models):
        self.pack, self.models = pack, models

    def names(self):
        return [f"beside/{model['benchmark']}" for model in self.models]

    def run(self, seconds):
        rows = [{"name": model["benchmark"], "file": model["files"]["cubin"],
                 "shapes": sizes(model["shapes"]), "torch": model["torch"]}
                for model in self.models]
        ended = process.run([sys.executable, self.pack.source / "beside.py", self.pack.folder,
                             json.dumps(rows)], seconds, env=self.pack.environment_for(*self.models))
        results = []
        for model, text in zip(self.models, re.findall(r'^\{"name".*$', ended.output, re.MULTILINE)):
            line = json.loads(text)
            line.update(self.foreseen(model))
            message = ", ".join(f"{column} {value:.4f} ms{rate(model['gflop'], value)}"
                                for column, value in line["milliseconds"].items())
            if "skipped" in line:
                message += f"; no torch: {line['skipped']}"
            results.append(Result(f"beside/{model['benchmark']}", "pass", message=message, data=line))
        if len(results) == len(self.models):
            return results, []
        status = ended.status()
        results.append(Result(self.names()[len(results)], "fail" if status == "pass" else status,
                              ended.seconds, f"{ended.how()}: {ended.last_line()}", ended.output))
        rest = self.models[len(results):]
        return results, [Beside(self.pack, rest)] if rest else []

    def foreseen(self, model):
        """The compiler's estimate for the architecture whose code runs."""
        fitting = [name for name in model["estimates_us"] if self.pack.machine.takes(name.split(":")[0])]
        found = {"gflop": model["gflop"]} if model["gflop"] else {}
        if fitting:
            architecture = fitting[-1].split(":")[0]
            found = {"estimate_us": model["estimates_us"][fitting[-1]],
                     "board": self.pack.about["boards"].get(architecture, ""), **found}
        return found


def sizes(text):
    """{"x": [8, 128]} of "x:8x128"; several are separated by commas."""
    return {name: [int(size) for size in dims.split("x")]
            for name, _, dims in (part.rpartition(":") for part in text.split(",") if part)}


def rate(gflop, milliseconds):
    return f" ({gflop / milliseconds:.1f} TFLOP/s)" if gflop and milliseconds else ""


class Profile(ModelCase):
    """Which kernels take the time: kept in the results, for reading."""
    limit = BENCHMARK_SECONDS

    def __init__(self, pack, name, model):
        super().__init__(pack, name, model)
        self.trace = pack.scratch / (name.replace("/", "-") + ".json")

    def command(self):
        return [self.pack.folder / self.model["files"]["cubin"], "--device=cuda",
                f"--profile={self.trace}",
                *([f"--shapes={self.model['shapes']}"] if self.model["shapes"] else [])]

    def judge(self, ended):
        trace = json.loads(self.trace.read_text())
        launches = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        if not launches:
            return "fail", "no launch in the trace", {}
        total = sum(event["dur"] for event in launches)
        longest = sorted(launches, key=lambda event: -event["dur"])[:KERNELS]
        return "pass", f"{len(launches)} launches, {total:.1f} us in kernels", {
            "about": trace.get("otherData", {}), "launches": len(launches), "microseconds": total,
            "longest": [{"kernel": event["name"], "microseconds": event["dur"],
                         "grid": event["args"]["grid"], "block": event["args"]["block"]}
                        for event in longest]}
