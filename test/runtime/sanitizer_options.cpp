// Defaults of the sanitizers for this program: allocations that are too large fail, as they do
// without them, since tests ask for them.
// SPDX-License-Identifier: Apache-2.0
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() { return "allocator_may_return_null=1"; }
