/* Loads a library of the runtime, runs a model with it and unloads it again, many times over, and prints what stays
 * behind:
 *
 *   unload_checks LIBRARY MODEL SIZE=N
 */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cameo.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 3, CYCLES = 20 };

static void check(cameo_status status, const char *what) {
  if (status != CAMEO_STATUS_OK) {
    printf("%s: status %d\n", what, (int)status);
    exit(1);
  }
}

#define CALL(NAME, ...) check(((__typeof__(&NAME))dlsym(library, #NAME))(__VA_ARGS__), #NAME)
#define END(NAME, OBJECT) ((__typeof__(&NAME))dlsym(library, #NAME))(OBJECT)

static void cycle(const char *name, const char *path, char *size) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("%s\n", dlerror());
    exit(1);
  }
  CAMEO_INIT(cameo_device_options, device_options);
  CAMEO_INIT(cameo_model_options, options);
  device_options.kind = CAMEO_DEVICE_SIMULATOR;
  cameo_model *model = NULL;
  cameo_context *context = NULL;
  CALL(cameo_device_create, &device_options, &options.device);
  CALL(cameo_model_load, path, &options, &model);
  CALL(cameo_context_create, model, NULL, &context);
  char symbol[64] = {0};
  strncat(symbol, size, strcspn(size, "=") < 63 ? strcspn(size, "=") : 63);
  CALL(cameo_context_set_symbol, context, symbol, atol(strchr(size, '=') + 1));
  void *data = NULL;
  uint64_t bytes = 0;
  CALL(cameo_context_get_bytes, context, CAMEO_INPUT, 0, &bytes);
  data = calloc(1, bytes);
  cameo_binding binding = {sizeof(cameo_binding), CAMEO_MEMORY_HOST, 0, data, bytes};
  CALL(cameo_context_bind_input, context, 0, &binding);
  CALL(cameo_context_run, context);
  END(cameo_context_destroy, context);
  END(cameo_model_destroy, model);
  END(cameo_device_destroy, options.device);
  free(data);
  dlclose(library);
  if (dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
    printf("still loaded\n");
    exit(1);
  }
}

static size_t bytes_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

int main(int argc, char **argv) {
  if (argc != 4 || !strchr(argv[3], '='))
    return 2;
  for (int i = 0; i < FIRST; ++i)
    cycle(argv[1], argv[2], argv[3]);
  size_t before = bytes_in_use();
  for (int i = 0; i < CYCLES; ++i)
    cycle(argv[1], argv[2], argv[3]);
  size_t after = bytes_in_use();
  printf("%zu bytes a cycle\n", after > before ? (after - before) / CYCLES : 0);
  return 0;
}
