"""Cases that measure constants of the machine: groups, in a process each, so that what hangs or breaks
the GPU's context costs its group alone."""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys

import constants
import process
from results import Result


class Constants:
    limit = constants.SECONDS

    def __init__(self, pack, group):
        self.pack, self.group = pack, group

    def names(self):
        return [f"machine/constants/{self.group}"]

    def run(self, seconds):
        ended = process.run([sys.executable, self.pack.source / "constants.py", self.group], seconds,
                            env=self.pack.environment)
        found = [json.loads(line) for line in re.findall(r'^\{"name".*\}$', ended.output, re.MULTILINE)]
        status, message = judge(self.group, found, ended, self.pack.dry)
        return [Result(self.names()[0], status, ended.seconds, message, ended.output,
                       {"constants": found})], []


def judge(group, found, ended, dry):
    """(status, message) of a process that has printed these constants."""
    status, wanted = ended.status(), constants.GROUPS[group][3]
    if status != "pass":
        return status, f"{ended.how()} after {len(found)} of {wanted} constants: {ended.first_error()}"
    if len(found) != wanted:
        return "fail", f"{len(found)} constants, not {wanted}"
    if dry:
        return "skip", f"{wanted} constants of made-up times: the fake driver runs no such kernels"
    unusable = [constant["name"] for constant in found if not constant["usable"]]
    return "pass", ", ".join(f"{constant['name']} {constant['median']:.4g} {constant['unit']}"
                             for constant in found if constant["usable"]) + (
        f"; not usable, as repeats differ: {', '.join(unusable)}" if unusable else "")


def misfit(machine, group):
    """Why a group is not for this GPU, or None."""
    _, least, is_exact, _ = constants.GROUPS[group]
    if machine.architecture is None or (
            machine.architecture == least if is_exact else machine.architecture >= least):
        return None
    return f"needs compute capability {least[0]}.{least[1]}{'' if is_exact else ' or newer'}"
