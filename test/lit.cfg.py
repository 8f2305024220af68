# lit's configuration; `build/venv/bin/lit -v test` is all it takes.
#
#   --param build=build-dev      test the tools of another build folder
#   --param long                 tests called *-long.test as well
#   --param device=cuda          run artefacts on a GPU where a test leaves the choice open
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import subprocess
from pathlib import Path

import lit.formats

source = Path(__file__).resolve().parent.parent
build = source / lit_config.params.get("build", "build")
llvm_tools = Path("/usr/lib/llvm-19/bin")

config.name = "cameo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".test"]
config.excludes = ["Inputs", "node_exceptions.txt"]
if "long" not in lit_config.params:
    config.excludes += [path.name for path in (source / "test").rglob("*-long.test")]
config.test_source_root = str(source / "test")
config.test_exec_root = str(build / "test")

# Cameo's tools and LLVM's come first; the environment is otherwise left out of the tests.
config.environment["PATH"] = os.pathsep.join(
    [str(build / "bin"), str(source / "build" / "venv" / "bin"), str(llvm_tools), os.environ["PATH"]])
config.environment["CAMEO_SOURCE"] = str(source)
# What a stage promises of quality is an error here, and a remark to users.
config.environment["CAMEO_STRICT"] = "1"
# A build of CAMEO_MUTANTS reads it (test/e2e/mutants.py).
if "CAMEO_MUTANT" in os.environ:
    config.environment["CAMEO_MUTANT"] = os.environ["CAMEO_MUTANT"]

# One Python environment serves all build folders.
python = source / "build" / "venv" / "bin" / "python"
config.substitutions += [
    ("%python", str(python if python.exists() else shutil.which("python3"))),
    ("%source", str(source)),
    ("%build", str(build)),
    ("%device", lit_config.params.get("device", "sim")),
    ("%cc", "clang-19"),
    ("%test-plugin", str(build / "lib" / "CameoTestPlugin.so")),
]
# What most tests look at is easier to read without locations, which are printed by default. Those that
# are about locations say so themselves, or name the program by its path.
for tool in ("cameo-opt", "cameo-translate"):
    config.substitutions.append(
        (rf"(?<![-/\w.%=])%?{tool}(?![-\w.])(?![^|;&]*--mlir-print-debuginfo)",
         f"{build / 'bin' / tool} --mlir-print-debuginfo=false"))
for tool in ("cameo-opt", "cameo-translate", "cameo-reduce", "cameo-sass", "cameo-sim-opt",
             "cameo-lsp-server", "cameoc"):
    config.substitutions.append((f"%{tool}(?![-\\w])", str(build / "bin" / tool)))
    if (build / "bin" / tool).exists():
        config.available_features.add(tool)


def checked_syntax(folder):
    """Checks a file as files of `folder` are compiled, with the precompiled header: a tenth of the time."""
    commands = build / "compile_commands.json"
    for entry in json.loads(commands.read_text()) if commands.exists() else []:
        if f"/{folder}/" in entry["file"].removeprefix(str(build)):
            flags = entry["command"].split(" -o ")[0]
            return f"{flags} -fsyntax-only"
    return "clang++-19 -std=c++17 -fno-rtti -fsyntax-only -I %source -I %build -I /usr/lib/llvm-19/include"


config.substitutions.append(("%check-pass", checked_syntax("passes")))


def cuda_home():
    """Where ptxas and libdevice are: tools/install-deps knows all the places."""
    answer = subprocess.run([str(source / "tools" / "install-deps"), "--print-cuda-home"],
                            capture_output=True, text=True, check=False)
    home = Path(answer.stdout.strip() or "/nonexistent")
    return home if (home / "bin" / "ptxas").exists() else None


home = cuda_home()
if home:
    config.available_features.add("ptxas")
    config.environment["CUDA_HOME"] = str(home)
    config.substitutions.append(("%ptxas", str(home / "bin" / "ptxas")))
# Of build/venv, by tools/install-deps.
for nvdisasm in python.parent.parent.glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"):
    config.available_features.add("nvdisasm")
    config.substitutions.append(("%nvdisasm", str(nvdisasm)))
if Path("/dev/nvidiactl").exists():
    config.available_features.add("cuda")
if "HOME" in os.environ:
    config.environment["HOME"] = os.environ["HOME"]
