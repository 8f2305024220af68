"""Compares the table of instructions in docs/simulator/instructions.md with the instructions that are tested:
`documented.py docs/simulator/instructions.md < KERNELS`, with what cameo-instructions --print-kernels says.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys


def main():
    table = re.search(r"^\| From \| Instructions.*?\n\n", open(sys.argv[1]).read(), re.M | re.S)
    # Code in the table, without the column that says how: "`mma.sync` m16n8k8 f16".
    cells = [row.split(" | ")[1] for row in table.group(0).splitlines()[2:] if row]
    documented = {name for cell in cells for name in re.findall(r"`\.?([\w.*]+)`", cell)}
    words = {name.split(".")[0] for name in documented}
    tested = set(re.findall(r'kernel\.ptx "([^" ]+)', sys.stdin.read()))
    wrong = sorted({name for name in tested if name.split(".")[0] not in words})
    for name in wrong:
        print(f"{name} is not in the table")
    # Names of several parts must be those of tested instructions, or the beginnings of them.
    hints = {"fence", "membar", "griddepcontrol", "setmaxnreg"}
    for name in sorted(documented):
        if "." in name and name.split(".")[0] not in hints and not any(
                one.startswith(name) or f".{name}" in one for one in tested):
            wrong.append(name)
            print(f"{name} is in the table and not tested")
    print(f"{len(tested)} instructions, {len(wrong)} wrong")
    return 1 if wrong or not tested else 0


if __name__ == "__main__":
    sys.exit(main())
