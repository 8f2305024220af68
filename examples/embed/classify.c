/* Runs a model from C through cameo.h, on the device named:
 *
 *   classify sim|cuda[:N] MODEL INPUT.raw [NAME=SIZE ...]
 *
 * MODEL is what cameoc wrote: an executable, a library or a plan; `self` is the model in the
 * library that this program is linked with. INPUT.raw holds the bytes of the model's first input;
 * sizes that the model leaves open are given by name. Prints each output's shape and, of 32-bit
 * floats, the place of the largest value in each row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cameo.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 16

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cameo_last_error());
  return 1;
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  void *data = NULL;
  if (!file)
    return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (long)(*size = (size_t)ftell(file)) >= 0) {
    rewind(file);
    data = malloc(*size + 1);
    if (data && fread(data, 1, *size, file) != *size) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

static cameo_status open_device(const char *name, cameo_device **device) {
  CAMEO_INIT(cameo_device_options, options);
  options.kind = strcmp(name, "sim") == 0 ? CAMEO_DEVICE_SIMULATOR : CAMEO_DEVICE_CUDA;
  if (strncmp(name, "cuda:", 5) == 0)
    options.ordinal = atoi(name + 5);
  return cameo_device_create(&options, device);
}

static cameo_status load_model(const char *path, cameo_device *device, cameo_model **model) {
  CAMEO_INIT(cameo_model_options, options);
  options.device = device;
  return strcmp(path, "self") == 0 ? cameo_model_load_self(&options, model)
                                   : cameo_model_load(path, &options, model);
}

/* The place of the largest value in each row of the last dimension. */
static void print_classes(const float *values, uint64_t count, uint64_t width) {
  for (uint64_t row = 0; row + width <= count; row += width) {
    uint64_t best = 0;
    for (uint64_t i = 1; i < width; ++i)
      if (values[row + i] > values[row + best])
        best = i;
    printf(" %llu", (unsigned long long)best);
  }
}

/* Host memory for every output, bound to it. */
static int bind_outputs(cameo_context *context, uint32_t count, void **outputs) {
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t bytes = 0;
    CAMEO_INIT(cameo_binding, binding);
    if (cameo_context_get_bytes(context, CAMEO_OUTPUT, i, &bytes))
      return fail("cannot compute an output's size");
    outputs[i] = malloc(bytes ? bytes : 1);
    binding.memory = CAMEO_MEMORY_HOST;
    binding.data = outputs[i];
    binding.bytes = bytes;
    if (!outputs[i] || cameo_context_bind_output(context, i, &binding))
      return fail("cannot bind an output");
  }
  return 0;
}

static int print_outputs(cameo_model *model, cameo_context *context, uint32_t count,
                         void **outputs) {
  for (uint32_t i = 0; i < count; ++i) {
    CAMEO_INIT(cameo_tensor_info, info);
    int64_t dims[MAX_RANK];
    uint32_t rank = 0;
    uint64_t elements = 1;
    if (cameo_model_tensor_info(model, 0, CAMEO_OUTPUT, i, &info) ||
        cameo_context_get_output_shape(context, i, MAX_RANK, dims, &rank))
      return fail("cannot ask about an output");
    printf("%s:", info.name);
    for (uint32_t d = 0; d < rank; ++d) {
      printf(" %lld", (long long)dims[d]);
      elements *= (uint64_t)dims[d];
    }
    printf(" %s", cameo_dtype_name(info.dtype));
    if (info.dtype == CAMEO_DTYPE_F32 && rank && dims[rank - 1] > 0) {
      printf(", largest at");
      print_classes(outputs[i], elements, (uint64_t)dims[rank - 1]);
    }
    printf("\n");
  }
  return 0;
}

/* NAME=SIZE arguments. */
static int set_sizes(cameo_context *context, int count, char **arguments) {
  for (int i = 0; i < count; ++i) {
    char *equals = strchr(arguments[i], '=');
    if (!equals) {
      fprintf(stderr, "'%s' is not NAME=SIZE\n", arguments[i]);
      return 1;
    }
    *equals = 0;
    if (cameo_context_set_symbol(context, arguments[i], atoll(equals + 1)))
      return fail(arguments[i]);
  }
  return 0;
}

/* Whether all sizes of the inputs are known; says which to give. */
static int check_sizes(cameo_model *model, cameo_context *context) {
  for (uint32_t i = 0; i < cameo_model_tensor_count(model, 0, CAMEO_INPUT); ++i) {
    uint64_t bytes = 0;
    CAMEO_INIT(cameo_tensor_info, info);
    if (cameo_context_get_bytes(context, CAMEO_INPUT, i, &bytes) == CAMEO_STATUS_OK)
      continue;
    if (cameo_model_tensor_info(model, 0, CAMEO_INPUT, i, &info))
      return fail("cannot ask about an input");
    fprintf(stderr, "input '%s' has open sizes; give", info.name);
    for (uint32_t d = 0; d < info.rank; ++d)
      if (info.dims[d] < 0)
        fprintf(stderr, " %s=SIZE", info.symbols[d]);
    fprintf(stderr, " behind INPUT.raw\n");
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  cameo_device *device = NULL;
  cameo_model *model = NULL;
  cameo_context *context = NULL;
  void *input = NULL, **outputs = NULL;
  uint32_t output_count = 0;
  size_t input_bytes = 0;
  int code = 1;
  CAMEO_INIT(cameo_binding, binding);
  if (argc < 4) {
    fprintf(stderr, "usage: %s sim|cuda[:N] MODEL INPUT.raw [NAME=SIZE ...]\n", argv[0]);
    return 2;
  }
  if (!(input = read_file(argv[3], &input_bytes))) {
    fprintf(stderr, "cannot read '%s'\n", argv[3]);
    goto done;
  }
  if (open_device(argv[1], &device)) {
    fail(argv[1]);
    goto done;
  }
  if (load_model(argv[2], device, &model) || cameo_context_create(model, NULL, &context)) {
    fail(argv[2]);
    goto done;
  }
  binding.memory = CAMEO_MEMORY_HOST;
  binding.data = input;
  binding.bytes = input_bytes;
  if (set_sizes(context, argc - 4, argv + 4))
    goto done;
  if (cameo_context_bind_input(context, 0, &binding)) {
    fail("cannot set the input");
    goto done;
  }
  if (check_sizes(model, context))
    goto done;
  output_count = cameo_model_tensor_count(model, 0, CAMEO_OUTPUT);
  outputs = calloc(output_count ? output_count : 1, sizeof *outputs);
  if (!outputs || bind_outputs(context, output_count, outputs))
    goto done;
  if (cameo_context_run(context)) {
    fail("cannot run");
    goto done;
  }
  code = print_outputs(model, context, output_count, outputs);

done:
  cameo_context_destroy(context); /* before the memory that is bound to it */
  cameo_model_destroy(model);
  cameo_device_destroy(device);
  for (uint32_t i = 0; outputs && i < output_count; ++i)
    free(outputs[i]);
  free(outputs);
  free(input);
  return code;
}
