// mov, packing, address space conversions and the registers that change while a kernel runs.
#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using ptx::Opcode;
using ptx::Type;

template <typename T>
struct Same {
  static T apply(T a) { return a; }
};

const XOp* move_predicate(Warp& w, const XOp* op) {
  write_predicate(w, op->dst, read_predicate(w, op->a, op->a_negated));
  return op + 1;
}

/// mov.b64 d, {lo, hi} and its relatives: the parts stand in code::Op::list.
template <typename Whole, typename Part, unsigned kStep>
const XOp* pack(Warp& w, const XOp* op) {
  const auto& parts = op->source->list;
  Whole* d = w.dst<Whole>(op->dst);
  alignas(64) Whole whole[kGroupLanes] = {};
  for (unsigned k = 0; k < parts.size(); ++k) {
    if (!parts[k].exists()) continue;
    const Part* p = w.src<Part>(parts[k].bits);
    const unsigned shift = k * kStep;
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      // A byte's register may hold more than the byte.
      const auto part = static_cast<Whole>(kStep == 8 ? p[l] & 0xff : p[l]);
      whole[l] = static_cast<Whole>(whole[l] | static_cast<Whole>(part << shift));
    }
  }
  for_lanes(w, d, [&](unsigned l) { return whole[l]; });
  return op + 1;
}

template <typename Whole, typename Part, unsigned kStep>
const XOp* unpack(Warp& w, const XOp* op) {
  const auto& parts = op->source->list;
  alignas(64) Whole whole[kGroupLanes];
  std::memcpy(whole, w.src<Whole>(op->a), sizeof whole);
  for (unsigned k = 0; k < parts.size(); ++k) {
    if (!parts[k].exists()) continue;
    const unsigned shift = k * kStep;
    for_lanes(w, w.dst<Part>(parts[k].bits), [&, shift](unsigned l) {
      return static_cast<Part>(static_cast<Part>(whole[l] >> shift) &
                               (kStep == 8 ? static_cast<Part>(0xff) : static_cast<Part>(-1)));
    });
  }
  return op + 1;
}

const XOp* pack_bytes(Warp& w, const XOp* op) {
  return ptx::size_of(op->source->type) == 2 ? pack<std::uint16_t, std::uint16_t, 8>(w, op)
                                             : pack<std::uint32_t, std::uint16_t, 8>(w, op);
}
const XOp* unpack_bytes(Warp& w, const XOp* op) {
  return ptx::size_of(op->source->type) == 2 ? unpack<std::uint16_t, std::uint16_t, 8>(w, op)
                                             : unpack<std::uint32_t, std::uint16_t, 8>(w, op);
}

Handler parts_handler(const code::Op& op, bool packs) {
  const int part = ptx::size_of(op.type2), whole = ptx::size_of(op.type);
  using std::uint16_t, std::uint32_t, std::uint64_t;
  if (part == 1) return packs ? pack_bytes : unpack_bytes;
  if (part == 2 && whole == 4) return packs ? pack<uint32_t, uint16_t, 16> : unpack<uint32_t, uint16_t, 16>;
  if (part == 2 && whole == 8) return packs ? pack<uint64_t, uint16_t, 16> : unpack<uint64_t, uint16_t, 16>;
  if (part == 4 && whole == 8) return packs ? pack<uint64_t, uint32_t, 32> : unpack<uint64_t, uint32_t, 32>;
  return nullptr;
}

/// cvta: adds or removes the base of a window; global and const addresses are generic already.
template <typename T, bool kTo>
const XOp* convert_address(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  const T window = static_cast<T>(op->offset);
  for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) { return static_cast<T>(kTo ? a[l] - window : a[l] + window); });
  return op + 1;
}

const XOp* is_space(Warp& w, const XOp* op) {
  const std::uint64_t* a = w.src<std::uint64_t>(op->a);
  const std::uint64_t window = static_cast<std::uint64_t>(op->offset);
  if (window == code::kSharedWindow && !op->source->cluster) {  // of the thread's own block
    const std::uint64_t own = window + (std::uint64_t{w.block->rank} << code::kRankShift);
    write_predicate(w, op->dst, mask_of([=](unsigned l) { return a[l] - own <= code::kRankOffsetMask; }));
  } else if (window == 0) {  // global: everything outside the windows
    write_predicate(w, op->dst, mask_of([=](unsigned l) { return a[l] < code::kSharedWindow; }));
  } else {
    write_predicate(w, op->dst, mask_of([=](unsigned l) { return a[l] - window < code::kWindowBytes; }));
  }
  return op + 1;
}

const XOp* local_address(Warp& w, const XOp* op) {
  const std::uint64_t address = w.local_base + static_cast<std::uint64_t>(op->offset);
  if (op->bytes == 8)
    for_lanes(w, w.dst<std::uint64_t>(op->dst), [=](unsigned) { return address; });
  else
    for_lanes(w, w.dst<std::uint32_t>(op->dst), [=](unsigned) { return static_cast<std::uint32_t>(address); });
  return op + 1;
}

/// Clocks derive from executed instructions, so that they are the same in every run. They are not time.
const XOp* changing_register(Warp& w, const XOp* op) {
  constexpr std::uint64_t kCyclesPerInstruction = 4;
  w.steps += 1;
  const std::uint64_t cycles = w.steps * kCyclesPerInstruction + 1;
  std::uint64_t value = cycles;
  switch (op->source->special) {
    case ptx::Special::kClockHi:
    case ptx::Special::kGlobaltimerHi:
      value = cycles >> 32;
      break;
    default:
      break;
  }
  if (op->bytes == 8)
    for_lanes(w, w.dst<std::uint64_t>(op->dst), [=](unsigned) { return value; });
  else
    for_lanes(w, w.dst<std::uint32_t>(op->dst), [=](unsigned) { return static_cast<std::uint32_t>(value); });
  return op + 1;
}

}  // namespace

Handler find_move(const code::Op& op) {
  if (op.kind == code::OpKind::kLocalAddress) return local_address;
  switch (op.opcode) {
    case Opcode::k_mov:
      if (op.special != ptx::Special::kNone) return changing_register;
      if (op.type == Type::kPred) return move_predicate;
      if (!op.list.empty()) return parts_handler(op, op.dst.exists());
      switch (ptx::size_of(op.type)) {
        case 2:
          return Unary<std::uint16_t, std::uint16_t, Same<std::uint16_t>>::run;
        case 4:
          return Unary<std::uint32_t, std::uint32_t, Same<std::uint32_t>>::run;
        case 8:
          return Unary<std::uint64_t, std::uint64_t, Same<std::uint64_t>>::run;
        default:
          return nullptr;
      }
    case Opcode::k_cvta: {
      const bool to = op.source->has(ptx::Mod::k_to);
      if (ptx::size_of(op.type) == 8)
        return to ? convert_address<std::uint64_t, true> : convert_address<std::uint64_t, false>;
      return nullptr;
    }
    case Opcode::k_isspacep:
      return is_space;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
