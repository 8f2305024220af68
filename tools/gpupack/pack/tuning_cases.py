"""Cases that run tuning bundles: the kernels of a model, each in all schedules that it could have.

A bundle writes its results to OUT/tuning-NAME.json, where a run that is cut off leaves them; they are kept as
OUT/tuning-NAME.json.xz, for cameoc --schedules and fit.py."""
# SPDX-License-Identifier: Apache-2.0
import json
import lzma

import process
from results import NOT_RUN, Result, Settled

MOST_SECONDS = 24 * 3600  # of all bundles together: they take the time that there is
# Time after its share that the schedules at hand have to end in: four, of which each may hang for ten
# seconds.
REST_SECONDS = 50
USAGE = 2  # exit code, also where OUT has results of another bundle
LEAST_MINUTES = 0.001  # a bundle takes no 0
NAMED = 10  # faults in a message; the data has all
START = "tuning-"


def case_name(bundle):
    return f"tuning/{bundle['name'][len(START):]}"


def share_of(bundles):
    """The first one's part of the time that there is for all, by the schedules that they have."""
    return bundles[0]["schedules"] / max(1, sum(bundle["schedules"] for bundle in bundles))


def cases(pack, chosen):
    """`chosen` tells whether a case's name is asked for."""
    made, fitting = [], []
    for bundle in pack.about["bundles"]:
        name = case_name(bundle)
        if not chosen(name):
            continue
        if pack.dry and not bundle["simulated"]:
            made.append(Settled(name, "skip", "the bundle has no code for the fake driver"))
        elif pack.machine.architecture and not pack.machine.takes(bundle["architecture"]):
            made.append(Settled(name, "skip", f"schedules for {bundle['architecture']} are not for this GPU"))
        else:
            fitting.append(bundle)
    return made + [Tuning(pack, bundle, share_of(fitting[number:]))
                   for number, bundle in enumerate(fitting)]


class Tuning:
    limit = MOST_SECONDS
    fills = True

    def __init__(self, pack, bundle, share):
        self.pack, self.bundle, self.share = pack, bundle, share

    def names(self):
        return [case_name(self.bundle)]

    def run(self, seconds):
        own = seconds * self.share
        measuring = own - min(REST_SECONDS, own / 4)
        file = self.pack.out / f"{self.bundle['name']}.json"
        ended = process.run([self.pack.folder / self.bundle["files"]["bundle"], f"--out={file}",
                             "--device=cuda", f"--minutes={max(measuring / 60, LEAST_MINUTES):.4f}"],
                            min(seconds, own + REST_SECONDS), env=self.pack.environment)
        document = None if ended.code == USAGE else self.keep(file)
        if not document:
            status = ended.status()
            return [Result(self.names()[0], "fail" if status == "pass" else status, ended.seconds,
                           f"{ended.how()}, without results: {ended.first_error()}", ended.output)], []
        data = {"name": self.bundle["name"], "seconds": round(ended.seconds, 1),
                **{key: self.bundle[key] for key in ("schedules", "kernels")}, **summary(document)}
        status, message = judge(data, ended)
        return [Result(self.names()[0], status, ended.seconds, message, ended.output, data)], []

    def keep(self, file):
        """The results, or None; compressed, they go where the pack's go."""
        try:
            text = file.read_bytes()
            document = json.loads(text)
        except (OSError, ValueError):
            return None
        (self.pack.out / f"{file.name}.xz").write_bytes(lzma.compress(text))
        file.unlink()
        return document


def summary(document):
    """Of each kernel the estimate's schedule and the fastest, as a bundle's own table has them: of the
    latest round that has measured a schedule."""
    last, faults = {}, []  # by kernel: by schedule
    for row in document["results"]:
        last.setdefault(row["dispatch"], {})[row["candidate"]] = row
        if row["status"] != "ok":
            faults.append({key: row[key] for key in ("status", "nodes", "schedule", "round")})
            faults[-1]["message"] = row.get("message", "")
    statuses, dispatches = {}, []
    bad = {(fault["schedule"], *fault["nodes"]) for fault in faults}
    for rows in last.values():
        for row in rows.values():
            statuses[row["status"]] = statuses.get(row["status"], 0) + 1
        good = [row for row in rows.values()
                if row["status"] == "ok" and (row["schedule"], *row["nodes"]) not in bad]
        fastest = min(good, key=lambda row: (-row["round"], row["us"])) if good else None
        first = next(iter(rows.values()))
        dispatches.append({"nodes": first["nodes"], "uses": first["uses"], "tried": len(rows),
                           "chosen": described(rows.get(0) if rows.get(0) in good else None),
                           "fastest": described(fastest)})
    return {"target": document["target"], "statuses": statuses, "faults": faults,
            "dispatches": dispatches}


def described(row):
    return row and {key: row[key] for key in ("schedule", "us", "estimate_us")}


def judge(data, ended):
    """(status, message) of a bundle that has left results."""
    tried = sum(data["statuses"].values())
    if data["faults"]:
        named = "; ".join(f"{fault['status']}: {fault['schedule']}, of {','.join(fault['nodes'])}"
                          f"{': ' if fault['message'] else ''}{fault['message']}"
                          for fault in data["faults"][:NAMED])
        more = len(data["faults"]) - NAMED
        return "fail", (f"{len(data['faults'])} of {tried} schedules: {named}"
                        f"{f'; and {more} more' if more > 0 else ''}")
    if ended.code:
        return ended.status(), f"{ended.how()} after {tried} schedules: {ended.first_error()}"
    if ended.code is None:
        return "timeout", f"{ended.how()}, after {tried} schedules"
    if not tried:
        return "skip", NOT_RUN + "the bundle's share of the time was over"
    pairs = [(each["uses"] * each["chosen"]["us"], each["uses"] * each["fastest"]["us"])
             for each in data["dispatches"] if each["chosen"]]
    chosen, fastest = (sum(times) for times in zip(*pairs)) if pairs else (0, 0)
    return "pass", (f"{tried} of {data['schedules']} schedules of {len(data['dispatches'])} of "
                    f"{data['kernels']} kernels: {fastest:.1f} us instead of {chosen:.1f} us")
