// The process's graphs, executable graphs and stream captures.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/graph.h"
#include "runtime/handles.h"
#include "runtime/scheduler.h"

namespace muscope::runtime {

class Event;

struct GraphExec {
  std::shared_ptr<Graph> graph;  ///< its own copy
  unsigned long long flags = 0;
};

/// Work that goes into a graph instead of being done (cudaStreamBeginCapture).
struct Capture {
  std::uint64_t id = 0;
  std::shared_ptr<Graph> graph;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  StreamRef origin;
  std::thread::id thread;
  bool invalid = false;
  std::unordered_map<const Stream*, std::vector<Node*>> tails;  ///< by stream: what its next node comes after
  std::vector<cudaGraphNode_t> shown;                           ///< for cudaStreamGetCaptureInfo
};

/// Everything below is used with `mutex` held.
class Graphs {
 public:
  static Graphs& of_process();

  std::recursive_mutex mutex;  ///< recursive: functions of the program called by graphs may use graphs
  Handles<Graph> graphs;
  Handles<GraphExec> execs;
  std::unordered_map<const Stream*, std::shared_ptr<Capture>> captures;
  struct RecordedEvent {
    std::shared_ptr<Capture> capture;
    std::vector<Node*> tails;
  };
  std::unordered_map<const Event*, RecordedEvent> recorded;  ///< events last recorded in a capture
  std::uint64_t next_capture = 1;

  /// Streams being captured; read without the lock.
  std::atomic<std::size_t> capturing{0};

  /// Ends a capture: its streams do their work at once again.
  void drop(const std::shared_ptr<Capture>& capture);
};

}  // namespace muscope::runtime
