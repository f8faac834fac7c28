// What a launch fixes for its kernel: the driver's words of constant bank 0, and the bank of literals and parameters.
#include <bit>
#include <cstring>

#include "exec/launch_run.h"

namespace muscope::exec {
namespace {

constexpr std::uint64_t kFirstParam = 0x210;  ///< machine code of sm_90: where parameters begin in constant bank 0

}  // namespace

// What the driver puts before the parameters in constant bank 0. Found by compiling one special register at a time with
// nvcc 13.0.88 (tests/sass/README.md): the same words for 8.0, 8.6, 8.7 and 8.9, and 9.0 apart.
void LaunchRun::fill_driver_words() {
  const code::Kernel& kernel = *program_->kernel;
  const auto put = [this](std::size_t offset, std::uint64_t value, std::size_t bytes = 4) {
    if (offset + bytes <= request_.params.size()) std::memcpy(request_.params.data() + offset, &value, bytes);
  };
  const bool ampere = context_.gpu->cc_major == 8;
  for (std::size_t d = 0; d < 3; ++d) {
    put(4 * d, request_.block[d]);
    put(12 + 4 * d, request_.grid[d]);
  }
  if (ampere) put(0x18, code::kSharedWindow, 8);
  put(0x20, code::kLocalWindow, 8);
  put(0x28, machine_stack_bytes(kernel, request_.stack_bytes));
  put(0x2c, request_.dynamic_shared);
  const std::size_t environment = ampere ? 0x88 : 0x40;  // %envreg0
  put(environment + 4, request_.grid_workspace >> 32);
  put(environment + 8, request_.grid_workspace);
  put(0x10c, static_cast<std::uint64_t>(context_.gpu->sm_count.as_int()));
  if (!ampere) {
    // Clusters: whether the launch has any, their shape with its reciprocals (%clusterid is ctaid times that), the grid
    // in clusters, and blocks per cluster.
    put(0x140, request_.cluster[0] != 0 ? 1 : 0);
    for (std::size_t d = 0; d < 3; ++d) {
      put(0x144 + 4 * d, context_.cluster[d]);
      put(0x150 + 4 * d, std::bit_cast<std::uint32_t>(1.0f / static_cast<float>(context_.cluster[d])));
      put(0x15c + 4 * d, request_.grid[d] / context_.cluster[d]);
    }
    put(0x188, context_.unit_blocks);
    put(0x198, code::kParamWindow + kFirstParam, 8);  // generic address of the parameters
  }
  put(0x114, code::kSharedBase);
  const std::uint64_t shared = kernel.static_shared_bytes + std::uint64_t{request_.dynamic_shared};
  // The system's part lies behind the block's own before 9.0, and before it since.
  const std::uint64_t reserved = ampere ? handed_out(shared) : 0;
  put(ampere ? 0x120 : 0x68, reserved + code::kReservedSharedUsed);
  put(ampere ? 0x124 : 0x6c, reserved);
  if (!ampere) put(0x13c, code::kSharedBase + shared);
}

void LaunchRun::fill_const_bank() {
  using L = code::ConstSlot::Launch;
  const code::Kernel& kernel = *program_->kernel;
  context_.const_bank.assign(kernel.const_bank_bytes + 2 * code::kSlotBytes, 0);
  const auto at = reinterpret_cast<std::uintptr_t>(context_.const_bank.data());
  context_.const_base =
      reinterpret_cast<std::uint8_t*>((at + code::kSlotBytes - 1) / code::kSlotBytes * code::kSlotBytes);
  const std::uint32_t threads = request_.block[0] * request_.block[1] * request_.block[2];
  const std::uint64_t shared = kernel.static_shared_bytes + std::uint64_t{request_.dynamic_shared};
  for (const code::ConstSlot& slot : kernel.constants) {
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      std::uint64_t value = slot.bits;
      if (slot.is_param) {
        value = 0;
        if (slot.param_offset + slot.bytes <= request_.params.size())
          std::memcpy(&value, request_.params.data() + slot.param_offset, slot.bytes);
        const unsigned bits = slot.bytes * 8u;
        if (slot.sign_extend && bits < 64)
          value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits));
      }
      switch (slot.launch) {
        case L::kNone:
          break;
        case L::kNtidX:
          value = request_.block[0];
          break;
        case L::kNtidY:
          value = request_.block[1];
          break;
        case L::kNtidZ:
          value = request_.block[2];
          break;
        case L::kNctaidX:
          value = request_.grid[0];
          break;
        case L::kNctaidY:
          value = request_.grid[1];
          break;
        case L::kNctaidZ:
          value = request_.grid[2];
          break;
        case L::kNwarpId:
          value = (threads + kGroupLanes - 1) / kGroupLanes;
          break;
        case L::kNsmId:
          value = static_cast<std::uint64_t>(context_.gpu->sm_count.as_int());
          break;
        case L::kLaneId:
          value = l;
          break;
        case L::kLanemaskEq:
          value = 1u << l;
          break;
        case L::kLanemaskLe:
          value = (2u << l) - 1;
          break;
        case L::kLanemaskLt:
          value = (1u << l) - 1;
          break;
        case L::kLanemaskGe:
          value = ~((1u << l) - 1);
          break;
        case L::kLanemaskGt:
          value = ~((2u << l) - 1);
          break;
        case L::kDynamicShared:
          value = request_.dynamic_shared;
          break;
        case L::kGridWorkspaceHigh:
          value = request_.grid_workspace >> 32;
          break;
        case L::kGridWorkspaceLow:
          value = request_.grid_workspace & 0xffffffffu;
          break;
        case L::kClusterNctaidX:
          value = context_.cluster[0];
          break;
        case L::kClusterNctaidY:
          value = context_.cluster[1];
          break;
        case L::kClusterNctaidZ:
          value = context_.cluster[2];
          break;
        case L::kClusterNctarank:
          value = context_.unit_blocks;
          break;
        case L::kNclusteridX:
          value = request_.grid[0] / context_.cluster[0];
          break;
        case L::kNclusteridY:
          value = request_.grid[1] / context_.cluster[1];
          break;
        case L::kNclusteridZ:
          value = request_.grid[2] / context_.cluster[2];
          break;
        case L::kIsExplicitCluster:
          value = request_.cluster[0] != 0 ? 0xffffffffu : 0;
          break;
        case L::kMemory:
          std::memcpy(&value, context_.memory->host_pointer(slot.bits), slot.bytes);
          break;
        case L::kWholeShared:
          value = code::kSharedBase + handed_out(shared);
          break;
        case L::kTotalShared:
          value = handed_out(shared);
          break;
        case L::kAggregateShared:
          value = code::kSharedBase + shared;
          break;
      }
      std::memcpy(context_.const_base + slot.place + std::size_t{l} * slot.lane_bytes, &value, slot.lane_bytes);
    }
  }
}

}  // namespace muscope::exec
