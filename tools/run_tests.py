"""Runs ctest and adds up what its tests count: the last line is `N passed, N failed`.

Two tests run at a time, since few of them keep all cores busy throughout: reading models, reference
results and the last of a test's processes leave the others idle.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import time

from run_part import LOGS, SOURCE

BUILD = SOURCE / "build"
RECORD = SOURCE / "docs" / "long-tests.md"


def chosen(options):
    """ctest's arguments that choose tests, and the names of those."""
    if not (BUILD / "CTestTestfile.cmake").exists():
        sys.exit("error: build/ has not been set up; tools/build does that")
    flags = ["ctest", "--test-dir", str(BUILD)]
    if options.only:
        flags += ["-R", f"^({options.only})$"]
    elif not options.long:
        flags += ["-LE", "^long$"]
    listed = subprocess.run([*flags, "-N"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ +Test +#\d+: (\S+)$", listed, re.MULTILINE)
    for each in filter(None, options.only.split("|")):
        # A part of an expression that is more than alternatives is no name.
        if re.fullmatch(r"[\w-]+", each) and each not in names:
            sys.exit(f"error: no part is named {each}; --list --long names them")
    return flags, names


def collect(names):
    """Counts by name. A test that has left none did not come to its end."""
    found = {}
    for name in names:
        file = LOGS / f"{name}.json"
        found[name] = (json.loads(file.read_text()) if file.exists() else
                       {"passed": 0, "failed": 1, "skipped": 0, "seconds": 0, "cpu_seconds": 0,
                        "end": ["[was ended, or not started]"]})
    return found


def print_table(found):
    print(f"\n{'test':24} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'of CPU':>8}")
    for name, counts in sorted(found.items(), key=lambda item: -item[1]["cpu_seconds"]):
        print(f"{name:24} {counts['passed']:7} {counts['failed']:7} {counts['skipped']:8} "
              f"{counts['seconds']:8.0f} {counts['cpu_seconds']:8.0f}")
    print(f"{'all':24} {'':7} {'':7} {'':8} {'':8} "
          f"{sum(counts['cpu_seconds'] for counts in found.values()):8.0f}")
    for name, counts in found.items():
        if counts["failed"]:
            print(f"\n--- {name}: {counts['failed']} failed")
            print("\n".join(f"    {line}" for line in counts["end"]))


def names_of_long():
    listed = subprocess.run(["ctest", "--test-dir", str(BUILD), "-L", "^long$", "-N"],
                            capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +Test +#\d+: (\S+)$", listed, re.MULTILINE)


def record(found):
    """Writes into the page what the long parts among `found` gave today."""
    head, mark, table = RECORD.read_text().partition("|---|---|---|---|---|---|\n")
    rows = {line.split("|")[1].strip(): line for line in table.splitlines()}
    today = datetime.date.today().isoformat()
    for name in names_of_long():
        if name in found:
            counts = found[name]
            rows[name] = (f"| {name} | {today} | {counts['passed']} | {counts['failed']} | "
                          f"{counts['skipped']} | {counts['cpu_seconds']:.0f} |")
        rows.setdefault(name, f"| {name} | never | | | | |")
    kept = sorted(line for name, line in rows.items() if name in names_of_long())
    RECORD.write_text(head + mark + "\n".join(kept) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="tools/run-tests", description="runs Cameo's tests")
    parser.add_argument("--long", action="store_true", help="those that take hours as well")
    parser.add_argument("--only", default="", metavar="REGEX", help="only those that match whole")
    parser.add_argument("--record", action="store_true",
                        help=f"write what long ones gave into {RECORD.relative_to(SOURCE)}")
    parser.add_argument("--list", action="store_true", help="name them and stop")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="tests at a time")
    options = parser.parse_args()
    flags, names = chosen(options)
    if options.list:
        print("\n".join(names))
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    if not options.only:
        # What a whole run passes, it has compiled itself.
        shutil.rmtree(BUILD / "kernel-cache", ignore_errors=True)
    for name in names:
        (LOGS / f"{name}.json").unlink(missing_ok=True)
    start = time.monotonic()
    subprocess.run([*flags, f"-j{options.at_once}", "--no-tests=error"], check=False)
    found = collect(names)
    print_table(found)
    if options.record:
        record(found)
    print(f"\ntests took {(time.monotonic() - start) / 60:.1f} minutes")
    totals = {kind: sum(counts[kind] for counts in found.values())
              for kind in ("passed", "failed", "skipped")}
    skipped = f", {totals['skipped']} skipped" if totals["skipped"] else ""
    print(f"{totals['passed']} passed, {totals['failed']} failed{skipped}")
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
