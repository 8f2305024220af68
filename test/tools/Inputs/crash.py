"""crash.py TOOL ARGUMENT...: starts a program that opens a pipe (named PIPE in the arguments), sends it SIGSEGV
while it waits there, and prints what it says on stderr. The handler returns to the wait, which a second
signal ends."""
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def waits(child):
    """Whether the program has a handler for the signal and sleeps, twice in a row."""
    for _ in range(2):
        status = dict(line.split(":", 1) for line in
                      Path(f"/proc/{child.pid}/status").read_text().splitlines())
        caught = int(status["SigCgt"], 16) >> (signal.SIGSEGV - 1) & 1
        if not caught or not status["State"].split()[0] == "S":
            return False
        time.sleep(0.2)
    return True


with tempfile.TemporaryDirectory() as folder:
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    command = [word.replace("PIPE", pipe) for word in sys.argv[1:]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as child:
        end = time.monotonic() + 60
        while not waits(child):
            if child.poll() is not None or time.monotonic() > end:
                child.kill()
                sys.exit(f"it does not wait: {child.communicate()[1]}")
        child.send_signal(signal.SIGSEGV)
        for line in child.stderr:
            print(line, end="")
            if line.startswith("Please report"):
                print(child.stderr.readline(), end="")
                break
        child.kill()
