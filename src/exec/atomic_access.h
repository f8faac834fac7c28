// What scalar and vector atomics share: addresses of lanes and their shape. Internal.
#pragma once

#include <bit>

#include "exec/warp.h"
#include "trace/access.h"

namespace muscope::exec {

/// The addresses of active lanes: register, uniform register and offset.
inline void atomic_addresses(Warp& w, const XOp* op, std::uint64_t* address) {
  const bool pair = op->has_base && (op->flags & kAddressPair);
  const std::uint64_t* wide = op->has_base && !pair && (op->flags & 1) ? w.src<std::uint64_t>(op->a) : nullptr;
  const std::uint32_t* narrow = op->has_base && (pair || !(op->flags & 1)) ? w.src<std::uint32_t>(op->a) : nullptr;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t base = wide ? wide[l] : narrow ? narrow[l] : 0;
    const std::uint64_t high = pair ? std::uint64_t{w.src<std::uint32_t>(op->a)[l + kGroupLanes]} << 32 : 0;
    address[l] = (base | high) + static_cast<std::uint64_t>(op->offset) + uniform_part(w, op);
    if (narrow && !pair && !(op->flags & kUniform64)) address[l] &= 0xffffffffu;
  }
}

/// The shape of scattered addresses, so that sinks take their fast paths.
inline trace::Shape shape_of(const std::uint64_t* a, GroupMask active, std::int64_t& stride) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  stride = 0;
  if (active == kAllLanes) {
    stride = static_cast<std::int64_t>(a[1] - a[0]);
    for (unsigned l = 1; l < kGroupLanes; ++l)
      if (static_cast<std::int64_t>(a[l] - a[l - 1]) != stride) return trace::Shape::kScattered;
    return stride == 0 ? trace::Shape::kUniform : trace::Shape::kAffine;
  }
  for (GroupMask m = active; m; m &= m - 1)
    if (a[std::countr_zero(m)] != a[first]) return trace::Shape::kScattered;
  return trace::Shape::kUniform;
}

}  // namespace muscope::exec
