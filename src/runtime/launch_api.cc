// Launches: the stubs that compilers make, and the documented functions.
#include <array>
#include <vector>

#include "runtime/entry.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

// What `kernel<<<grid, block, shared, stream>>>` leaves for the stub that follows. Nested: arguments may launch too.
struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

std::vector<Configuration>& configurations() {
  // Never destroyed: programs launch from handlers that run after thread-local objects are gone.
  thread_local auto* const stack = new std::vector<Configuration>;
  return *stack;
}

cudaError_t launch_function(const void* function, const dim3& grid, const dim3& block, void** arguments,
                            std::size_t shared, cudaStream_t stream, bool cooperative,
                            std::array<std::uint32_t, 3> cluster = {}, bool has_cluster = false) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    KernelEntry* kernel = nullptr;
    if (const cudaError_t error = find_kernel(runtime, function, kernel)) return error;
    return launch(runtime, {kernel, grid, block, shared, stream, arguments, cooperative, cluster, nullptr, has_cluster});
  });
}

}  // namespace

MUSCOPE_EXPORT unsigned muscope___cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  try {
    configurations().push_back({grid, block, shared, static_cast<cudaStream_t>(stream)});
    return 0;
  } catch (...) {
    return detail::end_call(cudaErrorMemoryAllocation);
  }
}

MUSCOPE_EXPORT cudaError_t muscope___cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                              void* stream) {
  auto& stack = configurations();
  if (stack.empty()) return detail::end_call(cudaErrorMissingConfiguration);
  const Configuration top = stack.back();
  stack.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

MUSCOPE_EXPORT cudaError_t muscope___cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return enter(Needs::kRuntime, [&](Runtime& runtime) -> cudaError_t {
    KernelEntry* kernel = nullptr;
    const cudaError_t error = find_kernel(runtime, function, kernel);
    *handle = reinterpret_cast<cudaKernel_t>(kernel);
    return error;
  });
}

MUSCOPE_ENTRY(cudaGetKernel)(cudaKernel_t* handle, const void* function) {
  return handle ? muscope___cudaGetKernel(handle, function) : detail::end_call(cudaErrorInvalidValue);
}

MUSCOPE_ENTRY(cudaGetFuncBySymbol)(cudaFunction_t* handle, const void* function) {
  return handle ? muscope___cudaGetKernel(reinterpret_cast<cudaKernel_t*>(handle), function)
                : detail::end_call(cudaErrorInvalidValue);
}

MUSCOPE_EXPORT cudaError_t muscope___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                                      std::size_t shared, cudaStream_t stream) {
  return launch_function(kernel, grid, block, arguments, shared, stream, false);
}

MUSCOPE_ENTRY(cudaLaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                cudaStream_t stream) {
  return launch_function(function, grid, block, arguments, shared, stream, false);
}

MUSCOPE_ENTRY(cudaLaunchCooperativeKernel)(const void* function, dim3 grid, dim3 block, void** arguments,
                                           std::size_t shared, cudaStream_t stream) {
  return launch_function(function, grid, block, arguments, shared, stream, true);
}

MUSCOPE_ENTRY(cudaLaunchKernelExC)(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr))
    return detail::end_call(cudaErrorInvalidValue);
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};
  bool has_cluster = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
    if (attribute.id != cudaLaunchAttributeClusterDimension) continue;  // the others change speed, not results
    const auto& asked = attribute.val.clusterDim;
    cluster = {asked.x, asked.y, asked.z};
    has_cluster = true;
  }
  return launch_function(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                         config->stream, cooperative, cluster, has_cluster);
}
