"""toolkit.py FOLDER: a CUDA toolkit whose ptxas is this machine's and notes in FOLDER/runs each text
that it assembles, on a line of its own. By environment variables
  PTXAS_VERSION=X   it says that it is of another version
  PTXAS_SPILLS=X    it says that texts with X in them spill, unless they have .minnctapersm"""
# SPDX-License-Identifier: Apache-2.0
import os
import sys
from pathlib import Path

PTXAS = """#!{python}
import os, re, subprocess, sys
from pathlib import Path
step = subprocess.run(["{home}/bin/ptxas", *sys.argv[1:]], capture_output=True, text=True)
said = step.stdout + step.stderr
if "--version" in sys.argv:
    said += os.environ.get("PTXAS_VERSION", "")
else:
    text = Path(sys.argv[-1]).read_text()
    spilled = os.environ.get("PTXAS_SPILLS")
    with open("{folder}/runs", "a") as runs:
        names = re.findall(r"\\.entry ([^(]*)", text)
        runs.write(" ".join(names) + (" again" if ".minnctapersm" in text else "") + "\\n")
    if spilled and spilled in text and ".minnctapersm" not in text:
        said = said.replace("0 bytes spill stores", "8 bytes spill stores")
print(said, end="")
sys.exit(step.returncode)
"""

folder = Path(sys.argv[1]).absolute()
home = Path(os.environ["CUDA_HOME"])
(folder / "bin").mkdir(parents=True)
(folder / "nvvm").symlink_to(home / "nvvm")
ptxas = folder / "bin" / "ptxas"
ptxas.write_text(PTXAS.format(python=sys.executable, home=home, folder=folder))
ptxas.chmod(0o755)
