// createpolicy.range: made of an address and sizes that the kernel computes.
#include <bit>
#include <cmath>

#include "code/cache_policy.h"
#include "exec/control.h"
#include "exec/special_unit.h"

namespace muscope::exec {

const XOp* run_create_policy(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    std::uint64_t address = 0;
    if (source.a.exists())
      address = source.address_is_64 ? w.src<std::uint64_t>(op->a)[l] : w.src<std::uint32_t>(op->a)[l];
    address += static_cast<std::uint64_t>(op->offset);
    const std::uint32_t primary = w.src<std::uint32_t>(op->b)[l], total = w.src<std::uint32_t>(op->c)[l];
    // By the special function unit, as the code of ptxas does it.
    const auto size = std::bit_cast<std::uint32_t>(static_cast<float>(total));
    const auto logarithm = std::bit_cast<float>(MUSCOPE_ISA::special::logarithm(size));
    w.dst<std::uint64_t>(op->dst)[l] = code::range_policy(
        *source.source, address, primary, total, total == 0 ? 0 : static_cast<std::int32_t>(std::ceil(logarithm)));
  }
  return op + 1;
}

}  // namespace muscope::exec
