// What a library of the runtime gives back when it is unloaded. The C++ library inside it keeps 72,704 bytes for
// exceptions that are thrown when memory is short, and releases them only when it is asked to.
// SPDX-License-Identifier: Apache-2.0

// Declared in no header; checkers of memory call it, too.
namespace __gnu_cxx {    // NOLINT(bugprone-reserved-identifier)
extern void __freeres(); // NOLINT(bugprone-reserved-identifier)
} // namespace __gnu_cxx

// Runs behind the destructors of all objects, which have no priority.
__attribute__((destructor(101))) static void releaseMemory() { __gnu_cxx::__freeres(); }
