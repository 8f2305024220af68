// Threads that run the same function together with their caller.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/pool.h"

#include <csignal>

namespace cameo::sim {

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (pthread_t thread : threads_)
    pthread_join(thread, nullptr);
}

void *Pool::enter(void *pool) {
  static_cast<Pool *>(pool)->serve();
  return nullptr;
}

void Pool::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || next_ < wanted_; });
    if (stop_)
      return;
    unsigned index = next_++;
    ++running_;
    lock.unlock();
    function_(context_, index);
    lock.lock();
    if (--running_ == 0)
      idle_.notify_one();
  }
}

void Pool::run(unsigned n, Function function, void *context) {
  // Signals are the application's: the pool's threads must not be chosen to handle them.
  sigset_t all, before;
  sigfillset(&all);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigdelset(&all, own);
  bool masked = threads_.size() + 1 < n && pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  while (threads_.size() + 1 < n) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, enter, this) != 0)
      break;
    threads_.push_back(thread);
  }
  if (masked)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    function_ = function;
    context_ = context;
    next_ = 1;
    wanted_ = n;
  }
  for (unsigned i = 1; i < n; ++i)
    wake_.notify_one();
  function(context, 0);
  std::unique_lock<std::mutex> lock(mutex_);
  wanted_ = 0;
  idle_.wait(lock, [&] { return running_ == 0; });
}

} // namespace cameo::sim
