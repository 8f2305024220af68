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

  /// Calls function(context, 0) on this thread and function(context, 1 .. n-1) on others, and waits
  /// for all. Threads are started when first needed; where the system refuses one, fewer indices
  /// are called. One caller at a time.
  void run(unsigned n, Function function, void *context);

private:
  struct Member {
    Pool *pool;
    unsigned index;
    pthread_t thread;
  };
  static void *enter(void *member);
  void serve(unsigned index);

  std::vector<Member *> members_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  uint64_t round_ = 0;   // of work given out
  unsigned wanted_ = 0;  // members below this index + 1 take part in the round
  unsigned running_ = 0; // members that have not finished it
  bool stop_ = false;
  Function function_ = nullptr;
  void *context_ = nullptr;
};

} // namespace cameo::sim

#endif
