"""Instruction tests: groups in a process each, and where one fails, each member in its own."""
# SPDX-License-Identifier: Apache-2.0
import re

import process
from results import Result

GROUP = 40  # tests that a group runs at most, where their names allow it
GROUP_SECONDS, SECONDS = 40, 15
KERNEL_SECONDS = 5  # the program's own limit for one
AFTER_GROUP = "alone; its group failed"


def prefixes(names):
    """Beginnings of names that cover all; few names contain any one of them, for that is what
    --only= goes by."""
    found = []

    def split(start, members):
        longest = len(start)
        while all(len(name) > longest and name[longest] == members[0][longest] for name in members):
            longest += 1
        common = members[0][:longest]
        if (sum(common in name for name in names) <= GROUP
                or any(len(name) == longest for name in members)):
            found.append(common)
            return
        following = {}
        for name in members:
            following.setdefault(name[:longest + 1], []).append(name)
        for prefix, own in following.items():
            split(prefix, own)

    if names:
        split("", sorted(names))
    return found


class Program:
    """cameo-instructions with one architecture's code."""

    def __init__(self, command, environment):
        self.command = command
        self.environment = environment

    def run(self, only, seconds):
        return process.run([*self.command, f"--only={only}"], seconds, env=self.environment)


class Group:
    """All tests whose name contains `text`; those of `names` that do not pass are run alone."""
    limit = GROUP_SECONDS

    def __init__(self, program, text, names, size):
        self.program, self.text, self.own, self.size = program, text, names, size

    def names(self):
        return [f"instruction/{name}" for name in self.own]

    def run(self, seconds):
        ended = self.program.run(self.text, seconds)
        counts = re.search(r"^(\d+) passed, 0 failed$", ended.output, re.MULTILINE)
        passed = set(re.findall(r"^PASS (\S+)$", ended.output, re.MULTILINE))
        if ended.code == 0 and counts and int(counts[1]) == self.size:
            passed = set(self.own)
        each = ended.seconds / self.size
        return ([Result(f"instruction/{name}", "pass", each) for name in self.own
                 if name in passed],
                [Single(self.program, name, AFTER_GROUP) for name in self.own
                 if name not in passed])


class Single:
    limit = SECONDS

    def __init__(self, program, name, words=""):
        self.program, self.name, self.words = program, name, words

    def names(self):
        return [f"instruction/{self.name}"]

    def run(self, seconds):
        ended = self.program.run(f"={self.name}", seconds)
        status = ended.status()
        said = re.search(r"^(?:FAIL|HANG) (.*)$", ended.output, re.MULTILINE)
        message = said[1] if said else ended.first_error()
        if status == "fail" and ended.code == 4:  # the program's own time limit
            status = "timeout"
        elif status in ("timeout", "crash"):
            message = ended.how()
        elif status == "pass" and "1 passed, 0 failed" not in ended.output:
            status, message = "fail", f"the test was not run: {message}"
        if status == "pass":
            message = self.words
        return [Result(f"instruction/{self.name}", status, ended.seconds, message,
                       ended.output)], []


def cases(program, all_names, chosen):
    """Groups of the chosen tests; `all_names` are the ones the program has."""
    chosen = set(chosen)
    made, covered = [], set()
    for text in prefixes(all_names):
        members = [name for name in all_names if text in name]
        own = [name for name in members if name in chosen and name.startswith(text)
               and name not in covered]
        covered.update(own)
        if len(own) == 1 or own and len(own) * 2 < len(members):
            made += [Single(program, name) for name in own]
        elif own:
            made.append(Group(program, text, own, len(members)))
    return made
