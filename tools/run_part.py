"""Runs one test of ctest: ends it and all that it has started at its limit, counts what it reports, and shows
the end of its output if it fails.

    run_part.py NAME --minutes=LIMIT [--least=N] -- COMMAND...

A test has passed if it exits 0 and its output has no failure; one that crashes, overruns its limit,
reports nothing, or has fewer cases that passed than N has failed. Its output goes to build/test-logs/NAME.out, its counts to NAME.json there,
which tools/run-tests adds up.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
LOGS = SOURCE / "build" / "test-logs"
SHOWN = 60  # lines of what a failing test has printed

# Each runner's own words: (kind, pattern).
COUNTS = (
    # lit
    ("passed", r"^\s*(?:Passed|Expectedly Failed)\s*:\s*(\d+)"),
    ("failed", r"^\s*(?:Failed|Unresolved|Timed Out|Unexpectedly Passed)\s*:\s*(\d+)"),
    ("skipped", r"^\s*(?:Unsupported|Skipped)\s*:\s*(\d+)"),
    # googletest
    ("passed", r"^\[  PASSED  \] (\d+) tests?"),
    ("failed", r"^\[  FAILED  \] (\d+) tests?, listed"),
    ("skipped", r"^\[  SKIPPED \] (\d+) tests?, listed"),
    # ours
    ("passed", r"^(?:[\w-]+: )?(\d+) passed, \d+ failed"),
    ("failed", r"^(?:[\w-]+: )?\d+ passed, (\d+) failed"),
    ("skipped", r"^(?:[\w-]+: )?\d+ passed, \d+ failed, (\d+) skipped"),
)


def count(output):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for kind, pattern in COUNTS:
        totals[kind] += sum(int(number) for number in re.findall(pattern, output, re.MULTILINE))
    return totals


def wait(process, seconds):
    """(exit code, how it ended, seconds of CPU of it and of all that it waited for)"""
    def end_group():
        try:  # whatever it has left running, too
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    late = threading.Timer(seconds, end_group)
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    overran = not late.is_alive()
    late.cancel()
    end_group()
    process.returncode = os.waitstatus_to_exitcode(status)
    how = (f"no end within {seconds // 60} minutes" if overran else
           f"exit code {process.returncode}")
    return 1 if overran else process.returncode, how, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--minutes", type=int, required=True, help="its limit")
    parser.add_argument("--least", type=int, default=1, help="how many cases must have passed")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{options.name}.out"
    start = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(options.command, cwd=SOURCE, stdin=subprocess.DEVNULL,
                                   stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, "CAMEO_PART": options.name})
        code, ending, cpu = wait(process, options.minutes * 60)
    output = log.read_text(errors="replace")
    counts = count(output)
    if code and not counts["failed"]:
        counts["failed"] = 1
    if not sum(counts.values()):
        counts["failed"], ending = 1, "reported no test"
    elif not counts["failed"] and counts["passed"] < options.least:
        counts["failed"] = 1
        ending = f"{counts['passed']} cases passed, of at least {options.least}"
    counts |= {"seconds": round(time.monotonic() - start, 1), "cpu_seconds": round(cpu, 1)}
    if counts["failed"]:
        counts["end"] = [*output.splitlines()[-SHOWN:],
                         f"[{ending}; all of it: {log.relative_to(SOURCE)}]"]
        print("\n".join(counts["end"]))
    (LOGS / f"{options.name}.json").write_text(json.dumps(counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
