"""Cases that measure: a model's own benchmark, and the times of its kernels."""
# SPDX-License-Identifier: Apache-2.0
import json
import re

from models import ModelCase

BENCHMARK_SECONDS = 60
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
        column = "cameo" if self.transfers else "cameo, no transfers"
        work = self.model.get("gflop", 0)
        rate = f", {work / median:.2f} TFLOP/s" if work and median else ""
        return "pass", f"median {median:.4f} ms of computation{rate}", {
            "milliseconds": {column: median}, "benchmark": data}


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
