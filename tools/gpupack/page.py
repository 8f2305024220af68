#!/usr/bin/env python3
"""Writes a page of what a pack's run on a GPU has found.

    tools/gpupack/page.py RESULTS.json... PAGE.md

Of several runs, whose packs had other models, each case is taken from the first that has it.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys
from pathlib import Path

HEAD = """# Measured on {gpu}

What `tools/gpu-pack`'s `run` found there: [gpu-pack.md](../gpu-pack.md) says how it measures. Written on {date} by

```sh
tools/gpupack/page.py results.json... docs/bench/{name}
```

{machine}

{counts}
"""


def microseconds(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def ratio(ours, theirs):
    return f"{ours / theirs:.2f}" if theirs else "-"


class Page:
    def __init__(self, results):
        self.results = results
        self.rows = {}  # label: data
        self.tried = {}  # label: [data], in the estimate's order
        for case in results["cases"]:
            if not case["name"].startswith("beside/") or case["status"] != "pass":
                continue
            label = case["name"].removeprefix("beside/")
            if found := re.fullmatch(r"(.*)-schedule-(\d+)", label):
                self.tried.setdefault(found[1], {})[int(found[2])] = case["data"]
            else:
                self.rows[label] = case["data"]

    def counts(self):
        kinds = dict.fromkeys(case["name"].split("/")[0] for case in self.results["cases"])
        lines = ["| | passed | failed | skipped |", "|---|---:|---:|---:|"]
        for kind in kinds:
            states = [case["status"] for case in self.results["cases"]
                      if case["name"].split("/")[0] == kind]
            passed, skipped = states.count("pass"), states.count("skip")
            lines.append(f"| {kind} | {passed} | {len(states) - passed - skipped} | {skipped} |")
        bad = [f"- `{case['name']}`: {case['message']}" for case in self.results["cases"]
               if case["status"] not in ("pass", "skip")]
        return "\n".join([*lines, *(["", "What did not pass:", "", *bad] if bad else [])])

    def beside(self, title, words, pattern):
        chosen = {label: data for label, data in self.rows.items() if re.match(pattern, label)}
        lines = ["", f"## {title}", "", words, "",
                 "| | Cameo, us | TFLOP/s | torch, us | Cameo / torch | estimate, us |",
                 "|---|---:|---:|---:|---:|---:|"]
        for label, data in sorted(chosen.items(), key=lambda item: natural(item[0])):
            ours = data["milliseconds"]["cameo"] * 1000
            theirs = data["milliseconds"].get("torch", 0) * 1000
            rate = f"{data['gflop'] / ours * 1000:.0f}" if data.get("gflop") else "-"
            estimate = microseconds(data["estimate_us"]) if "estimate_us" in data else "-"
            lines.append(f"| {label} | {microseconds(ours)} | {rate} | "
                         f"{microseconds(theirs) if theirs else '-'} | {ratio(ours, theirs)} | "
                         f"{estimate} |")
        return lines

    def schedules(self):
        lines = ["", "## The estimate's choices", "",
                 "Of the schedules that the estimate puts first, the one that it chooses and the one "
                 "that was fastest: *lost* is how much longer the choice took.", "",
                 "| | chosen | estimate, us | measured, us | fastest | measured, us | lost |",
                 "|---|---|---:|---:|---|---:|---:|"]
        for label, tried in sorted(self.tried.items(), key=lambda item: natural(item[0])):
            times = {number: data["milliseconds"]["cameo"] * 1000 for number, data in tried.items()}
            best = min(times, key=times.get)
            lines.append(f"| {label} | {tile(tried[0]['schedule'])} | "
                         f"{microseconds(tried[0]['estimate_us'])} | {microseconds(times[0])} | "
                         f"{tile(tried[best]['schedule'])} | {microseconds(times[best])} | "
                         f"{100 * (times[0] / times[best] - 1):.0f} % |")
        return lines


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def tile(schedule):
    size = re.search(r"tile = array<i64: ([\d, ]+)>", schedule)
    return size[1].replace(", ", "x") if size else re.match(r'#kernel.schedule<"(\w+)"', schedule)[1]


def main():
    runs = [json.loads(Path(name).read_text()) for name in sys.argv[1:-1]]
    page = Path(sys.argv[-1])
    cases = {case["name"]: case for run in reversed(runs) for case in run["cases"]}
    made = Page({**runs[0], "cases": list(cases.values())})
    facts = made.results["machine"]
    machine = "\n".join(f"- {key}: {facts[key]}" for key in ("GPU", "driver", "nvidia-smi", "torch"))
    date = made.results["pack"].split(", ")[-1].split(" ")[0]
    text = [HEAD.format(gpu=facts["GPU"].split(",")[0], date=date, name=page.name, machine=machine,
                        counts=made.counts()).rstrip()]
    text += made.beside("Products", "`gemm-MxKxN-type`: both operands are inputs, rows first. torch's are "
                        "cuBLAS's, of INT8 with the second operand transposed, as it wants it.", "gemm-")
    text += made.beside("Convolutions", "`conv-BATCHxCHANNELSxSIZE-FILTERS-kKERNELsSTRIDEgGROUPS-type`. FP32 "
                        "images as ONNX has them, others with channels innermost, of both; torch's are "
                        "cuDNN's, the fastest of those that it tries.", "conv-")
    text += made.beside("Networks", "Batch 1 and no open sizes where torch has them, else any size. torch: "
                        "batch-norms folded, a CUDA graph, FP16 with channels innermost; its encoder is "
                        "`torch.nn.TransformerEncoder`.", "(?!gemm-|conv-)")
    if made.tried:
        text += made.schedules()
    page.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
