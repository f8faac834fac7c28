// The functions by which the device runtime (libcudadevrt, which is linked in) asks the driver for launches:
// parameter buffers, launches, streams and events of device code. Launches begin when the kernel that made them has
// ended, in the order of blocks and calls: without cudaDeviceSynchronize() on the device, which CUDA 12 took away, no
// kernel can tell. Streams and events therefore order nothing more.
#include "exec/device_launch.h"

#include <string_view>

#include "exec/builtin_call.h"

namespace muscope::exec {
namespace {

// What these functions return: numbers of the driver's, which cudartErrorCnpMap of the device runtime translates to
// cudaError_t: 1 to 1, 4 to 2, 7 to 9 (invalid configuration).
constexpr std::uint32_t kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 7;
constexpr std::uint32_t kMemoryAllocation = 2;            // a cudaError_t, as the last error is
constexpr std::uint64_t kFirstHandle = 0x7d00'0000'0000;  ///< of streams and events
constexpr std::uint64_t kLastNamedStream = 4;             ///< cudaStreamFireAndForget (driver_types.h)

/// A dim3 passed by value.
std::array<std::uint32_t, 3> extent(Warp& w, const code::CallDetails& call, std::size_t index, unsigned lane) {
  std::array<std::uint32_t, 3> e{};
  if (index >= call.arguments.size() || call.arguments[index].bytes != sizeof e) return e;
  const auto& a = call.arguments[index];
  if (is_machine(w))
    for (std::size_t n = 0; n < e.size(); ++n) e[n] = w.src<std::uint32_t>(a.caller_place.bits)[lane + n * kGroupLanes];
  else if (!a.is_register)
    std::memcpy(e.data(), local_bytes(w, lane, a.caller_local), sizeof e);
  return e;
}

template <typename F>
const XOp* give_buffers(Warp& w, const XOp* op, F describe) {
  const code::CallDetails& call = *op->source->call;
  w.progress = true;
  each_lane(w, [&](unsigned lane) {
    DeviceLaunch launch;
    describe(launch, lane);
    launch.parameters =
        w.worker->memory->allocate(kDeviceParameterBytes, memory::Kind::kModule, w.worker->launch->request->device);
    if (launch.parameters != 0)
      w.block->prepared.push_back(launch);
    else
      w.block->launch_error = kMemoryAllocation;
    result(w, call, lane, launch.parameters);
  });
  return op + 1;
}

const XOp* get_parameter_buffer(Warp& w, const XOp* op) {
  return give_buffers(w, op, [&](DeviceLaunch& launch, unsigned lane) {
    const code::CallDetails& call = *op->source->call;
    launch.function = argument(w, call, 0, lane);
    launch.grid = extent(w, call, 1, lane);
    launch.block = extent(w, call, 2, lane);
    launch.dynamic_shared = static_cast<std::uint32_t>(argument(w, call, 3, lane));
  });
}

/// Of cudaGetParameterBuffer(): the launch itself says which kernel.
const XOp* get_plain_buffer(Warp& w, const XOp* op) {
  return give_buffers(w, op, [](DeviceLaunch&, unsigned) {});
}

/// What an H200 launches from the device (tests/programs/device_launches.cu): extents as for the host, 48 KiB of
/// dynamic shared memory.
bool can_launch(const DeviceLaunch& launch) {
  constexpr std::uint32_t kMostBlocks = 0x7fffffff, kMostBlocksYZ = 65535, kMostThreads = 1024, kMostThreadsZ = 64;
  const auto& [gx, gy, gz] = launch.grid;
  const auto& [bx, by, bz] = launch.block;
  const std::uint64_t threads = std::uint64_t{std::min(bx, 2048u)} * std::min(by, 2048u) * std::min(bz, 2048u);
  return gx >= 1 && gx <= kMostBlocks && gy >= 1 && gy <= kMostBlocksYZ && gz >= 1 && gz <= kMostBlocksYZ &&
         threads >= 1 && threads <= kMostThreads && bz <= kMostThreadsZ && launch.dynamic_shared <= 48u << 10;
}

std::vector<DeviceLaunch>::iterator prepared_at(Warp& w, std::uint64_t parameters) {
  auto& prepared = w.block->prepared;
  return std::find_if(prepared.begin(), prepared.end(),
                      [&](const DeviceLaunch& launch) { return launch.parameters == parameters; });
}

std::uint32_t launch_prepared(Warp& w, std::uint64_t parameters, std::uint64_t stream) {
  const auto found = prepared_at(w, parameters);
  if (found == w.block->prepared.end()) return kInvalidValue;
  DeviceLaunch launch = *found;
  w.block->prepared.erase(found);
  launch.stream = stream;
  const bool known_stream = stream <= kLastNamedStream || stream >> 32 == kFirstHandle >> 32;
  if (!known_stream || !can_launch(launch)) {
    w.worker->memory->release(parameters);
    return known_stream ? kInvalidConfiguration : kInvalidValue;
  }
  w.block->launched.push_back(launch);
  return kSuccess;
}

const XOp* launch_device(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  w.progress = true;
  each_lane(w, [&](unsigned lane) {
    const std::uint32_t error = launch_prepared(w, argument(w, call, 0, lane), argument(w, call, 1, lane));
    result(w, call, lane, error);
  });
  return op + 1;
}

/// cudaLaunchDevice(): kernel, parameters, where grid and block stand, dynamic shared memory, stream.
const XOp* launch_described(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  w.progress = true;
  each_lane(w, [&](unsigned lane) {
    const std::uint64_t parameters = argument(w, call, 1, lane);
    const auto launch = prepared_at(w, parameters);
    std::uint32_t error = kInvalidValue;
    if (launch != w.block->prepared.end() && read(w, lane, argument(w, call, 2, lane), launch->grid.data(), 12) &&
        read(w, lane, argument(w, call, 3, lane), launch->block.data(), 12)) {
      launch->function = argument(w, call, 0, lane);
      launch->dynamic_shared = static_cast<std::uint32_t>(argument(w, call, 4, lane));
      error = launch_prepared(w, parameters, argument(w, call, 5, lane));
    }
    result(w, call, lane, error);
  });
  return op + 1;
}

/// Stores `value` of `bytes` bytes where argument 0 points.
template <typename F>
const XOp* store_result(Warp& w, const XOp* op, std::size_t bytes, F value) {
  const code::CallDetails& call = *op->source->call;
  each_lane(w, [&](unsigned lane) {
    std::uint8_t* const to = host_bytes(w, lane, argument(w, call, 0, lane), bytes);
    const std::uint64_t v = value();
    if (to != nullptr) std::memcpy(to, &v, bytes);
    result(w, call, lane, to != nullptr ? kSuccess : kInvalidValue);
  });
  return op + 1;
}

const XOp* create_handle(Warp& w, const XOp* op) {
  return store_result(w, op, 8, [&] { return kFirstHandle + w.block->device_handles++; });
}
const XOp* current_device(Warp& w, const XOp* op) {
  return store_result(w, op, 4, [] { return 0; });
}
const XOp* device_count(Warp& w, const XOp* op) {
  return store_result(w, op, 4, [] { return 1; });
}

const XOp* nothing_to_do(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  each_lane(w, [&](unsigned lane) { result(w, call, lane, kSuccess); });
  return op + 1;
}

/// The runtime sets it, also to nothing when it was asked for.
const XOp* last_error(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  each_lane(w, [&](unsigned lane) { result(w, call, lane, w.block->launch_error); });
  return op + 1;
}

const XOp* set_last_error(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  each_lane(w, [&](unsigned lane) {
    w.block->launch_error = static_cast<std::uint32_t>(argument(w, call, 0, lane));
    result(w, call, lane, w.block->launch_error);
  });
  return op + 1;
}

struct Entry {
  std::string_view name;
  Handler run;
};
/// After "__cuda_syscall_cnpv2", as cuda_device_runtime.o of CUDA 13.0 calls them.
constexpr Entry kEntries[] = {{"GetParameterBufferV2", get_parameter_buffer},
                              {"LaunchDeviceV2", launch_device},
                              {"GetParameterBuffer", get_plain_buffer},
                              {"LaunchDevice", launch_described},
                              {"StreamCreate", create_handle},
                              {"EventCreate", create_handle},
                              {"StreamDestroy", nothing_to_do},
                              {"EventDestroy", nothing_to_do},
                              {"EventRecord", nothing_to_do},
                              {"StreamWaitEvent", nothing_to_do},
                              {"GetDevice", current_device},
                              {"GetDeviceCount", device_count},
                              {"GetLastError", last_error},
                              {"SetLastError", set_last_error}};

}  // namespace

Handler find_device_launch(const std::string& name) {
  constexpr std::string_view kPrefix = "__cuda_syscall_cnpv2";
  if (!name.starts_with(kPrefix)) return nullptr;
  for (const Entry& entry : kEntries)
    if (std::string_view(name).substr(kPrefix.size()) == entry.name) return entry.run;
  return nullptr;
}

}  // namespace muscope::exec
