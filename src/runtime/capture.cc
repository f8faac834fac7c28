#include "runtime/capture.h"

#include <algorithm>
#include <utility>

#include "runtime/event.h"
#include "runtime/graphs.h"

namespace muscope::runtime {
namespace {

std::shared_ptr<Capture> capture_of(const StreamRef& stream) {
  Graphs& all = Graphs::of_process();
  const auto found = all.captures.find(stream.get());
  return found == all.captures.end() ? nullptr : found->second;
}

void append(std::vector<Node*>& to, const std::vector<Node*>& from) {
  for (Node* const node : from) {
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
  }
}

}  // namespace

Graphs& Graphs::of_process() {
  static auto* const graphs = new Graphs;  // never destroyed, as the runtime
  return *graphs;
}

void Graphs::drop(const std::shared_ptr<Capture>& capture) {
  std::erase_if(captures, [&](const auto& pair) { return pair.second == capture; });
  std::erase_if(recorded, [&](const auto& pair) { return pair.second.capture == capture; });
  capturing = captures.size();
}

bool any_capture() noexcept { return Graphs::of_process().capturing.load(std::memory_order_relaxed) != 0; }

std::optional<cudaError_t> detail::capture_allowed(const StreamRef& stream, bool async) {
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  const auto own = capture_of(stream);
  if (own) {
    if (!async) own->invalid = true;
    if (!async) return cudaErrorStreamCaptureUnsupported;
    return own->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  }
  if (stream->type() != StreamType::kLegacy) return std::nullopt;
  // The default stream would have to wait for the captured one (CUDA C++ Programming Guide, "Prohibited and Unhandled
  // Operations").
  for (const auto& [captured, capture] : all.captures) {
    if (captured->type() != StreamType::kBlocking || captured->device() != stream->device()) continue;
    capture->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  return std::nullopt;
}

cudaError_t detail::capture_node(const StreamRef& stream, Work work) {
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  const auto capture = capture_of(stream);
  if (!capture) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node*>& tails = capture->tails[stream.get()];
  Node& node = capture->graph->add(std::move(work), tails);
  tails = {&node};
  return cudaSuccess;
}

std::optional<cudaError_t> refuse_captured(const StreamRef& stream) {
  if (!any_capture()) return std::nullopt;
  return detail::capture_allowed(stream, false);
}

std::optional<cudaError_t> refuse_any_captured() {
  if (!any_capture()) return std::nullopt;
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  for (const auto& [stream, capture] : all.captures) capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

std::optional<cudaError_t> capture_record(const StreamRef& stream, const Event& event) {
  if (!any_capture()) return std::nullopt;
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  if (const auto result = detail::capture_allowed(stream, true); result && *result != cudaSuccess) return result;
  const auto capture = capture_of(stream);
  if (!capture) {
    all.recorded.erase(&event);
    return std::nullopt;
  }
  all.recorded[&event] = {capture, capture->tails[stream.get()]};
  return cudaSuccess;
}

std::optional<cudaError_t> capture_wait(const StreamRef& stream, const Event& event) {
  if (!any_capture()) return std::nullopt;
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  const auto own = capture_of(stream);
  const auto found = all.recorded.find(&event);
  if (found == all.recorded.end()) {
    if (!own) return std::nullopt;
    if (own->invalid) return cudaErrorStreamCaptureInvalidated;
    if (!event.recording()) return cudaSuccess;
    own->invalid = true;  // it would have to wait for work that is no part of the graph
    return cudaErrorStreamCaptureIsolation;
  }
  const auto& [capture, tails] = found->second;
  if (own && own != capture) {
    own->invalid = capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (capture->invalid) return own ? cudaErrorStreamCaptureInvalidated : cudaErrorInvalidValue;  // H200
  if (stream->type() == StreamType::kLegacy) {
    capture->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (!own) {
    all.captures[stream.get()] = capture;
    all.capturing = all.captures.size();
  }
  append(capture->tails[stream.get()], tails);
  return cudaSuccess;
}

std::optional<cudaError_t> refuse_captured(const Event& event) {
  if (!any_capture()) return std::nullopt;
  Graphs& all = Graphs::of_process();
  const std::lock_guard lock(all.mutex);
  const auto found = all.recorded.find(&event);
  if (found == all.recorded.end()) return std::nullopt;
  // As an H200 answers (tests/counters/graphs_h200.txt).
  if (std::exchange(found->second.capture->invalid, true)) return cudaErrorInvalidValue;
  return cudaErrorCapturedEvent;
}

}  // namespace muscope::runtime
