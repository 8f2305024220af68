"""help-options.py LINES TOOL: the program's --help has at most so many lines, and the options that it names
are among those of --help-all. Prints them in the order in which it has them."""
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys
from pathlib import Path


def said(*words):
    done = subprocess.run([sys.argv[2], *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def options(text):
    return re.findall(r"(?<![\w'-])--?([a-zA-Z][\w-]*)", text)


short, whole = said("--help"), said("--help-all")
if len(short.splitlines()) > int(sys.argv[1]) or max(map(len, short.splitlines())) > 110:
    sys.exit(f"too long:\n{short}")
# Examples have other programs, too.
own = [line for line in short.splitlines() if line.strip().startswith(("-", Path(sys.argv[2]).name))]
# Words in capitals stand for a name of many.
known = set(options(whole)) | {"help-all"}
named = [name for name in options("\n".join(own)) if not re.search("[A-Z]{2}", name)]
if unknown := [name for name in named if name not in known]:
    sys.exit(f"not in --help-all: {unknown}")
if said("-h") != short or said("-help") != short:
    sys.exit("-h and -help differ")
print(*dict.fromkeys(named))
