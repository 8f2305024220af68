#!/usr/bin/env python3
"""The demo as users meet it first: tools/run-tests runs tools/run-demo whole in a fresh build folder, where nothing else has
been built yet, and leaves what it printed. This test judges that: it must have exited with 0, printed all that README shows
of it, and left what it names.

A folder that was not fresh has no such run, and the test is skipped.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import harness

README = harness.SOURCE / "README.md"
HEADING = "`tools/run-demo` prints this"
MIN_ACCURACY = 90.0
# These lines say which device the machine has.
OF_THE_MACHINE = re.compile(r"no CUDA driver|running on ")


def shown_in_readme():
    """The lines of the demo's block."""
    text = README.read_text()
    block = re.search(re.escape(HEADING) + r".*?^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not block:
        sys.exit(f"error: README.md has no block after '{HEADING}'")
    return [line for line in block[1].splitlines()
            if line.strip() and not OF_THE_MACHINE.match(line)]


def pattern_of(line):
    """Numbers differ from machine to machine, and columns are as wide as their numbers."""
    words = re.sub(r"\d+(?:\.\d+)?", "0", line).split()
    return r"\s+".join(re.escape(word).replace("0", r"\d+(?:\.\d+)?") for word in words)


def first_missing(lines, output):
    """The first line that the output does not have after the ones before it; None if it has all."""
    start = 0
    for line in lines:
        if line.strip() == "...":
            continue
        found = re.compile(rf"^\s*{pattern_of(line)}\s*$", re.MULTILINE).search(output, start)
        if not found:
            return line
        start = found.end()
    return None


def check_itself(suite):
    """A line that is missing, or stands elsewhere, is noticed."""
    lines = shown_in_readme()
    output = "\n".join(lines).replace("...", "what README leaves out")
    swapped = "\n".join([*lines[1:], lines[0]])
    if first_missing(lines, output) is not None:
        suite.fail("itself", f"README's own lines lack '{first_missing(lines, output)}'")
    elif first_missing(lines, "\n".join(lines[:-1])) != lines[-1]:
        suite.fail("itself", "a missing last line goes unnoticed")
    elif first_missing(lines, swapped) is None:
        suite.fail("itself", "a line out of order goes unnoticed")
    else:
        suite.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("first-run", options.build.resolve())
    check_itself(suite)
    record = suite.build / "first-run"
    if not (record / "exit-code").exists():
        suite.skip("build/ was not fresh when tools/run-tests began; in a fresh clone it is")
        return suite.close()

    output = (record / "output").read_text(errors="replace")
    code, seconds = ((record / name).read_text().strip() for name in ("exit-code", "seconds"))
    print(f"tools/run-demo took {seconds} s, with installing and building")
    if code != "0":
        print("\n".join(output.splitlines()[-20:]))
        suite.fail("exit-code", f"tools/run-demo ended with exit code {code}")
    else:
        suite.ok()
    missing = first_missing(shown_in_readme(), output)
    if missing:
        suite.fail("output", f"what tools/run-demo printed lacks README's line '{missing.strip()}'")
    else:
        suite.ok()
    accuracy = re.search(r"^accuracy: ([\d.]+) %$", output, re.MULTILINE)
    if not accuracy or float(accuracy[1]) < MIN_ACCURACY:
        suite.fail("accuracy", f"{accuracy[1] if accuracy else 'no'} %, at least {MIN_ACCURACY} expected")
    else:
        suite.ok()
    for name in ("fashion", "contact-sheet.png", "batch.npy"):
        if (suite.build / "demo" / name).exists():
            suite.ok()
        else:
            suite.fail(name, "tools/run-demo names it and did not leave it in build/demo")
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
