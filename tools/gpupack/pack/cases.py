"""The table of cases, in order of worth."""
# SPDX-License-Identifier: Apache-2.0
import sys

import constants
import instructions
import process
from constant_cases import Constants, misfit
from measurements import MOST_SIMULATED, Benchmark, Beside, Profile
from models import TOOLS, Correct, Sanitized
from results import Result, Settled

API_SECONDS, API_SKIPPED = 60, 77
ALONE = {"out-of-memory"}  # disturbs what runs beside it
# Rows beside torch that a process measures: it takes seconds to start, and rows are kept when it has ended.
ROWS_TOGETHER = 13


class Api:
    """One case of api.py."""
    limit = API_SECONDS

    def __init__(self, pack, name):
        self.pack, self.case = pack, name

    def names(self):
        return [f"api/{self.case}"]

    def run(self, seconds):
        environment = self.pack.environment_for(*(self.pack.models[name] for name in
                                                  ("layers", "fashion", "outer")))
        ended = process.run([sys.executable, self.pack.source / "api.py", self.case,
                             self.pack.folder], seconds, env=environment)
        status, lines = ended.status(), ended.output.strip().splitlines()
        message = lines[-1] if lines else ended.how()
        if ended.code == API_SKIPPED:
            status = "skip"
        elif status == "fail":
            message = f"{ended.how()}: {ended.first_error()}"
        elif status != "pass":
            message = ended.how()
        return [Result(f"api/{self.case}", status, ended.seconds, message, ended.output)], []


def constant_cases(pack):
    """What the machine itself takes for this and that."""
    made = []
    for group in constants.GROUPS:
        reason = None if pack.dry else misfit(pack.machine, group)
        made.append(Settled(f"machine/constants/{group}", "skip", reason) if reason
                    else Constants(pack, group))
    return made


def first_cases(pack):
    """Whether anything works at all: small models, by cubin and by PTX."""
    return [case for name in ("layers", "shapes", "fashion")
            for case in correct(pack, pack.models[name])]


def correct(pack, model):
    """The driver's compiler is slow: networks run by PTX once."""
    made = []
    machine, ptx = pack.machine, pack.about["ptx"]
    for way in ("cubin", "ptx"):
        for number in range(len(model["feeds"])):
            name = f"{model['kind']}/{model['name']}/{way}/{number}"
            if way == "ptx" and model["kind"] == "network" and number:
                continue
            # A file with all code gives its PTX only where no cubin of that architecture fits.
            if way == "ptx" and machine.older_than(ptx):
                made.append(Settled(name, "skip", f"PTX for {ptx} is not for this GPU"))
            elif way not in model["files"] and machine.takes(ptx):
                made.append(Settled(name, "skip", "this GPU takes the cubin beside that PTX"))
            else:
                made.append(Correct(pack, name, model, way, number))
    return made


def api_cases(pack, alone):
    return [Api(pack, name) for name in pack.api_cases if (name in ALONE) == alone]


def instruction_cases(pack, chosen):
    """`chosen` tells whether a case's name is asked for."""
    table = pack.about["instructions"]
    if pack.dry:
        architecture, device, code = pack.about["dry"]["instructions"], "sim", "simulated"
    else:
        # The cubin for the very GPU first: it has the most kernels.
        fitting = [name for name in table if pack.machine.takes(name)]
        fitting.sort(key=lambda name: (name.endswith("a"), name))
        if not fitting:
            problem = pack.machine.problem or "the pack has no instruction tests for this GPU"
            status = "fail" if pack.machine.problem else "skip"
            return [Settled("instruction/all", status, problem)]
        architecture, device, code = fitting[-1], "cuda", "cubin"
    own = table[architecture]
    command = [pack.folder / "bin" / "cameo-instructions", f"--device={device}",
               f"--arch={architecture}", f"--code={pack.folder / own[code]}",
               *([] if pack.dry else [f"--timeout={instructions.KERNEL_SECONDS}"])]
    program = instructions.Program(command, pack.environment)
    return instructions.cases(program, own["names"],
                              [name for name in own["names"] if chosen(f"instruction/{name}")])


def network_cases(pack):
    small = {"layers", "shapes", "fashion"}
    return [case for model in pack.models.values()
            if model["kind"] in ("model", "family", "network") and model["name"] not in small
            for case in correct(pack, model)]


def sanitizer_cases(pack):
    made = []
    for tool in TOOLS:
        for model in (m for m in pack.models.values() if m["sanitize"]):
            name = f"sanitizer/{tool}/{model['name']}"
            made.append(Sanitized(pack, name, model, tool) if pack.machine.sanitizer else Settled(
                name, "skip", "the driver is the fake one" if pack.dry else
                "compute-sanitizer is not on this machine"))
    return made


def measured_models(pack):
    return [model for model in pack.models.values() if model["benchmark"]]


def beside_cases(pack, chosen):
    """Everything in turns with torch, as far as it is `chosen`."""
    made, fitting = [], []
    for model in measured_models(pack):
        if not chosen(f"beside/{model['benchmark']}"):
            continue
        if pack.dry and model["gflop"] > MOST_SIMULATED:
            made.append(Settled(f"beside/{model['benchmark']}", "skip", "too long for the simulator"))
        else:
            fitting.append(model)
    # The fake driver takes few artefacts at a time.
    together = 1 if pack.dry else ROWS_TOGETHER
    return made + [Beside(pack, fitting[first:first + together]) for first in range(0, len(fitting), together)]


def executable_cases(pack):
    """Networks as executables, with and without transfers, and their kernels."""
    made = []
    networks = [model for model in measured_models(pack) if model["kind"] in ("model", "network")]
    for model in networks:
        for words, transfers in (("cameo-no-transfers", False), ("cameo", True)):
            made.append(Benchmark(pack, f"benchmark/{model['benchmark']}/{words}", model, transfers))
    return made + [Profile(pack, f"profile/{model['name']}", model) for model in networks]
