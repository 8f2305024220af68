"""Changes what ptxas has noted of a kernel in a cubin, for tests of what finds it to differ from the
plan. The numbers are explained where the fake driver reads them (fake_cuda_cubin.cpp)."""
# SPDX-License-Identifier: Apache-2.0
import struct

SECTION = struct.Struct("<IIQQQQIIQQ")
PARAMETER, BLOCK, BANK_SIZE, CLUSTER, NOTHING = 0x17, 0x10, 0x19, 0x3d, 0x36


class Cubin:
    def __init__(self, data):
        self.data = bytearray(data)
        table, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        sections = [SECTION.unpack_from(data, table + i * SECTION.size) for i in range(count)]
        strings = sections[names][4]
        self.sections = {}
        for section in sections:
            begin = strings + section[0]
            name = bytes(data[begin:data.index(b"\0", begin)]).decode()
            self.sections[name] = (section[4], section[5])

    def records(self, kernel):
        """(offset, attribute) of what is noted; what follows it begins 4 bytes on."""
        at, size = self.sections[f".nv.info.{kernel}"]
        end = at + size
        while at < end:
            form, attribute, value = struct.unpack_from("<BBH", self.data, at)
            yield at, attribute
            at += 4 + (value if form == 4 else 0)

    def parameters(self, kernel):
        """Offsets of the parameters' records, and their sizes, in order."""
        found = {}
        for at, attribute in self.records(kernel):
            if attribute == PARAMETER:
                _, ordinal, _, flags = struct.unpack_from("<IHHI", self.data, at + 4)
                found[ordinal] = (at, flags >> 18)
        return [found[ordinal] for ordinal in sorted(found)]

    def set_sizes(self, kernel, sizes):
        """Of all parameters; where there are fewer than before, the last ones go."""
        offset = 0
        for index, (at, _) in enumerate(self.parameters(kernel)):
            if index >= len(sizes):
                self.data[at + 1] = NOTHING
                continue
            offset = (offset + sizes[index] - 1) // sizes[index] * sizes[index]
            _, ordinal, _, flags = struct.unpack_from("<IHHI", self.data, at + 4)
            struct.pack_into("<IHHI", self.data, at + 4, 0, ordinal, offset,
                             flags & 0x3ffff | sizes[index] << 18)
            offset += sizes[index]
        for at, attribute in self.records(kernel):
            if attribute == BANK_SIZE:
                struct.pack_into("<H", self.data, at + 2, offset)

    def set_block(self, kernel, block, attribute=BLOCK):
        for at, found in self.records(kernel):
            if found == BLOCK:
                self.data[at + 1] = attribute
                struct.pack_into("<III", self.data, at + 4, *block)

    def set_cluster(self, kernel, cluster):
        """In place of the block."""
        self.set_block(kernel, cluster, CLUSTER)
