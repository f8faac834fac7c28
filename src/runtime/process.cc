#include "runtime/process.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "runtime/signals.h"
#include "runtime/spool.h"

namespace muscope::runtime {
namespace {

enum class State : int { kFresh, kUsing, kForked };

// Constant-initialised: a process that makes no CUDA call runs none of this.
constinit std::atomic<State> state{State::kFresh};
constinit std::atomic<bool> exiting{false};
constinit std::mutex starting;

void in_forked_child() { state.store(State::kForked, std::memory_order_release); }

void at_exit() {
  exiting.store(true, std::memory_order_release);
  if (state.load(std::memory_order_acquire) == State::kUsing) Spool::of_process().flush();
}

bool start() {
  if (state.load(std::memory_order_acquire) == State::kForked) return false;
  // Before the lock: a fork by another thread from here on leaves a child that must not touch it.
  static std::atomic<bool> hooked{false};
  if (!hooked.exchange(true)) {
    pthread_atfork(nullptr, nullptr, in_forked_child);
    std::atexit(at_exit);
  }
  const std::lock_guard lock(starting);
  if (state.load(std::memory_order_acquire) != State::kFresh) return state.load() == State::kUsing;
  start_spool();
  install_signal_handlers();
  state.store(State::kUsing, std::memory_order_release);
  return true;
}

}  // namespace

bool enter_process() { return state.load(std::memory_order_acquire) == State::kUsing || start(); }

bool process_uses_cuda() { return state.load(std::memory_order_acquire) == State::kUsing; }

bool forked_from_user() { return state.load(std::memory_order_acquire) == State::kForked; }

bool process_is_exiting() { return exiting.load(std::memory_order_acquire); }

}  // namespace muscope::runtime
