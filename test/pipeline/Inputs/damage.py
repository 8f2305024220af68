"""damage.py FOLDER: changes every file of a cache, each in another way."""
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

for number, file in enumerate(sorted(Path(sys.argv[1]).glob("llvmcache-*"))):
    data = bytearray(file.read_bytes())
    if number % 4 == 0:
        data[-1] ^= 1
    elif number % 4 == 1:
        data = data[:len(data) // 2]
    elif number % 4 == 2:
        data[number % 40] ^= 0x10
    else:
        data = b""
    file.write_bytes(data)
