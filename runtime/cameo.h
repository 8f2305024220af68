/* The C interface of the Cameo runtime, of the version CAMEO_API_VERSION; cameo_version() is the release.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model is a file written by cameoc: an executable, a shared library or a plan. It is loaded for
 * a device; contexts run it.
 *
 *   cameo_device *device;   cameo_device_create(&device_options, &device);
 *   cameo_model *model;     cameo_model_load("model", &model_options, &model);
 *   cameo_context *context; cameo_context_create(model, NULL, &context);
 *   cameo_context_set_input_shape(context, 0, 4, dims);      where the model leaves sizes open
 *   cameo_context_bind_input(context, 0, &binding);          host or device memory
 *   cameo_context_bind_output(context, 0, &binding);
 *   cameo_context_run(context);
 *
 * Units. Sizes are bytes, shapes are elements in row-major order, times are milliseconds. Elements
 * of 4 and 2 bits are packed as in ONNX's raw_data: the first element in the lowest bits of a byte,
 * the last byte padded with zeros.
 *
 * Errors. Every call that can fail returns a cameo_status. The message of the calling thread's last
 * failure is cameo_last_error(); that of a context's last failure is cameo_context_error(). No call
 * aborts, exits, throws or prints: what there is to say goes to the log of a device, if it has one. On
 * failure, results passed by pointer are left as they were.
 *
 * Ownership. What a *_create or *_load call returns is released by the matching *_destroy, which
 * accepts NULL. A context keeps its model alive, a model its device, so that they may be destroyed
 * in any order. Strings and arrays returned belong to the object asked, and live as long as it
 * does; where they change earlier, the call says so. Memory that is bound stays the caller's, and
 * must stay valid until the work that uses it is done.
 *
 * Threads. Devices and models may be used by any number of threads at once. A context is used by
 * one thread at a time; make one a thread. A call on a context that another call is using, of another
 * thread or around the callback that it is made from, does nothing and is CAMEO_STATUS_BUSY.
 *
 * Growth. Structures begin with their size as the caller's compiler sees it: set struct_size to
 * sizeof the structure and zero the rest (CAMEO_INIT does both). Later versions append fields, of
 * which zero keeps the meaning of today. Enumerators keep their values. Functions are only added.
 */
#ifndef CAMEO_H
#define CAMEO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAMEO_API __attribute__((visibility("default")))
#else
#define CAMEO_API
#endif

/* The version of this interface: raised when something is added. */
#define CAMEO_API_VERSION 7u

/* CAMEO_INIT(cameo_binding, binding); declares a structure whose size is set and whose other fields
 * are zero. */
#ifdef __cplusplus
#define CAMEO_INIT(TYPE, NAME)                                                                     \
  TYPE NAME = {};                                                                                  \
  NAME.struct_size = sizeof(TYPE)
#else
#define CAMEO_INIT(TYPE, NAME)                                                                     \
  TYPE NAME = {0};                                                                                 \
  NAME.struct_size = sizeof(TYPE)
#endif

/* The last enumerator of each type, which is none of its values: it makes every int that a caller may pass, or
 * a later version return, one that the type can hold. */
#define CAMEO_WIDEST (-0x7fffffff - 1)

typedef enum cameo_status {
  CAMEO_STATUS_OK = 0,
  CAMEO_STATUS_INVALID_ARGUMENT = 1, /* the caller's mistake: a name, a shape, an order of calls */
  CAMEO_STATUS_OUT_OF_RANGE = 2,     /* the model's own check failed for these inputs */
  CAMEO_STATUS_UNSUPPORTED = 3,      /* known, not available in this version or on this device */
  CAMEO_STATUS_OUT_OF_MEMORY = 4,    /* of the host or the device */
  CAMEO_STATUS_NOT_FOUND = 5,        /* a file, an entry point, a tensor's name */
  CAMEO_STATUS_IO = 6,               /* the operating system refused to read */
  CAMEO_STATUS_CORRUPT = 7,          /* the model file is damaged */
  CAMEO_STATUS_INCOMPATIBLE = 8,     /* the file is of a version that this runtime does not read */
  CAMEO_STATUS_NO_DRIVER = 9,        /* there is no CUDA driver */
  CAMEO_STATUS_DRIVER = 10,          /* the driver or the device failed */
  CAMEO_STATUS_KERNEL_FAULT = 11,    /* a finding of the simulator's checks */
  CAMEO_STATUS_INTERNAL = 12,        /* a bug in Cameo */
  CAMEO_STATUS_NO_CODE = 13,         /* the file has no code for this device and its driver */
  CAMEO_STATUS_BUSY = 14,            /* the context is in use by another call */
  CAMEO_STATUS_NOT_A_MODEL = 15,     /* the file is something else (before version 3: CORRUPT) */
  CAMEO_STATUS_NOT_KNOWN_YET = 16,   /* a run decides it, and none has been (since version 6) */
  CAMEO_STATUS_WIDEST = CAMEO_WIDEST
} cameo_status;

/* ONNX's TensorProto.DataType values. */
typedef enum cameo_dtype {
  CAMEO_DTYPE_UNDEFINED = 0,
  CAMEO_DTYPE_F32 = 1,
  CAMEO_DTYPE_U8 = 2,
  CAMEO_DTYPE_I8 = 3,
  CAMEO_DTYPE_U16 = 4,
  CAMEO_DTYPE_I16 = 5,
  CAMEO_DTYPE_I32 = 6,
  CAMEO_DTYPE_I64 = 7,
  CAMEO_DTYPE_STRING = 8, /* in no model this version runs */
  CAMEO_DTYPE_BOOL = 9,   /* a byte, 0 or 1 */
  CAMEO_DTYPE_F16 = 10,
  CAMEO_DTYPE_F64 = 11,
  CAMEO_DTYPE_U32 = 12,
  CAMEO_DTYPE_U64 = 13,
  CAMEO_DTYPE_COMPLEX64 = 14,
  CAMEO_DTYPE_COMPLEX128 = 15,
  CAMEO_DTYPE_BF16 = 16,
  CAMEO_DTYPE_F8E4M3FN = 17,
  CAMEO_DTYPE_F8E4M3FNUZ = 18,
  CAMEO_DTYPE_F8E5M2 = 19,
  CAMEO_DTYPE_F8E5M2FNUZ = 20,
  CAMEO_DTYPE_U4 = 21,
  CAMEO_DTYPE_I4 = 22,
  CAMEO_DTYPE_F4E2M1 = 23,
  CAMEO_DTYPE_F8E8M0 = 24,
  CAMEO_DTYPE_U2 = 25,
  CAMEO_DTYPE_I2 = 26,
  CAMEO_DTYPE_WIDEST = CAMEO_WIDEST
} cameo_dtype;

typedef struct cameo_device cameo_device;
typedef struct cameo_model cameo_model;
typedef struct cameo_context cameo_context;

/* ---- Versions and messages ------------------------------------------------------------------ */

/* CAMEO_API_VERSION of the library in use; at least the caller's, or calls may be missing. */
CAMEO_API uint32_t cameo_api_version(void);
/* The oldest and the newest payload version that the library reads. */
CAMEO_API void cameo_payload_versions(uint32_t *oldest, uint32_t *newest);
/* The release, e.g. "0.2.0". */
CAMEO_API const char *cameo_version(void);
/* "ok", "invalid argument", ... */
CAMEO_API const char *cameo_status_name(cameo_status status);
/* The calling thread's last failure, "" if none; it lives until the thread's next failure. */
CAMEO_API const char *cameo_last_error(void);
/* Bits of an element, e.g. 32 or 4; 0 for strings and unknown types. */
CAMEO_API uint32_t cameo_dtype_bits(cameo_dtype dtype);
/* "f32", "bf16", "f8e4m3fn", ...; "?" for unknown types. */
CAMEO_API const char *cameo_dtype_name(cameo_dtype dtype);

/* ---- Devices -------------------------------------------------------------------------------- */

typedef enum cameo_device_kind {
  CAMEO_DEVICE_CUDA = 1,
  CAMEO_DEVICE_SIMULATOR = 2, /* only ever taken when asked for */
  CAMEO_DEVICE_KIND_WIDEST = CAMEO_WIDEST
} cameo_device_kind;

#define CAMEO_SIM_CHECK_BOUNDS 1u
#define CAMEO_SIM_CHECK_UNINITIALISED 2u
#define CAMEO_SIM_CHECK_RACES 4u
#define CAMEO_SIM_CHECK_SYNC                                                                       \
  8u /* divergent barriers; the others need a model built for checking                             \
      */

typedef enum cameo_log_level {
  CAMEO_LOG_ERROR = 1,   /* a call that failed, or work that failed and that nobody waited for */
  CAMEO_LOG_WARNING = 2, /* another way was taken than the better one */
  CAMEO_LOG_INFO = 3,    /* what was loaded */
  CAMEO_LOG_DEBUG = 4,   /* what was prepared for new shapes, and the memory that it takes */
  CAMEO_LOG_LEVEL_WIDEST = CAMEO_WIDEST
} cameo_log_level;

typedef struct cameo_log_message {
  size_t struct_size;
  cameo_log_level level;
  cameo_status status; /* of an error, else CAMEO_STATUS_OK */
  const char *text;    /* one line, of an error also more; as long as the call lasts */
} cameo_log_message;

/* Called by every thread that uses the device, its models or their contexts, and so by several at once. It
 * must not use them. Of an error that a call returns, the message is cameo_last_error() already. */
typedef void (*cameo_log_callback)(void *user, const cameo_log_message *message);

typedef struct cameo_device_options {
  size_t struct_size;
  cameo_device_kind kind; /* required */
  int32_t ordinal;        /* CUDA: which device */
  uint32_t sim_threads;   /* simulator: host threads; 0: one a core */
  uint32_t sim_checks;    /* simulator: CAMEO_SIM_CHECK_* */
  uint64_t sim_seed;      /* simulator: order of lanes and warps; 0: the natural order */
  /* The log hears of the device, of models that are loaded for it, and of their contexts, as long as any of
   * these live; NULL: there is none. Since version 5. */
  cameo_log_callback log;
  void *log_user;
  cameo_log_level log_level; /* the least severe that is told; 0: CAMEO_LOG_INFO */
} cameo_device_options;

typedef struct cameo_device_info {
  size_t struct_size;
  cameo_device_kind kind;
  int32_t ordinal;
  const char *name;
  uint32_t arch;           /* compute capability, major * 10 + minor; simulator: 0 */
  uint32_t driver_version; /* major * 1000 + minor * 10; simulator: 0 */
  uint64_t total_memory;
} cameo_device_info;

/* How many CUDA devices there are. CAMEO_STATUS_NO_DRIVER: no driver is installed;
 * CAMEO_STATUS_DRIVER: there is one, and it does not work. */
CAMEO_API cameo_status cameo_cuda_device_count(uint32_t *count);
/* On CUDA this takes the device's primary context, which it shares with the CUDA runtime. */
CAMEO_API cameo_status cameo_device_create(const cameo_device_options *options,
                                           cameo_device **device);
CAMEO_API void cameo_device_destroy(cameo_device *device);
CAMEO_API cameo_status cameo_device_get_info(const cameo_device *device, cameo_device_info *info);
/* Free and total memory. */
CAMEO_API cameo_status cameo_device_memory(cameo_device *device, uint64_t *available,
                                           uint64_t *total);

typedef enum cameo_memory {
  CAMEO_MEMORY_HOST = 0,
  CAMEO_MEMORY_DEVICE = 1,
  CAMEO_MEMORY_WIDEST = CAMEO_WIDEST
} cameo_memory;

/* Memory for bindings, of any number of contexts: of the device, aligned to 256, or page-locked memory of
 * the host, from which transfers do not make a run wait. On the simulator both are host memory. What was
 * allocated is released with the same `memory`, before the device is destroyed and once no work uses it;
 * NULL releases nothing, and what was not allocated so, or is released already, is refused. */
CAMEO_API cameo_status cameo_device_allocate(cameo_device *device, cameo_memory memory,
                                             uint64_t bytes, void **data);
CAMEO_API cameo_status cameo_device_release(cameo_device *device, cameo_memory memory, void *data);
/* Copies between any two, and waits until it is done. It is ordered with the default stream, as contexts'
 * own streams are, and so comes after runs that they have enqueued. Ranges of the device do not overlap. */
CAMEO_API cameo_status cameo_device_copy(cameo_device *device, void *to, cameo_memory to_memory,
                                         const void *from, cameo_memory from_memory,
                                         uint64_t bytes);

/* ---- Models --------------------------------------------------------------------------------- */

typedef struct cameo_model_options {
  size_t struct_size;
  cameo_device *device; /* NULL: the model can be asked about, not run */
  uint32_t arch; /* take the code built for this architecture, e.g. 80; 0: the best there is */
} cameo_model_options;

typedef enum cameo_tensor_role {
  CAMEO_INPUT = 0,
  CAMEO_OUTPUT = 1,
  CAMEO_TAP = 2, /* an intermediate value that a run can be watched for: cameo_context_set_taps */
  CAMEO_TENSOR_ROLE_WIDEST = CAMEO_WIDEST
} cameo_tensor_role;

/* The model reads the input's values on the host, to know shapes or bounds. */
#define CAMEO_TENSOR_ON_HOST 1u
/* After each run an output becomes the input. Since version 7. */
#define CAMEO_TENSOR_IS_STATE 2u
/* Both are in one memory, which contexts own. Since version 7. */
#define CAMEO_TENSOR_IN_PLACE 4u

typedef struct cameo_tensor_info {
  size_t struct_size;
  const char *name;
  cameo_dtype dtype;
  uint32_t rank;
  const int64_t *dims;        /* rank of them; -1 where open */
  const char *const *symbols; /* rank of them: names of open sizes, "" where there is none */
  uint32_t flags;             /* CAMEO_TENSOR_* */
  /* Of a state: the output that becomes it, and the dimension along which it grows; each UINT32_MAX where
   * there is none. Since version 7. */
  uint32_t state;
  uint32_t state_dim;
} cameo_tensor_info;

/* Reads an executable, a library or a plan written by cameoc. The file is mapped and must not
 * change meanwhile; once the model is loaded, nothing of the file is read. Header, plans and code are verified
 * here, and weights as they are uploaded to the device (also here): a damaged file is CAMEO_STATUS_CORRUPT, one
 * that is no model at all CAMEO_STATUS_NOT_A_MODEL. options may be NULL. */
CAMEO_API cameo_status cameo_model_load(const char *path, const cameo_model_options *options,
                                        cameo_model **model);
/* The same of a file's bytes in memory, 64-byte aligned, valid while the model lives. */
CAMEO_API cameo_status cameo_model_load_memory(const void *data, size_t size,
                                               const cameo_model_options *options,
                                               cameo_model **model);
/* The model carried by the executable or library that this function is part of. */
CAMEO_API cameo_status cameo_model_load_self(const cameo_model_options *options,
                                             cameo_model **model);
/* The model carried by a library that the process has loaded, by the file name of that library without
 * folders, e.g. "libmodel.so". A program that is linked with several such libraries calls the functions of the
 * first one, and loads the models of all by their names. Since version 4. */
CAMEO_API cameo_status cameo_model_load_linked(const char *library,
                                               const cameo_model_options *options,
                                               cameo_model **model);
CAMEO_API void cameo_model_destroy(cameo_model *model);

/* JSON, UTF-8, NUL-terminated; size does not count the NUL and may be NULL. */
CAMEO_API cameo_status cameo_model_manifest(const cameo_model *model, const char **json,
                                            size_t *size);
/* Entry points: at least one. */
CAMEO_API uint32_t cameo_model_entry_count(const cameo_model *model);
CAMEO_API const char *cameo_model_entry_name(const cameo_model *model, uint32_t entry);
CAMEO_API cameo_status cameo_model_find_entry(const cameo_model *model, const char *name,
                                              uint32_t *entry);
CAMEO_API uint32_t cameo_model_tensor_count(const cameo_model *model, uint32_t entry,
                                            cameo_tensor_role role);
CAMEO_API cameo_status cameo_model_tensor_info(const cameo_model *model, uint32_t entry,
                                               cameo_tensor_role role, uint32_t index,
                                               cameo_tensor_info *info);
CAMEO_API cameo_status cameo_model_find_tensor(const cameo_model *model, uint32_t entry,
                                               cameo_tensor_role role, const char *name,
                                               uint32_t *index);
/* Shape profiles: ranges of sizes for which code was specialised. Profile 0 always exists and takes
 * every shape that the entry point does. */
CAMEO_API uint32_t cameo_model_profile_count(const cameo_model *model, uint32_t entry);
/* Smallest, best and largest sizes of an input, `rank` values each; any of them may be NULL. A size
 * without bound is 0 as smallest and INT64_MAX as largest, and -1 where there is no best. */
CAMEO_API cameo_status cameo_model_profile_shape(const cameo_model *model, uint32_t entry,
                                                 uint32_t profile, uint32_t input,
                                                 uint32_t capacity, int64_t *smallest,
                                                 int64_t *best, int64_t *largest);

/* ---- Contexts ------------------------------------------------------------------------------- */

/* Device memory from the caller, aligned to 256. Called by the thread that uses the context. */
typedef struct cameo_allocator {
  void *user;
  /* NULL: out of memory. */
  void *(*allocate)(void *user, uint64_t bytes);
  void (*release)(void *user, void *memory);
} cameo_allocator;

/* Never make a CUDA graph of the work for replay. */
#define CAMEO_CONTEXT_NO_GRAPH 1u
/* The model's states are inputs and outputs like others: no run's output becomes an input. Since version 7. */
#define CAMEO_CONTEXT_NO_STATES 2u

typedef struct cameo_context_options {
  size_t struct_size;
  uint32_t entry;
  uint32_t profile;
  uint32_t flags;    /* CAMEO_CONTEXT_* */
  uint32_t reserved; /* 0 */
  void *stream;      /* CUstream; NULL: a stream of the context's own. See Streams, below */
  void *arena;       /* device memory for intermediate values, aligned to 256; NULL: allocated */
  uint64_t arena_bytes;
  cameo_allocator allocator; /* both functions are NULL: the device's own */
} cameo_context_options;

typedef struct cameo_binding {
  size_t struct_size;
  cameo_memory memory;
  uint32_t reserved; /* 0 */
  void *data; /* device memory is aligned to 16; on the simulator device memory is host memory */
  uint64_t
      bytes; /* at least what the shape needs; a run whose values decide a shape that needs more fails */
} cameo_binding;

/* options may be NULL: entry 0. The model must have been loaded for a device. */
CAMEO_API cameo_status cameo_context_create(cameo_model *model,
                                            const cameo_context_options *options,
                                            cameo_context **context);
/* Waits for the context's work. */
CAMEO_API void cameo_context_destroy(cameo_context *context);
/* The context's last failure, "" if none; it lives until the context's next failure. */
CAMEO_API const char *cameo_context_error(const cameo_context *context);

/* Shapes. Inputs whose sizes are all fixed need no call. Sizes named alike must be equal. -1 leaves a size of a state
 * open again, as it is at first: it follows from other inputs, or is 0 along the dimension that grows. */
CAMEO_API cameo_status cameo_context_set_input_shape(cameo_context *context, uint32_t input,
                                                     uint32_t rank, const int64_t *dims);
/* Sets every size of that name, e.g. "batch". Inputs all of whose sizes are then known have a
 * shape. */
CAMEO_API cameo_status cameo_context_set_symbol(cameo_context *context, const char *symbol,
                                                int64_t size);
/* Values of an input that the model reads on the host (CAMEO_TENSOR_ON_HOST); copied. Not needed
 * where host memory is bound to the input: it is then read at each run. NULL forgets the values. */
CAMEO_API cameo_status cameo_context_set_input_value(cameo_context *context, uint32_t input,
                                                     const void *data, uint64_t bytes);
/* Shapes as they are for the next run. dims has room for capacity values; where that is 0, or dims NULL,
 * the rank alone is written; rank may be NULL. Output
 * shapes and the arena's size need all input shapes and host-read values to be known.
 *
 * Where values that a run computes decide the shape of an output, it is known after the run, as that of the
 * last one; before there is one for these inputs it is CAMEO_STATUS_NOT_KNOWN_YET, with a message that says
 * what bounds it. cameo_context_get_bytes of such an output are those of its bound, which memory that is
 * bound to it must have; where nothing bounds it they are those of the last run, or not known yet.
 * cameo_context_output_memory says where the value is, and how many bytes it has. */
CAMEO_API cameo_status cameo_context_get_input_shape(cameo_context *context, uint32_t input,
                                                     uint32_t capacity, int64_t *dims,
                                                     uint32_t *rank);
CAMEO_API cameo_status cameo_context_get_output_shape(cameo_context *context, uint32_t output,
                                                      uint32_t capacity, int64_t *dims,
                                                      uint32_t *rank);
/* The most that each size of an output can be in the next run, -1 where nothing bounds it. is_exact, which may
 * be NULL: 1 where that is its shape, 0 where a run decides. Since version 6. */
CAMEO_API cameo_status cameo_context_get_output_bound(cameo_context *context, uint32_t output,
                                                      uint32_t capacity, int64_t *dims,
                                                      uint32_t *rank, int32_t *is_exact);
CAMEO_API cameo_status cameo_context_get_bytes(cameo_context *context, cameo_tensor_role role,
                                               uint32_t index, uint64_t *bytes);
CAMEO_API cameo_status cameo_context_get_arena_bytes(cameo_context *context, uint64_t *bytes);

/* Memory. Bindings stay until replaced; a binding of NULL data and 0 bytes removes one. An output
 * without a binding stays in device memory of the context's own. Device memory of an output
 * overlaps no other binding's: state, below, is for outputs that become inputs. */
CAMEO_API cameo_status cameo_context_bind_input(cameo_context *context, uint32_t input,
                                                const cameo_binding *binding);
CAMEO_API cameo_status cameo_context_bind_output(cameo_context *context, uint32_t output,
                                                 const cameo_binding *binding);
/* Where an output is on the device after a run has been enqueued; valid until the next change of
 * shapes or bindings. What is in the memory of a state and in several pieces there is
 * CAMEO_STATUS_UNSUPPORTED: cameo_context_read_state copies it. */
CAMEO_API cameo_status cameo_context_output_memory(cameo_context *context, uint32_t output,
                                                   void **data, uint64_t *bytes);
/* State: after each run the output's value becomes the input's (a recurrent state, a cache of keys
 * and values), and its shape the input's. An input bound to device memory holds the value there,
 * the first one too, and it is copied there after each run. Else the value is in memory of the
 * context's own, where it need not be copied: its first value is that of the bound host memory,
 * read at the first run after the binding, or zero where nothing is bound; a new shape begins anew;
 * and cameo_context_output_memory says where it is. output = UINT32_MAX ends it.
 *
 * Inputs that `cameoc --state` has declared are states from the beginning. One in place (CAMEO_TENSOR_IN_PLACE) has one
 * memory for input and output, which the context owns, so that only what is new is written: memory of the device
 * that is bound to the input gives its first value, as host memory does, and the output is copied to what is bound
 * to it. One that grows begins with no elements along its dimension, unless a shape is set. */
CAMEO_API cameo_status cameo_context_set_state(cameo_context *context, uint32_t input,
                                               uint32_t output);
/* Room for `capacity` elements along the dimension along which a state grows in place. Without it the room is
 * made as it is needed, by half as much again, and each time the value is copied. Memory is taken by the next run,
 * which fails where there is none. Since version 7. */
CAMEO_API cameo_status cameo_context_reserve_state(cameo_context *context, uint32_t input,
                                                   uint64_t capacity);
/* Copies what the next run begins with to host memory, of as many bytes as the input's shape needs, and waits.
 * Since version 7. */
CAMEO_API cameo_status cameo_context_read_state(cameo_context *context, uint32_t input, void *data,
                                                uint64_t bytes);
/* States begin anew at the next run: with the shapes that the caller has set, and others that follow from other inputs
 * then, and the first values as above. Since version 7. */
CAMEO_API cameo_status cameo_context_reset_states(cameo_context *context);
/* Replaces the arena; the context's former work must be done. */
CAMEO_API cameo_status cameo_context_set_arena(cameo_context *context, void *arena, uint64_t bytes);
/* Streams. The context's own stream is ordered with the legacy default stream, as one of
 * cudaStreamCreate is: what a program that names no stream has launched before a run is done before
 * it, and what it launches after a run comes after it. The default streams themselves are
 * (void *)0x1 (CU_STREAM_LEGACY) and (void *)0x2 (CU_STREAM_PER_THREAD); any other CUstream is
 * taken as it is. Nothing waits for a caller's stream: it may be destroyed once the work on it is
 * done. A stream that the caller records (cuStreamBeginCapture) takes the run into his graph; run
 * once before, so that nothing is allocated meanwhile. Runs after a change of stream come after
 * those before it. */
CAMEO_API cameo_status cameo_context_set_stream(cameo_context *context, void *stream);
CAMEO_API cameo_status cameo_context_get_stream(cameo_context *context, void **stream);

/* Random numbers, of models that draw some: those of the next run are the first ones of this seed, and each run draws
 * others. The same seed gives the same numbers, whatever the device; without this call it is 0. Nodes that have a seed of
 * the model's own do not depend on it. */
CAMEO_API cameo_status cameo_context_set_seed(cameo_context *context, uint64_t seed);

/* Running. enqueue returns when the work is on the stream. Host memory bound to outputs is written
 * when the stream gets there. Host memory bound to inputs is read when the stream gets there if it
 * is page-locked, and has been read when enqueue returns if it is not; above 64 MiB, transfers of
 * memory that is not page-locked make enqueue wait for the stream. A model whose control flow or shapes go by
 * values that it computes makes enqueue wait for each of them; its stream must not be being recorded. Work is
 * prepared once for each combination of shapes and values that it goes by, and kept with its graph as long as
 * there is room for it. */
CAMEO_API cameo_status cameo_context_enqueue(cameo_context *context);
CAMEO_API cameo_status cameo_context_synchronize(cameo_context *context);
/* Whether the runs that were enqueued are done: 1 or 0, without waiting. */
CAMEO_API cameo_status cameo_context_query(cameo_context *context, int32_t *done);
/* Calls back once they are: by a thread of the driver's, or, where they are done already, as they always are
 * on the simulator, before this returns. The callback must call neither Cameo nor CUDA, and may come after
 * cameo_context_synchronize has returned. */
CAMEO_API cameo_status cameo_context_notify(cameo_context *context, void (*callback)(void *user),
                                            void *user);
/* enqueue and synchronize. */
CAMEO_API cameo_status cameo_context_run(cameo_context *context);

/* Taps. A model compiled with `cameoc --tap=NAME` shows those intermediate values on the way of a
 * run: cameo_model_tensor_count and its like tell them as CAMEO_TAP, and nothing else counts them.
 * Each is there when its callback is called, and gone afterwards: values are not kept for one
 * another. */
typedef struct cameo_tap {
  size_t struct_size;
  uint32_t index; /* among the entry point's CAMEO_TAPs */
  uint32_t rank;
  const char *name;
  const int64_t *dims; /* rank of them, none open */
  cameo_dtype dtype;
  cameo_memory memory;
  const void *data; /* in `memory`, as long as the call lasts */
  uint64_t bytes;
  uint32_t trip_count;  /* of a value in bodies of loops: how many are around it */
  const int64_t *trips; /* trip_count of them, from 0, those of outer loops first */
} cameo_tap;

/* Anything but CAMEO_STATUS_OK ends the run, which fails with that status. The context must not be
 * used meanwhile, but for the two functions below. */
typedef cameo_status (*cameo_tap_callback)(void *user, const cameo_tap *tap);
/* Calls back for every tap of the runs to come, in the order in which they are computed, by the
 * thread that enqueues the run. Values are copied to host memory, or shown where they are on the
 * device. Such runs wait for each value, and their stream must not be being recorded;
 * cameo_context_run_timed shows none. A NULL callback ends it. */
CAMEO_API cameo_status cameo_context_set_taps(cameo_context *context, cameo_memory memory,
                                              cameo_tap_callback callback, void *user);
/* Within a tap's callback, by its thread: copies the value that is shown to host memory of as many
 * bytes as it has, where it was shown on the device and is wanted here after all. */
CAMEO_API cameo_status cameo_context_read_tap(cameo_context *context, void *data, uint64_t bytes);
/* The same: writes over the value, from host memory. What is computed later in the run reads what
 * was written, as far as it reads the value from where it is tapped: in a model compiled with -O0
 * all does. */
CAMEO_API cameo_status cameo_context_write_tap(cameo_context *context, const void *data,
                                               uint64_t bytes);

typedef struct cameo_launch_timing {
  size_t struct_size;
  const char *kernel;     /* name; valid while the model lives */
  const char *onnx_nodes; /* comma separated */
  uint32_t grid[3];
  uint32_t block[3];
  double start; /* milliseconds from the run's first launch */
  double duration;
} cameo_launch_timing;

typedef void (*cameo_timing_callback)(void *user, const cameo_launch_timing *timing);
/* A run that waits, and calls back for every launch in order. Slower than others. On a GPU whose
 * driver has graphs (CUDA 11.4) times are the medians of 20 replays of a graph with events between
 * launches, and hold what an event costs; else, and in contexts without graphs, they are those of
 * one run, and of short kernels the host's. The stream must not be being recorded. */
CAMEO_API cameo_status cameo_context_run_timed(cameo_context *context,
                                               cameo_timing_callback callback, void *user);

#ifdef __cplusplus
}
#endif

#endif
