#!/usr/bin/env python3
"""Tuning bundles of whole networks: how long they take to make and how large they are; run with the fake driver,
killed at half and resumed; every candidate's values on the simulator; faults of each kind; replayed."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

import numpy
import onnx

import harness
import networks
import tuning_bundle

SECONDS = 7200
TARGET = "sm_90a:h200"
SHAPES = {"resnet50": "image:1x3x224x224", "mobilenet_v2": "image:1x3x224x224",
          "bert_base": "input_ids:1x128,token_type_ids:1x128,attention_mask:1x128"}
PRECISIONS = ("fp16", "int8")
# Schedules of a dispatch at most: enough for as many as below.
CANDIDATES = 20
# Limits of all bundles together: seconds of CPU, 15 minutes of two cores; and bytes.
MOST_CPU, MOST_BYTES = 15 * 60 * 2, 60 << 20
LEAST_CANDIDATES = 2000
FAULTY = ("mobilenet_v2", "fp16")


def bytes_hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Networks(tuning_bundle.Bundles):
    def __init__(self, options):
        super().__init__(options, "tuning-networks")
        self.fake["FAKECUDA_DEVICES"] = "9.0"
        # The first compilation fills it, and is the one that is measured.
        self.cache = self.work / "cache"
        shutil.rmtree(self.cache, ignore_errors=True)
        self.candidates = options.candidates
        self.chosen = [(name, precision) for name in SHAPES for precision in PRECISIONS
                       if re.search(options.filter, f"{name}-{precision}")]

    def options_of(self, name, precision):
        return [f"--precision={precision}", f"--shapes={SHAPES[name]}", f"--cache-dir={self.cache}",
                *([f"--calibration-data={self.work / name}.npz", "--calibration-batch=1"]
                  if precision == "int8" else [])]

    def write(self, name):
        network = networks.NETWORKS[name]()
        onnx.save(network.model, self.work / f"{name}.onnx")
        numpy.savez(self.work / f"{name}.npz", **network.inputs(1, numpy.random.default_rng(1)))

    def make(self, name, precision, label, target, *more, source=None):
        """A bundle, its candidates, and the seconds, also of CPU, that it took."""
        made, before = self.work / f"{name}-{precision}-{label}", harness.cpu_seconds()
        step = self.compile(f"make-{made.name}", made, "--emit=tuning", f"--target={target}",
                            f"--tuning-candidates={self.candidates}",
                            *([] if source else self.options_of(name, precision)), *more,
                            source=source or self.work / f"{name}.onnx", seconds=SECONDS)
        cpu = harness.cpu_seconds() - before
        listed = harness.run([made, "--list"], SECONDS)
        counts = [int(line.split()[2]) for line in listed.output.splitlines()[1:]]
        print(f"{made.name}: {sum(counts)} schedules of {len(counts)} kernels, {step.seconds:.0f} s, {cpu:.0f} s of CPU, "
              f"{made.stat().st_size / (1 << 20):.1f} MiB", flush=True)
        return made, counts, step.seconds, cpu

    def check_size(self, made):
        """All bundles together."""
        candidates = sum(sum(counts) for _, counts, *_ in made.values())
        size = sum(path.stat().st_size for path, *_ in made.values())
        cpu = sum(entry[3] for entry in made.values())
        print(f"all: {candidates} schedules, {sum(entry[2] for entry in made.values()):.0f} s, {cpu:.0f} s of CPU, "
              f"{size / (1 << 20):.1f} MiB")
        if len(made) == len(SHAPES) * len(PRECISIONS) and self.candidates == CANDIDATES:
            self.expect("candidates", candidates >= LEAST_CANDIDATES, f"{candidates}")
        self.expect("cpu", cpu <= MOST_CPU, f"{cpu:.0f} s of CPU")
        self.expect("size", size <= MOST_BYTES, f"{size / (1 << 20):.1f} MiB")

    def check_resume(self, label, bundle, counts):
        """With the fake driver, killed at half and gone on with; its results."""
        results = self.work / f"{label}.json"
        results.unlink(missing_ok=True)
        command = [bundle, f"--out={results}", "--device=cuda"]
        environment = {**os.environ, **self.fake}
        half = sum(counts) // 2
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, env=environment)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and process.poll() is None and (
                not results.exists() or results.read_text().count('"status"') < half):
            time.sleep(0.01)
        killed = process.poll() is None
        if killed:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = json.loads(results.read_text())["results"]
        step, document = self.go_on(bundle, results, "--device=cuda", environment=self.fake)
        rows = document["results"]
        names = collections.Counter((r["dispatch"], r["candidate"], r["round"]) for r in rows)
        first = sum(r["round"] == 1 for r in rows)
        self.expect(f"resumed-{label}", killed and half <= len(before) < len(rows) and max(names.values()) == 1
                    and rows[:len(before)] == before and first == sum(counts)
                    and {r["status"] for r in rows} == {"ok"},
                    f"{killed}, {len(before)} and {len(rows)}, {first} of {sum(counts)}", step)
        return results

    def check_values(self, name, precision, counts):
        """Every candidate computes what the first one does."""
        label = f"{name}-{precision}"
        bundle, *_ = self.make(name, precision, "simulated", f"sim:{TARGET}")
        step, document = self.measure(bundle, self.work / f"{label}-simulated.json", "--device=sim", "--minutes=600")
        rows = [row for row in document["results"] if row["round"] == 1]
        same = sum(row["same_bits"] for row in rows)
        print(f"{label}: {same} of {len(rows)} schedules have the first one's bits; {step.seconds:.0f} s")
        self.expect(f"values-{label}", len(rows) == sum(counts) and {r["status"] for r in rows} == {"ok"},
                    f"{len(rows)} of {sum(counts)}", step)

    def check_faults(self):
        """A wrong candidate on the simulator; a refused image and one that hangs with the fake driver."""
        name, precision = FAULTY
        source, tiled, planted = (self.work / file for file in (f"{name}.onnx", "tiled.mlir", "planted.mlir"))
        self.compile("make-tiled", tiled, "--emit=tuning", f"--target={TARGET},sim:{TARGET}", "--stop-after=tiled",
                     f"--tuning-candidates={self.candidates}", *self.options_of(name, precision), source=source, seconds=SECONDS)
        text, number = tuning_bundle.plant_wrong(tiled.read_text())
        planted.write_text("".join(text))
        more = ("--start-from=tiled", f"--cache-dir={self.cache}")
        bundle, counts, *_ = self.make(name, precision, "wrong", f"sim:{TARGET}", *more, source=planted)
        step, document = self.measure(bundle, self.work / "wrong.json", "--device=sim", "--minutes=600", code=1)
        first = [row for row in document["results"] if row["round"] == 1]
        wrong = [row for row in first if row["status"] != "ok"]
        self.expect("wrong", [r["status"] for r in wrong] == ["wrong"] and wrong[0]["schedule"] in text[number]
                    and f"wrong: {wrong[0]['schedule']}, of " in step.output, str(wrong), step)
        self.expect("wrong-others", len(first) == sum(counts), f"{len(first)} of {sum(counts)}", step)
        # Of what is in the folder of kernels ptxas is not asked: only the planted one is damaged.
        ptxas = tuning_bundle.damaging_ptxas(self.cameoc, self.work / "ptxas", every=True)
        bundle, counts, *_ = self.make(name, precision, "refused", TARGET, *more, *ptxas, source=planted)
        fewest = min(range(len(counts)), key=lambda i: counts[i])
        kernel = next(re.search(r"@(k\d+_\w+)", each)[1] for each in text
                      if each.startswith(f"  rt.variant @d{fewest}_0 "))
        step, document = self.measure(
            bundle, self.work / "refused.json", "--device=cuda", "--timeout=2", code=1,
            environment={**self.fake, "FAKECUDA_FAULT": f"{kernel}:hang"})
        first = [row for row in document["results"] if row["round"] == 1]
        found = collections.Counter(row["status"] for row in first)
        hung = {row["dispatch"] for row in first if row["status"] == "hung"}
        self.expect("refused-and-hung", hung == {fewest} and found["refused"] == 1 and len(first) == sum(counts)
                    and found["ok"] == sum(counts) - found["hung"] - 1, f"{found}, {hung}", step)
        named = {row["status"]: f"{row['status']}: {row['schedule']}, of " for row in first if row["status"] != "ok"}
        self.expect("named", all(words in step.output for words in named.values()), str(named), step)

    def check_replay(self, results):
        """All networks' results together serve each of them, with the same bytes each time."""
        files = ",".join(str(file) for file in results.values())
        for name, precision in results:
            plans = [self.work / f"{name}-{precision}-plan-{i}" for i in range(2)]
            for plan in plans:
                self.compile(f"replay-{plan.name}", plan, "--emit=plan", f"--target={TARGET}",
                             f"--schedules={files}", *self.options_of(name, precision),
                             source=self.work / f"{name}.onnx", seconds=SECONDS)
            hashes = {bytes_hash(plan) for plan in plans}
            self.expect(f"replay-{name}-{precision}", len(hashes) == 1, "they differ")
            for plan in plans:
                plan.unlink()

    def run(self):
        for name in dict(self.chosen):
            self.write(name)
        made = {key: self.make(*key, "bundle", TARGET) for key in self.chosen}
        self.check_size(made)
        results = {key: self.check_resume("-".join(key), made[key][0], made[key][1]) for key in made}
        for key in made:
            self.check_values(*key, made[key][1])
        if FAULTY in made:
            self.check_faults()
        self.check_replay(results)
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=harness.Path, default=harness.SOURCE / "build")
    parser.add_argument("--filter", default="", metavar="REGEX", help="bundles (resnet50-fp16, ...) whose name matches")
    parser.add_argument("--candidates", type=int, default=CANDIDATES, help=f"schedules of a dispatch ({CANDIDATES})")
    return Networks(parser.parse_args()).run()


if __name__ == "__main__":
    raise SystemExit(main())
