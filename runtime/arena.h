/* Where buffers stand in the arena: one algorithm for the compiler, which lays out what has known
 * sizes, and for the runtime, which lays out the rest once it knows the shapes. Plain C; the same
 * requests have the same offsets on every machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CAMEO_RUNTIME_ARENA_H
#define CAMEO_RUNTIME_ARENA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of every buffer in the arena and in the weight section, in bytes. */
#define CAMEO_BUFFER_ALIGNMENT 256

/* A buffer that is in use from step `first` to step `last`, both included. */
typedef struct CameoArenaRequest {
  uint64_t bytes;
  uint32_t first, last;
} CameoArenaRequest;

typedef struct CameoArenaUse {
  uint64_t arena_bytes; /* where the last buffer ends */
  uint64_t live_bytes;  /* the most that is in use at one step: no arena is smaller */
  uint64_t sum_bytes;   /* of all buffers */
} CameoArenaUse;

/* Offsets, one a request, such that requests that share a step do not overlap; buffers of no bytes
 * stand at 0. Takes time in proportion to n log n. Returns 0, or else the requests are none: one
 * ends before it begins, or together they exceed 2^63 bytes. */
int cameoLayOutArena(const CameoArenaRequest *requests, uint32_t count, uint64_t *offsets,
                     CameoArenaUse *use);

#ifdef __cplusplus
}
#endif

#endif
