// Contexts: each device's primary one, which the runtime uses too, and those that the program creates. All contexts of
// a device share its memory, streams and sticky error here; a context knows what was made in it, to give it back with
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "driver/driver_abi.h"
#include "runtime/handles.h"
#include "runtime/runtime.h"

namespace muscope::driver {

using runtime::Runtime;

class Context {
 public:
  Context(int device, unsigned flags, bool primary);

  int device() const { return device_; }
  bool primary() const { return primary_; }
  std::uint64_t id() const { return id_; }
  /// False once destroyed; of a primary context: while nobody holds it.
  bool alive() const;

  std::atomic<unsigned> flags;
  std::atomic<int> holders{0};  ///< of a primary context: cuDevicePrimaryCtxRetain; of others: cuCtxAttach
  std::atomic<bool> destroyed{false};

  /// What was made while the context was current. Only for contexts that are not primary.
  enum class Kind : std::uint8_t { kMemory, kHostMemory, kStream, kEvent, kArray, kModule };
  void add(Kind kind, std::uint64_t handle);
  void remove(Kind kind, std::uint64_t handle);
  std::vector<std::uint64_t> take(Kind kind);
  bool made(Kind kind, std::uint64_t handle) const;

 private:
  int device_;
  bool primary_;
  std::uint64_t id_;
  mutable std::mutex mutex_;
  std::set<std::pair<Kind, std::uint64_t>> made_;
};

using ContextRef = std::shared_ptr<Context>;

/// All contexts of the process.
class Contexts {
 public:
  static Contexts& of_process();
  ContextRef primary(Runtime& runtime, int device);
  CUcontext add(ContextRef context) { return reinterpret_cast<CUcontext>(handles_.add(std::move(context))); }
  /// Null when the handle is none of ours, or destroyed.
  ContextRef find(CUcontext handle) const { return handles_.find(handle); }
  ContextRef drop(CUcontext handle) { return handles_.drop(handle); }
  /// The context that something was made in; the device's primary one where no other is known to be.
  ContextRef maker(Runtime& runtime, Context::Kind kind, std::uint64_t handle, int device);

 private:
  std::mutex mutex_;
  std::vector<ContextRef> primary_;
  runtime::Handles<Context> handles_;
};

inline CUcontext handle_of(const ContextRef& context) { return reinterpret_cast<CUcontext>(context.get()); }

/// The calling thread's stack of contexts. Its top decides which device the runtime uses, and cudaSetDevice sets the
/// top.
class ThreadContexts {
 public:
  /// Takes over what the thread did with the runtime since the last call.
  static ThreadContexts& of_thread(Runtime& runtime);

  ContextRef current() const { return stack_.empty() ? nullptr : stack_.back(); }
  void push(Runtime& runtime, ContextRef context);
  /// Null when the stack is empty.
  ContextRef pop(Runtime& runtime);

 private:
  void take_over(Runtime& runtime);
  void apply(Runtime& runtime) const;
  std::vector<ContextRef> stack_;
  unsigned selections_ = 0;
};

}  // namespace muscope::driver
