"""declared-statistics.py FOLDER FILE: whether the pass reference in FOLDER, which is made from
Passes.td, has each statistic that FILE has."""
# SPDX-License-Identifier: Apache-2.0
import re
import sys
from pathlib import Path

folder, printed = map(Path, sys.argv[1:])
reference = "".join(page.read_text() for page in sorted(folder.glob("*Passes.md")))
sections = {match[1]: match[2] for match in
            re.finditer(r"### `-([\w-]+)`\n(.*?)(?=\n### `|\Z)", reference, re.DOTALL)}
current, wrong = None, []
for line in printed.read_text().splitlines():
    counted = re.match(r"  \(S\) \d+ (\S+)$", line)
    if not counted:
        current = line
    elif not re.search(rf"^{re.escape(counted[1])} +: ", sections.get(current, ""), re.MULTILINE):
        wrong.append(f"{current}: {counted[1]}")
sys.exit(f"not declared: {', '.join(wrong)}" if wrong else 0)
