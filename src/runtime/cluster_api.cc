// Occupancy of clusters: how many run at one time, and how large they may be.
#include <algorithm>
#include <cstdint>

#include "runtime/entry.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

// The groups of SMs within which a cluster runs, and the pairs outside of them, as an H200 tells them by
// cudaOccupancyMaxActiveClusters (tests/programs/cluster_occupancy_h200.txt): of this chip's
// 132 SMs seven groups take clusters of 16, two of them of 18, one takes up to 8, and four pairs up to 2. Which SMs are
// switched off differs from chip to chip.
constexpr int kGroups[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
constexpr int kGroupedSms = 132;
constexpr int kMostBlocks = 8;  // of clusters on an SM, also where 16 or 32 blocks without clusters fit

int clusters_of(const muscope::arch::GpuSpec& gpu, int size, int blocks_per_sm) {
  const int blocks = std::min(blocks_per_sm, kMostBlocks);
  if (gpu.sm_count.as_int() != kGroupedSms) return static_cast<int>(gpu.sm_count.as_int()) * blocks / size;
  int clusters = 0;
  for (const int sms : kGroups)
    if (size <= sms) clusters += sms * blocks / size;
  return clusters;
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
    // Where a program allows sizes that not every GPU has, one may ask for any, also for those that no launch may have.
    const std::uint32_t most = kernel->large_clusters.load() ? UINT32_MAX : largest_cluster(*kernel);
    if (const cudaError_t error = find_cluster(runtime, request, most, cluster)) return error;
    if (config->gridDim.x == 0 || config->gridDim.y == 0 || config->gridDim.z == 0) return cudaErrorInvalidValue;
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
