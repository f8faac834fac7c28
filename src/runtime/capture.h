// What a call on a stream does while the stream is captured: its work becomes a node of a graph.
#pragma once

#include <optional>
#include <utility>

#include "runtime/graph.h"
#include "runtime/scheduler.h"

namespace muscope::runtime {

class Event;

/// Whether any stream of the process is being captured: cheap, for calls that need to know no more.
bool any_capture() noexcept;

namespace detail {
std::optional<cudaError_t> capture_allowed(const StreamRef& stream, bool async);
cudaError_t capture_node(const StreamRef& stream, Work work);
}  // namespace detail

/// Nothing when the stream is not captured: the call goes on. Otherwise the call's result; `make_work` gives the node.
/// A call that is not `async` ends the capture (cudaErrorStreamCaptureUnsupported).
template <typename MakeWork>
std::optional<cudaError_t> capture(const StreamRef& stream, bool async, MakeWork&& make_work) {
  if (!any_capture()) return std::nullopt;
  if (const auto result = detail::capture_allowed(stream, async)) {
    return *result != cudaSuccess ? *result : detail::capture_node(stream, std::forward<MakeWork>(make_work)());
  }
  return std::nullopt;
}

/// For calls that wait for a stream, or ask it: they may not while it is captured. Nothing when it is not.
std::optional<cudaError_t> refuse_captured(const StreamRef& stream);
/// For calls that wait for a whole device.
std::optional<cudaError_t> refuse_any_captured();

/// cudaEventRecord and cudaStreamWaitEvent: how captures spread over streams. Nothing when no capture is concerned.
std::optional<cudaError_t> capture_record(const StreamRef& stream, const Event& event);
std::optional<cudaError_t> capture_wait(const StreamRef& stream, const Event& event);
/// For calls that wait for an event, or ask it: an event that was last recorded in a capture ends that capture. Nothing
/// when it was not.
std::optional<cudaError_t> refuse_captured(const Event& event);

}  // namespace muscope::runtime
