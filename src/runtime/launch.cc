#include "runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "code/source_frames.h"
#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/pending_launch.h"
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "runtime/spool.h"

namespace muscope::runtime {
namespace {

constexpr std::uint64_t kMaxGridX = 0x7fffffff;  // CUDA C++ Programming Guide, "Technical Specifications"
constexpr std::uint64_t kMaxGridYZ = 65535;
constexpr std::uint64_t kMaxBlockZ = 64;
constexpr std::uint64_t kGridWorkspace = 16;  // a size and the barrier, 4 bytes each (cooperative_groups' driver_abi.h)

// Grid and block against what every kernel is limited to.
// Returns what is wrong with them, or nothing.
std::string wrong_shape(const arch::GpuSpec& gpu, const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const std::uint64_t most =
      gpu.max_threads_per_block.known ? static_cast<std::uint64_t>(gpu.max_threads_per_block.as_int()) : 1024;
  if (threads == 0) return "a block without threads";
  if (block.x > most || block.y > most || threads > most)
    return fmt::format("a block of {}x{}x{} threads, the GPU allows {}", block.x, block.y, block.z, most);
  if (block.z > kMaxBlockZ) return fmt::format("a block of {} threads in z, the GPU allows {}", block.z, kMaxBlockZ);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return "a grid without blocks";
  if (grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ)
    return fmt::format("a grid of {}x{}x{} blocks, the GPU allows {}x{}x{}", grid.x, grid.y, grid.z, kMaxGridX,
                       kMaxGridYZ, kMaxGridYZ);
  return {};
}

// A program that does not ask cudaGetLastError() would never know.
cudaError_t refuse(const KernelEntry& kernel, cudaError_t error, const std::string& why) {
  tell("D507", code::demangle(kernel.mangled) + " was not launched: " + why,
       std::string("the launch gave ") + error_name(static_cast<int>(error)) +
           "; cudaGetLastError() tells a program so");
  return error;
}

std::uint64_t product(const std::uint32_t (&extent)[3]) {
  return std::uint64_t{std::max(extent[0], 1u)} * std::max(extent[1], 1u) * std::max(extent[2], 1u);
}

std::uint64_t known_or(const arch::Sourced& number, std::uint64_t otherwise) {
  return number.known ? static_cast<std::uint64_t>(number.as_int()) : otherwise;
}

// Parameter bytes as the kernel reads them.
std::vector<std::uint8_t> gather(const code::Kernel& code, void** arguments) {
  std::vector<std::uint8_t> bytes(code.param_bytes);
  for (std::size_t i = 0; i < code.params.size(); ++i) {
    const code::Param& param = code.params[i];
    if (param.bytes > 0) std::memcpy(bytes.data() + param.offset, arguments[i], param.bytes);
  }
  return bytes;
}

}  // namespace

cudaError_t find_kernel(Runtime& runtime, const void* function, KernelEntry*& kernel) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  kernel = runtime.modules().find_kernel(function);
  return kernel ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

KernelWork work_of(const Launch& request, const code::Kernel& code) {
  KernelWork work{
      request.kernel, request.grid, request.block, request.dynamic_shared, request.cooperative, request.cluster, {}};
  for (std::size_t i = 0; i < code.params.size(); ++i) {
    const auto* const bytes = static_cast<const std::uint8_t*>(request.arguments[i]);
    work.arguments.emplace_back(bytes, bytes + code.params[i].bytes);
  }
  return work;
}

std::array<std::uint32_t, 3> cluster_of(const KernelEntry& kernel) {
  const auto& module = kernel.binary->module;
  const std::uint32_t index = module ? module->find_function(kernel.mangled) : ptx::kNoIndex;
  if (index == ptx::kNoIndex || module->functions[index].reqnctapercluster[0] == 0) return {};
  const auto& asked = module->functions[index].reqnctapercluster;
  return {asked[0], std::max(asked[1], 1u), std::max(asked[2], 1u)};
}

std::uint32_t largest_cluster(const KernelEntry& kernel) {
  constexpr std::uint32_t kPortable = 8, kLargest = 16;
  return kernel.large_clusters.load() ? kLargest : kPortable;
}

cudaError_t find_cluster(Runtime& runtime, const Launch& request, std::uint32_t most,
                         std::array<std::uint32_t, 3>& cluster) {
  const auto needed = cluster_of(*request.kernel);
  const bool given = request.has_cluster || request.cluster[0] != 0;
  if (!given && needed[0] == 0) return cudaSuccess;
  cluster = given ? request.cluster : needed;
  const std::uint64_t blocks = std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (blocks == 0 || (given && needed[0] != 0 && cluster != needed) || blocks > most ||
      request.grid.x % cluster[0] != 0 || request.grid.y % cluster[1] != 0 || request.grid.z % cluster[2] != 0)
    return cudaErrorInvalidClusterSize;
  if (runtime.gpu().cc_major >= 9) return cudaSuccess;
  tell("D506", request.kernel->info->name + " is launched in clusters, which " + runtime.gpu().name + " does not have",
       "clusters of thread blocks need compute capability 9.0: choose such a GPU with --gpu");
  return cudaErrorNotSupported;
}

KernelLimits limits_of(Runtime& runtime, const KernelEntry& kernel, const code::Kernel& code) {
  const arch::GpuSpec& gpu = runtime.gpu();
  KernelLimits limits;
  const cubin::CubinKernel* const machine = Modules::machine_code(kernel);
  limits.registers_exact = machine != nullptr;
  limits.registers = static_cast<int>(machine ? machine->registers : kernel.info->registers);
  limits.static_shared = machine ? machine->static_shared : code.info.static_shared;
  std::uint64_t threads = known_or(gpu.max_threads_per_block, 1024);
  if (code.info.maxntid[0] != 0) {
    limits.launch_bound = static_cast<int>(product(code.info.maxntid));
    threads = std::min<std::uint64_t>(threads, static_cast<std::uint64_t>(limits.launch_bound));
  }
  if (limits.registers_exact && limits.registers > 0) {
    // Registers are handed out per warp in units (cuda_occupancy.h: register allocation unit 256 for cc 3.0 and later).
    const std::uint64_t unit = known_or(gpu.register_allocation_unit, 256);
    const std::uint64_t warp = known_or(gpu.warp_size, 32);
    const std::uint64_t per_warp = (static_cast<std::uint64_t>(limits.registers) * warp + unit - 1) / unit * unit;
    threads = std::min(threads, known_or(gpu.registers_per_block, 65536) / per_warp * warp);
  }
  limits.max_threads = static_cast<int>(threads);
  const int asked = kernel.max_dynamic_shared.load();
  const std::uint64_t plain = known_or(gpu.shared_per_block, 48 * 1024);
  limits.dynamic_shared =
      asked >= 0 ? static_cast<std::uint64_t>(asked) : plain - std::min(plain, limits.static_shared);
  // More than the attribute says is allowed while static and dynamic together fit the default limit.
  limits.dynamic_shared = std::max(limits.dynamic_shared, plain - std::min(plain, limits.static_shared));
  return limits;
}

std::int64_t preferred_carveout(const arch::GpuSpec& gpu, const KernelEntry& kernel) {
  const auto largest = static_cast<std::int64_t>(known_or(gpu.shared_per_sm, 96 * 1024));
  const int percent = kernel.carveout.load();
  if (gpu.shared_carveouts.empty() || (percent < 0 && kernel.cache_preference.load() != model::kPrefersL1))
    return largest;
  const std::int64_t wanted = percent < 0 ? 1 : (largest * percent + 99) / 100;
  for (const int carveout : gpu.shared_carveouts) {
    if (carveout >= std::max<std::int64_t>(wanted, 1)) return carveout;
  }
  return largest;
}

model::Occupancy occupancy_of(Runtime& runtime, const KernelEntry& kernel, const code::Kernel& code, int threads,
                              std::uint64_t dynamic_shared) {
  const KernelLimits limits = limits_of(runtime, kernel, code);
  model::LaunchShape shape;
  shape.threads_per_block = threads;
  shape.registers_per_thread = limits.registers;
  shape.static_shared = static_cast<std::int64_t>(limits.static_shared);
  shape.dynamic_shared = static_cast<std::int64_t>(dynamic_shared);
  const model::Occupancy whole = model::occupancy(runtime.gpu(), shape);
  const std::int64_t carveout = preferred_carveout(runtime.gpu(), kernel);
  if (whole.blocks_per_sm == 0 || carveout >= static_cast<std::int64_t>(known_or(runtime.gpu().shared_per_sm, 0)))
    return whole;
  arch::GpuSpec gpu = runtime.gpu();
  gpu.shared_per_sm.value = static_cast<double>(std::max(carveout, whole.shared_per_block));
  return model::occupancy(gpu, shape);
}

cudaError_t launch(Runtime& runtime, const Launch& request) {
  KernelEntry& entry = *request.kernel;
  Device& device = request.device != nullptr ? *request.device : runtime.current_device();
  const StreamRef stream = runtime.stream(request.stream);
  if (!stream || stream->device() != device.index()) return cudaErrorInvalidResourceHandle;
  // CUDA 13 answers cudaErrorInvalidValue for what was cudaErrorInvalidConfiguration until CUDA 12.
  const cudaError_t bad_shape = entry.binary->toolkit < 13 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
  if (const std::string wrong = wrong_shape(runtime.gpu(), request.grid, request.block); !wrong.empty())
    return refuse(entry, bad_shape, wrong);

  const std::shared_ptr<const code::Kernel> code = runtime.modules().load(runtime, entry, device.index());
  if (!code) return cudaErrorInvalidDeviceFunction;
  const KernelLimits limits = limits_of(runtime, entry, *code);
  const int threads = static_cast<int>(request.block.x * request.block.y * request.block.z);
  if (limits.launch_bound > 0 && threads > limits.launch_bound)
    return refuse(entry, cudaErrorInvalidValue,
                  fmt::format("a block of {} threads, its __launch_bounds__ allow {}", threads, limits.launch_bound));
  if (threads > limits.max_threads)
    return refuse(entry, cudaErrorLaunchOutOfResources,
                  fmt::format("a block of {} threads, its {} registers per thread allow {}", threads, limits.registers,
                              limits.max_threads));
  if (request.dynamic_shared > limits.dynamic_shared)
    return refuse(entry, cudaErrorInvalidValue,
                  fmt::format("{} bytes of dynamic shared memory, allowed are {} (cudaFuncSetAttribute with "
                              "cudaFuncAttributeMaxDynamicSharedMemorySize raises this on most GPUs)",
                              request.dynamic_shared, limits.dynamic_shared));
  if (request.cooperative) {
    const model::Occupancy fit = occupancy_of(runtime, entry, *code, threads, request.dynamic_shared);
    const std::uint64_t blocks = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
    if (blocks > static_cast<std::uint64_t>(fit.blocks_per_sm) * known_or(runtime.gpu().sm_count, 1))
      return refuse(entry, cudaErrorCooperativeLaunchTooLarge,
                    fmt::format("{} blocks that must run at one time, {} fit on each SM", blocks, fit.blocks_per_sm));
  }
  if (!code->params.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  std::array<std::uint32_t, 3> cluster{};
  if (const cudaError_t error = find_cluster(runtime, request, largest_cluster(entry), cluster)) {
    if (error != cudaErrorInvalidClusterSize) return error;
    return refuse(entry, error, fmt::format("in clusters of {}x{}x{} blocks", cluster[0], cluster[1], cluster[2]));
  }
  if (const auto captured = capture(stream, true, [&] { return work_of(request, *code); })) return *captured;

  auto pending = std::make_shared<PendingLaunch>(PendingLaunch{runtime, device, entry, {}, 0, stream->id(), {}});
  pending->index = runtime.next_launch_index();
  pending->carveout_preference = entry.carveout_preference();
  exec::LaunchRequest& out = pending->request;
  out.kernel = code;
  out.grid = {request.grid.x, request.grid.y, request.grid.z};
  out.block = {request.block.x, request.block.y, request.block.z};
  out.dynamic_shared = static_cast<std::uint32_t>(request.dynamic_shared);
  out.params = gather(*code, request.arguments);
  {
    const std::lock_guard lock(device.mutex);
    out.stack_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(device.limits[cudaLimitStackSize], 1u << 30));
  }
  out.cooperative = request.cooperative;
  out.cluster = cluster;
  if (request.cooperative) {
    out.grid_workspace =
        runtime.memory().allocate(kGridWorkspace, memory::Kind::kModule, static_cast<unsigned>(device.index()));
    if (out.grid_workspace == 0) return cudaErrorMemoryAllocation;
  }
  out.device = static_cast<unsigned>(device.index());
  out.reach = device.reach();
  out.observe = selects_launch(pending->index, entry.info->name);
  Operation operation;
  operation.run = [pending] { return begin(*pending); };
  operation.finish = [pending](exec::LaunchHandle& handle) { finish(*pending, handle.result()); };
  runtime.scheduler().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

}  // namespace muscope::runtime
