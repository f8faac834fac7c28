// What handlers of functions of the device runtime share: the call's arguments and result, device memory by address.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/control.h"
#include "exec/launch_context.h"
#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {

/// Where `bytes` of device memory of any window begin for one lane; null outside of it.
inline std::uint8_t* host_bytes(Warp& w, unsigned lane, std::uint64_t address, std::size_t bytes) {
  if (address - code::kLocalWindow < code::kWindowBytes) {
    const std::uint64_t offset = address - code::kLocalWindow;
    return offset + bytes > w.local_stride ? nullptr : w.local + std::size_t{w.local_stride} * lane + offset;
  }
  if (address - code::kSharedWindow < code::kWindowBytes) {
    const SharedPlace at = shared_place(*w.block, address - code::kSharedWindow, true);
    return !at.block || at.offset + bytes > at.block->shared_bytes ? nullptr : at.block->shared + at.offset;
  }
  const memory::Allocation a = w.worker->memory->find(address);
  if (a.id == 0 || address + bytes > a.end) return nullptr;
  return reinterpret_cast<std::uint8_t*>(address + static_cast<std::uint64_t>(a.distance));
}

/// Copies out of it; false outside of it.
inline bool read(Warp& w, unsigned lane, std::uint64_t address, void* out, std::size_t bytes) {
  const void* const from = host_bytes(w, lane, address, bytes);
  if (from == nullptr) return false;
  std::memcpy(out, from, bytes);
  return true;
}

/// Machine code keeps values in 32-bit registers, 64-bit ones in pairs.
inline bool is_machine(const Warp& w) { return w.worker->program->kernel->machine_code != nullptr; }

/// Argument `index` of the call, as the caller passed it.
inline std::uint64_t argument(Warp& w, const code::CallDetails& call, std::size_t index, unsigned lane) {
  if (index >= call.arguments.size()) return 0;
  const auto& a = call.arguments[index];
  std::uint64_t value = 0;
  const std::size_t bytes = std::min<std::size_t>(a.bytes, 8);
  if (is_machine(w)) {
    const std::uint32_t* low = w.src<std::uint32_t>(a.caller_place.bits);
    value = low[lane] | (bytes == 8 ? std::uint64_t{low[lane + kGroupLanes]} << 32 : 0);
  } else if (a.is_register)
    std::memcpy(&value, w.src<std::uint8_t>(a.caller_place.bits) + std::size_t{lane} * a.bytes, bytes);
  else
    std::memcpy(&value, local_bytes(w, lane, a.caller_local), bytes);
  return value;
}

inline void result(Warp& w, const code::CallDetails& call, unsigned lane, std::uint64_t value) {
  if (call.results.empty()) return;
  const auto& r = call.results[0];
  const std::size_t bytes = std::min<std::size_t>(r.bytes, 8);
  if (is_machine(w)) {
    std::uint32_t* low = w.dst<std::uint32_t>(r.caller_place.bits);
    low[lane] = static_cast<std::uint32_t>(value);
    if (bytes == 8) low[lane + kGroupLanes] = static_cast<std::uint32_t>(value >> 32);
  } else if (r.is_register) {
    if (r.caller_place.exists())
      std::memcpy(w.dst<std::uint8_t>(r.caller_place.bits) + std::size_t{lane} * r.bytes, &value, bytes);
  } else {
    std::memcpy(local_bytes(w, lane, r.caller_local), &value, bytes);
  }
}

template <typename F>
void each_lane(const Warp& w, F f) {
  for (GroupMask m = w.active; m; m &= m - 1) f(static_cast<unsigned>(std::countr_zero(m)));
}

}  // namespace muscope::exec
