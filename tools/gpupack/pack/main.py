"""Proves on a machine with a GPU that what was built elsewhere works there, and measures it.

Needs NVIDIA's driver and this Python alone. Every case runs in a process of its own under a time
limit; whatever fails, the rest still runs. Results are in OUT/results.json as they come, and as a
table in OUT/results.txt. Exit code 0: all is well; 1: not; 2: usage; 3: all that ran is well, but the
time did not suffice for everything.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import cases
import process
import tuning_cases
from machine import Machine, is_board
from pack import Pack
from results import Book, Result
from scheduler import Scheduler

MOST_AT_ONCE = 8
SANITIZERS_AT_ONCE = 4


def arguments(root):
    parser = argparse.ArgumentParser(prog="run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--out", type=Path, default=Path("gpu-results"), metavar="DIR",
                        help="where results go (gpu-results)")
    parser.add_argument("--minutes", type=float, default=10, help="the time there is (10)")
    parser.add_argument("--jobs", type=int, default=min(MOST_AT_ONCE, os.cpu_count() or 1),
                        help="tests at a time; benchmarks run alone")
    parser.add_argument("--driver", type=Path, metavar="DIR", help="the folder of libcuda.so.1")
    parser.add_argument("--sanitizer", type=Path, metavar="FILE",
                        help="compute-sanitizer, where it is in no usual place")
    parser.add_argument("--dry-run", action="store_true",
                        help="with the fake driver and the simulator: needs no GPU, proves nothing "
                             "about one")
    parser.add_argument("--work", type=Path, metavar="DIR",
                        help="unpack here and leave it (default: a temporary folder)")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    options = parser.parse_args()
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only: {error}")
    if not (root / "content.tar.xz").exists():
        parser.error(f"{root} has no content.tar.xz")
    return options


def phases(pack, chosen, jobs):
    """(cases, how many at a time, share of the time that is left), in order of worth: what the machine
    takes, whether values are right, what decides schedules, then rows beside others'."""
    def only(made):
        return [case for case in made if any(map(chosen, case.names()))]

    is_first = pack.about["instructions"] is not None  # other parts have models alone
    if is_first:
        yield only(cases.constant_cases(pack)), 1, 0.25
        yield only(cases.first_cases(pack) + cases.api_cases(pack, alone=False)), jobs, 0.25
    yield only(cases.network_cases(pack)), jobs, 0.4
    if is_first:
        yield only(cases.instruction_cases(pack, chosen)), jobs, 0.2
    yield only(tuning_cases.cases(pack, chosen)), 1, 0.4
    yield only(cases.beside_cases(pack, chosen)), 1, 0.75
    if is_first:
        yield only(cases.api_cases(pack, alone=True)), 1, 0.5
    yield only(cases.executable_cases(pack)), 1, 0.5
    yield only(cases.sanitizer_cases(pack)), SANITIZERS_AT_ONCE, 1


def compiled_for(boards, machine):
    """The pack's boards in words, and whether the one whose code runs here is another than this GPU."""
    text = ", ".join(f"{name}:{board}" for name, board in boards.items())
    fitting = [name for name in boards if machine.takes(name)]
    if fitting and not is_board(boards[fitting[-1]], machine.name):
        text += f"; {machine.name} is not {boards[fitting[-1]]}: schedules and estimates are for another board"
    return text


def run(root, scratch, options):
    pack = Pack(root, scratch, options.out, options.driver, options.dry_run)
    pack.machine = Machine(pack.environment, options.sanitizer, options.dry_run)
    if options.list:
        for made, *_ in phases(pack, lambda name: re.search(options.only, name), options.jobs):
            for case in made:
                print("\n".join(case.names()))
        return 0
    boards = pack.about["boards"]
    pack.machine.facts["compiled for"] = compiled_for(boards, pack.machine)
    about = {"pack": pack.about["made"], "dry_run": options.dry_run, "only": options.only,
             "boards": boards, "machine": pack.machine.facts, "ended": False}
    book = Book(options.out, about)
    print(f"{pack.machine.facts['GPU']}; compiled for {pack.machine.facts['compiled for']}; results go to "
          f"{options.out}", flush=True)
    problem = pack.machine.problem
    book.add([Result("machine/gpu", "fail" if problem else "pass",
                     message=problem or pack.machine.facts["GPU"])])
    scheduler = Scheduler(book, options.minutes)

    def interrupted(number, _frame):
        scheduler.stop(f"interrupted by {signal.Signals(number).name}")
        process.kill_all()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)

    scheduler.run_phases(phases(pack, lambda name: re.search(options.only, name), options.jobs))
    book.close()
    print(book.table(), end="")
    return book.exit_code()


def main(root):
    options = arguments(root)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        return run(root, options.work, options)
    scratch = Path(tempfile.mkdtemp(prefix="gpu-pack-"))
    try:
        return run(root, scratch, options)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
