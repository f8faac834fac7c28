// Streams: queues of operations that run in order, with CUDA's rules between streams.
//
// An operation runs on the thread that enqueues it, at once, unless something before it is still under way: a kernel
// that polls memory only the host or another stream can change goes on in the background (exec::LaunchHandle), and what
// comes after it waits in the queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/launcher.h"

namespace muscope::runtime {

class Stream;
using StreamRef = std::shared_ptr<Stream>;

/// Everything that was enqueued on `stream` up to operation number `sequence`.
struct Point {
  StreamRef stream;
  std::uint64_t sequence = 0;
};

/// One operation. `run` does it and returns nothing, or a kernel that goes on by itself; then `finish` is called once
/// that has ended. Both run without any lock held.
struct Operation {
  std::function<std::shared_ptr<exec::LaunchHandle>()> run;
  std::function<void(exec::LaunchHandle&)> finish;
  std::vector<Point> after;  ///< must be complete first
};

/// How a stream stands to the default stream of its device (CUDA C++ Programming Guide, "Implicit Synchronization").
enum class StreamType : std::uint8_t {
  kLegacy,  ///< the default stream: waits for all blocking streams, and they for it
  kBlocking,
  kNonBlocking,
};

/// State is the scheduler's; the rest is fixed at creation.
class Stream {
 public:
  Stream(int device, StreamType type, int priority, unsigned flags, std::uint64_t id)
      : device_(device), type_(type), priority_(priority), flags_(flags), id_(id) {}
  int device() const { return device_; }
  StreamType type() const { return type_; }
  int priority() const { return priority_; }
  unsigned flags() const { return flags_; }
  std::uint64_t id() const { return id_; }  ///< 0 for the default stream

 private:
  friend class Scheduler;
  struct Queued {
    Operation operation;
    std::shared_ptr<exec::LaunchHandle> running;
    std::uint64_t sequence = 0;
  };
  int device_;
  StreamType type_;
  int priority_;
  unsigned flags_;
  std::uint64_t id_;
  std::uint64_t enqueued_ = 0;   // operations so far
  std::uint64_t completed_ = 0;  // of them, done
  bool busy_ = false;            // a thread is running the first operation
  std::deque<Queued> queue_;
};

/// Thread-safe.
class Scheduler {
 public:
  Scheduler() = default;
  /// Waits for the helper thread; what is still queued is dropped.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Makes a stream known. The first legacy one of a device is its default stream.
  StreamRef create(int device, StreamType type, int priority, unsigned flags);

  /// Appends, and runs what can be run. The operation may be done when this returns, or still wait its turn.
  Point enqueue(const StreamRef& stream, Operation operation);

  /// Lets queues go on; true when everything up to `point` is done.
  bool reached(const Point& point);
  /// The same, and waits for it.
  void wait(const Point& point);

  /// What has been enqueued so far.
  Point now(const StreamRef& stream);
  /// Waits for everything that was enqueued on a device.
  void wait_device(int device);

 private:
  using Lock = std::unique_lock<std::mutex>;
  void pump(Lock& lock);
  bool step(Lock& lock, const StreamRef& stream);
  static bool done(const Point& point) { return point.stream->completed_ >= point.sequence; }
  void start_helper();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::vector<StreamRef> active_;  // with operations in their queue
  std::uint64_t next_id_ = 0;
  bool helper_ = false;  // its thread is alive
  bool ending_ = false;
};

}  // namespace muscope::runtime
