"""flip-bit.py FILE OFFSET: changes one bit of a file."""
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

path, offset = Path(sys.argv[1]), int(sys.argv[2])
data = bytearray(path.read_bytes())
data[offset] ^= 1
path.write_bytes(data)
