#include "code/cache_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace muscope::code {

using ptx::Mod;

std::optional<std::uint64_t> fractional_policy(const ptx::Instruction& i) {
  if (i.opcode != ptx::Opcode::k_createpolicy || !i.has(Mod::k_fractional)) return std::nullopt;
  std::uint64_t kind = 0;
  bool primary = true;
  for (const Mod mod : i.mods) switch (mod) {
      case Mod::k_L2_evict_last:
      case Mod::k_L2_evict_normal:
      case Mod::k_L2_evict_first:
      case Mod::k_L2_evict_unchanged:
        if (primary)
          kind |= mod == Mod::k_L2_evict_last     ? 0x14
                  : mod == Mod::k_L2_evict_normal ? 0x16
                  : mod == Mod::k_L2_evict_first  ? 0x12
                                                  : 0x10;
        else if (mod == Mod::k_L2_evict_first)
          kind |= 1;
        primary = false;
        break;
      default:
        break;
    }
  double fraction = 1.0;
  if (i.operands.size() > 1) {
    const ptx::Operand& o = i.operands[1];
    if (o.kind != ptx::OperandKind::kImmediate || o.literal == ptx::Literal::kInteger) return std::nullopt;
    fraction = o.literal == ptx::Literal::kF64 ? std::bit_cast<double>(o.immediate)
                                               : double{std::bit_cast<float>(static_cast<std::uint32_t>(o.immediate))};
  }
  if (!(fraction > 0 && fraction <= 1)) return std::nullopt;
  const auto sixteenths = static_cast<std::uint64_t>(std::max(1.0, std::ceil(fraction * 16)));
  return kind << 56 | (sixteenths - 1) << 52;
}

}  // namespace muscope::code
