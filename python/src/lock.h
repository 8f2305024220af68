// The interpreter's lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <unistd.h>

namespace cameo::python {

/// Asks for the lock. While the interpreter ends, versions before 3.14 end a daemon's thread there, by unwinding its
/// stack, which ends the process where a function on it must not throw. So such a thread waits for the process's end, as
/// it does in later versions.
template <typename Ask> auto lockedBy(Ask ask) {
  try {
    return ask();
  } catch (...) { // never left, as this is no exception
    for (;;)
      pause();
  }
}

/// Lets other threads have the lock.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  ~Unlocked() {
    lockedBy([&] {
      PyEval_RestoreThread(state);
      return 0;
    });
  }
  Unlocked(const Unlocked &) = delete;
  void operator=(const Unlocked &) = delete;

private:
  PyThreadState *state;
};

/// Has the lock, in a callback.
class Locked {
public:
  Locked() : state(lockedBy(PyGILState_Ensure)) {}
  ~Locked() { PyGILState_Release(state); }
  Locked(const Locked &) = delete;
  void operator=(const Locked &) = delete;

private:
  PyGILState_STATE state;
};

} // namespace cameo::python
