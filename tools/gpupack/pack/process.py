"""A command in a process of its own, under a time limit."""
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

KEPT_BYTES = 1 << 20  # of a command's output: its end
SECONDS_TO_DIE = 10  # a killed process can hang in the driver; it is left behind then

_running = set()
_lock = threading.Lock()


@dataclass
class Ended:
    """`code` is the exit code, minus the signal for a killed process, None at the time limit."""
    code: object
    output: str
    seconds: float

    def how(self):
        if self.code is None:
            return f"no end within {self.seconds:.0f} s"
        if self.code < 0:
            try:
                return f"killed by {signal.Signals(-self.code).name}"
            except ValueError:
                return f"killed by signal {-self.code}"
        return f"exit code {self.code}"

    def status(self):
        if self.code is None:
            return "timeout"
        if self.code < 0 or self.code >= 128:
            return "crash"
        return "fail" if self.code else "pass"

    def first_error(self):
        """The first line that says so, else the last one."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        for line in lines:
            if "error:" in line or "FAILED" in line:
                return line
        return lines[-1] if lines else "no output"

    def last_line(self):
        lines = self.output.split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "no output")


def run(command, limit, env=None, cwd=None):
    """Ends the whole process group at `limit` seconds."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as file:
        try:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                       stdout=file, stderr=subprocess.STDOUT, env=env, cwd=cwd,
                                       start_new_session=True)
        except OSError as error:
            return Ended(127, f"error: {error}", 0.0)
        with _lock:
            _running.add(process.pid)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        # Whatever it has left running goes, too.
        _kill(process.pid)
        try:
            process.wait(SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            pass
        with _lock:
            _running.discard(process.pid)
        file.seek(max(0, file.seek(0, os.SEEK_END) - KEPT_BYTES))
        output = file.read().decode("utf-8", "replace")
    return Ended(code, output, time.monotonic() - start)


def _kill(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def kill_all():
    """Of the commands that are still running."""
    with _lock:
        for pid in _running:
            _kill(pid)
