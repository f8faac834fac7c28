#include "code/cache_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "code/function_lowering.h"

namespace muscope::code {

using ptx::Mod;

namespace {

/// What becomes of the primary and the other lines.
std::uint64_t kind_of(const ptx::Instruction& i) {
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
  return kind;
}

}  // namespace

std::uint64_t range_policy(const ptx::Instruction& i, std::uint64_t address, std::uint32_t primary, std::uint32_t total,
                           std::int32_t logarithm) {
  constexpr std::uint64_t kRange = 8, kUnchanged = 0x10, kMost = 127;
  constexpr std::int32_t kSmallest = 12, kBlocks = 7;  // of 4 KiB; 128 of them
  std::uint64_t kind = kUnchanged, first = 0, count = 0;
  std::int32_t shift = kSmallest;
  if (total != 0) {
    kind = kind_of(i);
    shift = std::max(logarithm - kBlocks, kSmallest);
    const std::uint32_t beyond = primary - 1 + (std::uint32_t{1} << shift);
    first = address >> shift;
    count = std::min(((address + beyond) >> shift) - first, kMost);
  }
  const std::uint64_t block = (kind | kRange) << 4 | (static_cast<std::uint64_t>(shift - kSmallest) & 15);
  return ((block << 8 | (first & kMost)) << 7 | count) << 37;
}

void FunctionLowering::lower_policy(const ptx::Instruction& i) {
  const bool range = i.operands.size() == 4 && i.operands[1].kind == ptx::OperandKind::kAddress;
  const auto policy = fractional_policy(i);
  if (i.operands.size() < 1 || i.operands[0].kind != ptx::OperandKind::kRegister ||
      (!policy && !range && (i.has(Mod::k_fractional) || i.operands.size() != 2)))
    return unsupported(i);
  Op op;
  op.opcode = range ? ptx::Opcode::k_createpolicy : ptx::Opcode::k_mov;
  op.type = ptx::Type::kB64;
  op.dst = place_of_register(i.operands[0].reg);
  op.dst_lane_bytes = 8;
  if (range) {
    address(op, i.operands[1]);
    op.b = place(i.operands[2], ptx::Type::kB32);
    op.c = place(i.operands[3], ptx::Type::kB32);
  } else {
    // createpolicy.cvt gives the bits that it gets (ptxas 13.0 makes a move of it).
    op.a = policy ? b_.pool.literal(*policy, 8) : place(i.operands[1], ptx::Type::kB64);
  }
  if (op.opcode == ptx::Opcode::kInvalid || op.local_relative) return unsupported(i);
  Op& placed = emit(OpKind::kPtx, &i);
  op.source = placed.source;
  op.frame = placed.frame;
  placed = std::move(op);
}

std::optional<std::uint64_t> fractional_policy(const ptx::Instruction& i) {
  if (i.opcode != ptx::Opcode::k_createpolicy || !i.has(Mod::k_fractional)) return std::nullopt;
  const std::uint64_t kind = kind_of(i);
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
