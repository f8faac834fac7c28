// Stream capture: beginning, ending, asking.
#include <algorithm>

#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/graphs.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

thread_local cudaStreamCaptureMode t_mode = cudaStreamCaptureModeGlobal;

cudaError_t begin(cudaStream_t handle, std::shared_ptr<Graph> graph, std::vector<Node*> after,
                  cudaStreamCaptureMode mode, Runtime& runtime) {
  if (static_cast<unsigned>(mode) > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  const StreamRef stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream->type() == StreamType::kLegacy) return cudaErrorStreamCaptureUnsupported;
  Graphs& all = Graphs::of_process();
  if (all.captures.contains(stream.get())) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = all.next_capture++;
  capture->graph = std::move(graph);
  capture->mode = mode;
  capture->origin = stream;
  capture->thread = std::this_thread::get_id();
  capture->tails[stream.get()] = std::move(after);
  all.captures[stream.get()] = std::move(capture);
  all.capturing = all.captures.size();
  return cudaSuccess;
}

struct Info {
  cudaStreamCaptureStatus* status = nullptr;
  unsigned long long* id = nullptr;
  cudaGraph_t* graph = nullptr;
  const cudaGraphNode_t** dependencies = nullptr;
  const cudaGraphEdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};

// Calls `body` with the stream behind the handle and the graphs, whose lock is held.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const StreamRef stream = runtime.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    Graphs& all = Graphs::of_process();
    const std::lock_guard lock(all.mutex);
    return body(stream, all);
  });
}

cudaError_t info(cudaStream_t handle, const Info& out) {
  return with_stream(handle, [&](const StreamRef& stream, Graphs& all) -> cudaError_t {
    if (out.status == nullptr) return cudaErrorInvalidValue;
    const auto found = all.captures.find(stream.get());
    *out.status = cudaStreamCaptureStatusNone;
    if (found == all.captures.end()) return cudaSuccess;
    Capture& capture = *found->second;
    *out.status = capture.invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (out.id != nullptr) *out.id = capture.id;
    if (capture.invalid) return cudaSuccess;
    if (out.graph != nullptr) *out.graph = reinterpret_cast<cudaGraph_t>(capture.graph.get());
    capture.shown.clear();
    for (Node* const node : capture.tails[stream.get()]) capture.shown.push_back(handle_of(node));
    if (out.dependencies != nullptr) *out.dependencies = capture.shown.data();
    if (out.edges != nullptr) *out.edges = nullptr;
    if (out.count != nullptr) *out.count = capture.shown.size();
    return cudaSuccess;
  });
}

}  // namespace

MUSCOPE_ENTRY(cudaStreamBeginCapture)(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return enter([&](Runtime& runtime) {
    const std::lock_guard lock(Graphs::of_process().mutex);
    return begin(stream, std::make_shared<Graph>(), {}, mode, runtime);
  });
}

MUSCOPE_ENTRY(cudaStreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t handle,
                                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                             std::size_t count, cudaStreamCaptureMode mode) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    Graphs& all = Graphs::of_process();
    const std::lock_guard lock(all.mutex);
    auto graph = all.graphs.find(handle);
    if (!graph || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    std::vector<Node*> after;
    for (std::size_t n = 0; n < count; ++n) {
      Node* const node = find_node(dependencies[n]);
      if (node == nullptr || node->graph != graph.get()) return cudaErrorInvalidValue;
      after.push_back(node);
    }
    return begin(stream, std::move(graph), std::move(after), mode, runtime);
  });
}

MUSCOPE_ENTRY(cudaStreamEndCapture)(cudaStream_t handle, cudaGraph_t* out) {
  if (out != nullptr) *out = nullptr;
  return with_stream(handle, [&](const StreamRef& stream, Graphs& all) -> cudaError_t {
    const auto found = all.captures.find(stream.get());
    if (found == all.captures.end()) return cudaErrorIllegalState;
    if (out == nullptr) return cudaErrorInvalidValue;
    const std::shared_ptr<Capture> capture = found->second;
    if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
      return cudaErrorStreamCaptureWrongThread;
    all.drop(capture);
    if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
    const std::vector<Node*>& ends = capture->tails[stream.get()];
    for (const auto& [other, tails] : capture->tails) {
      for (const Node* const tail : tails) {
        if (!Graph::leads_to(*tail, ends)) return cudaErrorStreamCaptureUnjoined;
      }
    }
    *out = reinterpret_cast<cudaGraph_t>(capture->graph.get());
    if (!all.graphs.find(*out)) all.graphs.add(capture->graph);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaStreamIsCapturing)(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return info(stream, {.status = status});
}

MUSCOPE_ENTRY(cudaStreamGetCaptureInfo)(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                        const cudaGraphEdgeData** edges, std::size_t* count) {
  return info(stream, {status, id, graph, dependencies, edges, count});
}

MUSCOPE_EXPORT cudaError_t muscope_cudaStreamGetCaptureInfo_12(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                               unsigned long long* id) {
  return info(stream, {.status = status, .id = id});
}

MUSCOPE_EXPORT cudaError_t muscope_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                               unsigned long long* id, cudaGraph_t* graph,
                                                               const cudaGraphNode_t** dependencies,
                                                               std::size_t* count) {
  return info(stream, {status, id, graph, dependencies, nullptr, count});
}

namespace {

cudaError_t update_dependencies(cudaStream_t handle, const cudaGraphNode_t* dependencies, std::size_t count,
                                unsigned flags) {
  return with_stream(handle, [&](const StreamRef& stream, Graphs& all) -> cudaError_t {
    if (flags > cudaStreamSetCaptureDependencies || (count > 0 && dependencies == nullptr))
      return cudaErrorInvalidValue;
    const auto found = all.captures.find(stream.get());
    if (found == all.captures.end()) return cudaErrorIllegalState;
    if (found->second->invalid) return cudaErrorStreamCaptureInvalidated;
    std::vector<Node*> nodes;
    for (std::size_t n = 0; n < count; ++n) {
      Node* const node = find_node(dependencies[n]);
      if (node == nullptr || node->graph != found->second->graph.get()) return cudaErrorInvalidValue;
      nodes.push_back(node);
    }
    std::vector<Node*>& tails = found->second->tails[stream.get()];
    if (flags == cudaStreamSetCaptureDependencies) tails.clear();
    for (Node* const node : nodes) {
      if (std::find(tails.begin(), tails.end(), node) == tails.end()) tails.push_back(node);
    }
    return cudaSuccess;
  });
}

}  // namespace

MUSCOPE_ENTRY(cudaStreamUpdateCaptureDependencies)(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                   const cudaGraphEdgeData*, std::size_t count, unsigned flags) {
  return update_dependencies(stream, dependencies, count, flags);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaStreamUpdateCaptureDependencies_12(cudaStream_t stream,
                                                                          cudaGraphNode_t* dependencies,
                                                                          std::size_t count, unsigned flags) {
  return update_dependencies(stream, dependencies, count, flags);
}

// Which calls other threads may make meanwhile: none is refused for it here.
MUSCOPE_ENTRY(cudaThreadExchangeStreamCaptureMode)(cudaStreamCaptureMode* mode) {
  if (mode == nullptr || static_cast<unsigned>(*mode) > cudaStreamCaptureModeRelaxed)
    return detail::end_call(cudaErrorInvalidValue);
  std::swap(*mode, t_mode);
  return cudaSuccess;
}
