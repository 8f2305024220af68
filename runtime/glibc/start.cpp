// The way from the entry point to main() by its older name; see symbols.cpp. Up to glibc 2.33 it
// was the program that ran its initialisers; since then glibc does, unless the program says that it
// will.
// SPDX-License-Identifier: Apache-2.0

using Initialiser = void (*)(int, char **, char **);
using Main = int (*)(int, char **, char **);

extern "C" {
// Of the linker's making.
extern __attribute__((visibility("hidden"))) Initialiser __init_array_start[], __init_array_end[];

int old_libc_start_main(Main main, int argc, char **argv, Initialiser init, void (*fini)(),
                        void (*atExit)(), void *stackEnd);
__asm__(".symver old_libc_start_main, __libc_start_main@GLIBC_2.2.5");
}

static void runInitialisers(int argc, char **argv, char **environment) {
  for (Initialiser *initialiser = __init_array_start; initialiser != __init_array_end;
       ++initialiser)
    (*initialiser)(argc, argv, environment);
}

// Finalisers are the loader's business in all versions.
extern "C" __attribute__((visibility("hidden"))) int __libc_start_main(Main main, int argc,
                                                                       char **argv, Initialiser,
                                                                       void (*)(), void (*atExit)(),
                                                                       void *stackEnd) {
  return old_libc_start_main(main, argc, argv, runInitialisers, nullptr, atExit, stackEnd);
}
