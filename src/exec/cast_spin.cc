// ATOMS.CAST.SPIN, and ATOM.CAST.SPIN for shared memory of other blocks: the compare-and-swap inside the loops that
// ptxas writes for shared atomics without an instruction of their own (add of float, double, 64-bit integers, packed
// halves). It gives 1 to lanes that swapped and 0 to the others.
#include <bit>
#include <cstring>

#include "exec/cluster.h"
#include "exec/machine.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

constexpr unsigned kBanks = 32, kBankBytes = 4;

/// Lanes are served in groups (all of them for 4 bytes, half a warp for 8); in each, the lowest lane of every bank
/// tries its swap and the others of that bank fail without trying (H200: facts of patterns.tsv, 8-byte shared adds).
template <typename T>
GroupMask swap_lanes(Warp& w, const std::uint64_t* address, std::uint8_t* const* host, const T* expected,
                     const T* desired, bool& changed) {
  constexpr unsigned kLanesAtOnce = sizeof(T) == 8 ? 16 : 32;
  GroupMask done = 0;
  for (unsigned begin = 0; begin < kGroupLanes; begin += kLanesAtOnce) {
    std::uint32_t banks_used = 0;
    for (unsigned l = begin; l < begin + kLanesAtOnce; ++l) {
      if (!((w.active >> l) & 1)) continue;
      const auto bank = static_cast<unsigned>(address[l] / sizeof(T) % (kBanks * kBankBytes / sizeof(T)));
      if ((banks_used >> bank) & 1) continue;
      banks_used |= 1u << bank;
      T now;
      std::memcpy(&now, host[l], sizeof now);
      if (now != expected[l]) continue;
      std::memcpy(host[l], &desired[l], sizeof now);
      changed = changed || desired[l] != now;
      done |= 1u << l;
    }
  }
  return done;
}

template <typename T>
void read_values(const Warp& w, std::uint32_t place, T* out) {
  const std::uint32_t* low = w.src<std::uint32_t>(place);
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    std::uint64_t value = low[l];
    if constexpr (sizeof(T) == 8) value |= std::uint64_t{low[l + kGroupLanes]} << 32;
    out[l] = static_cast<T>(value);
  }
}

template <typename T>
const XOp* run(Warp& w, const XOp* op) {
  alignas(64) std::uint64_t address[kGroupLanes] = {};
  std::uint8_t* host[kGroupLanes] = {};
  const bool any = op->source->space == ptx::Space::kGeneric;
  bool own = true;
  const std::uint32_t* base = op->has_base ? w.src<std::uint32_t>(op->a) : nullptr;
  const auto add = static_cast<std::uint32_t>(static_cast<std::uint64_t>(op->offset) + uniform_part(w, op));
  for (GroupMask m = w.active; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    address[l] = (base ? base[l] : 0) + add;
    if (address[l] & (sizeof(T) - 1)) {
      fault_misaligned(w, op, l, address[l], "shared");
      return nullptr;
    }
    const SharedPlace place = shared_place(*w.block, address[l], any);
    if (!place.block) {
      fault_no_block(w, op, l, address[l], any);
      return nullptr;
    }
    if (place.offset + sizeof(T) > place.block->shared_bytes) {
      fault_outside(w, op, l, address[l], "shared", {});
      return nullptr;
    }
    host[l] = place.block->shared + place.offset;
    if (place.block == w.block) continue;
    own = false;
    touch_other_block(w, op, *place.block);
    place.block->progress = true;
  }
  if (w.worker->sink && own) {
    trace::WarpAccess access;
    access.site = op->site;
    access.space = trace::Space::kShared;
    access.kind = trace::Kind::kAtom;
    access.bytes = sizeof(T);
    access.shape = trace::Shape::kScattered;
    access.addresses = address;
    access.swap = true;
    access.mask = w.active;
    access.warp = w.index;
    access.block = w.block->index;
    access.issue = w.steps;
    w.worker->sink->access(access);
  }
  alignas(64) T expected[kGroupLanes], desired[kGroupLanes];
  read_values(w, op->b, expected);
  read_values(w, op->c, desired);
  bool changed = false;
  const GroupMask done = swap_lanes(w, address, host, expected, desired, changed);
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    d[l] = (done >> l) & 1;
    if constexpr (sizeof(T) == 8) d[l + kGroupLanes] = 0;
  }
  if (done != 0)
    w.progress = true;
  else
    ++w.polls;
  return op + 1;
}

}  // namespace

const XOp* run_cast_spin(Warp& w, const XOp* op) {
  return op->bytes == 8 ? run<std::uint64_t>(w, op) : run<std::uint32_t>(w, op);
}

}  // namespace muscope::exec
