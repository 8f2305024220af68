#!/usr/bin/env python3
"""The console blocks of docs/ are true: each command is run and its output compared.

In a ```console block, a line that starts with `$ ` is a command (with a trailing backslash it goes on in
the next line), and what follows it is its output. A line of output that is only `...` stands for any
lines, `...` within a line for any text. Commands of one document run in one folder, one after the other,
and must exit with 0; `! ` before a command says that it fails.

A block whose first line is a comment with a file's name alone, as `# prepare.py` or `// main.cpp`, is written to that
file before the commands that follow it.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
HANG_SECONDS = 300


BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(?:#|//) ([\w.-]+\.\w+)\n")


def commands(text, write=lambda name, content: None):
    """(line number, command, expected lines) of each command of a document; files are written as their blocks are met."""
    for block in BLOCK.finditer(text):
        name = FILE_NAME.match(block.group(2))
        if name:
            write(name.group(1), block.group(2))
        if block.group(1) != "console":
            continue
        number = text.count("\n", 0, block.start(2)) + 1
        current = None
        for line in block.group(2).splitlines():
            if current and current[1].endswith("\\"):
                current[1] += "\n" + line
            elif line.startswith("$ "):
                if current:
                    yield tuple(current)
                current = [number, line[2:], []]
            elif current:
                current[2].append(line)
            else:
                sys.exit(f"line {number}: output before any command")
            number += 1
        if current:
            yield tuple(current)


def pattern(lines):
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append("[^\n]*?".join(re.escape(p) for p in line.rstrip().split("...")) + r"[ ]*\n")
    return re.compile("".join(parts) + r"\Z")


def first_difference(expected, actual):
    """The first expected line that cannot follow what matched before it."""
    for count in range(len(expected), 0, -1):
        if pattern(expected[:count] + ["..."]).match(actual):
            return expected[count] if count < len(expected) else "the end of the output"
    return expected[0] if expected else "no output"


def check(document, folder, environment):
    passed = failed = 0
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    def write(name, content):
        (folder / name).write_text(content)
    for number, command, expected in commands(document.read_text(), write):
        fails = command.startswith("! ")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command.removeprefix("! ")],
                              cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                              timeout=HANG_SECONDS, check=False)
        problem = None
        if (done.returncode != 0) != fails or done.returncode >= 128 or done.returncode < 0:
            problem = f"exit code {done.returncode}"
        elif not pattern(expected).match(done.stdout):
            problem = "expected next: " + first_difference(expected, done.stdout)
        if problem:
            failed += 1
            print(f"FAILED {document.relative_to(SOURCE)}:{number}: {command}\n  {problem}\n"
                  f"  it printed:\n{done.stdout[-8000:]}")
        else:
            passed += 1
    if not failed:
        shutil.rmtree(folder)  # a page may install all of Cameo
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    parser.add_argument("documents", nargs="*", type=Path)
    options = parser.parse_args()
    home = subprocess.run([SOURCE / "tools" / "install-deps", "--print-cuda-home"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    build = options.build.resolve()
    environment = dict(os.environ, CAMEO=str(SOURCE), CUDA_HOME=home, PATH=os.pathsep.join(
        [str(build / "bin"), str(build / "venv" / "bin"), os.environ["PATH"]]))
    passed = failed = 0
    for document in options.documents or sorted((SOURCE / "docs").rglob("*.md")):
        document = document.resolve()
        folder = document.relative_to(SOURCE / "docs").with_suffix("")
        counts = check(document, build / "docs" / folder, environment)
        passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
