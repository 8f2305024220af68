"""A reader of artefacts after runtime/format.h, for tests and figures; written apart from the
runtime's, so that both must agree with the header."""
# SPDX-License-Identifier: Apache-2.0
import json
import struct
from dataclasses import dataclass
from pathlib import Path

TRAILER = struct.Struct("<QQQ8s")
HEADER = struct.Struct("<8sIIIIQ")
SECTION = struct.Struct("<IIIIQQQ")
PLAN_HEADER = struct.Struct("<12I")
TENSOR = struct.Struct("<6I")
DIM = struct.Struct("<qII")
KERNEL = struct.Struct("<10I")
KINDS = {1: "manifest", 2: "plan", 3: "ptx", 4: "cubin", 5: "simulator image", 6: "weights",
         7: "weight hashes"}
ARCH_A = 0x10000
# Some CameoOpcodes.
BUF_ARENA, BUF_NAME, ARENA_REQUEST = 83, 91, 94
# What stub, plans of six architectures, manifest and padding may take in a file.
MOST_BEYOND = 1_650_000


def argument_bytes(kind):
    """Of a kernel's parameter, by its CameoArgType."""
    return 4 if kind in (1, 3) else 8


@dataclass
class Section:
    kind: str
    variant: int
    arch: int
    flags: int
    offset: int  # from the file's start
    size: int

    def arch_name(self):
        return f"sm_{self.arch & 0xffff}{'a' if self.arch & ARCH_A else ''}"


@dataclass
class Kernel:
    name: str
    nodes: str
    block: tuple
    shared_static: int
    arguments: tuple  # CameoArgType of each
    offset: int       # of its entry in the file
    arguments_offset: int


@dataclass
class Instruction:
    """An instruction of a plan; its operands are one word each."""
    opcode: int
    operands: tuple
    offset: int  # of the first operand in its section


class Payload:
    def __init__(self, path):
        self.data = Path(path).read_bytes()
        self.offset, self.size, _, magic = TRAILER.unpack(self.data[-TRAILER.size:])
        assert magic == b"CAMEOEND", magic
        magic, self.version, count, self.variants, _, _ = HEADER.unpack_from(self.data, self.offset)
        assert magic == b"CAMEOPLD", magic
        self.table_end = self.offset + HEADER.size + count * SECTION.size
        self.sections = []
        for index in range(count):
            kind, variant, arch, flags, offset, size, _ = SECTION.unpack_from(
                self.data, self.offset + HEADER.size + index * SECTION.size)
            self.sections.append(Section(KINDS[kind], variant, arch, flags, self.offset + offset,
                                         size))

    def without_stub_hash(self):
        """The payload with zeros for the last field of its header."""
        start = self.offset + HEADER.size
        return (self.data[self.offset:start - 8] + bytes(8)
                + self.data[start:self.offset + self.size])

    def of_kind(self, *kinds):
        return [section for section in self.sections if section.kind in kinds]

    def bytes_at(self, section):
        return self.data[section.offset:section.offset + section.size]

    def bytes_of(self, *kinds):
        return sum(section.size for section in self.of_kind(*kinds))

    def manifest(self):
        section, = self.of_kind("manifest")
        return json.loads(self.data[section.offset:section.offset + section.size])

    def kernels(self, variant):
        """Of the variant's plan, by name."""
        plan = next(s for s in self.of_kind("plan") if s.variant == variant)
        header = PLAN_HEADER.unpack_from(self.data, plan.offset)
        inputs, outputs, dims, count, arguments, words = header[1:7]
        at = plan.offset + PLAN_HEADER.size + (inputs + outputs) * TENSOR.size + dims * DIM.size
        types = at + count * KERNEL.size
        strings = types + (arguments * 4 + 7) // 8 * 8 + (words * 4 + 7) // 8 * 8

        def string(offset):
            begin = strings + offset
            return self.data[begin:self.data.index(b"\0", begin)].decode()

        kernels = {}
        for index in range(count):
            offset = at + index * KERNEL.size
            name, nodes, *block, shared, first, taken = KERNEL.unpack_from(self.data, offset)[:8]
            kernels[string(name)] = Kernel(
                string(name), string(nodes), tuple(block), shared,
                struct.unpack_from(f"<{taken}I", self.data, types + 4 * first), offset,
                types + 4 * first)
        return kernels

    def instructions(self, plan):
        """The instructions of a section with a plan, in their order; texts of the plan by their offsets."""
        header = PLAN_HEADER.unpack_from(self.data, plan.offset)
        inputs, outputs, dims, kernels, arguments, words = header[1:7]
        tensors = inputs + outputs + header[11]
        at = (PLAN_HEADER.size + tensors * TENSOR.size + dims * DIM.size + kernels * KERNEL.size
              + (arguments * 4 + 7) // 8 * 8)
        strings = self.bytes_at(plan)[at + (words * 4 + 7) // 8 * 8:]
        code = struct.unpack_from(f"<{words}I", self.data, plan.offset + at)
        found, word = [], 0
        while word < words:
            length = code[word] >> 16
            found.append(Instruction(code[word] & 0xffff, code[word + 1:word + length],
                                     at + 4 * (word + 1)))
            word += length
        return found, {i: strings[i:strings.index(b"\0", i)].decode() for i in
                       (0, *(j + 1 for j in range(len(strings) - 1) if not strings[j]))}

    def changed(self, section, content, hashed):
        """The file with other contents of the same size in a section; `hashed` is XXH3."""
        data = bytearray(self.data)
        data[section.offset:section.offset + section.size] = content
        entry = self.offset + HEADER.size + self.sections.index(section) * SECTION.size
        struct.pack_into("<Q", data, entry + SECTION.size - 8, hashed(bytes(content)))
        trailer = len(data) - TRAILER.size
        struct.pack_into("<Q", data, trailer + 16, hashed(bytes(data[self.offset:self.table_end])))
        return bytes(data)

    def size_beyond_code_and_weights(self):
        """Bytes of the file that are neither weights nor kernels."""
        return len(self.data) - self.bytes_of("weights", "ptx", "cubin", "simulator image")
