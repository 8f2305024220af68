// Threads that run the same function together with their caller.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/pool.h"

#include <csignal>

namespace cameo::sim {

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (Member *member : members_) {
    pthread_join(member->thread, nullptr);
    delete member;
  }
}

void *Pool::enter(void *argument) {
  Member *member = static_cast<Member *>(argument);
  member->pool->serve(member->index);
  return nullptr;
}

void Pool::serve(unsigned index) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || (round_ != seen && index < wanted_); });
    if (stop_)
      return;
    seen = round_;
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
  bool masked = members_.size() + 1 < n && pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  while (members_.size() + 1 < n) {
    Member *member = new Member{this, unsigned(members_.size()) + 1, {}};
    if (pthread_create(&member->thread, nullptr, enter, member) != 0) {
      delete member;
      break;
    }
    members_.push_back(member);
  }
  if (masked)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  unsigned helpers = unsigned(members_.size()) < n - 1 ? unsigned(members_.size()) : n - 1;
  if (helpers) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      function_ = function;
      context_ = context;
      wanted_ = helpers + 1;
      running_ = helpers;
      ++round_;
    }
    wake_.notify_all();
  }
  function(context, 0);
  if (helpers) {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [&] { return running_ == 0; });
  }
}

} // namespace cameo::sim
