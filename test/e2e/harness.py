"""What the end-to-end checks share: where the tools are, running a step under a limit, judging how
it ended, and the closing line that tools/run-tests reads."""
# SPDX-License-Identifier: Apache-2.0
import collections
import concurrent.futures
import datetime
import json
import os
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# cameoc's options for one dispatch per operator, and for all that graph optimisation does.
LEVELS = ("-O0", "-O2")
# What a level adds where both give the same bits: checks find what is wrong at -O2, and either has one image, not two.
CHECKS_OF_LEVEL = {"-O0": (), "-O2": ("--sim-checks-only",)}
SOURCE = Path(__file__).resolve().parent.parent.parent


@dataclass
class Step:
    """One finished command. `code` is the exit code, minus the signal for a killed process, or None
    where the time limit ended it."""
    command: list
    code: int | None
    output: str
    seconds: float
    peak_bytes: int = 0

    @property
    def crashed(self):
        """A signal, a shell's 128 + signal, or no end at all: never right, whatever the input."""
        return self.code is None or self.code < 0 or self.code >= 128

    def how(self):
        if self.code is None:
            return f"no end within {self.seconds:.0f} s"
        if self.code < 0:
            try:
                return f"killed by {signal.Signals(-self.code).name}"
            except ValueError:
                return f"killed by signal {-self.code}"
        return f"exit code {self.code}"

    def text(self):
        return f"$ {shlex.join(map(str, self.command))}\n{self.output}[{self.how()}]\n"


# Of this process and all that it starts. Steps that set limits of their own between fork and exec
# could not be started with vfork, and a copy of a process that has ONNX Runtime takes as long as a
# small step.
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# Compilers that tests start are held to what their stages promise of quality (cameoc --strict).
os.environ["CAMEO_STRICT"] = "1"


# Milliseconds between two looks at a command's memory: the first and, of one that takes seconds, the longest. Its end
# is told by the kernel. To ask for both each 10 ms took 7 % of a core for each command that ran.
LOOK_MS, LOOK_MOST_MS = 10, 100


def run(command, timeout, cwd=None, memory_bytes=None, env=None):
    """Runs a command without a terminal or core files; ends its whole process group at `timeout`, which is longer by the
    time that it has waited for a core: a machine that does other things ends no command that goes on."""
    limited = ["prlimit", f"--as={memory_bytes}", "--"] if memory_bytes else []
    start = time.monotonic()
    code, peak = None, 0
    with tempfile.TemporaryFile() as file:
        process = subprocess.Popen([*limited, *map(str, command)], stdin=subprocess.DEVNULL, cwd=cwd,
                                   stdout=file, stderr=subprocess.STDOUT, env=env,
                                   start_new_session=True)
        end = os.pidfd_open(process.pid)
        ended = select.poll()
        ended.register(end, select.POLLIN)
        while not ended.poll(min(LOOK_MS + 50 * (time.monotonic() - start), LOOK_MOST_MS)):
            peak = max(peak, peak_memory(process.pid))
            over = time.monotonic() - start - timeout
            if over >= 0 and over >= waited_for_core(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                break
        else:
            code = process.wait()
        os.close(end)
        seconds = time.monotonic() - start
        file.seek(0)
        output = file.read().decode("utf-8", "replace")
    return Step(list(command), code, output, seconds, peak)


def waited_for_core(pid):
    """Seconds in which a process could have run but for other work of the machine, those of the thread that has waited
    longest; nothing where the kernel does not say."""
    waited = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            waited = max(waited, int(file.read_text().split()[1]))
        except (OSError, IndexError):  # the thread has ended
            pass
    return waited / 1e9


def cpu_seconds():
    """Those of all commands that have ended: no other work of the machine is in them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory(pid):
    """Bytes; the kernel's own high-water mark, so that looking now and then is enough. (What
    wait4 says would include this process's own size before exec.)"""
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


FOUND_SEEDS = Path(__file__).resolve().parent / "found_seeds.txt"
KNOWN_FAILURES = Path(__file__).resolve().parent / "known_failures.txt"
REORDERED_SUMS = Path(__file__).resolve().parent / "reordered_sums.txt"


def read_known_failures(suite, path=KNOWN_FAILURES):
    """`suite/case: reason` a line; the cases of one suite. A case of the list that passes is a
    failure, so that the list stays true; a crash is a failure whatever the list says."""
    known = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, reason = (part.strip() for part in line.partition(": "))
            folder, _, case = name.partition("/")
            if folder == suite:
                known[case] = reason
    return known


@dataclass
class Suite:
    """Collects outcomes, keeps a log of what failed, and closes with the counts. A case has passed
    where something of Cameo's was compared with what it should be, and is skipped, with a reason,
    where nothing was."""
    name: str
    build: Path
    passed: int = 0
    skips: collections.Counter = field(default_factory=collections.Counter)  # by reason
    failures: list = field(default_factory=list)
    known: dict = field(default_factory=dict)

    def __post_init__(self):
        part = os.environ.get("CAMEO_PART") or self.name  # several parts may be of one suite
        self.work = self.build / "e2e" / part
        # What an earlier run has left must not be taken for results of this one.
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.log = self.build / "test-logs" / f"{part}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        self.known = read_known_failures(self.name)

    def tool(self, name):
        path = self.build / "bin" / name
        if not path.exists():
            sys.exit(f"error: {path} is not there; build it first: cmake --build {self.build}")
        return path

    def ok(self, case=None):
        if case in self.known:
            return self.fail(case, "passes, so take it off known_failures.txt", expected=False)
        self.passed += 1

    def fail(self, case, reason, *steps, expected=True):
        if expected and case in self.known and not any(step.crashed for step in steps):
            self.skip(self.known[case])
            return
        self.failures.append((case, reason))
        with self.log.open("a") as log:
            log.write(f"=== {case}: {reason}\n")
            for step in steps:
                log.write(step.text())
            log.write("\n")
        print(f"FAILED {case}: {reason}", flush=True)

    def skip(self, reason, count=1):
        """Cases of which nothing is compared; one reason for all that have it in common."""
        if count:
            self.skips[reason] += count

    def close(self):
        """Prints the counts as the last line; the exit code for sys.exit."""
        if self.failures:
            print(f"details: {self.log}")
        for reason, count in self.skips.most_common():
            print(f"skipped {count}: {reason}")
        skipped = f", {self.skips.total()} skipped" if self.skips else ""
        print(f"{self.name}: {self.passed} passed, {len(self.failures)} failed{skipped}",
              flush=True)
        return 1 if self.failures or not self.passed else 0


class ReorderedSums:
    """What reordered_sums.txt says of one suite."""

    def __init__(self, suite):
        self.suite, self.needed = suite, set()
        self.reasons = read_known_failures(suite, REORDERED_SUMS)

    def explain(self, case):
        """Whether a case whose bits differ may do so."""
        patterns = {pattern for pattern in self.reasons if re.fullmatch(pattern, case)}
        self.needed |= patterns
        return bool(patterns)

    def print_unneeded(self):
        for pattern in sorted(set(self.reasons) - self.needed):
            print(f"note: reordered_sums.txt has {self.suite}/{pattern}, which nothing needs")


def for_each(cases, check, jobs):
    """Yields (case, check(case)) as they finish, `jobs` at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(check, case): case for case in cases}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()


def gate(build, artefact, report, array_bytes=0):
    """Why a kernel of an artefact must not be shipped, or None: ptxas had something to say in the
    compile report, a kernel spills registers, or plan and code differ. A stack alone is an array
    that a kernel indexes; kernels have none but `array_bytes`, for functions of libdevice that need
    it."""
    found = json.loads(Path(report).read_text())
    for warning in found["warnings"]:
        return f"ptxas: {warning}"
    for kernel in found["resources"]:
        if kernel["spill_bytes"] or kernel["stack_bytes"] > array_bytes:
            return (f"{kernel['name']} on {kernel['target']} spills {kernel['spill_bytes']} B and "
                    f"has a stack of {kernel['stack_bytes']} B")
    return compare_code(build, artefact)


def launched(report):
    """The kernels of a run, those of which passes decide: of a product whose depth blocks share, the
    kernel of parts and the one that finishes it are one of them. It is codegen that splits it, where
    that takes less time with what one more launch takes; launches.py limits how often."""
    return [kernel for kernel in report["kernels"] if "finishes" not in kernel]


def compare_code(build, artefact):
    """How the plans of an artefact and its GPU code differ, or None."""
    step = run([Path(build) / "bin" / "cameo-compare-code", artefact], 60)
    return None if step.code == 0 else f"plan and code: {first_error(step.output)}"


def add_arguments(parser):
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="the build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--target", default="sm_80,sim:sm_80", help="cameoc's --target")
    parser.add_argument("--device", default="sim", help="the artefacts' --device")
    parser.add_argument("--filter", default="", help="only cases whose name matches this regex")
    parser.add_argument("--each", type=int, default=1, metavar="N", help="of products, only each Nth case")
    parser.add_argument("--sim-checks", nargs="?", const="all", default="", metavar="LIST",
                        help="compile for the simulator's checks and run with them (or a list)")
    parser.add_argument("--sim-compare", action="store_true",
                        help="run each kernel's vectorised form and scalar form, and compare bits")
    parser.add_argument("--sim-seed", type=int, action="append", default=[], metavar="N",
                        help="order of lanes, warps and blocks; each one given is a run")
    parser.add_argument("--every-way", action="store_true",
                        help="run twice with all checks, one with each form of a kernel, and plainly "
                             "what is compiled with -O0; all give the same bits")


SEEDS_A_DAY = 10 ** 6


def seed_of(text, today=None):
    """A number, or of `today` the first of those that no other day has; it is said, so that it can be drawn
    again."""
    if text != "today":
        return int(text)
    seed = int((today or datetime.date.today()).strftime("%Y%m%d")) * SEEDS_A_DAY
    print(f"seeds of today: --seed={seed} draws them again", flush=True)
    return seed


def add_seed(parser, first):
    parser.set_defaults(first_seed=first)
    parser.add_argument("--seed", type=seed_of, metavar="N",
                        help=f"the first seed ({first}), or today for those of the day")


def seeds_of(part, options, count):
    """From the first one on; where none was asked for, those that found_seeds.txt has of the part, too."""
    first = options.first_seed if options.seed is None else options.seed
    found = read_known_failures(part, FOUND_SEEDS) if options.seed is None else {}
    seeds = list(range(first, first + count))
    return seeds + [int(seed) for seed in found if int(seed) not in seeds]


def compile_flags(options):
    return [f"--target={options.target}", *(["--sim-checks-only"] if options.sim_checks else []),
            *(["--sim-forms=both"] if options.sim_compare else [])]


def run_flags(options):
    """The artefact's options, a list for each run that is asked for."""
    flags = [f"--device={options.device}"]
    if options.sim_compare:
        flags.append("--sim-form=compare")
    if options.sim_checks:
        flags.append(f"--sim-checks={options.sim_checks}")
    return [[*flags, f"--sim-seed={seed}"] for seed in options.sim_seed] or [flags]


def ways(options):
    """[(cameoc's options, [the artefact's options in each run])]: all give the same bits."""
    simulated = next((name for name in options.target.split(",") if name.startswith("sim:")), None)
    if not options.every_way or not simulated:
        return [(compile_flags(options), run_flags(options))]
    plain = f"--device={options.device}"
    checked = [plain, "--sim-checks=all"]
    return [([f"--target={options.target}", "--sim-checks-only"],
             [[*checked, "--sim-seed=1", "--sim-form=compare"], [*checked, "--sim-seed=2"]]),
            ([f"--target={simulated}", "-O0"], [[plain]])]


def first_error(output):
    """The first line that says `error:`, for one-line reports."""
    for line in output.splitlines():
        if "error:" in line:
            return line.strip()
    lines = output.strip().splitlines()
    return lines[-1].strip() if lines else "no output"
