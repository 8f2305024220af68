"""Schedules that a model's products could have, as the compiler ranks them: files for --schedules."""
# SPDX-License-Identifier: Apache-2.0
import json
import re

import harness

SECONDS = 600


def family(schedule):
    return schedule.split(",")[0]


def schedule_files(tools, source, work, target, count, options=()):
    """[(file, estimate in microseconds, schedule)] of a model with one product, best first. `work` is the
    path, without a suffix, of what is written on the way; `tools` the folder of the programs."""
    dispatched, chosen, file = (work.with_suffix(end) for end in (".mlir", ".chosen.mlir", ".json"))
    for command in ([tools / "cameoc", source, f"--target={target}", "--stop-after=dispatched", "-o",
                     dispatched, *options],
                    [tools / "cameo-opt", dispatched, "-o", chosen, "--pass-pipeline=builtin.module("
                     f"rt.variant(cameo-assign-schedules{{candidates={count}}}))"],
                    [tools / "cameoc", source, f"--target={target}", "--emit=schedules", "-o", file,
                     *options]):
        step = harness.run(command, SECONDS)
        if step.code:
            raise RuntimeError(step.text())
    listed = re.search(r"kernel\.candidates = \[(.*)\]", chosen.read_text())
    content = json.loads(file.read_text())
    made = []
    for each in re.finditer(r"\{microseconds = ([\d.e+-]+) : f64,.*?schedule = "
                            r"(#kernel\.schedule<.*?\}>), work", listed[1] if listed else ""):
        for entry in content["schedules"]:
            if family(entry["schedule"]) == family(each[2]) or len(content["schedules"]) == 1:
                entry["schedule"] = each[2]
        path = work.with_suffix(f".{len(made)}.json")
        path.write_text(json.dumps(content))
        made.append((path, float(each[1]), each[2]))
    return made
