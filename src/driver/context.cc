#include "driver/context.h"

#include <unistd.h>

#include <utility>

#include "runtime/thread_use.h"

namespace muscope::driver {
namespace {

std::atomic<std::uint64_t> g_next_context{1};

}  // namespace

Context::Context(int device, unsigned context_flags, bool primary)
    : flags(context_flags), device_(device), primary_(primary), id_(g_next_context.fetch_add(1)) {}

bool Context::alive() const {
  if (!primary_) return !destroyed.load();
  return holders.load() > 0 || runtime::runtime_in_use.load(std::memory_order_relaxed);
}

void Context::add(Kind kind, std::uint64_t handle) {
  if (primary_) return;
  const std::lock_guard lock(mutex_);
  made_.insert({kind, handle});
}

void Context::remove(Kind kind, std::uint64_t handle) {
  if (primary_) return;
  const std::lock_guard lock(mutex_);
  made_.erase({kind, handle});
}

std::vector<std::uint64_t> Context::take(Kind kind) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> handles;
  for (auto at = made_.begin(); at != made_.end();) {
    if (at->first == kind) handles.push_back(at->second);
    at = at->first == kind ? made_.erase(at) : std::next(at);
  }
  return handles;
}

bool Context::made(Kind kind, std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  return made_.contains({kind, handle});
}

ContextRef Contexts::maker(Runtime& runtime, Context::Kind kind, std::uint64_t handle, int device) {
  for (ContextRef& context : handles_.all())
    if (context->made(kind, handle)) return context;
  return primary(runtime, device);
}

Contexts& Contexts::of_process() {
  static Contexts* const contexts = new Contexts;
  return *contexts;
}

ContextRef Contexts::primary(Runtime& runtime, int device) {
  const std::lock_guard lock(mutex_);
  while (primary_.size() < static_cast<std::size_t>(runtime.device_count())) {
    primary_.push_back(std::make_shared<Context>(static_cast<int>(primary_.size()), 0, true));
    handles_.add(primary_.back());
  }
  return primary_[static_cast<std::size_t>(device)];
}

ThreadContexts& ThreadContexts::of_thread(Runtime& runtime) {
  // The first thread's are never destroyed: programs call from handlers that run after thread-local objects are gone.
  thread_local ThreadContexts* contexts = nullptr;
  struct AtEnd {
    ~AtEnd() {
      if (getpid() != gettid()) delete std::exchange(contexts, nullptr);
    }
  };
  thread_local const AtEnd at_end;
  if (contexts == nullptr) contexts = new ThreadContexts;
  contexts->take_over(runtime);
  return *contexts;
}

void ThreadContexts::take_over(Runtime& runtime) {
  runtime::ThreadUse& use = runtime::thread_use;
  if (use.selections != selections_) {
    selections_ = use.selections;
    ContextRef chosen = Contexts::of_process().primary(runtime, runtime.current_device().index());
    if (stack_.empty())
      stack_.push_back(std::move(chosen));
    else
      stack_.back() = std::move(chosen);
  } else if (use.runtime_called && stack_.empty()) {
    stack_.push_back(Contexts::of_process().primary(runtime, runtime.current_device().index()));
  }
  use.runtime_called = false;
}

void ThreadContexts::apply(Runtime& runtime) const {
  if (!stack_.empty()) runtime.set_current_device(stack_.back()->device());
}

void ThreadContexts::push(Runtime& runtime, ContextRef context) {
  stack_.push_back(std::move(context));
  apply(runtime);
}

ContextRef ThreadContexts::pop(Runtime& runtime) {
  if (stack_.empty()) return nullptr;
  ContextRef top = std::move(stack_.back());
  stack_.pop_back();
  apply(runtime);
  return top;
}

}  // namespace muscope::driver
