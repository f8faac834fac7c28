// Work of graph nodes from the parameter structures of the API.
#include <algorithm>

#include "runtime/graph_calls.h"
#include "runtime/launch.h"
#include "runtime/memory_calls.h"

namespace muscope::runtime {

Graph* find_graph(Graphs& all, cudaGraph_t handle) {
  if (const auto graph = all.graphs.find(handle)) return graph.get();
  for (const auto& graph : all.graphs.all()) {
    for (const auto& node : graph->nodes()) {
      const auto* const child = std::get_if<ChildWork>(&node->work);
      if (child != nullptr && reinterpret_cast<cudaGraph_t>(child->graph.get()) == handle) return child->graph.get();
    }
  }
  return nullptr;
}

cudaError_t kernel_work(Runtime& runtime, const cudaKernelNodeParams* asked, Work& work) {
  if (asked == nullptr) return cudaErrorInvalidValue;
  KernelEntry* kernel = nullptr;
  if (const cudaError_t error = find_kernel(runtime, asked->func, kernel)) return error;
  const auto code = runtime.modules().load(runtime, *kernel, runtime.current_device().index());
  if (!code) return cudaErrorInvalidDeviceFunction;
  if (asked->extra != nullptr) return not_supported("a kernel node's 'extra'");
  if (!code->params.empty() && asked->kernelParams == nullptr) return cudaErrorInvalidValue;
  Launch launch;
  launch.kernel = kernel;
  launch.grid = asked->gridDim;
  launch.block = asked->blockDim;
  launch.dynamic_shared = asked->sharedMemBytes;
  launch.arguments = asked->kernelParams;
  work = work_of(launch, *code);
  return cudaSuccess;
}

cudaError_t copy_work(Runtime& runtime, const cudaMemcpy3DParms* asked, Work& work) {
  if (asked == nullptr) return cudaErrorInvalidValue;
  CopyWork copy;
  copy.kind = asked->kind;
  if (const cudaError_t error = areas_of(runtime, *asked, copy.to, copy.from, copy.box)) return error;
  work = copy;
  return cudaSuccess;
}

cudaError_t linear_copy_work(Runtime&, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Work& work) {
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  work = CopyWork{line(to), line(from), {bytes, 1, 1}, kind};
  return cudaSuccess;
}

cudaError_t symbol_copy_work(Runtime& runtime, void* to, const void* from, bool to_symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, Work& work) {
  const void* const symbol = to_symbol ? to : from;
  VariableEntry* const variable = symbol ? runtime.modules().find_variable(symbol) : nullptr;
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const auto place = runtime.modules().load(runtime, *variable, runtime.current_device().index());
  if (place.address == 0) return cudaErrorInvalidSymbol;
  if (offset > place.size || bytes > place.size - offset) return cudaErrorInvalidValue;
  auto* const address = reinterpret_cast<void*>(place.address + offset);
  return to_symbol ? linear_copy_work(runtime, address, from, bytes, kind, work)
                   : linear_copy_work(runtime, to, address, bytes, kind, work);
}

cudaError_t fill_work(const cudaMemsetParams* asked, Work& work) {
  if (asked == nullptr || asked->dst == nullptr) return cudaErrorInvalidValue;
  const unsigned bytes = asked->elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4) return cudaErrorInvalidValue;
  if (asked->height > 1 && asked->width > asked->pitch / bytes) return cudaErrorInvalidValue;
  work = FillWork{{reinterpret_cast<std::uint64_t>(asked->dst), asked->pitch, 0},
                  {asked->width * bytes, asked->height, 1},
                  asked->value,
                  bytes};
  return cudaSuccess;
}

cudaError_t host_work(const cudaHostNodeParams* asked, Work& work) {
  if (asked == nullptr || asked->fn == nullptr) return cudaErrorInvalidValue;
  work = HostWork{asked->fn, asked->userData};
  return cudaSuccess;
}

cudaError_t child_work(Graphs& all, cudaGraph_t child, Work& work) {
  const Graph* const graph = find_graph(all, child);
  if (graph == nullptr) return cudaErrorInvalidValue;
  work = ChildWork{graph->clone()};
  return cudaSuccess;
}

cudaError_t event_work(Runtime& runtime, cudaEvent_t event, bool record, Work& work) {
  if (!runtime.events().find(event)) return cudaErrorInvalidValue;
  if (record)
    work = RecordWork{event};
  else
    work = WaitWork{event};
  return cudaSuccess;
}

cudaError_t any_work(Runtime& runtime, Graphs& all, cudaGraphNodeParams* asked, Work& work) {
  if (asked == nullptr) return cudaErrorInvalidValue;
  switch (asked->type) {
    case cudaGraphNodeTypeKernel: {
      const auto& k = asked->kernel;
      const cudaKernelNodeParams same{k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra};
      return kernel_work(runtime, &same, work);
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_work(runtime, &asked->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const auto& m = asked->memset;
      const cudaMemsetParams same{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
      return fill_work(&same, work);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams same{asked->host.fn, asked->host.userData};
      return host_work(&same, work);
    }
    case cudaGraphNodeTypeGraph:
      return child_work(all, asked->graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      work = EmptyWork{};
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      return event_work(runtime, asked->eventWait.event, false, work);
    case cudaGraphNodeTypeEventRecord:
      return event_work(runtime, asked->eventRecord.event, true, work);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams same{asked->alloc.poolProps, asked->alloc.accessDescs, asked->alloc.accessDescCount,
                                  asked->alloc.bytesize, nullptr};
      AllocateWork allocate;
      const cudaError_t error = allocate_for_graph(runtime, same, allocate);
      asked->alloc.dptr = same.dptr;
      work = std::move(allocate);
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      work = FreeWork{reinterpret_cast<std::uint64_t>(asked->free.dptr)};
      return cudaSuccess;
    default:
      return not_supported("a graph node of a conditional or an external semaphore");
  }
}

cudaError_t replace(Node* node, Work work) {
  if (node == nullptr || work.index() != node->work.index()) return cudaErrorInvalidValue;
  if (auto* const kernel = std::get_if<KernelWork>(&work)) {
    const auto& old = std::get<KernelWork>(node->work);
    kernel->cooperative = old.cooperative;
    kernel->cluster = old.cluster;
  }
  node->work = std::move(work);
  return cudaSuccess;
}

void release_references(UserObject& object, std::uint64_t count) {
  object.references -= std::min(object.references, count);
  if (object.references == 0 && object.destroy != nullptr) std::exchange(object.destroy, nullptr)(object.data);
}

}  // namespace muscope::runtime
