// The C library's functions by their older names. Where glibc gives a function a new symbol
// version, whoever is linked against that glibc asks for it, though the function is the same: these
// here stand in front of it and call the one of 2.2.5, for our own code as for that of the static
// libraries. What is built on Debian 12 then runs on glibc 2.28 and later.
//
// Before 2.34 threads and dlopen were in libraries of their own, which therefore are asked for too.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

// Hidden, so that nothing outside calls them.
#define CAMEO_HERE extern "C" __attribute__((visibility("hidden")))
// Declares `old_NAME`, which is NAME@GLIBC_2.2.5.
#define CAMEO_OLD(RESULT, NAME, ...)                                                               \
  extern "C" RESULT old_##NAME(__VA_ARGS__);                                                       \
  __asm__(".symver old_" #NAME ", " #NAME "@GLIBC_2.2.5");

CAMEO_OLD(double, exp, double)
CAMEO_OLD(double, exp2, double)
CAMEO_OLD(double, log, double)
CAMEO_OLD(double, log2, double)
CAMEO_OLD(double, pow, double, double)
CAMEO_OLD(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
CAMEO_OLD(int, pthread_join, pthread_t, void **)
CAMEO_OLD(int, pthread_once, pthread_once_t *, void (*)())
CAMEO_OLD(int, pthread_sigmask, int, const sigset_t *, sigset_t *)
CAMEO_OLD(int, __pthread_key_create, pthread_key_t *, void (*)(void *))
CAMEO_OLD(void *, dlopen, const char *, int)
CAMEO_OLD(void *, dlsym, void *, const char *)
CAMEO_OLD(int, dlclose, void *)
CAMEO_OLD(char *, dlerror)
CAMEO_OLD(int, dladdr, const void *, Dl_info *)
CAMEO_OLD(int, __fxstat, int, int, struct stat *)
CAMEO_OLD(int, __xstat, int, const char *, struct stat *)

// The older functions differ from the newer ones in `errno`, and in the sign of the NaN that stands
// for a result that does not exist: the processor's own it is in the newer.
static double undefined(double x) { return (x - x) / (x - x); }

CAMEO_HERE double exp(double x) { return old_exp(x); }
CAMEO_HERE double exp2(double x) { return old_exp2(x); }
CAMEO_HERE double log(double x) { return x < 0 ? undefined(x) : old_log(x); }
CAMEO_HERE double log2(double x) { return x < 0 ? undefined(x) : old_log2(x); }
CAMEO_HERE double pow(double x, double y) {
  double result = old_pow(x, y);
  return std::isnan(result) && !std::isnan(x) && !std::isnan(y) ? undefined(x) : result;
}

CAMEO_HERE int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument) noexcept {
  return old_pthread_create(thread, attributes, start, argument);
}
CAMEO_HERE int pthread_join(pthread_t thread, void **result) {
  return old_pthread_join(thread, result);
}
CAMEO_HERE int pthread_once(pthread_once_t *once, void (*function)()) {
  return old_pthread_once(once, function);
}
CAMEO_HERE int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) noexcept {
  return old_pthread_sigmask(how, set, before);
}
CAMEO_HERE int __pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
  return old___pthread_key_create(key, destroy);
}

CAMEO_HERE void *dlopen(const char *file, int mode) noexcept { return old_dlopen(file, mode); }
CAMEO_HERE void *dlsym(void *handle, const char *name) noexcept { return old_dlsym(handle, name); }
CAMEO_HERE int dlclose(void *handle) noexcept { return old_dlclose(handle); }
CAMEO_HERE char *dlerror() noexcept { return old_dlerror(); }
CAMEO_HERE int dladdr(const void *address, Dl_info *info) noexcept {
  return old_dladdr(address, info);
}

// Before 2.33 these were inline functions that called others, with the version of the structure.
CAMEO_HERE int fstat(int file, struct stat *info) noexcept { return old___fxstat(1, file, info); }
CAMEO_HERE int stat(const char *path, struct stat *info) noexcept {
  return old___xstat(1, path, info);
}

// libstdc++ leaves out atomic instructions where this is true. (2.32)
CAMEO_HERE const char __libc_single_threaded = 0;

// libgcc's way to the tables of exceptions, where libgcc is linked statically. (2.35) Nothing there catches any: they
// all end the program, whether or not there are tables.
CAMEO_HERE int _dl_find_object(void *, dl_find_object *) noexcept { return -1; }
