#include "exec/thread_pool.h"

#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace muscope::exec {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  std::condition_variable gone;
  unsigned idle = 0, threads = 0;
  bool closing = false;
};

ThreadPool::ThreadPool() : state_(std::make_shared<State>()) {}

// Waits for every thread, so that none uses what the engine's owner is about to destroy.
ThreadPool::~ThreadPool() {
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->wake.notify_all();
  state_->gone.wait(lock, [&] { return state_->threads == 0; });
}

void ThreadPool::run(std::function<void()> task) {
  const std::unique_lock lock(state_->mutex);
  state_->tasks.push_back(std::move(task));
  if (state_->idle >= state_->tasks.size()) {
    state_->wake.notify_one();
    return;
  }
  ++state_->threads;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([state = state_] {
    std::unique_lock own(state->mutex);
    for (;;) {
      while (!state->tasks.empty()) {
        std::function<void()> next = std::move(state->tasks.front());
        state->tasks.pop_front();
        own.unlock();
        next();
        own.lock();
      }
      if (state->closing) {
        --state->threads;
        state->gone.notify_all();
        return;
      }
      ++state->idle;
      state->wake.wait(own);
      --state->idle;
    }
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace muscope::exec
