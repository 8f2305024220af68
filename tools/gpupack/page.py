#!/usr/bin/env python3
"""Writes a page of what a pack's run on a GPU has found.

    tools/gpupack/page.py [--raw] RESULTS.json... PAGE.md

Of several runs, whose packs had other models, each case is taken from the first that has it. --raw keeps what
they found beside the page, in raw/PAGE.json.xz, of which the page can be written again.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import lzma
import re
import statistics
from pathlib import Path

# Of the machine: what the page says. All else of it is of the place where it stood.
FACTS = ("GPU", "driver", "nvidia-smi", "torch", "compiled for")
DIGITS = 6  # of a figure that is kept
NEAR = 0.05  # a choice is good where it takes so much longer than the fastest at most

HEAD = """# Measured on {gpu}

What `tools/gpu-pack`'s `run` found there: [gpu-pack.md](../gpu-pack.md) says how it measures. Written on {date} by

```sh
tools/gpupack/page.py {source} docs/bench/{name}
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
        self.tuned = {}  # name: data, of each bundle that has measured anything
        self.ratios = {}  # title: estimates over times, of a table that was made
        for case in results["cases"]:
            kind, _, label = case["name"].partition("/")
            if kind == "beside" and case["status"] == "pass":
                self.rows[label] = case["data"]
            elif kind == "tuning" and case.get("data"):
                self.tuned[label] = case["data"]

    def counts(self):
        kinds = dict.fromkeys(case["name"].split("/")[0] for case in self.results["cases"])
        lines = ["| | passed | failed | skipped |", "|---|---:|---:|---:|"]
        for kind in kinds:
            states = [case["status"] for case in self.results["cases"]
                      if case["name"].split("/")[0] == kind]
            passed, skipped = states.count("pass"), states.count("skip")
            lines.append(f"| {kind} | {passed} | {len(states) - passed - skipped} | {skipped} |")
        bad = [f"- `{case['name']}`: {case.get('message', '')}" for case in self.results["cases"]
               if case["status"] not in ("pass", "skip")]
        return "\n".join([*lines, *(["", "What did not pass:", "", *bad] if bad else [])])

    def beside(self, title, words, pattern):
        chosen = {label: data for label, data in self.rows.items() if re.match(pattern, label)}
        lines = ["", f"## {title}", "", words, "",
                 "| | Cameo, us | TFLOP/s | torch, us | Cameo / torch | estimate, us | estimate / "
                 "Cameo |", "|---|---:|---:|---:|---:|---:|---:|"]
        ratios = self.ratios[title] = []
        for label, data in sorted(chosen.items(), key=lambda item: natural(item[0])):
            ours = data["milliseconds"]["cameo"] * 1000
            theirs = data["milliseconds"].get("torch", 0) * 1000
            rate = f"{data['gflop'] / ours * 1000:.0f}" if data.get("gflop") else "-"
            estimate = data.get("estimate_us")
            if estimate:
                ratios.append(estimate / ours)
            lines.append(f"| {label} | {microseconds(ours)} | {rate} | "
                         f"{microseconds(theirs) if theirs else '-'} | {ratio(ours, theirs)} | "
                         f"{microseconds(estimate) if estimate else '-'} | "
                         f"{f'{estimate / ours:.2f}' if estimate else '-'} |")
        return lines

    def choices(self):
        """{row's label: its kernel}, of the bundles of products and convolutions."""
        found = {}
        for name, data in self.tuned.items():
            if name.startswith("products-"):
                for each in data["dispatches"]:
                    for node in each["nodes"]:
                        label = node.partition("/")[2]  # "3/gemm-..."
                        if "/" not in label and each["chosen"]:
                            found[label] = each
        return dict(sorted(found.items(), key=lambda item: natural(item[0])))

    def schedules(self):
        choices = self.choices()
        if not choices:
            return []
        lines = ["", "## The estimate's choices", "",
                 "The schedule that the estimate chooses, and the fastest of all that a tuning bundle measured. *Lost* "
                 "is how much longer the choice took.", "",
                 "| | tried | chosen | estimate, us | measured, us | estimate / measured | fastest | "
                 "estimate, us | measured, us | estimate / measured | lost |",
                 "|---|---:|---|---:|---:|---:|---|---:|---:|---:|---:|"]
        self.ratios["Schedules that were chosen"] = [
            each["chosen"]["estimate_us"] / each["chosen"]["us"] for each in choices.values()]
        near = 0
        for label, each in choices.items():
            both = " | ".join(
                f"{tile(one['schedule'])} | {microseconds(one['estimate_us'])} | "
                f"{microseconds(one['us'])} | {one['estimate_us'] / one['us']:.2f}"
                for one in (each["chosen"], each["fastest"]))
            lost = lost_by(each)
            near += lost <= NEAR
            lines.append(f"| {label} | {each['tried']} | {both} | {100 * lost:.0f} % |")
        return [*lines, "", f"The choice is within {100 * NEAR:.0f} % of the fastest for {near} of {len(choices)} "
                            f"({100 * near / len(choices):.0f} %)."]

    def networks(self):
        """What kernels of networks take together."""
        tuned = {name: [each for each in data["dispatches"] if each["chosen"]]
                 for name, data in self.tuned.items() if not name.startswith("products-")}
        if not any(tuned.values()):
            return []
        lines = ["", "## Tuned", "",
                 "Sums over the kernels of a network, each measured by itself and as often as the network runs it: in the "
                 "schedules that the estimate chooses, and in the fastest of those that a tuning bundle measured.", "",
                 f"| | kernels | schedules tried | chosen, us | fastest, us | chosen / fastest | within {100 * NEAR:.0f} % |",
                 "|---|---:|---:|---:|---:|---:|---:|"]
        for name, kernels in sorted(tuned.items(), key=lambda item: natural(item[0])):
            if not kernels:
                continue
            data = self.tuned[name]
            chosen, fastest = (sum(each["uses"] * each[which]["us"] for each in kernels)
                               for which in ("chosen", "fastest"))
            near = sum(lost_by(each) <= NEAR for each in kernels)
            lines.append(f"| {name} | {len(kernels)} of {data['kernels']} | "
                         f"{sum(data['statuses'].values())} of {data['schedules']} | {microseconds(chosen)} | "
                         f"{microseconds(fastest)} | {chosen / fastest:.2f} | {near} of {len(kernels)} |")
        return lines

    def spread(self):
        """How estimates compare with times, of all tables."""
        lines = ["", "## Estimates and times", "",
                 "Estimate over time: below 1 it took longer than estimated. A quarter of the rows is below the "
                 "lower quartile, a quarter above the upper one.", "",
                 "| | rows | lower quartile | median | upper quartile |", "|---|---:|---:|---:|---:|"]
        tables = {title: ratios for title, ratios in self.ratios.items() if ratios}
        for title, ratios in [*tables.items(), ("all", sum(tables.values(), []))]:
            low, middle, high = (statistics.quantiles(ratios, n=4, method="inclusive")
                                 if len(ratios) > 1 else ratios * 3)
            lines.append(f"| {title} | {len(ratios)} | {low:.2f} | {middle:.2f} | {high:.2f} |")
        return lines if tables else []

    def constants(self):
        """The machine's own."""
        found = [constant for case in self.results["cases"]
                 for constant in case.get("data", {}).get("constants", [])]
        if not found:
            return []
        lines = ["", "## Constants of the machine", "",
                 "[What they are](../gpu-pack.md#constants-of-the-machine); *spread* is of five repeats. Those in "
                 "brackets differ too much to be used.", "",
                 "| | median | unit | spread | clock, MHz |", "|---|---:|---|---:|---:|"]
        for constant in found:
            name = f"`{constant['name']}`"
            spread = "-" if constant["spread"] is None else f"{100 * constant['spread']:.1f} %"
            lines.append(f"| {name if constant['usable'] else f'({name})'} | {constant['median']:.4g} | "
                         f"{constant['unit']} | {spread} | {constant['clock_mhz'] or '-'} |")
        return lines


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def lost_by(kernel):
    """How much longer its chosen schedule took, as a part of the fastest's time. One of an earlier round may
    have been faster there than the fastest in the last, which has more replays."""
    return max(0, kernel["chosen"]["us"] / kernel["fastest"]["us"] - 1)


def tile(schedule):
    size = re.search(r"tile = array<i64: ([\d, ]+)>", schedule)
    return size[1].replace(", ", "x") if size else re.match(r'#kernel.schedule<"(\w+)"', schedule)[1]


def read(path):
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def rounded(value):
    """Figures to so many digits, in all that it consists of."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def essence(results):
    """Of results, what says something of Cameo or the GPU: no output texts, no times of processes, nothing
    of the place."""
    cases = [{key: value for key, value in (
        ("name", case["name"]), ("status", case["status"]),
        ("message", "" if case["status"] == "pass" else case["message"]), ("data", rounded(case["data"])))
        if value} for case in results["cases"]]
    machine = {key: results["machine"][key] for key in FACTS if key in results["machine"]}
    return {"pack": results["pack"], "boards": results.get("boards", {}), "machine": machine, "cases": cases}


def together(runs):
    """One, of the parts of a pack."""
    cases = {case["name"]: case for run in reversed(runs) for case in run["cases"]}
    return {**runs[0], "cases": list(cases.values())}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", action="store_true", help="keep the results, too")
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    page = options.page
    raw = page.parent / "raw" / f"{page.stem}.json.xz"
    results = essence(together([read(path) for path in options.results]))
    if options.raw:
        raw.parent.mkdir(exist_ok=True)
        raw.write_bytes(lzma.compress(json.dumps(results, separators=(",", ":")).encode(), preset=9))
    page.write_text(text_of(Page(results), page.name,
                            f"docs/bench/raw/{raw.name}" if raw.exists() else "results.json..."))


def text_of(made, name, source):
    facts = made.results["machine"]
    machine = "\n".join(f"- {key}: {facts[key]}" for key in FACTS if key in facts)
    date = made.results["pack"].split(", ")[-1].split(" ")[0]
    text = [HEAD.format(gpu=facts["GPU"].split(",")[0], date=date, name=name, source=source,
                        machine=machine, counts=made.counts()).rstrip()]
    text += made.beside("Products", "`gemm-MxKxN-type`: both operands are inputs, rows first. torch's are "
                        "cuBLAS's, of INT8 with the second operand transposed, as it wants it.", "gemm-")
    text += made.beside("Convolutions", "`conv-BATCHxCHANNELSxSIZE-FILTERS-kKERNELsSTRIDEgGROUPS-type`. FP32 "
                        "images as ONNX has them, others with channels innermost, of both; torch's are "
                        "cuDNN's, the fastest of those that it tries.", "conv-")
    text += made.beside("Recurrent layers", "`OPERATOR-UNITSxROWS-type`: 100 steps, as many inputs as units; torch's are "
                        "cuDNN's, without TF32.", "lstm-|gru-")
    text += made.beside("Networks", "Batch 1 and no open sizes where torch has them, else any size. torch: "
                        "batch-norms folded, a CUDA graph, FP16 with channels innermost; its encoder is "
                        "`torch.nn.TransformerEncoder`.", "(?!gemm-|conv-|lstm-|gru-)")
    return "\n".join([*text, *made.schedules(), *made.networks(), *made.spread(), *made.constants()]) + "\n"


if __name__ == "__main__":
    main()
