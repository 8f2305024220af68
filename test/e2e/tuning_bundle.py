#!/usr/bin/env python3
"""Tuning bundles: made, run on the simulator and with the fake driver, killed and resumed, with faults
planted in them, and replayed by cameoc --schedules."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import re
import signal
import subprocess
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness

SECONDS = 300
TARGET = "sm_80"
CANDIDATES = 6
MEMBERS = {"dispatch", "candidate", "round", "status", "us", "spread", "clock_mhz", "replays",
           "together", "same_bits", "board", "key", "nodes", "target", "uses", "estimate_us",
           "family", "schedule", "work"}


def network():
    """Products with constants in several orders, a normalisation, a softmax, a convolution, two equal
    products and a gather."""
    random = numpy.random.default_rng(5)

    def weights(name, *shape):
        return numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32), name)

    nodes = [helper.make_node("Conv", ["image", "filters"], ["a"], "conv", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["a"], ["b"], "relu"),
             helper.make_node("Reshape", ["b", "flat"], ["c"], "reshape"),
             helper.make_node("MatMul", ["c", "first"], ["d"], "product"),
             helper.make_node("MatMul", ["d", "second"], ["e"], "equal_1"),
             helper.make_node("MatMul", ["e", "second"], ["f"], "equal_2"),
             helper.make_node("Gather", ["f", "rows"], ["g"], "gather"),
             helper.make_node("Softmax", ["g"], ["y"], "scores")]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "tuned", [value("image", TensorProto.FLOAT, [4, 8, 16, 16]),
                         value("rows", TensorProto.INT64, [32])],
        [value("y", TensorProto.FLOAT, [32, 96])],
        [weights("filters", 16, 8, 3, 3), weights("first", 256, 96), weights("second", 96, 96),
         numpy_helper.from_array(numpy.array([64, 256], numpy.int64), "flat")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def plant_wrong(tiled):
    """A program's variants as texts, of which one computes something else, and that one's number."""
    variants = re.split(r"(?=^  rt\.variant @)", tiled, flags=re.MULTILINE)
    number = next(i for i, text in enumerate(variants)
                  if re.match(r"  rt.variant @d\d+_1 ", text) and "arith.truncf" in text)
    variants[number] = re.sub(
        r"(%\w+) = arith.truncf (%\w+) : (\S+) to ",
        r"%planted = arith.negf \2 : \3\n \1 = arith.truncf %planted : \3 to ",
        variants[number], count=1)
    return variants, number


def damaging_ptxas(cameoc, path, every=False):
    """cameoc's options for a ptxas that writes no image: of k0_scores, or of every kernel."""
    real = harness.run([cameoc, "--version"], SECONDS).output
    ptxas = re.search(r"ptxas.*?(/\S+)", real)[1].rstrip(",;:)")
    # ptxas is given no names, for the cache's sake: of k0_scores their number of letters.
    entry = "entry k" if every else r"entry k[$]\{8\}("
    path.write_text(f"""#!/bin/bash
{ptxas} "$@" || exit
grep -sq '{entry}' -- "${{@: -1}}" || exit 0
while [ "$1" != -o ]; do shift; done
printf 'no image' | dd of="$2" conv=notrunc status=none
""")
    path.chmod(0o755)
    libdevice = harness.Path(ptxas).parent.parent / "nvvm" / "libdevice" / "libdevice.10.bc"
    return f"--ptxas={path}", f"--libdevice={libdevice}"


class Bundles:
    def __init__(self, options, name="tuning-bundle"):
        self.suite = harness.Suite(name, options.build.resolve())
        self.work, self.cameoc = self.suite.work, self.suite.tool("cameoc")
        self.model = self.work / "model.onnx"
        onnx.save(network(), self.model)
        self.fake = {"LD_LIBRARY_PATH": str(options.build.resolve() / "fakecuda")}

    def expect(self, case, good, why="", *steps):
        if good:
            self.suite.ok(case)
        else:
            self.suite.fail(case, why, *steps)

    def compile(self, case, output, *arguments, source=None, code=0, seconds=SECONDS):
        step = harness.run([self.cameoc, source or self.model, "-o", output, *arguments], seconds)
        self.expect(case, step.code == code, step.how(), step)
        return step

    def measure(self, bundle, results, *arguments, code=0, environment=None):
        """(step, document) of a run from the beginning."""
        results.unlink(missing_ok=True)
        return self.go_on(bundle, results, *arguments, code=code, environment=environment)

    def go_on(self, bundle, results, *arguments, code=0, environment=None):
        step = harness.run([bundle, f"--out={results}", *arguments], SECONDS,
                           env={**os.environ, **(environment or {})})
        if step.code != code:
            self.suite.fail(f"{results.stem}-exit", f"{step.how()}, not {code}", step)
        return step, json.loads(results.read_text()) if results.exists() else {"results": []}

    def bundle(self, case, *arguments, source=None):
        made = self.work / case
        precision = [] if source else ["--precision=fp16"]
        self.compile(f"make-{case}", made, "--emit=tuning", f"--target={TARGET},sim:{TARGET}",
                     f"--tuning-candidates={CANDIDATES}", *precision, *arguments, source=source)
        return made

    def check_simulator(self, bundle):
        """All candidates run and agree with the first."""
        step, document = self.measure(bundle, self.work / "simulator.json", "--device=sim")
        results = document["results"]
        tried = {(r["dispatch"], r["candidate"]) for r in results}
        listed = harness.run([bundle, "--list"], SECONDS)
        rows = [line.split() for line in listed.output.splitlines()[1:]]
        self.expect("simulator-all", len(tried) == sum(int(row[2]) for row in rows) > 15,
                    f"{len(tried)} tried", step, listed)
        self.expect("simulator-ok", {r["status"] for r in results} == {"ok"}, "", step)
        self.expect("simulator-bits", all(r["same_bits"] for r in results if r["round"] == 1),
                    "values of the first round are exact", step)
        self.expect("simulator-members", all(MEMBERS <= set(r) for r in results),
                    str([MEMBERS - set(r) for r in results]))
        uses = {tuple(r["nodes"]): r["uses"] for r in results}
        self.expect("simulator-uses", uses.get(("equal_1", "equal_2")) == 2, str(uses))
        self.expect("simulator-packed", any("packing" in r for r in results), "no constant is packed")
        # Which candidates are repeated is a matter of their times: unit tests give those.
        self.expect("simulator-rounds", {1} <= {r["round"] for r in results} <= {1, 2, 3, 4},
                    str({r["round"] for r in results}))
        return document

    def check_cut(self, bundle):
        """Whenever time runs out, each dispatch has its best of those tried."""
        results = self.work / "cut.json"
        step, document = self.measure(bundle, results, "--device=sim", "--minutes=0.0001")
        self.expect("cut", len(document["results"]) < 15, f"{len(document['results'])} results", step)
        # The order: some of each dispatch before more of any.
        step, document = self.measure(bundle, self.work / "order.json", "--device=cuda",
                                      environment=self.fake)
        seen, wave = set(), {}
        for result in document["results"]:
            if result["round"] == 1:
                wave.setdefault(result["candidate"] // 4, []).append(result["dispatch"])
                seen.add(result["dispatch"])
        first_of_second = next(i for i, r in enumerate(document["results"]) if r["candidate"] >= 4)
        before = {r["dispatch"] for r in document["results"][:first_of_second]}
        self.expect("order", before == seen and len(wave) == 2, f"{before} of {seen}", step)

    def check_resume(self, bundle):
        """Killed at half, and gone on with: nothing is measured twice, nothing is left out."""
        results = self.work / "resumed.json"
        results.unlink(missing_ok=True)
        process = subprocess.Popen([bundle, f"--out={results}", "--device=sim"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and (not results.exists()
                                          or results.read_text().count('"status"') < 12):
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        text = results.read_text()
        half = json.loads(text)["results"]
        # A kill in the middle of a line.
        results.write_text(text[:text.rindex('"status"')])
        step, document = self.go_on(bundle, results, "--device=sim")
        again = document["results"]
        names = [(r["dispatch"], r["candidate"], r["round"]) for r in again]
        self.expect("resumed", len(names) == len(set(names)) and len(half) < len(names)
                    and again[:len(half) - 1] == half[:-1], f"{len(half)} and {len(names)}", step)
        self.expect("resumed-says", f"{len(half) - 1} were tried before" in step.output, "", step)
        step, document = self.go_on(bundle, results, "--device=sim")
        self.expect("resumed-whole", document["results"] == again, "measured again", step)
        step, _ = self.go_on(bundle, results, "--device=cuda", environment=self.fake, code=2)
        self.expect("other-machine", "has results of another machine" in step.output, "", step)

    def check_wrong(self):
        """A candidate whose kernel computes something else."""
        tiled, planted = self.work / "tiled.mlir", self.work / "planted.mlir"
        self.compile("make-tiled", tiled, "--emit=tuning", f"--target={TARGET},sim:{TARGET}",
                     f"--tuning-candidates={CANDIDATES}", "--precision=fp16", "--stop-after=tiled")
        variants, number = plant_wrong(tiled.read_text())
        planted.write_text("".join(variants))
        bundle = self.bundle("planted", "--start-from=tiled", source=planted)
        step, document = self.measure(bundle, self.work / "wrong.json", "--device=sim", code=1)
        wrong = [r for r in document["results"] if r["status"] != "ok"]
        self.expect("wrong", [(r["status"], r["candidate"], r["round"]) for r in wrong]
                    == [("wrong", 1, 1)] and wrong[0]["schedule"] in variants[number]
                    and "off the first candidate's" in wrong[0]["message"], str(wrong), step)
        self.expect("wrong-says", f"wrong: {wrong[0]['schedule']}, of " in step.output, "", step)
        self.expect("wrong-others", len(document["results"]) > 15, "the rest does not go on", step)
        return self.work / "wrong.json", wrong[0]["schedule"]

    def check_faults(self, bundle):
        """What hangs, and what takes the device along: named, and the rest goes on."""
        faults = {"hung": "k0_product:hang", "failed": "k0_scores:700"}
        for status, fault in faults.items():
            step, document = self.measure(
                bundle, self.work / f"{status}.json", "--device=cuda", "--timeout=2", code=1,
                environment={**self.fake, "FAKECUDA_FAULT": fault})
            node = fault.split(":")[0].removeprefix("k0_")
            others = {r["status"] for r in document["results"] if node not in r["nodes"][0]}
            found = {r["status"] for r in document["results"] if node in r["nodes"][0]}
            self.expect(status, found == {status} and others == {"ok"}, f"{found}, {others}", step)
            self.expect(f"{status}-says", f"\n{status}: #kernel.schedule<" in step.output, "", step)

    def check_refused(self):
        """An image that the driver does not take: ptxas writes something else."""
        # Of kernels that are kept ptxas is not asked.
        bundle = self.bundle("damaged-image", *damaging_ptxas(self.cameoc, self.work / "ptxas"),
                             f"--cache-dir={self.work / 'damaged-cache'}")
        step, document = self.measure(bundle, self.work / "refused.json", "--device=cuda", code=1,
                                      environment=self.fake)
        refused = [r for r in document["results"] if r["status"] != "ok"]
        self.expect("refused", [r["status"] for r in refused] == ["refused"]
                    and refused[0]["nodes"] == ["scores", "gather"] and refused[0]["message"],
                    str(refused), step)
        self.expect("refused-others", len(document["results"]) > 15, "the rest does not go on", step)

    def check_replay(self, document, wrong):
        """cameoc takes the fastest that was right, the same artefact each time and from its own list."""
        measured, plans = self.work / "simulator.json", [self.work / f"plan-{i}" for i in range(3)]
        options = ["--emit=plan", f"--target=sim:{TARGET}", "--precision=fp16"]
        listed = self.work / "schedules.json"
        self.compile("replay", plans[0], *options, f"--schedules={measured}")
        self.compile("replay-again", plans[1], *options, f"--schedules={measured}")
        self.compile("replay-list", listed, "--emit=schedules", *options[1:],
                     f"--schedules={measured}")
        self.compile("replay-listed", plans[2], *options, f"--schedules={listed}")
        bytes_of = [plan.read_bytes() for plan in plans]
        self.expect("replay-bytes", bytes_of[0] == bytes_of[1] == bytes_of[2], "they differ")
        best = {}
        for result in document["results"]:
            found = ((-result["round"], result["us"]), result["schedule"])
            best[result["key"]] = min(best.get(result["key"], found), found)
        chosen = {entry["key"]: entry["schedule"]
                  for entry in json.loads(listed.read_text())["schedules"]}
        self.expect("replay-best", chosen == {key: value[1] for key, value in best.items()},
                    f"{chosen}, not {best}")
        results, schedule = wrong
        replayed = self.work / "right.json"
        self.compile("replay-right", replayed, "--emit=schedules", *options[1:],
                     f"--schedules={results}")
        keys = {r["key"] for r in json.loads(results.read_text())["results"]
                if r["status"] == "wrong"}
        self.expect("replay-not-wrong", not any(
            entry["schedule"] == schedule and entry["key"] in keys
            for entry in json.loads(replayed.read_text())["schedules"]), "the wrong one is chosen")

    def check_misuse(self, bundle):
        """A bundle is no model, a model no bundle, and what is damaged is said to be."""
        artefact = self.work / "artefact"
        self.compile("make-artefact", artefact, f"--target=sim:{TARGET}")
        step = harness.run([artefact, f"--model={bundle}", "--device=sim"], SECONDS)
        self.expect("no-model", step.code == 4 and "the file is a tuning bundle, and no model"
                    in step.output, step.how(), step)
        step = harness.run([bundle, f"--bundle={artefact}", "--device=sim"], SECONDS)
        self.expect("no-bundle", step.code == 4 and "the file is not a tuning bundle" in step.output,
                    step.how(), step)
        damaged = self.work / "damaged"
        content = bytearray(bundle.read_bytes())
        content[-5000] ^= 1
        damaged.write_bytes(content)
        step = harness.run([bundle, f"--bundle={damaged}"], SECONDS)
        self.expect("damaged", step.code == 4 and "damaged model file" in step.output, step.how(), step)
        for arguments, words in ((["--minutes=0"], "--minutes: '0' is not a number above 0"),
                                 (["--only=absent", "--device=sim"],
                                  "--only=absent: no node has that in its name"),
                                 (["--fast"], "unknown option --fast"),
                                 (["--device=tpu"], "--device: 'tpu' is not a device")):
            step = harness.run([bundle, *arguments], SECONDS)
            self.expect(f"usage-{arguments[0]}", step.code == 2 and words in step.output, step.how(),
                        step)
        results = self.work / "twice.json"
        results.unlink(missing_ok=True)
        runs = [subprocess.Popen([bundle, f"--out={results}", "--device=sim"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [run.communicate(timeout=SECONDS)[1] for run in runs]
        self.expect("twice", sorted(run.returncode for run in runs) == [0, 2]
                    and any("is being written by another run" in text for text in said)
                    and json.loads(results.read_text())["results"], str(said))
        empty = self.work / "empty.json"
        empty.write_text("")
        step, document = self.go_on(bundle, empty, "--device=sim", "--only=scores")
        self.expect("empty", document["results"], "a full disk's empty file is not taken", step)
        step = harness.run([bundle, "--out=/dev/full", "--device=sim"], SECONDS)
        self.expect("special", step.code == 2 and "'/dev/full' is not a regular file" in step.output,
                    step.how(), step)
        other = self.work / "other.json"
        other.write_text((self.work / "simulator.json").read_text().replace(
            f'"target": "{TARGET}"', '"target": "sm_75"', 1))
        step = harness.run([bundle, f"--out={other}", "--device=sim"], SECONDS)
        self.expect("other-target", step.code == 2 and "has results of sm_75" in step.output, step.how(),
                    step)
        step, document = self.measure(bundle, self.work / "only.json", "--device=sim", "--only=scores")
        self.expect("only", {tuple(r["nodes"]) for r in document["results"]} == {("scores", "gather")}, "", step)

    def run(self):
        bundle = self.bundle("bundle")
        document = self.check_simulator(bundle)
        self.check_cut(bundle)
        self.check_resume(bundle)
        wrong = self.check_wrong()
        self.check_faults(bundle)
        self.check_refused()
        self.check_replay(document, wrong)
        self.check_misuse(bundle)
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=harness.Path, default=harness.SOURCE / "build")
    return Bundles(parser.parse_args()).run()


if __name__ == "__main__":
    raise SystemExit(main())
