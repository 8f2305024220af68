/* A driver that runs nothing and checks how it is called: for tools/gpupack/pack/constants.py, whose
 * kernels the fake driver cannot run. Device memory is the host's. A launch takes 2 us and 0.1 us a
 * round, at 1500 MHz. What is wrong ends the process with a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do                                                                                               \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "error: %s: %s\n", __func__, #condition);                                    \
      abort();                                                                                     \
    }                                                                                              \
  while (0)

typedef struct {
  const char *name;
  int takes_large_clusters;
} Function;
typedef struct {
  double microseconds; /* of work that was enqueued before it */
} Event;
typedef struct {
  uint32_t id, pad;
  uint32_t value[16];
} Attribute;
typedef struct {
  uint32_t grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  uint32_t count;
} Config;

static double now, captured;
static int capturing;
static char stream, module;

int cuInit(unsigned flags) { return flags; }
int cuDeviceGet(int *device, int number) { return *device = number; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &module;
  return device;
}
int cuCtxPushCurrent_v2(void *context) {
  CHECK(context == &module);
  return 0;
}
int cuGetErrorName(int error, const char **name) {
  *name = error ? "CUDA_ERROR_OF_THE_TEST" : "CUDA_SUCCESS";
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : attribute == 16 ? 132 : 0;
  return device;
}
int cuMemGetInfo_v2(size_t *left, size_t *total) {
  *left = *total = (size_t)1 << 28;
  return 0;
}
int cuStreamCreate(void **made, unsigned flags) {
  CHECK(flags <= 1);
  *made = &stream;
  return 0;
}
int cuMemAlloc_v2(uint64_t *pointer, size_t size) {
  void *memory = NULL;
  /* Touched by nobody but for what kernels leave behind. */
  CHECK(size > 0 && posix_memalign(&memory, 256, size) == 0);
  *pointer = (uint64_t)(uintptr_t)memory;
  return 0;
}
int cuMemHostAlloc(void **pointer, size_t size, unsigned flags) {
  CHECK(flags == 1);
  *pointer = calloc(1, size);
  return *pointer == NULL;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *on) {
  CHECK(on == &stream && !capturing);
  memcpy(to, (void *)(uintptr_t)from, size);
  return 0;
}
int cuStreamSynchronize(void *on) {
  CHECK(on == &stream && !capturing);
  return 0;
}
int cuEventCreate(Event **event, unsigned flags) {
  *event = calloc(1, sizeof **event);
  return flags;
}
int cuEventRecord(Event *event, void *on) {
  CHECK(on == &stream);
  event->microseconds = now;
  return 0;
}
int cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  *milliseconds = (float)((to->microseconds - from->microseconds) / 1000);
  return 0;
}
int cuEventDestroy_v2(Event *event) {
  free(event);
  return 0;
}
int cuModuleLoadDataEx(void **made, const char *image, unsigned count, int *options,
                       void **values) {
  CHECK(count == 2 && options[0] == 5 && options[1] == 6 && (size_t)values[1] >= 1024);
  CHECK(strstr(image, ".version ") && strstr(image, ".address_size 64"));
  *made = &module;
  if (getenv("CALL_CHECKS_REFUSE") && strstr(image, getenv("CALL_CHECKS_REFUSE"))) {
    strcpy(values[0], "line 7; what the compiler says");
    return 218;
  }
  return 0;
}
int cuModuleGetFunction(Function **made, void *of, const char *name) {
  CHECK(of == &module);
  *made = malloc(sizeof **made);
  (*made)->name = strdup(name);
  return 0;
}

int cuFuncSetAttribute(Function *function, int attribute, int value) {
  CHECK(attribute == 14 && value == 1);
  function->takes_large_clusters = 1;
  return 0;
}

static void launched(const Function *function, const uint32_t *grid, const uint32_t *block,
                     void **params) {
  CHECK(grid[0] && grid[1] == 1 && grid[2] == 1 && block[0] && block[0] <= 1024);
  CHECK(block[1] == 1 && block[2] == 1);
  double time = 1;
  if (strncmp(function->name, "empty", 5) != 0) {
    uint64_t *out = *(uint64_t **)params[0];
    uint32_t rounds = *(uint32_t *)params[3];
    CHECK((uintptr_t)out % 256 == 0 && grid[0] <= 2048 && rounds && rounds <= 1u << 28);
    CHECK(*(uint64_t *)params[1] % 256 == 0);
    if (strcmp(function->name, "tensor_copy") == 0)
      CHECK(memcmp(params[6], "MAP!", 4) == 0);
    time = 2 + 0.1 * rounds;
    for (uint32_t block = 0; block < grid[0]; ++block) {
      uint64_t *clocks = out + 4 * block;
      clocks[0] = 1000, clocks[1] = 1000 + (uint64_t)(1500 * time);
      clocks[2] = 5000, clocks[3] = 5000 + (uint64_t)(1000 * time);
    }
  }
  *(capturing ? &captured : &now) += time;
}

int cuLaunchKernel(Function *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                   uint32_t by, uint32_t bz, uint32_t shared, void *on, void **params,
                   void **extra) {
  uint32_t grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  CHECK(on == &stream && !extra && shared == 0);
  launched(function, grid, block, params);
  return 0;
}
int cuLaunchKernelEx(Config *config, Function *function, void **params, void **extra) {
  CHECK(config->stream == &stream && !extra && config->shared == 0 && config->count == 1);
  Attribute *attribute = config->attributes;
  uint32_t *value = attribute->value;
  CHECK(attribute->id == 4 || attribute->id == 6);
  if (attribute->id == 4)
    CHECK(value[0] >= 2 && value[0] <= (function->takes_large_clusters ? 16u : 8u) &&
          value[1] == 1 && value[2] == 1 && config->grid[0] % value[0] == 0);
  else
    CHECK(value[0] == 1);
  launched(function, config->grid, config->block, params);
  return 0;
}
int cuStreamBeginCapture_v2(void *on, int mode) {
  CHECK(on == &stream && mode == 1 && !capturing);
  capturing = 1, captured = 0;
  return 0;
}
int cuStreamEndCapture(void *on, Event **graph) {
  CHECK(on == &stream && capturing);
  capturing = 0;
  *graph = calloc(1, sizeof **graph);
  (*graph)->microseconds = captured;
  return 0;
}
int cuGraphInstantiateWithFlags(Event **made, Event *graph, uint64_t flags) {
  *made = calloc(1, sizeof **made);
  **made = *graph;
  return flags != 0;
}
int cuGraphDestroy(Event *graph) {
  free(graph);
  return 0;
}
int cuGraphLaunch(Event *graph, void *on) {
  CHECK(on == &stream);
  now += graph->microseconds;
  return 0;
}
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *data, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  CHECK((uintptr_t)map % 64 == 0 && (uintptr_t)data % 16 == 0 && type == 1 && rank == 2);
  CHECK(sizes[0] == 1024 && sizes[1] == 2048 && strides[0] == 2048);
  CHECK(box[0] == 64 && box[1] == 64 && steps[0] == 1 && steps[1] == 1);
  CHECK(interleave == 0 && swizzle == 3 && promotion == 3 && fill == 0);
  memcpy(map, "MAP!", 4);
  return 0;
}
