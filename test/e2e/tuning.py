#!/usr/bin/env python3
"""What --tune=static chooses for a grid of products, beside what the estimate alone does. Fails where two
builds from one file of schedules differ, where the file is not the same when it is made twice, or where
docs/bench/tuning.md is not what is found here.

  tuning.py                              checks
  tuning.py --page=docs/bench/tuning.md  writes the page instead of comparing it

The page is of one ptxas; with another one it is not compared, and counts as skipped.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
from pathlib import Path

import onnx

import harness
import static_code

PAGE = harness.SOURCE / "docs" / "bench" / "tuning.md"
SECONDS = 600
HEAD = """# Schedules by their machine code

What `--tune=static` chooses, of the five best candidates of each product, beside what the estimate alone
does: nothing here was run on a GPU. Written by

```sh
build/venv/bin/python test/e2e/tuning.py --page=docs/bench/tuning.md
```

and compared with by the tests. ptxas {ptxas}.

- *Estimate* is the tile that the analytic model chooses (rows x columns x depth), and its time in
  microseconds on the target's first board; *by code* the time that the same model gives with the main loop's
  slots, pipes and stalls, the registers and the blocks of the machine code in place of its own; *tuned* the
  tile that is best so, and its time.
- *Why* is what bounds the main loop, registers of a thread, and blocks of a multiprocessor, of both where they
  differ.
"""
CODE = r"([\d.]+) us \((\d+) registers, (\d+) blocks a multiprocessor, main loop bound by ([a-z ]+)\)"


def tile_of(schedule):
    numbers = re.search(r"\btile = array<i64: ([\d, ]+)>", schedule).group(1).replace(", ", "x")
    stages = re.search(r"\bstages = (\d+)", schedule)
    warps = re.search(r"\b(?:warps|thread) = array<i64: ([\d, ]+)>", schedule).group(1)
    return f"{numbers}, {warps.replace(', ', 'x')}" + (f", {stages.group(1)} stages" if stages else "")


def rows_of(remarks):
    """By target and product: what the estimate says, and what the machine code does."""
    rows = {}
    for line in remarks.splitlines():
        found = re.match(r"(\S+): remark: (sm_\d+): (.*)", line)
        if not found:
            continue
        name, target, text = found.groups()
        row = rows.setdefault((target, name), {})
        if estimate := re.match(r"schedule (.*), estimated at ([\d.]+) us", text):
            row["schedule"], row["estimate"] = estimate.groups()
        elif best := re.match(r"the estimate's schedule is the best of \d+ by its machine code, " + CODE,
                              text):
            row["code"] = row["tuned"] = best.groups()
        elif other := re.match(r"schedule (.*) by its machine code, " + CODE + r".*; #.*, which the "
                               r"estimate prefers, (?:" + CODE + ")?", text):
            groups = other.groups()
            row["other"], row["tuned"], row["code"] = groups[0], groups[1:5], groups[5:]
    return rows


def why(code):
    return f"{code[3]}, {code[1]} registers, {code[2]} blocks" if code and code[0] else "no loop"


def table(rows):
    lines = ["", "| | Estimate | us | By code | Tuned | us | Why |", "|---|---|---|---|---|---|---|"]
    for (target, name), row in sorted(rows.items()):
        if "tuned" not in row:
            continue
        same = "other" not in row
        lines.append(f"| {target} {name} | {tile_of(row['schedule'])} | {row['estimate']} "
                     f"| {row['code'][0] or '-'} | {'same' if same else tile_of(row['other'])} "
                     f"| {row['tuned'][0]} | "
                     + (why(row["tuned"]) if same else f"{why(row['code'])}; {why(row['tuned'])}") + " |")
    return "\n".join(lines) + "\n"


def compile_products(suite, model, output, *flags):
    step = harness.run([suite.tool("cameoc"), model, "-o", output,
                        f"--target={','.join(static_code.TARGETS)}",
                        f"--cache-dir={suite.work / 'cubins'}", *flags], SECONDS)
    if step.code:
        suite.fail("products-compile", harness.first_error(step.output), step)
        return None
    return step.output


def check_builds(suite, model, schedules, tuning):
    """Two builds from the file, and the file made again."""
    artefacts = [suite.work / name for name in ("one", "two")]
    for artefact in artefacts:
        if compile_products(suite, model, artefact, f"--schedules={schedules}") is None:
            return
    again = suite.work / "again.json"
    if compile_products(suite, model, again, "--emit=schedules", *tuning) is None:
        return
    if artefacts[0].read_bytes() != artefacts[1].read_bytes():
        suite.fail("builds", "two builds from one file of schedules differ")
    else:
        suite.ok()
    if again.read_bytes() != schedules.read_bytes():
        suite.fail("schedules", "tuning again gives another file of schedules")
    else:
        suite.ok()


def check_page(suite, options, text, ptxas):
    kept = PAGE.read_text() if PAGE.exists() else ""
    if options.page:
        options.page.write_text(text)
    elif kept and f"ptxas {ptxas}." not in kept:
        suite.skip(f"{PAGE.name} is of another ptxas than {ptxas}")
    elif kept == text:
        suite.ok()
    else:
        suite.fail("page", f"{PAGE.relative_to(harness.SOURCE)} is out of date; "
                   f"tuning.py --page={PAGE.relative_to(harness.SOURCE)} writes it")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--page", type=Path, help="write the page")
    options = parser.parse_args()
    suite = harness.Suite("tuning", options.build.resolve())
    ptxas = static_code.ptxas_version(suite)
    model, schedules = suite.work / "products.onnx", suite.work / "schedules.json"
    onnx.save(static_code.product_model(static_code.TYPES, static_code.PRODUCTS), model)
    tuning = ("--tune=static", f"--nvdisasm={static_code.nvdisasm()}")
    remarks = compile_products(suite, model, schedules, "--emit=schedules", "--remarks", *tuning)
    if remarks is not None:
        check_builds(suite, model, schedules, tuning)
        text = HEAD.format(ptxas=ptxas) + table(rows_of(remarks))
        check_page(suite, options, text, ptxas)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
