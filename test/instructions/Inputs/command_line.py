"""Runs cameo-instructions as command-line.test wants it, with that test's files: `command_line.py PREFIX`.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

KERNEL = "redux_sync_add_u32_00ff00ff"  # the one with which something is wrong


def run(title, arguments, kernel="", result=0, architecture="sm_80", **variables):
    environment = dict(os.environ, LD_LIBRARY_PATH=sys.argv[1] + ".driver", BAD_KERNEL=kernel,
                       BAD_RESULT=str(result), **variables)
    step = subprocess.run(["cameo-instructions", f"--arch={architecture}", *arguments],
                          env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False)
    print(f"{title}\n{step.stdout}exit {step.returncode}")


def main():
    only, code = "--only=redux_sync_add_", f"--code={sys.argv[1]}."
    cuda = ["--device=cuda", "--timeout=0.25", code + "cubin"]
    run("simulator", ["--device=sim", code + "so", only])
    run("wrong", [*cuda, only])
    run("hang", [*cuda, only], KERNEL, 600)
    run("fault", [*cuda, only], KERNEL, 700)
    run("refusal", [*cuda, only], KERNEL, 701)
    run("one", [*cuda, f"--only=={KERNEL}"], KERNEL, 600)
    run("no code", ["--device=cuda", code + "missing"])
    run("map", [*cuda, "--only==pipeline_wgmma"], architecture="sm_90a", MAP_PARAMETER="2")
    run("pointer", [*cuda, "--only==pipeline_wgmma"], architecture="sm_90a", MAP_PARAMETER="4")
    run("all", cuda, architecture="sm_90a")
    run("no time", ["--list", "--timeout=soon"])


if __name__ == "__main__":
    main()
