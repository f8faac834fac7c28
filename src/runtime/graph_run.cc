#include "runtime/graph_run.h"

#include "runtime/launch.h"
#include "runtime/runtime.h"
#include "runtime/stream_calls.h"

namespace muscope::runtime {
namespace {

struct Runner {
  Runtime& runtime;
  cudaStream_t stream;
  Caller caller{"cudaGraphLaunch", nullptr, true, stream};

  cudaError_t operator()(const KernelWork& work) const {
    std::vector<void*> arguments;
    for (const auto& argument : work.arguments) arguments.push_back(const_cast<std::uint8_t*>(argument.data()));
    void* none = nullptr;
    return launch(runtime, {work.kernel, work.grid, work.block, work.dynamic_shared, stream,
                            arguments.empty() ? &none : arguments.data(), work.cooperative, work.cluster});
  }
  cudaError_t operator()(const CopyWork& work) const {
    return copy(runtime, work.to, work.from, work.box, work.kind, caller);
  }
  cudaError_t operator()(const FillWork& work) const {
    return fill(runtime, work.to, work.value, work.box, caller, work.element_bytes);
  }
  cudaError_t operator()(const HostWork& work) const {
    return launch_host_function(runtime, stream, work.function, work.data);
  }
  cudaError_t operator()(const ChildWork& work) const { return run_graph(runtime, *work.graph, stream); }
  cudaError_t operator()(const EmptyWork&) const { return cudaSuccess; }
  cudaError_t operator()(const RecordWork& work) const {
    return record_event(runtime, work.event, stream, cudaEventRecordDefault);
  }
  cudaError_t operator()(const WaitWork& work) const {
    return wait_event(runtime, stream, work.event, cudaEventWaitDefault);
  }
  cudaError_t operator()(const AllocateWork&) const { return cudaSuccess; }
  cudaError_t operator()(const FreeWork&) const { return cudaSuccess; }
};

}  // namespace

cudaError_t run_work(Runtime& runtime, const Work& work, cudaStream_t stream) {
  return std::visit(Runner{runtime, stream}, work);
}

cudaError_t run_graph(Runtime& runtime, const Graph& graph, cudaStream_t stream) {
  for (const Node* const node : graph.order()) {
    if (!node->enabled) continue;
    if (const cudaError_t error = run_work(runtime, node->work, stream)) return error;
  }
  return cudaSuccess;
}

}  // namespace muscope::runtime
