// Threads that run the same function together with their caller.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_POOL_H
#define CAMEO_SIM_POOL_H

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace cameo::sim {

class Pool {
public:
  using Function = void (*)(void *context, unsigned index);

  Pool() = default;
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// Calls function(context, 0) on this thread and function(context, i), i from 1 to less than n,
  /// on others as they wake up, and waits for all that began. Those that have not when the first
  /// call returns are not called any more: the function shares out work until there is none left.
  /// Threads are started when first needed, as far as the system grants them. One caller at a time.
  void run(unsigned n, Function function, void *context);

private:
  static void *enter(void *pool);
  void serve();

  std::vector<pthread_t> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  unsigned next_ = 0;    // index of the next call
  unsigned wanted_ = 0;  // end of the indices to call
  unsigned running_ = 0; // calls that have not returned, the caller's own left out
  bool stop_ = false;
  Function function_ = nullptr;
  void *context_ = nullptr;
};

} // namespace cameo::sim

#endif
