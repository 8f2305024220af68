"""The compiler's estimate of kernels' times (codegen/schedule/TimeModel.cpp), for many kernels at once and
with other constants than those of its tables, which are read from its sources."""
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy

SOURCE = Path(__file__).resolve().parent.parent.parent
SHARED_RATE, SCHEDULERS = 128, 4
BLOCK = ("matrix", "arithmetic", "slots", "shared_bytes", "l2_bytes", "turns", "conversions", "places",
         "checks", "results", "chain", "products", "barriers", "loads", "ahead", "idle")
KERNEL = ("blocks", "threads", "registers", "shared_bytes", "steps", "trips", "dram_bytes", "on_matrix")
# Members of a note of a candidate, in the order of codegen/tune/WorkMembers.cpp.
ORDER = ("blocks", "threads", "registers", "shared_bytes", "steps", *[f"step.{name}" for name in BLOCK],
         *[f"once.{name}" for name in BLOCK], "trips", "dram_bytes", "on_matrix", "multiply_adds",
         "loads", "ahead")


@dataclass
class Constants:
    """A board's and its architecture's, as in runtime/boards.h; `matrix_time` scales the cycles that a
    work says its products take, which are those of the table's rates."""
    launch_us: float
    gap_us: float
    l2_rate: float
    global_latency: float
    matrix_latency: float
    barrier: float
    contention: float
    memory_share: float
    turn: float
    conversion: float
    place: float
    check: float
    result: float
    sm_count: float
    clock_mhz: float
    matrix_clock_mhz: float
    memory_gbps: float
    matrix_time: float = 1.0

    def with_(self, **values):
        return dataclasses.replace(self, **values)


@dataclass
class Limits:
    """An architecture's, of codegen/target/Architecture.cpp."""
    max_shared: int
    sm_shared: int
    sm_registers: int
    max_registers: int
    max_threads: int
    sm_threads: int
    sm_blocks: int
    reserved: int  # bytes of shared memory of each block


def table(text, name, what):
    """Rows of an array of C++, as lists of words."""
    found = re.search(rf"\b{name}\[\] = \{{(.*?)\n\}};", text, re.DOTALL)
    if not found:
        raise ValueError(f"{what}: no table {name}")
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", found[1], flags=re.DOTALL)
    return [[word.strip().strip('"') for word in row.split(",")]
            for row in re.findall(r"\{([^{}]*)\}", plain)]


def architecture(target, source=SOURCE):
    """Its row of the table, e.g. of "sm_90a:h200"."""
    rows = table((source / "codegen" / "target" / "Architecture.cpp").read_text(), "architectures",
                 "Architecture.cpp")
    name = target.partition(":")[0]
    found = next((row for row in rows if row[0] == name), None)
    if found is None:
        raise ValueError(f"unknown architecture {name}")
    return found


def capability(target, source=SOURCE):
    row = architecture(target, source)
    return 10 * int(row[1]) + int(row[2])


def sync_rate(target, source=SOURCE):
    """Multiply-adds of f16 a cycle and multiprocessor that mma.sync does."""
    rates = next(row for row in table((source / "runtime" / "boards.h").read_text(), "cameoRates", "boards.h")
                 if row[0] == str(capability(target, source)))
    return int(rates[3]) * int(rates[7]) / 3


def timings(target, source=SOURCE):
    """Constants of the target's architecture, by name."""
    number, text = str(capability(target, source)), (source / "runtime" / "boards.h").read_text()
    row = next(row for row in table(text, "cameoTimings", "boards.h") if row[0] == number)
    names = [member.name for member in dataclasses.fields(Constants)]
    return dict(zip(names, map(float, row[1:])))


def read_target(target, source=SOURCE):
    """(Constants, Limits) of e.g. "sm_90a:h200", and of its first board where none is named."""
    text = (source / "runtime" / "boards.h").read_text()
    limits, number = architecture(target, source), str(capability(target, source))
    board = target.partition(":")[2]
    chosen = next((row for row in table(text, "cameoBoards", "boards.h") if row[1] == number and
                   (not board or row[0] == board or row[0].startswith(board + "-"))), None)
    if chosen is None:
        raise ValueError(f"unknown board {board} of {limits[0]}")

    def size(word):
        return int(word.split(" ")[0]) * (1024 if "KiB" in word else 1)
    has_copies = limits[14] == "true"
    return Constants(*timings(target, source).values(), *map(float, chosen[2:6])), Limits(
        size(limits[6]), size(limits[7]), *(int(limits[i]) for i in (8, 9, 10, 11, 13)),
        1024 if has_copies else 0)


def number(word):
    """Of MLIR's text, where some are the bits of a double."""
    word = word.strip()
    return struct.unpack(">d", bytes.fromhex(word[2:]))[0] if word.startswith("0x") else float(word)


def work_of(numbers):
    """What workJson writes, of a note of a candidate."""
    numbers = list(map(number, numbers))
    works = []
    for start in range(0, len(numbers), len(ORDER)):
        work = {"step": {}, "once": {}, "beside": []}
        for name, value in zip(ORDER, numbers[start:start + len(ORDER)], strict=True):
            part, _, member = name.rpartition(".")
            (work[part] if part else work)[member] = value
        works.append(work)
    works[0]["beside"] = works[1:]
    return works[0]


def works_noted(text):
    """By key and schedule, those of a program's candidates as the compiler notes them."""
    return {(key, schedule): work_of(numbers.split(",")) for schedule, numbers, key in re.findall(
        r'schedule = (#kernel\.schedule<[^>]*(?:array<[^>]*>[^>]*)*>), '
        r'work = array<f64: ([^>]*)>\}, key = "(\w+)"', text)}


class Works:
    """Works of rows, as workJson writes them, and of the launches beside them, as arrays."""

    def __init__(self, works, limits):
        flat, owners = [], []

        def add(work, owner):
            flat.append(work)
            owners.append(owner)
            for other in work["beside"]:
                add(other, owner)
        for owner, work in enumerate(works):
            add(work, owner)
        self.count, self.owners = len(works), numpy.array(owners)
        for name in KERNEL:
            setattr(self, name, numpy.array([float(work[name]) for work in flat]))
        self.parts = {part: {name: numpy.array([float(work[part][name]) for work in flat])
                             for name in BLOCK} for part in ("step", "once")}
        self.together = self.blocks_per_sm(limits)

    def blocks_per_sm(self, limits):
        shared = self.shared_bytes + limits.reserved
        fits = ((self.shared_bytes <= limits.max_shared) & (self.registers <= limits.max_registers)
                & (self.threads <= limits.max_threads))
        with numpy.errstate(divide="ignore"):
            most = numpy.minimum.reduce([
                numpy.where(shared > 0, numpy.floor(limits.sm_shared / shared), numpy.inf),
                numpy.floor(limits.sm_registers / (self.registers * self.threads)),
                numpy.floor(limits.sm_threads / self.threads),
                numpy.full(len(self.owners), float(limits.sm_blocks))])
        return numpy.where(fits, most, 0)

    def resources(self, part, c, together):
        slots = (part["slots"] + c.conversion * part["conversions"] + c.place * part["places"]
                 + c.check * part["checks"] + c.result * part["results"])
        shared = part["shared_bytes"] / SHARED_RATE + c.turn * part["turns"]
        each = [part["matrix"] * c.matrix_time, part["arithmetic"], slots / SCHEDULERS, shared,
                part["l2_bytes"] / c.l2_rate]
        most = numpy.maximum.reduce(each)
        return together * (most + c.contention * (sum(each) - most))

    def alone(self, part, c):
        products = numpy.maximum(part["products"], 1e-300)
        each = part["matrix"] * c.matrix_time / (self.threads / 32) * SCHEDULERS / products
        own = (part["chain"] + part["barriers"] * c.barrier + numpy.where(
            part["products"] > 0, part["products"] * numpy.maximum(c.matrix_latency, each), 0))
        waiting = (c.global_latency * part["loads"] + own) / (part["ahead"] + 1)
        unshared = part["idle"] * self.resources(part, c, 1)
        return numpy.maximum.reduce([own, waiting, unshared])

    def cycles(self, part, c, together):
        return numpy.maximum(self.resources(part, c, together), self.alone(part, c))

    def microseconds(self, c):
        """Of each row, with the launches beside it; infinite where no block fits."""
        def lap(together):
            return (self.trips * c.global_latency
                    + self.steps * self.cycles(self.parts["step"], c, together)
                    + self.cycles(self.parts["once"], c, together))
        occupancy = numpy.maximum(self.together, 1)
        mine = numpy.ceil(self.blocks / c.sm_count)
        rounds = numpy.floor(mine / occupancy)
        rest = mine - rounds * occupancy
        cycles = rounds * lap(occupancy) + numpy.where(rest > 0, lap(rest), 0)
        kernel = cycles / numpy.where(self.on_matrix > 0, c.matrix_clock_mhz, c.clock_mhz)
        memory = self.dram_bytes / (c.memory_gbps * 1000 * c.memory_share)
        each = numpy.where(self.together > 0, numpy.maximum(kernel, memory) + c.launch_us, numpy.inf)
        return numpy.bincount(self.owners, each, self.count)
