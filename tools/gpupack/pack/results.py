"""What the cases' outcomes are, and the files they are written to as they come."""
# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import os
import threading
import time
from dataclasses import asdict, dataclass, field

STATUSES = ("crash", "timeout", "fail", "skip", "pass")  # worst first
BAD = ("crash", "timeout", "fail")
LOG_CHARACTERS = 3000
NOT_RUN = "not run: "


@dataclass
class Result:
    name: str
    status: str
    seconds: float = 0.0
    message: str = ""
    log: str = ""  # the end of the output, of what did not pass
    data: dict = field(default_factory=dict)

    @property
    def kind(self):
        return self.name.split("/")[0]


class Settled:
    """A case whose outcome is known without running it."""
    limit = 1

    def __init__(self, name, status, message):
        self.result = Result(name, status, message=message)

    def names(self):
        return [self.result.name]

    def run(self, _seconds):
        return [self.result], []


class Book:
    """All results; each one that is added is in FOLDER/results.json before the next case starts."""

    def __init__(self, folder, about):
        self.folder = folder
        self.about = about
        self.results = []
        self.lock = threading.Lock()
        self.start = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        self._keep_former()

    def _keep_former(self):
        """What an earlier run has left there becomes results-1.json, and so on."""
        if (self.folder / "results.json").exists():
            number = next(n for n in itertools.count(1) if not (self.folder / f"results-{n}.json").exists())
            os.replace(self.folder / "results.json", self.folder / f"results-{number}.json")

    def add(self, results):
        with self.lock:
            for result in results:
                result.log = "" if result.status == "pass" else result.log[-LOG_CHARACTERS:]
                self.results.append(result)
                if result.status in BAD:
                    print(f"{result.status.upper()} {result.name}: {result.message}", flush=True)
            self._write()

    def close(self):
        with self.lock:
            self.about["ended"] = True
            self._write()
            (self.folder / "results.txt").write_text(self.table())

    def _write(self):
        self.about["seconds"] = round(time.monotonic() - self.start, 1)
        self.about["counts"] = self.counts()
        ordered = sorted(self.results, key=lambda r: (STATUSES.index(r.status), r.name))
        text = json.dumps({**self.about, "cases": [asdict(r) for r in ordered]}, indent=1)
        file = self.folder / "results.json.new"
        file.write_text(text + "\n")
        os.replace(file, self.folder / "results.json")

    def counts(self, kind=None):
        return {status: sum(r.status == status and kind in (None, r.kind) for r in self.results)
                for status in STATUSES}

    def exit_code(self):
        """1: something is wrong; 3: nothing is, but the time did not suffice for all."""
        if any(r.status in BAD for r in self.results) or not self.results:
            return 1
        return 3 if any(r.message.startswith(NOT_RUN) for r in self.results) else 0

    def table(self):
        lines = [*_machine_lines(self.about), ""]
        for status in STATUSES[:-1]:
            chosen = [r for r in self.results if r.status == status]
            if status == "skip":
                lines += _skips(chosen)
            else:
                lines += [f"{status.upper():8} {r.name} ({r.seconds:.1f} s): {r.message}"
                          for r in sorted(chosen, key=lambda r: r.name)]
        lines += ["", f"{'':14}" + "".join(f"{status:>9}" for status in reversed(STATUSES))]
        for kind in dict.fromkeys(r.kind for r in self.results):
            counts = self.counts(kind)
            lines.append(f"{kind:14}" + "".join(f"{counts[s]:9}" for s in reversed(STATUSES)))
        lines += ["", *_constants(self.results), *_measured(self.results)]
        counts = self.counts()
        lines.append(f"{counts['pass']} passed, {sum(counts[s] for s in BAD)} failed, "
                     f"{counts['skip']} skipped, {self.about.get('seconds', 0):.0f} s")
        return "\n".join(lines) + "\n"


def _machine_lines(about):
    machine = about.get("machine", {})
    return [f"{key}: {machine[key]}" for key in machine] or ["no inventory"]


def _skips(results):
    """One line per reason."""
    reasons = {}
    for result in results:
        reasons.setdefault(result.message, []).append(result.name)
    lines = []
    for reason, names in reasons.items():
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        lines.append(f"{'SKIP':8} {', '.join(sorted(names)[:4])}{more}: {reason}")
    return lines


def _constants(results):
    """The machine's, one a line."""
    found = [constant for result in results for constant in result.data.get("constants", [])]
    if not found:
        return []
    lines = [f"{'constants of the machine':32}{'median':>12} {'unit':12}{'spread':>8}{'clock, MHz':>12}"]
    for constant in found:
        spread = "-" if constant["spread"] is None else f"{100 * constant['spread']:.1f} %"
        lines.append(f"{constant['name']:32}{constant['median']:12.5g} {constant['unit']:12}{spread:>8}"
                     f"{constant['clock_mhz'] or '-':>12}"
                     f"{'' if constant['usable'] else '  ' + constant.get('skipped', 'not usable')}")
    return [*lines, ""]


def _measured(results):
    """Medians in milliseconds, one row per benchmark, one column per way of computing it."""
    rows, columns = {}, []
    for result in results:
        found = dict(result.data.get("milliseconds", {}))
        if "estimate_us" in result.data:
            found["estimated"] = result.data["estimate_us"] / 1000
        for column, value in found.items():
            rows.setdefault(result.name.split("/")[1], {})[column] = value
            if column not in columns:
                columns.append(column)
    if not rows:
        return []
    columns.sort(key=lambda column: (column.startswith("torch"), column))
    lines = ["median times in ms", f"{'':48}" + "".join(f"{c:>20}" for c in columns)]
    for name, values in rows.items():
        lines.append(f"{name:48}" + "".join(
            f"{values[c]:20.4f}" if c in values else f"{'-':>20}" for c in columns))
    return [*lines, ""]
