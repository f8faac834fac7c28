// Events: a point of a stream, and when it was passed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/scheduler.h"

namespace muscope::runtime {

/// One recording. Its time is set when the stream gets there.
struct Recording {
  Point point;
  std::atomic<std::int64_t> nanoseconds{0};  ///< monotonic host clock
};

class Event {
 public:
  Event(unsigned flags, int device) : flags_(flags), device_(device) {}
  unsigned flags() const { return flags_; }
  int device() const { return device_; }

  /// Null until recorded for the first time.
  std::shared_ptr<Recording> recording() const {
    const std::lock_guard lock(mutex_);
    return recording_;
  }
  void set(std::shared_ptr<Recording> recording) {
    const std::lock_guard lock(mutex_);
    recording_ = std::move(recording);
  }

 private:
  unsigned flags_;
  int device_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> recording_;
};

}  // namespace muscope::runtime
