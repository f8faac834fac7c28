// Occupancy of clusters: how many run at one time, and how large they may be.
#include <algorithm>

#include "runtime/entry.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

// SMs of the groups within which a cluster runs, of one H200. Which SMs are switched off differs from chip to chip:
// with one block on each SM this arrangement holds as many clusters of 2, 4, 8 and 16 blocks as that chip said, 66, 30,
// 15 and
// 7. With eight small blocks on each SM it said up to 4 percent more (tests/programs/clusters_h200.txt).
constexpr int kGroups[] = {18, 18, 18, 18, 18, 16, 16, 10};
constexpr int kGroupedSms = 132;
constexpr int kMostBlocks = 8;  // of clusters on an SM, seen where 16 blocks without clusters fit

int clusters_of(const muscope::arch::GpuSpec& gpu, int size, int blocks_per_sm) {
  const int blocks = std::min(blocks_per_sm, kMostBlocks);
  if (gpu.sm_count.as_int() != kGroupedSms) return static_cast<int>(gpu.sm_count.as_int()) / size * blocks;
  int clusters = 0;
  for (const int sms : kGroups) clusters += sms / size;
  return clusters * blocks;
}

template <typename Body>
cudaError_t with_launch(const void* function, const cudaLaunchConfig_t* config, Body&& body) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    KernelEntry* kernel = nullptr;
    if (const cudaError_t error = find_kernel(runtime, function, kernel)) return error;
    if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return cudaErrorInvalidValue;
    const auto code = runtime.modules().load(runtime, *kernel, runtime.current_device().index());
    if (!code) return cudaErrorInvalidDeviceFunction;
    Launch request;
    request.kernel = kernel;
    request.grid = config->gridDim;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
      const auto& asked = config->attrs[i].val.clusterDim;
      request.cluster = {asked.x, asked.y, asked.z};
      request.has_cluster = true;
    }
    std::array<std::uint32_t, 3> cluster{};
    if (const cudaError_t error = find_cluster(runtime, request, cluster)) return error;
    const int threads = static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z);
    if (threads <= 0) return cudaErrorInvalidValue;
    const auto fit = occupancy_of(runtime, *kernel, *code, threads, config->dynamicSmemBytes);
    return body(runtime, *kernel, static_cast<int>(cluster[0] * cluster[1] * cluster[2]),
                static_cast<int>(fit.blocks_per_sm));
  });
}

}  // namespace

MUSCOPE_ENTRY(cudaOccupancyMaxActiveClusters)(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  return with_launch(function, config, [&](Runtime& runtime, KernelEntry&, int size, int blocks) -> cudaError_t {
    if (clusters == nullptr) return cudaErrorInvalidValue;
    *clusters = size == 0 ? 0 : clusters_of(runtime.gpu(), size, blocks);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaOccupancyMaxPotentialClusterSize)(int* size, const void* function, const cudaLaunchConfig_t* config) {
  return with_launch(function, config, [&](Runtime& runtime, KernelEntry& kernel, int, int blocks) -> cudaError_t {
    if (size == nullptr) return cudaErrorInvalidValue;
    *size = static_cast<int>(largest_cluster(kernel));
    while (*size > 1 && clusters_of(runtime.gpu(), *size, blocks) == 0) *size /= 2;
    return cudaSuccess;
  });
}
