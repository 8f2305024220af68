/* SPDX-License-Identifier: Apache-2.0
 *
 * The payload format and the launch plan, which the compiler writes and the runtime reads. Plain C,
 * no dependency. Everything is little endian; offsets are bytes from the start of the
 * structure they stand in unless said otherwise.
 *
 * A Cameo artefact is a prebuilt stub (executable or shared library) followed by padding to
 * CAMEO_PAGE, the payload, and a CameoTrailer as the file's last bytes. A plan file is the payload
 * and the trailer alone, at offset 0.
 */
#ifndef CAMEO_FORMAT_H
#define CAMEO_FORMAT_H

#include <stdint.h>

#define CAMEO_PAGE 4096u
#define CAMEO_PAYLOAD_MAGIC "CAMEOPLD"
#define CAMEO_TRAILER_MAGIC "CAMEOEND"
/* Raised whenever a reader of the former version would misread a newer payload. */
#define CAMEO_PAYLOAD_VERSION 5u

/* Last bytes of the file. */
typedef struct CameoTrailer {
  uint64_t payload_offset; /* from the start of the file, a multiple of CAMEO_PAGE */
  uint64_t payload_size;   /* bytes, trailer not included */
  uint64_t header_hash;    /* XXH3 (64 bits) of the header and the section table */
  char magic[8];           /* CAMEO_TRAILER_MAGIC */
} CameoTrailer;

/* A tuning bundle: no model, but candidates of kernels. Its manifest says which sections (of
 * plans and code, numbered behind the manifest's from 0) each of them consists of. */
#define CAMEO_PAYLOAD_TUNING 1u

/* First bytes of the payload, followed by section_count CameoSections. */
typedef struct CameoPayloadHeader {
  char magic[8];
  uint32_t version; /* CAMEO_PAYLOAD_VERSION */
  uint32_t section_count;
  uint32_t variant_count;
  uint32_t flags;     /* CAMEO_PAYLOAD_TUNING or 0 */
  uint64_t stub_hash; /* XXH3 of all bytes in front of the payload: the stub and its padding */
} CameoPayloadHeader;

typedef enum CameoSectionKind {
  CAMEO_SECTION_MANIFEST = 1,     /* JSON text, UTF-8 */
  CAMEO_SECTION_PLAN = 2,         /* one a variant: CameoPlanHeader ... */
  CAMEO_SECTION_PTX = 3,          /* text, NUL terminated */
  CAMEO_SECTION_CUBIN = 4,        /* ELF */
  CAMEO_SECTION_SIM_IMAGE = 5,    /* ELF shared object for x86-64-v3, see runtime/sim/abi.h */
  CAMEO_SECTION_WEIGHTS = 6,      /* raw bytes; plans refer to it by offset */
  CAMEO_SECTION_WEIGHT_HASHES = 7 /* uint64_t[]: XXH3 of each CAMEO_WEIGHT_CHUNK of the weights */
} CameoSectionKind;

#define CAMEO_WEIGHT_CHUNK (4u << 20)

/* arch of code sections: major * 10 + minor, e.g. 80; feature suffix 'a' adds CAMEO_ARCH_A. */
#define CAMEO_ARCH_A 0x10000u
/* flags of CAMEO_SECTION_SIM_IMAGE: every memory access is instrumented for --sim-checks. */
#define CAMEO_SIM_IMAGE_CHECKED 1u

typedef struct CameoSection {
  uint32_t kind;    /* CameoSectionKind */
  uint32_t variant; /* plan and code sections: which variant they belong to */
  uint32_t arch;    /* code sections */
  uint32_t flags;
  uint64_t offset; /* from the payload's start, aligned to 64; weights to CAMEO_PAGE */
  uint64_t size;
  uint64_t hash; /* XXH3 of the section; 0 for weights, which have one hash per chunk */
} CameoSection;

/* Element types: ONNX TensorProto.DataType values. */
typedef enum CameoDataType {
  CAMEO_FLOAT = 1,
  CAMEO_UINT8 = 2,
  CAMEO_INT8 = 3,
  CAMEO_UINT16 = 4,
  CAMEO_INT16 = 5,
  CAMEO_INT32 = 6,
  CAMEO_INT64 = 7,
  CAMEO_STRING = 8,
  CAMEO_BOOL = 9,
  CAMEO_FLOAT16 = 10,
  CAMEO_DOUBLE = 11,
  CAMEO_UINT32 = 12,
  CAMEO_UINT64 = 13,
  CAMEO_COMPLEX64 = 14,
  CAMEO_COMPLEX128 = 15,
  CAMEO_BFLOAT16 = 16,
  CAMEO_FLOAT8E4M3FN = 17,
  CAMEO_FLOAT8E4M3FNUZ = 18,
  CAMEO_FLOAT8E5M2 = 19,
  CAMEO_FLOAT8E5M2FNUZ = 20,
  CAMEO_UINT4 = 21,
  CAMEO_INT4 = 22,
  CAMEO_FLOAT4E2M1 = 23,
  CAMEO_FLOAT8E8M0 = 24,
  CAMEO_UINT2 = 25,
  CAMEO_INT2 = 26
} CameoDataType;

/* ---- The launch plan -------------------------------------------------------------------------
 * A program over 64-bit registers (integer or double, by opcode) and buffers. Running it for given
 * input shapes and host-resident inputs yields output shapes, the arena's size and a list of
 * launches; a runtime may keep that list while shapes and host-resident values stay the same.
 * FETCH ends a segment of the program: what was put down so far is done before the values are
 * there, and the rest is run with them.
 *
 * CameoPlanHeader is followed, in this order and each aligned to 8, by
 *   CameoPlanTensor[input_count + output_count + tap_count]
 *   CameoPlanDim[dim_count]
 *   CameoPlanKernel[kernel_count]
 *   uint32_t arg_types[arg_count]   CameoArgType of each kernel's parameters
 *   uint32_t code[code_words]
 *   char strings[string_bytes]      NUL-terminated, referred to by offset
 */
#define CAMEO_PLAN_MAGIC 0x4e414c50u /* "PLAN" */

typedef struct CameoPlanHeader {
  uint32_t magic;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t dim_count;
  uint32_t kernel_count;
  uint32_t arg_count;
  uint32_t code_words;
  uint32_t string_bytes;
  uint32_t register_count;
  uint32_t buffer_count;
  uint32_t name;      /* string: the entry point's name */
  uint32_t tap_count; /* before version 4: 0 */
} CameoPlanHeader;

#define CAMEO_TENSOR_HOST 1u /* the plan reads this input's values on the host */
/* An output becomes this input after each run. */
#define CAMEO_TENSOR_STATE 2u
/* The plan has both in one memory, BUF_STATE, and never as BUF_INPUT and BUF_OUTPUT. */
#define CAMEO_TENSOR_IN_PLACE 4u

typedef struct CameoPlanTensor {
  uint32_t name; /* string */
  uint32_t dtype;
  uint32_t rank;
  uint32_t first_dim; /* index into the dims */
  uint32_t flags;     /* CAMEO_TENSOR_* */
  uint32_t state; /* of a state: the output's index, and from bit 24 on the dimension along which it
                         grows, CAMEO_STATE_FIXED where it does not; else 0 */
} CameoPlanTensor;

#define CAMEO_STATE_FIXED 255u

typedef struct CameoPlanDim {
  int64_t size;      /* -1 where it is known only at run time */
  uint32_t symbol;   /* string: the symbolic name, or an empty string */
  uint32_t reserved; /* 0 */
} CameoPlanDim;

/* Flags of kernels. Without barrier, shuffle, vote or shared memory: a simulator may run the threads of a block
 * one after the other. */
#define CAMEO_KERNEL_NO_SYNC 1u
/* Reserved, and refused by every runtime so far: a kernel that waits for the one before it by itself, and one
 * whose blocks are all on the GPU at once. */
#define CAMEO_KERNEL_DEPENDENT 2u
#define CAMEO_KERNEL_COOPERATIVE 4u

typedef struct CameoPlanKernel {
  uint32_t name;          /* string: the symbol in PTX, cubin and simulator image */
  uint32_t onnx_nodes;    /* string: names of the ONNX nodes it computes, comma separated */
  uint32_t block[3];      /* threads */
  uint32_t shared_static; /* bytes declared in the kernel */
  uint32_t first_arg;     /* index into arg_types */
  uint32_t arg_count;
  uint32_t flags; /* CAMEO_KERNEL_* */
  uint32_t
      cluster; /* blocks of a cluster, x | y << 8 | z << 16, where they are more than are portable, else 0 */
} CameoPlanKernel;

/* Blocks of a cluster that every GPU with clusters takes; that some take once they are asked to. */
#define CAMEO_PORTABLE_CLUSTER_BLOCKS 8u
#define CAMEO_MOST_CLUSTER_BLOCKS 16u

typedef enum CameoArgType {
  CAMEO_ARG_BUFFER = 0, /* pointer to global memory */
  CAMEO_ARG_I32 = 1,    /* low 32 bits of a register */
  CAMEO_ARG_I64 = 2,
  CAMEO_ARG_F32 = 3, /* a double register, rounded */
  CAMEO_ARG_F64 = 4,
  CAMEO_ARG_TENSOR_MAP = 5 /* reserved, and refused so far: a tensor map of 128 bytes */
} CameoArgType;

/* The buffer of CAMEO_OP_BUF_RANDOM: eight uint32, four that follow from the context's seed and the
 * number of the run, and four that follow from the number of the run alone. */
#define CAMEO_RANDOM_BYTES 32u

/* A bit of the word beside a CAMEO_ARG_BUFFER: the kernel writes there. Reserved, and refused so far. */
#define CAMEO_ARG_WRITTEN 0x100u

/* Code: each instruction is a word `opcode | words << 16` (words: its length with this one),
 * then its operands, one word each; r* are registers, b* buffers, s* string offsets. Integer
 * arithmetic is 64-bit two's complement; overflow of ADD, SUB, MUL, quotients and division by zero
 * are run time errors. */
typedef enum CameoOpcode {
  CAMEO_OP_END = 0,
  CAMEO_OP_CONST = 1, /* rd, low word, high word: integer, or a double's bits */
  CAMEO_OP_MOVE = 2,  /* rd, ra */
  CAMEO_OP_DIM = 3,   /* rd, input index, dimension */
  CAMEO_OP_LOAD = 4,  /* rd, input index, r element index: value of a CAMEO_TENSOR_HOST input; float
                         types give a double, others a (sign- or zero-extended) integer */
  CAMEO_OP_JUMP = 5,  /* target word index */
  CAMEO_OP_BRANCH_ZERO = 6, /* ra, target word index */

  CAMEO_OP_ADD = 16, /* rd, ra, rb: this and all below up to SELECT */
  CAMEO_OP_SUB,
  CAMEO_OP_MUL,
  CAMEO_OP_DIV, /* towards zero */
  CAMEO_OP_REM, /* sign of the dividend */
  CAMEO_OP_FLOORDIV,
  CAMEO_OP_CEILDIV,
  CAMEO_OP_MIN,
  CAMEO_OP_MAX,
  CAMEO_OP_AND,
  CAMEO_OP_OR,
  CAMEO_OP_XOR,
  CAMEO_OP_EQ, /* comparisons give 0 or 1 */
  CAMEO_OP_NE,
  CAMEO_OP_LT,
  CAMEO_OP_LE,
  CAMEO_OP_SELECT, /* rd, rc, ra, rb: rc != 0 ? ra : rb; any type */

  CAMEO_OP_WRAP_ADD = 34, /* rd, ra, rb: modulo 2^64, as numbers of the model are; sizes are not */
  CAMEO_OP_WRAP_SUB,
  CAMEO_OP_WRAP_MUL,
  CAMEO_OP_DIV_UNSIGNED,
  CAMEO_OP_REM_UNSIGNED,

  CAMEO_OP_FADD = 48, /* rd, ra, rb: doubles */
  CAMEO_OP_FSUB,
  CAMEO_OP_FMUL,
  CAMEO_OP_FDIV,
  CAMEO_OP_FMIN,
  CAMEO_OP_FMAX,
  CAMEO_OP_FEQ, /* integer 0 or 1 */
  CAMEO_OP_FLT,
  CAMEO_OP_FLE,
  CAMEO_OP_FFLOOR, /* rd, ra */
  CAMEO_OP_FCEIL,
  CAMEO_OP_FROUND_EVEN,
  CAMEO_OP_FROUND_F32, /* rounds to the nearest float: FP32 host arithmetic */
  CAMEO_OP_INT_TO_FLOAT,
  CAMEO_OP_FLOAT_TO_INT, /* towards zero */

  CAMEO_OP_CHECK = 80, /* rc, s message, ra, rb: if rc is 0, fails with the message, in which {0}
                          and {1} stand for the integers ra and rb */
  CAMEO_OP_OUTPUT_SHAPE = 81, /* output index, rank, r...: in any segment, and once: the same again
                                  is allowed */
  CAMEO_OP_ARENA_SIZE = 82, /* r bytes: once a segment, before its buffers are used. Each ARENA_SIZE
                                  of the code has an arena of its own: buffers of one that is sized
                                  again are gone */
  CAMEO_OP_ARENA_REQUEST = 94, /* rd offset, r bytes, first step, last step: a buffer that is in use
                                  from one step to the other; rd is set by ARENA_LAYOUT */
  CAMEO_OP_ARENA_LAYOUT = 95,  /* rd arena's bytes, rd most bytes in use at one step, rd sum of all
                                  bytes: gives all requests their offsets, as runtime/arena.h says;
                                  once a segment, after the last request */
  CAMEO_OP_ARENA_USE = 96,  /* r most bytes in use at one step, r sum of all bytes: for reports */
  CAMEO_OP_BUF_ARENA = 83,  /* bd, r offset, r bytes: a new value in the arena that was sized last,
                        in the first one before that; what was in that memory is gone once bd
                        is first used */
  CAMEO_OP_BUF_WEIGHT = 84, /* bd, offset low, high, bytes low, high */
  CAMEO_OP_BUF_INPUT = 85,  /* bd, input index */
  CAMEO_OP_BUF_RANDOM =
      102,                  /* bd: CAMEO_RANDOM_BYTES that random numbers are drawn by, which change
                                with each run (runtime/core/random.h). Since version 5. */
  CAMEO_OP_BUF_OUTPUT = 86, /* bd, output index; after its OUTPUT_SHAPE */
  CAMEO_OP_CAPACITY = 104,  /* rd, input index, r least: how many elements the memory of a state
                               that grows has along its dimension, not fewer than asked for: the
                               runtime makes room before the segment */
  CAMEO_OP_BUF_STATE = 103, /* bd, input index, r bytes: the memory of a state in place */
  CAMEO_OP_LAUNCH = 87, /* kernel index, r grid x, y, z, r dynamic shared bytes, then an operand a
                           parameter: buffer or register as its CameoArgType says. A grid with a
                           zero is skipped. */
  CAMEO_OP_COPY = 88,   /* b destination, b source, r bytes */
  CAMEO_OP_WRITE = 89,  /* b destination, dtype, count, r...: stores host values to device memory */
  CAMEO_OP_NODES = 90,  /* s names: the ONNX nodes that the next LAUNCH of the segment computes;
                         without it they are all that its kernel is for */
  CAMEO_OP_BUF_NAME = 91, /* b, s: what reports call the buffer, after its definition */
  CAMEO_OP_WORK = 92, /* ra, rb: doubles: arithmetic operations, and bytes read and written, of the
                         next LAUNCH, for profiles */
  CAMEO_OP_TAP = 97, /* tap index, b value, count, r...: the value is there, and the caller may look
                         at it; it need not live beyond this step. Its sizes come first, then, since
                         version 5, the numbers of the trips around it, outer loops first */
  CAMEO_OP_FETCH = 98, /* b buffer, dtype, r first element, count, rd...: reads so many neighbouring
                          elements of device memory, converted as LOAD does, once all that was put
                          down before is done; ends a segment. Types have a byte or more. Since
                          version 5. */
  CAMEO_OP_OUTPUT_BOUND = 99, /* output index, rank, r...: the most that each size can be that a
                                 later OUTPUT_SHAPE gives, -1 where nothing bounds it; in the first
                                 segment. Since version 5. */
  CAMEO_OP_ATTRIBUTE = 100,   /* reserved, and refused so far: rd, which: a number of the device */
  CAMEO_OP_TENSOR_MAP = 101,  /* reserved, and refused so far */
  CAMEO_OP_BUF_PART = 93 /* bd, b buffer, r offset, r bytes: a range of the buffer, which lives as
                            long as the buffer does and has its name until it gets one. The whole of
                            a buffer as a part gives it another number, as loops need that have two
                            places change. */
} CameoOpcode;

#endif
