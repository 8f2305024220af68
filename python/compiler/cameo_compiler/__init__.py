"""The programs of wheel cameo-compiler. Package cameo calls two of them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec

_TOOLS = os.path.join(os.path.dirname(__file__), "bin", "cameo-tools")


def command(name: str) -> list[str]:
    """The command of a program: its file, and the words in front of its options."""
    return [_TOOLS, name]


def environment() -> dict[str, str]:
    """Variables by which the programs find ptxas: as the user says, else in the packages of NVIDIA's that the extra `nvidia` installs."""
    variables = dict(os.environ)
    given = os.path.join(variables.get("CUDA_HOME", ""), "bin", "ptxas")
    if os.path.isabs(given) and os.path.exists(given) or shutil.which("ptxas"):
        return variables
    found = find_spec("nvidia")
    for root in (found.submodule_search_locations or ()) if found else ():
        for version in sorted(os.listdir(root), reverse=True):
            if os.path.exists(os.path.join(root, version, "bin", "ptxas")):
                return {**variables, "CUDA_HOME": os.path.join(root, version)}
    return variables


def main() -> None:
    """Becomes the program that the command's file is named after."""
    os.execve(_TOOLS, [*command(os.path.basename(sys.argv[0])), *sys.argv[1:]], environment())
