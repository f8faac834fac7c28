#include "runtime/scheduler.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace muscope::runtime {
namespace {

// Kernels that go on in the background tell nobody when they end; this is how often someone looks.
constexpr std::chrono::microseconds kLook{200};

}  // namespace

Scheduler::~Scheduler() {
  Lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !helper_; });
}

StreamRef Scheduler::create(int device, StreamType type, int priority, unsigned flags) {
  const Lock lock(mutex_);
  std::erase_if(streams_, [](const std::weak_ptr<Stream>& stream) { return stream.expired(); });
  // Default streams have id 0, whichever device they belong to.
  const std::uint64_t id = type == StreamType::kLegacy ? 0 : ++next_id_;
  auto stream = std::make_shared<Stream>(device, type, priority, flags, id);
  streams_.push_back(stream);
  return stream;
}

Point Scheduler::enqueue(const StreamRef& stream, Operation operation) {
  Lock lock(mutex_);
  if (stream->type_ != StreamType::kNonBlocking) {
    for (const StreamRef& other : active_) {
      if (other == stream || other->device_ != stream->device_ || other->type_ == StreamType::kNonBlocking) continue;
      if (stream->type_ == StreamType::kLegacy || other->type_ == StreamType::kLegacy) {
        operation.after.push_back({other, other->enqueued_});
      }
    }
  }
  const Point point{stream, ++stream->enqueued_};
  stream->queue_.push_back({std::move(operation), nullptr, point.sequence});
  if (stream->queue_.size() == 1) active_.push_back(stream);
  pump(lock);
  if (!active_.empty()) start_helper();
  return point;
}

// Lets one stream go on by one operation, if it can. The lock is released while the operation runs.
bool Scheduler::step(Lock& lock, const StreamRef& stream) {
  if (stream->busy_ || stream->queue_.empty()) return false;
  Stream::Queued& first = stream->queue_.front();
  std::shared_ptr<exec::LaunchHandle> running = first.running;
  if (running) {
    if (!running->ended()) return false;
  } else {
    if (!std::all_of(first.operation.after.begin(), first.operation.after.end(), done)) return false;
  }
  stream->busy_ = true;
  lock.unlock();
  const bool started = running != nullptr;
  bool over = true;
  try {
    if (!started && first.operation.run) running = first.operation.run();
    over = running == nullptr || started || running->ended();
    if (over && running && first.operation.finish) first.operation.finish(*running);
  } catch (...) {
    over = true;  // operations report their own errors; what is left is no reason to hold up the queue
  }
  lock.lock();
  stream->busy_ = false;
  if (over) {
    stream->completed_ = first.sequence;
    stream->queue_.pop_front();
    if (stream->queue_.empty()) std::erase(active_, stream);
  } else {
    first.running = std::move(running);
  }
  changed_.notify_all();
  return true;
}

void Scheduler::pump(Lock& lock) {
  for (bool again = true; again;) {
    again = false;
    const std::vector<StreamRef> streams = active_;  // changes while operations run
    for (const StreamRef& stream : streams) {
      while (step(lock, stream)) again = true;
    }
  }
}

bool Scheduler::reached(const Point& point) {
  Lock lock(mutex_);
  if (!done(point)) pump(lock);
  return done(point);
}

void Scheduler::wait(const Point& point) {
  Lock lock(mutex_);
  for (;;) {
    if (done(point)) return;
    pump(lock);
    if (done(point)) return;
    for (const StreamRef& stream : active_) {
      if (!stream->queue_.empty() && stream->queue_.front().running) stream->queue_.front().running->host_is_waiting();
    }
    changed_.wait_for(lock, kLook);
  }
}

Point Scheduler::now(const StreamRef& stream) {
  const Lock lock(mutex_);
  return {stream, stream->enqueued_};
}

void Scheduler::wait_device(int device) {
  std::vector<Point> points;
  {
    const Lock lock(mutex_);
    for (const StreamRef& stream : active_) {
      if (stream->device_ == device) points.push_back({stream, stream->enqueued_});
    }
  }
  for (const Point& point : points) wait(point);
}

// A program may wait for the end of queued work without calling the runtime (it watches mapped memory); then nobody but
// this thread would let the queues go on. It lives as long as there is something in them.
void Scheduler::start_helper() {
  if (helper_ || ending_) return;
  helper_ = true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] {
      Lock lock(mutex_);
      while (!active_.empty() && !ending_) {
        pump(lock);
        if (!active_.empty()) changed_.wait_for(lock, kLook);
      }
      helper_ = false;
      changed_.notify_all();  // with the lock held: the destructor may be waiting for just this
    }).detach();
  } catch (...) {
    helper_ = false;  // no thread to be had: API calls let the queues go on
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace muscope::runtime
