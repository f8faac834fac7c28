#include "runtime/pending_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "runtime/entry.h"
#include "runtime/launch.h"
#include "runtime/program_names.h"
#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "runtime/spool.h"
#include "runtime/wide_warp.h"

namespace muscope::runtime {
namespace {

cudaError_t error_of(exec::Outcome outcome) {
  switch (outcome) {
    case exec::Outcome::kOk:
      return cudaSuccess;
    case exec::Outcome::kIllegalAddress:
      return cudaErrorIllegalAddress;
    case exec::Outcome::kMisaligned:
      return cudaErrorMisalignedAddress;
    case exec::Outcome::kAssert:
      return cudaErrorAssert;
    case exec::Outcome::kTrap:
      return cudaErrorLaunchFailure;
    case exec::Outcome::kIllegalInstruction:
      return cudaErrorIllegalInstruction;
    case exec::Outcome::kInvalidPc:
      return cudaErrorInvalidPc;
    case exec::Outcome::kHang:
    case exec::Outcome::kStopped:
      return cudaErrorLaunchTimeout;
    case exec::Outcome::kUnsupported:
      return cudaErrorNotSupported;
  }
  return cudaErrorLaunchFailure;
}

void record(PendingLaunch& pending, exec::LaunchResult& result) {
  views::LaunchRecord& record = result.record;
  record.index = pending.index;
  record.kernel = pending.entry.info->id;
  record.grid = pending.request.grid;
  record.block = pending.request.block;
  record.dynamic_shared = pending.request.dynamic_shared;
  record.carveout_preference = pending.carveout_preference;
  record.stream = pending.stream;
  record.device = pending.device.index();
  record.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - pending.begun).count();
  if (pending.request.grid_workspace != 0) pending.runtime.memory().release(pending.request.grid_workspace);
  pending.runtime.append_output(result.output);
  if (result.outcome == exec::Outcome::kStopped) {
    record.state = views::LaunchState::kStopped;
  } else if (result.outcome != exec::Outcome::kOk) {
    record.state = views::LaunchState::kFaulted;
  }
  add_wide_warp_findings(pending.runtime.gpu(), pending.request.kernel, record);
  record.fault.hint = in_program_names(record.fault.hint);
  if (const cudaError_t error = error_of(result.outcome)) {
    pending.runtime.fault(pending.device, error);
    pending.runtime.write_output();  // the program may end before it synchronises again
  }
  if (pending.request.observe || record.state != views::LaunchState::kFinished) {
    Spool::of_process().launch(record);
  } else {
    Spool::of_process().launch_unobserved();
  }
}

/// A launch that a kernel made, and the binary in which it names kernels.
struct Child {
  FatBinary* binary = nullptr;
  std::uint64_t stream = 0;  ///< of the host, in which the first of its parents runs
  exec::DeviceLaunch launch;
};

/// Puts launches on the stack, so that they come off it in their order, those to the tail stream last.
void push(std::vector<Child>& stack, FatBinary& binary, std::uint64_t stream,
          std::vector<exec::DeviceLaunch> launches) {
  std::stable_partition(launches.begin(), launches.end(), [](const exec::DeviceLaunch& launch) {
    return launch.stream != exec::DeviceLaunch::kTailLaunch;
  });
  for (auto at = launches.rbegin(); at != launches.rend(); ++at) stack.push_back({&binary, stream, *at});
}

/// The kernel that device code names by an address; null when it is none.
KernelEntry* kernel_at(PendingLaunch& parent, FatBinary& binary, std::uint64_t function) {
  const std::uint64_t number = (function - code::kFunctionWindow) / 16;
  if (function < code::kFunctionWindow || !binary.module || number >= binary.module->functions.size()) return nullptr;
  return parent.runtime.modules().kernel_named(parent.runtime, binary, binary.module->functions[number].name,
                                               parent.device.index());
}

/// On a GPU some of the launches may have begun before the last is made: whether they find room is not determined.
void tell_of_many(PendingLaunch& parent, const std::string& kernel, std::size_t launches) {
  const std::size_t room = parent.device.limits[cudaLimitDevRuntimePendingLaunchCount];
  if (launches <= room) return;
  tell("D517", fmt::format("one grid of {} launched more kernels than the {} that a GPU keeps room for", kernel, room),
       "there launches may fail with cudaErrorLaunchOutOfResources: see `muscope explain D517`");
}

/// The launching kernel wrote its child's parameters one after another; machine code has them behind the driver's
/// words.
void take_parameters(const code::Kernel& kernel, const void* buffer, std::vector<std::uint8_t>& params) {
  if (kernel.params.empty()) return;
  const std::size_t first = kernel.params.front().offset;
  for (const code::Param& p : kernel.params)
    if (p.offset >= first && p.offset - first + p.bytes <= exec::kDeviceParameterBytes &&
        std::size_t{p.offset} + p.bytes <= params.size())
      std::memcpy(params.data() + p.offset, static_cast<const std::uint8_t*>(buffer) + (p.offset - first), p.bytes);
}

bool fits_cluster(const exec::LaunchRequest& request, int cc_major) {
  constexpr int kFirstWithClusters = 9;
  if (request.cluster[0] == 0) return true;
  for (std::size_t d = 0; d < 3; ++d)
    if (request.grid[d] % request.cluster[d] != 0) return false;
  return cc_major >= kFirstWithClusters;
}

std::vector<exec::DeviceLaunch> run_child(PendingLaunch& parent, const Child& child) {
  KernelEntry* const entry = kernel_at(parent, *child.binary, child.launch.function);
  const auto code =
      entry != nullptr ? parent.runtime.modules().load(parent.runtime, *entry, parent.device.index()) : nullptr;
  if (!code) {
    tell("D515", fmt::format("a kernel launched {:#x}, which is no kernel", child.launch.function),
         "launches from the device need the kernel's own name or pointer, taken in device code");
    parent.runtime.fault(parent.device, cudaErrorInvalidDeviceFunction);
    return {};
  }
  PendingLaunch pending{parent.runtime, parent.device, *entry, {}, 0, child.stream, {}};
  pending.index = parent.runtime.next_launch_index();
  pending.carveout_preference = entry->carveout_preference();
  exec::LaunchRequest& request = pending.request;
  request.kernel = code;
  request.grid = child.launch.grid;
  request.block = child.launch.block;
  request.dynamic_shared = child.launch.dynamic_shared;
  request.cluster = cluster_of(*entry);
  if (!fits_cluster(request, parent.runtime.gpu().cc_major)) {
    tell("D506",
         fmt::format("{} was launched by a kernel in clusters that the GPU does not have, or that do not fill its grid",
                     entry->info->name),
         "the grid must be a multiple of __cluster_dims__, and the GPU of compute capability 9.0 (--gpu)");
    parent.runtime.fault(parent.device, cudaErrorInvalidClusterSize);
    return {};
  }
  request.stack_bytes = parent.request.stack_bytes;
  request.params.resize(code->param_bytes);
  take_parameters(*code, parent.runtime.memory().host_pointer(child.launch.parameters), request.params);
  request.observe = selects_launch(pending.index, entry->info->name);
  request.device = parent.request.device;
  request.reach = parent.request.reach;
  pending.begun = std::chrono::steady_clock::now();
  Spool::of_process().kernel(*entry->info);
  Spool::of_process().launch_begin(pending.index, entry->info->name,
                                   std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2]);
  if (*Spool::of_process().stop_flag() != 0) {
    // Small kernels end before they see it, and a chain of them would go on.
    exec::LaunchResult stopped;
    stopped.outcome = exec::Outcome::kStopped;
    stopped.record.fault.code = "D604";
    stopped.record.fault.text = "stopped before its first block: kernels were still launching kernels";
    stopped.record.fault.hint = "does the chain of launches end? raise --timeout if it needs more time";
    record(pending, stopped);
    return {};
  }
  const auto handle = parent.runtime.engine().start(request);
  handle->wait_ended();
  exec::LaunchResult& result = handle->result();
  record(pending, result);
  tell_of_many(parent, entry->info->name, result.launches.size());
  return std::move(result.launches);
}

void run_children(PendingLaunch& parent, std::vector<exec::DeviceLaunch> launches) {
  std::vector<Child> stack;
  tell_of_many(parent, parent.entry.info->name, launches.size());
  push(stack, *parent.entry.binary, parent.stream, std::move(launches));
  while (!stack.empty()) {
    const Child child = stack.back();
    stack.pop_back();
    try {
      if (!parent.device.faulted()) push(stack, *child.binary, child.stream, run_child(parent, child));
    } catch (const Error& error) {
      const Diagnostic& first = error.diagnostics().front();
      tell(first.code.c_str(), first.text, first.hint);
      parent.runtime.fault(parent.device, cudaErrorNotSupported);
    }
    parent.runtime.memory().release(child.launch.parameters);
  }
}

}  // namespace

void finish(PendingLaunch& pending, exec::LaunchResult& result) {
  record(pending, result);
  if (!result.launches.empty()) run_children(pending, std::move(result.launches));
}

std::shared_ptr<exec::LaunchHandle> begin(PendingLaunch& pending) {
  if (pending.device.faulted()) return nullptr;  // what was queued behind a failed kernel never runs
  pending.begun = std::chrono::steady_clock::now();
  const std::uint64_t blocks =
      std::uint64_t{pending.request.grid[0]} * pending.request.grid[1] * pending.request.grid[2];
  Spool::of_process().kernel(*pending.entry.info);
  Spool::of_process().launch_begin(pending.index, pending.entry.info->name, blocks);
  const auto handle = pending.runtime.engine().start(pending.request);
  if (!handle->wait_ended_or_polling()) return handle;
  finish(pending, handle->result());
  return nullptr;
}

}  // namespace muscope::runtime
