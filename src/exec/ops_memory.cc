// Loads and stores: addresses are classified once (uniform, affine, scattered), checked, reported to the sink, then
// moved.
#include <algorithm>
#include <bit>

#include "exec/addresses.h"
#include "exec/cluster.h"
#include "exec/op_table.h"
#include "exec/ops_common.h"
#include "exec/translate.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

[[gnu::always_inline]] inline void report(Warp& w, const XOp* op, const Addresses& a, trace::Space space, bool store,
                                          bool host, std::uint64_t rebase) {
  if (!w.worker->sink || op->site == 0xffffffffu) return;
  trace::WarpAccess access;
  access.site = op->site;
  access.space = space;
  access.kind = store ? trace::Kind::kStore : trace::Kind::kLoad;
  access.bytes = op->bytes;
  access.shape = a.shape;
  access.host_memory = host;
  access.generic = op->flags & 2;
  access.mask = w.active;
  access.warp = w.index;
  access.block = w.block->index;
  access.issue = w.steps;
  access.base = a.base - rebase;
  access.stride = a.stride;
  access.addresses = a.each;
  if (rebase != 0 && a.shape == Shape::kScattered) {
    alignas(64) std::uint64_t moved[kGroupLanes];
    for (unsigned l = 0; l < kGroupLanes; ++l) moved[l] = a.each[l] - rebase;
    access.addresses = moved;
    w.worker->sink->access(access);
    return;
  }
  w.worker->sink->access(access);
}

/// Whether `bytes` at every address in [low, high] lie in [begin, end). Written so that addresses near 2^64 cannot
/// wrap.
[[gnu::always_inline]] inline bool inside(std::uint64_t low, std::uint64_t high, std::uint64_t bytes,
                                          std::uint64_t begin, std::uint64_t end) {
  return low >= begin && high < end && end - high >= bytes;
}

const XOp* fault_stop(Warp& w) {
  w.stop = Stop::kFault;
  return nullptr;
}

/// Data of affine or uniform lanes starts at base + distance; scattered ones get one pointer each.
[[gnu::always_inline]] inline const XOp* finish(Warp& w, const XOp* op, Addresses& a, std::uint64_t distance) {
  HostLanes host;
  if (a.shape == Shape::kScattered) {
    for (unsigned l = 0; l < kGroupLanes; ++l) a.each[l] += distance;
    host.each = a.each;
  } else {
    host.uniform = a.shape == Shape::kUniform;
    host.affine = a.shape == Shape::kAffine;
    host.base = a.base + distance;
    host.stride = a.stride;
  }
  op->data(w, op, host);
  return op + 1;
}

template <bool kStore>
const XOp* global_access(Warp& w, const XOp* op, Addresses& a) {
  if (a.bits & (op->bytes - 1u)) {
    spread(a);
    const unsigned lane = first_misaligned(w, a, op->bytes);
    fault_misaligned(w, op, lane, a.each[lane], "global");
    return fault_stop(w);
  }
  if (op->polls) ++w.polls;
  if (kStore) w.progress = true;
  const memory::Allocation& record = w.worker->records[op->site];
  if (inside(a.low, a.high, op->bytes, record.base, record.end)) {
    const bool host = record.kind == memory::Kind::kPinned || record.kind == memory::Kind::kRegistered;
    report(w, op, a, trace::Space::kGlobal, kStore, host, 0);
    if (record.kind == memory::Kind::kManaged) touch_managed(w, record, a.low, a.high + op->bytes);
    return finish(w, op, a, static_cast<std::uint64_t>(record.distance));
  }
  // Not the allocation of last time: look it up, lane by lane where several are involved.
  Addresses lanes;
  std::memcpy(&lanes, &a, sizeof lanes);
  spread(lanes);
  alignas(64) std::uint64_t pointers[kGroupLanes];
  if (!resolve_global(w, op, lanes.each, op->bytes, pointers)) return fault_stop(w);
  const memory::Allocation& fresh = w.worker->records[op->site];
  const bool host = a.low >= fresh.base && a.low < fresh.end &&
                    (fresh.kind == memory::Kind::kPinned || fresh.kind == memory::Kind::kRegistered);
  report(w, op, a, trace::Space::kGlobal, kStore, host, 0);
  HostLanes places;
  places.each = pointers;
  op->data(w, op, places);
  return op + 1;
}

/// Offsets in the shared memory of `block`.
template <bool kStore>
[[gnu::always_inline]] inline const XOp* block_access(Warp& w, const XOp* op, Addresses& a, Block& block) {
  if (a.bits & (op->bytes - 1u)) {
    spread(a);
    const unsigned lane = first_misaligned(w, a, op->bytes);
    fault_misaligned(w, op, lane, a.each[lane], "shared");
    return fault_stop(w);
  }
  if (a.high + op->bytes > block.shared_bytes || a.high + op->bytes < a.high) {
    spread(a);
    for (GroupMask left = w.active; left; left &= left - 1) {
      const unsigned l = static_cast<unsigned>(std::countr_zero(left));
      if (a.each[l] + op->bytes > block.shared_bytes || a.each[l] + op->bytes < a.each[l]) {
        fault_outside(w, op, l, a.each[l], "shared", {});
        return fault_stop(w);
      }
    }
  }
  if (op->polls) ++w.polls;
  if (kStore) w.progress = true;
  if (&block == w.block)
    report(w, op, a, trace::Space::kShared, kStore, false, 0);
  else if (kStore)
    block.progress = true;
  return finish(w, op, a, reinterpret_cast<std::uint64_t>(block.shared));
}

void subtract(Addresses& a, std::uint64_t amount) {
  a.base -= amount, a.low -= amount, a.high -= amount;
  if (a.shape == Shape::kScattered)
    for (unsigned l = 0; l < kGroupLanes; ++l) a.each[l] -= amount;
}

/// Addresses that hold the rank of a block. Lanes with different ranks are run one rank at a time.
template <bool kStore>
[[gnu::noinline]] const XOp* ranked_access(Warp& w, const XOp* op, Addresses& a, bool any) {
  const auto rank_of = [](std::uint64_t v) { return v >> code::kRankShift; };
  if (rank_of(a.low) == rank_of(a.high)) {
    Block* const block = shared_place(*w.block, a.low, any).block;
    if (!block) {
      fault_no_block(w, op, static_cast<unsigned>(std::countr_zero(w.active)), a.low, any);
      return fault_stop(w);
    }
    if (block != w.block) touch_other_block(w, op, *block);
    subtract(a, rank_of(a.low) << code::kRankShift);
    return block_access<kStore>(w, op, a, *block);
  }
  spread(a);
  const GroupMask before = w.active;
  const XOp* next = op + 1;
  for (GroupMask left = before; left && next;) {
    Addresses part;
    part.shape = Shape::kScattered;
    const std::uint64_t rank = rank_of(a.each[std::countr_zero(left)]);
    part.low = ~std::uint64_t{0}, part.high = 0, part.bits = 0;
    GroupMask same = 0;
    for (GroupMask m = left; m; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      if (rank_of(a.each[l]) != rank) continue;
      same |= 1u << l;
      part.low = std::min(part.low, a.each[l]), part.high = std::max(part.high, a.each[l]);
      part.bits |= a.each[l];
    }
    std::memcpy(part.each, a.each, sizeof part.each);
    set_active(w, same);
    next = ranked_access<kStore>(w, op, part, any);
    left &= ~same;
  }
  set_active(w, before);
  return next;
}

/// `any`: an address of any block of the cluster. Without a register it is an offset in the own block's memory.
template <bool kStore>
[[gnu::always_inline]] inline const XOp* shared_access(Warp& w, const XOp* op, Addresses& a, bool any) {
  if (a.high >= std::uint64_t{1} << code::kRankShift || (w.block->rank != 0 && op->has_base))
    return ranked_access<kStore>(w, op, a, any);
  return block_access<kStore>(w, op, a, *w.block);
}

template <bool kStore>
const XOp* local_access(Warp& w, const XOp* op, Addresses& a) {
  if (a.bits & (op->bytes - 1u)) {
    spread(a);
    const unsigned lane = first_misaligned(w, a, op->bytes);
    fault_misaligned(w, op, lane, a.each[lane], "local");
    return fault_stop(w);
  }
  if (a.high + op->bytes > w.local_stride || a.high + op->bytes < a.high) {
    spread(a);
    for (GroupMask left = w.active; left; left &= left - 1) {
      const unsigned l = static_cast<unsigned>(std::countr_zero(left));
      if (a.each[l] + op->bytes > w.local_stride || a.each[l] + op->bytes < a.each[l]) {
        fault_outside(w, op, l, a.each[l], "local", {});
        return fault_stop(w);
      }
    }
  }
  report(w, op, a, trace::Space::kLocal, kStore, false, 0);
  // Every lane has a frame of its own.
  const auto base = reinterpret_cast<std::uint64_t>(w.local);
  HostLanes host;
  if (a.shape == Shape::kScattered) {
    for (unsigned l = 0; l < kGroupLanes; ++l) a.each[l] += base + std::uint64_t{w.local_stride} * l;
    host.each = a.each;
  } else {
    host.affine = true;
    host.base = a.base + base;
    host.stride = a.stride + static_cast<std::int64_t>(w.local_stride);
  }
  op->data(w, op, host);
  return op + 1;
}

template <bool kParam>
const XOp* constant_access(Warp& w, const XOp* op);

template <bool kStore, Space kSpace>
const XOp* access(Warp& w, const XOp* op) {
  Addresses a;
  if constexpr (kSpace == Space::kGlobal) {
    find_addresses(w, op, 0, a);
    return global_access<kStore>(w, op, a);
  } else if constexpr (kSpace == Space::kShared) {
    find_addresses(w, op, 0, a);
    return shared_access<kStore>(w, op, a, op->source->cluster);
  } else if constexpr (kSpace == Space::kLocal) {
    find_addresses(w, op, op->local_relative ? w.local_base : 0, a);
    return local_access<kStore>(w, op, a);
  } else {
    find_addresses(w, op, 0, a);
    // Generic: the window decides. Lanes in different spaces are run one space at a time.
    const auto window = [](std::uint64_t v) { return v >> 40; };
    if (window(a.low) == window(a.high) || (a.high < code::kSharedWindow)) {
      const std::uint64_t which = a.low >= code::kSharedWindow ? window(a.low) : 0;
      std::uint64_t base = 0;
      if (which == window(code::kSharedWindow)) base = code::kSharedWindow;
      if (which == window(code::kLocalWindow)) base = code::kLocalWindow;
      if (!kStore && which == window(code::kParamWindow)) return constant_access<true>(w, op);
      if (base != 0) {
        subtract(a, base);
        return base == code::kSharedWindow ? shared_access<kStore>(w, op, a, true) : local_access<kStore>(w, op, a);
      }
      return global_access<kStore>(w, op, a);
    }
    spread(a);
    const GroupMask before = w.active;
    const XOp* next = op + 1;
    for (GroupMask left = before; left && next;) {
      const std::uint64_t mine = a.each[std::countr_zero(left)];
      const std::uint64_t which = mine >= code::kSharedWindow ? window(mine) : 0;
      GroupMask same = 0;
      for (GroupMask m = left; m; m &= m - 1) {
        const unsigned l = static_cast<unsigned>(std::countr_zero(m));
        const std::uint64_t other = a.each[l] >= code::kSharedWindow ? window(a.each[l]) : 0;
        if (other == which) same |= 1u << l;
      }
      set_active(w, same);
      next = access<kStore, kSpace>(w, op);
      left &= ~same;
    }
    set_active(w, before);
    return next;
  }
}

/// ld.const and ld.param with a computed address. Constants live in device memory; parameters in the launch's buffer.
template <bool kParam>
const XOp* constant_access(Warp& w, const XOp* op) {
  Addresses a;
  find_addresses(w, op, 0, a);
  std::uint64_t low, bytes, host;
  read_only_bank(w, kParam, low, bytes, host);
  if (a.bits & (op->bytes - 1u)) {
    spread(a);
    const unsigned lane = first_misaligned(w, a, op->bytes);
    fault_misaligned(w, op, lane, a.each[lane], kParam ? "param" : "constant");
    return fault_stop(w);
  }
  if (!inside(a.low, a.high, op->bytes, low, low + bytes)) {
    spread(a);
    for (GroupMask left = w.active; left; left &= left - 1) {
      const unsigned l = static_cast<unsigned>(std::countr_zero(left));
      if (!inside(a.each[l], a.each[l], op->bytes, low, low + bytes)) {
        fault_outside(w, op, l, a.each[l], kParam ? "param" : "constant", {});
        return fault_stop(w);
      }
    }
  }
  report(w, op, a, trace::Space::kConst, false, false, low);
  return finish(w, op, a, host - low);
}

/// Copies E-wide elements between memory and R-wide register lanes, kVector per lane.
template <typename E, typename R, unsigned kVector>
void load(Warp& w, const XOp* op, const HostLanes& host) {
  const auto& list = op->source->list;
  R* d[kVector];
  for (unsigned v = 0; v < kVector; ++v) d[v] = list[v].exists() ? w.dst<R>(list[v].bits) : nullptr;
  if (host.uniform) {
    for (unsigned v = 0; v < kVector; ++v) {
      if (!d[v]) continue;
      E e;
      std::memcpy(&e, reinterpret_cast<const void*>(host.base + v * sizeof(E)), sizeof(E));
      for_lanes(w, d[v], [=](unsigned) { return static_cast<R>(e); });
    }
    return;
  }
  if constexpr (kVector == 1) {
    if (!d[0]) return;
    if (host.affine && host.stride == static_cast<std::int64_t>(sizeof(E)) && w.active == kAllLanes) {
      if constexpr (std::is_same_v<E, R>) {
        std::memcpy(d[0], reinterpret_cast<const void*>(host.base), sizeof(E) * kGroupLanes);
      } else {
        E e[kGroupLanes];
        std::memcpy(e, reinterpret_cast<const void*>(host.base), sizeof e);
        for (unsigned l = 0; l < kGroupLanes; ++l) d[0][l] = static_cast<R>(e[l]);
      }
      return;
    }
  }
  const auto copy = [&](unsigned l) {
    E e[kVector];
    std::memcpy(e, host.at(l), sizeof e);
    for (unsigned v = 0; v < kVector; ++v)
      if (d[v]) d[v][l] = static_cast<R>(e[v]);
  };
  if (w.active == kAllLanes) {
    for (unsigned l = 0; l < kGroupLanes; ++l) copy(l);
  } else {
    for (GroupMask left = w.active; left; left &= left - 1) copy(static_cast<unsigned>(std::countr_zero(left)));
  }
}

template <typename E, typename R, unsigned kVector>
void store(Warp& w, const XOp* op, const HostLanes& host) {
  const auto& list = op->source->list;
  const R* s[kVector];
  for (unsigned v = 0; v < kVector; ++v) s[v] = w.src<R>(list[v].bits);
  if constexpr (kVector == 1 && std::is_same_v<E, R>) {
    if (host.affine && host.stride == static_cast<std::int64_t>(sizeof(E)) && w.active == kAllLanes) {
      std::memcpy(reinterpret_cast<void*>(host.base), s[0], sizeof(E) * kGroupLanes);
      return;
    }
  }
  // Ascending lanes: of several lanes that write one address the highest stays.
  for (GroupMask left = w.active; left; left &= left - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(left));
    E e[kVector];
    for (unsigned v = 0; v < kVector; ++v) e[v] = static_cast<E>(s[v][l]);
    std::memcpy(host.at(l), e, sizeof e);
  }
}

template <typename E, typename R>
DataHandler by_vector(bool is_store, unsigned vector) {
  switch (vector) {
    case 1:
      return is_store ? store<E, R, 1> : load<E, R, 1>;
    case 2:
      return is_store ? store<E, R, 2> : load<E, R, 2>;
    case 4:
      return is_store ? store<E, R, 4> : load<E, R, 4>;
    default:
      return nullptr;
  }
}

template <typename E>
DataHandler by_register(bool is_store, unsigned vector, unsigned lane_bytes) {
  // Registers are unsigned lanes; the element's sign decides how it is extended.
  switch (lane_bytes) {
    case 2:
      if constexpr (sizeof(E) <= 2)
        return by_vector<E, std::uint16_t>(is_store, vector);
      else
        return nullptr;
    case 4:
      if constexpr (sizeof(E) <= 4)
        return by_vector<E, std::uint32_t>(is_store, vector);
      else
        return nullptr;
    case 8:
      return by_vector<E, std::uint64_t>(is_store, vector);
    default:
      return nullptr;
  }
}

DataHandler data_handler(const code::Op& op, bool is_store) {
  const unsigned lanes = op.dst_lane_bytes, v = op.vector;
  switch (op.type) {
    case Type::kB8:
    case Type::kU8:
      return by_register<std::uint8_t>(is_store, v, lanes);
    case Type::kS8:
      return by_register<std::int8_t>(is_store, v, lanes);
    case Type::kB16:
    case Type::kU16:
    case Type::kF16:
    case Type::kBF16:
      return by_register<std::uint16_t>(is_store, v, lanes);
    case Type::kS16:
      return by_register<std::int16_t>(is_store, v, lanes);
    case Type::kB32:
    case Type::kU32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBF16x2:
      return by_register<std::uint32_t>(is_store, v, lanes);
    case Type::kS32:
      return by_register<std::int32_t>(is_store, v, lanes);
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return by_register<std::uint64_t>(is_store, v, lanes);
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_memory(const code::Op& op, DataHandler* data) {
  const bool is_store = op.opcode == Opcode::k_st;
  if (!is_store && op.opcode != Opcode::k_ld && op.opcode != Opcode::k_ldu) return nullptr;
  *data = data_handler(op, is_store);
  if (!*data) return nullptr;
  switch (op.space) {
    case Space::kGlobal:
      return is_store ? access<true, Space::kGlobal> : access<false, Space::kGlobal>;
    case Space::kShared:
      return is_store ? access<true, Space::kShared> : access<false, Space::kShared>;
    case Space::kLocal:
      return is_store ? access<true, Space::kLocal> : access<false, Space::kLocal>;
    case Space::kGeneric:
      return is_store ? access<true, Space::kGeneric> : access<false, Space::kGeneric>;
    case Space::kConst:
      return is_store ? nullptr : constant_access<false>;
    case Space::kParam:
      return is_store ? nullptr : constant_access<true>;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
