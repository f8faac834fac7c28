// One kernel launch: limits, parameters, execution in its stream, record.
#pragma once

#include <array>
#include <cstdint>

#include "model/occupancy.h"
#include "runtime/cuda_abi.h"
#include "runtime/graph.h"
#include "runtime/modules.h"

namespace muscope::runtime {

class Device;
class Runtime;

struct Launch {
  KernelEntry* kernel = nullptr;
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  void** arguments = nullptr;  ///< one pointer per parameter
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};  ///< blocks of a cluster, of the launch's attribute; zeros: not given
  Device* device = nullptr;                ///< null: the current one
  bool has_cluster = false;                ///< they are given, zeros too
};

/// Finds the kernel of a host stub or a handle. cudaErrorInvalidDeviceFunction for null, cudaErrorInvalidResourceHandle
/// for what was never registered (H200).
cudaError_t find_kernel(Runtime& runtime, const void* function, KernelEntry*& kernel);

/// Checks and launches. The kernel has run when this returns, or goes on in the background because it polls. Its faults
/// become the device's sticky error. Errors as an H200 gives them (tests/counters/runtime_api_h200.txt).
cudaError_t launch(Runtime& runtime, const Launch& request);

/// The launch as work of a graph, with copies of its arguments.
KernelWork work_of(const Launch& request, const code::Kernel& code);

/// Blocks of a cluster that the kernel's code asks for (__cluster_dims__); zeros where it asks for none. The kernel has
/// been loaded.
std::array<std::uint32_t, 3> cluster_of(const KernelEntry& kernel);

/// Most blocks of a cluster, as cudaOccupancyMaxPotentialClusterSize() answers: 8, or 16 where the program allows sizes
/// that not every GPU has.
std::uint32_t largest_cluster(const KernelEntry& kernel);

/// The cluster of a launch in `cluster`, zeros where it has none; one of more than `most` blocks is an error. Errors as
/// an H200 gives them (tests/programs/clusters_h200.txt).
cudaError_t find_cluster(Runtime& runtime, const Launch& request, std::uint32_t most,
                         std::array<std::uint32_t, 3>& cluster);

/// What occupancy and launch limits need to know of a kernel on the current device.
struct KernelLimits {
  int max_threads = 0;               ///< per block: launch bounds and registers
  int launch_bound = 0;              ///< .maxntid or .reqntid; 0 = none
  int registers = 0;                 ///< per thread; 0 when not known
  bool registers_exact = false;      ///< from machine code for this GPU
  std::uint64_t static_shared = 0;   ///< bytes
  std::uint64_t dynamic_shared = 0;  ///< most that a launch may ask for, bytes
};
KernelLimits limits_of(Runtime& runtime, const KernelEntry& kernel, const code::Kernel& code);

/// Occupancy of the kernel with the carve-out that the program prefers for it (that one, if a block fits into it).
model::Occupancy occupancy_of(Runtime& runtime, const KernelEntry& kernel, const code::Kernel& code, int threads,
                              std::uint64_t dynamic_shared);

/// Bytes of the shared-memory carve-out that the program prefers for the kernel; the largest where it prefers none.
std::int64_t preferred_carveout(const arch::GpuSpec& gpu, const KernelEntry& kernel);

}  // namespace muscope::runtime
