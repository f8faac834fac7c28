// cp.async, LDGSTS, cp.async.bulk, UBLKCP.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "code/async.h"
#include "exec/async.h"
#include "exec/cluster.h"
#include "exec/reduction.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

using ptx::Space;

constexpr std::uint32_t kBulkBytes = 16;  ///< what sizes and addresses of bulk copies are multiples of (PTX ISA)

unsigned lowest(GroupMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

void report(const Warp& w, const XOp* op, trace::Space space, GroupMask mask, const std::uint64_t* addresses,
            bool host_memory, const trace::AsyncCopy* lanes) {
  if (!w.worker->sink) return;
  const code::AsyncDetails& copy = *op->source->async;
  trace::WarpAccess access;
  access.site = op->site;
  access.space = space;
  access.kind = copy.bypass ? trace::Kind::kCopyAround : trace::Kind::kCopy;
  access.bytes = copy.bytes;
  access.shape = mask == 0 ? trace::Shape::kUniform : trace::Shape::kScattered;
  access.addresses = addresses;
  access.host_memory = host_memory;
  access.mask = mask;
  access.warp = w.index;
  access.block = w.block->index;
  access.issue = w.steps;
  access.copy = lanes;
  if (mask != 0) {
    // Regular addresses take the short way through the counting rules.
    const unsigned first = lowest(mask);
    const unsigned second = (mask & (mask - 1)) != 0 ? lowest(mask & (mask - 1)) : first;
    const std::int64_t gap = static_cast<std::int64_t>(addresses[second] - addresses[first]);
    const std::int64_t stride = second == first ? 0 : gap / static_cast<std::int64_t>(second - first);
    const std::uint64_t zero = addresses[first] - static_cast<std::uint64_t>(stride) * first;
    bool regular = true;
    for (GroupMask m = mask; m; m &= m - 1) {
      const unsigned l = lowest(m);
      regular = regular && addresses[l] == zero + static_cast<std::uint64_t>(stride) * l;
    }
    if (regular) {
      access.shape = stride == 0 ? trace::Shape::kUniform : trace::Shape::kAffine;
      access.base = zero;
      access.stride = stride;
    }
  }
  w.worker->sink->access(access);
}

/// How many bytes each lane reads, and from where: lanes whose condition does not hold read none.
struct Reads {
  GroupMask lanes = 0;
  std::uint32_t bytes[kGroupLanes] = {};
};

Reads find_reads(const Warp& w, const code::AsyncDetails& copy, std::uint64_t* from) {
  Reads out;
  GroupMask holds = w.active;
  if (copy.condition.exists()) {
    const GroupMask p = *w.src<std::uint32_t>(copy.condition.bits);
    holds &= copy.condition_negated ? ~p : p;
  }
  const std::uint32_t* amount = copy.amount.exists() ? w.src<std::uint32_t>(copy.amount.bits) : nullptr;
  for (GroupMask m = holds; m; m &= m - 1) {
    const unsigned l = lowest(m);
    std::uint32_t bytes = copy.bytes;
    if (amount) bytes = std::min(bytes, amount[l]);
    if (copy.zeros_in_address) {
      const auto zeros = static_cast<std::uint32_t>(from[l] & (copy.bytes - 1u));
      bytes -= zeros;
      from[l] -= zeros;
    }
    out.bytes[l] = bytes;
    if (bytes != 0) out.lanes |= 1u << l;
  }
  return out;
}

/// Host addresses of what the lanes read. Lanes that read the same number of bytes are looked up together.
bool resolve(Warp& w, const XOp* op, const Reads& reads, const std::uint64_t* from, std::uint64_t* host) {
  const GroupMask all = w.active;
  for (GroupMask left = reads.lanes; left;) {
    const std::uint32_t bytes = reads.bytes[lowest(left)];
    GroupMask same = 0;
    for (GroupMask m = left; m; m &= m - 1)
      if (reads.bytes[lowest(m)] == bytes) same |= m & (0u - m);
    set_active(w, same);
    if (!resolve_global(w, op, from, bytes, host)) return false;
    left &= ~same;
  }
  set_active(w, all);
  return true;
}

/// Whether a range of global memory can be copied; its host address.
std::uint8_t* global_range(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, std::uint32_t bytes) {
  alignas(64) std::uint64_t addresses[kGroupLanes] = {}, host[kGroupLanes] = {};
  addresses[lane] = address;
  const GroupMask all = w.active;
  set_active(w, 1u << lane);
  const bool found = resolve_global(w, op, addresses, bytes, host);
  if (found) set_active(w, all);
  return found ? reinterpret_cast<std::uint8_t*>(host[lane]) : nullptr;
}

/// Whether all of it lies at multiples of the unit of bulk copies; else a fault.
bool check_units(Warp& w, const XOp* op, unsigned lane, std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
  if ((to | from | bytes) % kBulkBytes == 0) return true;
  raise(w, op, Outcome::kMisaligned, "D602",
        fmt::format("bulk copy of {} bytes from {:#x} to {:#x}: both addresses and the size must be multiples of {}",
                    bytes, from, to, kBulkBytes),
        "cp.async.bulk moves whole units of 16 bytes");
  w.worker->fault.lane = lane;
  return false;
}

/// One bulk copy or reduction. False with a fault.
bool copy_range(Warp& w, const XOp* op, unsigned lane, SharedPlace to, SharedPlace from, SharedPlace barrier,
                std::uint32_t bytes) {
  const code::AsyncDetails& copy = *op->source->async;
  if (copy.has_barrier && !check_shared(w, op, lane, barrier, 8, 8)) return false;
  const auto place = [&](SharedPlace p, Space space) -> std::uint8_t* {
    if (space == Space::kGlobal) return global_range(w, op, lane, p.offset, bytes);
    return check_shared(w, op, lane, p, bytes, 1) ? p.block->shared + p.offset : nullptr;
  };
  if (bytes != 0) {
    const std::uint8_t* source = place(from, copy.from.space);
    std::uint8_t* target = source ? place(to, copy.to.space) : nullptr;
    if (!target) return false;
    if (copy.kind == code::AsyncKind::kBulkReduce)
      reduce_range(copy.type, copy.reduction, false, target, source, bytes);
    else
      std::memmove(target, source, bytes);
    if (to.block && to.block != w.block) to.block->progress = true;
  }
  if (copy.has_barrier) complete_transactions(w, barrier, bytes);
  w.progress = true;
  return true;
}

}  // namespace

bool find_async_addresses(Warp& w, const XOp* op, const code::AsyncAddress& address, AsyncPlaces& places) {
  std::uint64_t extra = static_cast<std::uint64_t>(address.offset);
  if (address.uniform.exists()) {
    const std::uint32_t* low = w.src<std::uint32_t>(address.uniform.bits);
    extra += low[0] | (address.uniform_bytes == 8 ? std::uint64_t{low[kGroupLanes]} << 32 : 0);
  }
  const bool narrow = address.space == Space::kShared && address.base_bytes == 4;  // sums wrap at 32 bits
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    std::uint64_t base = 0;
    if (address.base.exists()) {
      if (address.base_bytes == 8) {
        base = w.src<std::uint64_t>(address.base.bits)[l];
      } else {
        const std::uint32_t* low = w.src<std::uint32_t>(address.base.bits);
        base = low[l] | (address.pair ? std::uint64_t{low[l + kGroupLanes]} << 32 : 0);
      }
    }
    places.at[l] = narrow ? static_cast<std::uint32_t>(base + extra) : base + extra;
  }
  if (address.space == Space::kGlobal) return true;
  const bool generic = address.space == Space::kGeneric;
  const bool any = generic || address.cluster, direct = !address.base.exists() && !address.uniform.exists();
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    if (generic && places.at[l] - code::kSharedWindow >= code::kWindowBytes) {
      if (((w.active >> l) & 1) == 0) continue;
      fault_outside(w, op, l, places.at[l], "shared", {});
      return false;
    }
    const SharedPlace place = direct && !generic
                                  ? SharedPlace{w.block, places.at[l]}
                                  : shared_place(*w.block, places.at[l] - (generic ? code::kSharedWindow : 0), any);
    places.block[l] = place.block;
    places.at[l] = place.block ? place.offset : places.at[l];
  }
  return true;
}

bool check_shared(Warp& w, const XOp* op, unsigned lane, SharedPlace place, std::uint64_t bytes,
                  std::uint32_t alignment) {
  if (!place.block) {
    fault_no_block(w, op, lane, place.offset);
    return false;
  }
  if (place.offset % alignment != 0) {
    fault_misaligned(w, op, lane, place.offset, "shared");
    return false;
  }
  if (place.offset > place.block->shared_bytes || bytes > place.block->shared_bytes - place.offset) {
    fault_outside(w, op, lane, place.offset, "shared", {});
    return false;
  }
  if (place.block != w.block) touch_other_block(w, op, *place.block);
  return true;
}

const XOp* run_async_copy(Warp& w, const XOp* op) {
  const code::AsyncDetails& copy = *op->source->async;
  alignas(64) std::uint64_t host[kGroupLanes] = {};
  AsyncPlaces target, source;
  if (!find_async_addresses(w, op, copy.to, target) || !find_async_addresses(w, op, copy.from, source)) return nullptr;
  std::uint64_t* const to = target.at;
  std::uint64_t* const from = source.at;
  const Reads reads = find_reads(w, copy, from);
  for (GroupMask m = w.active; m; m &= m - 1)
    if (!check_shared(w, op, lowest(m), target[lowest(m)], copy.bytes, copy.bytes)) return nullptr;
  for (GroupMask m = reads.lanes; m; m &= m - 1) {
    const unsigned l = lowest(m);
    if (from[l] % copy.bytes == 0) continue;
    fault_misaligned(w, op, l, from[l], "global");
    return nullptr;
  }
  if (!resolve(w, op, reads, from, host)) return nullptr;
  const memory::Kind kind = w.worker->records[op->site].kind;
  trace::AsyncCopy lanes{from, to, w.active, reads.lanes, 0, copy.bytes};
  for (GroupMask m = w.active; m; m &= m - 1)
    if (reads.bytes[lowest(m)] != copy.bytes) lanes.filled |= m & (0u - m);
  report(w, op, trace::Space::kGlobal, reads.lanes, from,
         kind == memory::Kind::kPinned || kind == memory::Kind::kRegistered, &lanes);
  report(w, op, trace::Space::kShared, w.active, to, false, &lanes);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = lowest(m);
    std::uint8_t data[16] = {};
    if (reads.bytes[l] != 0) std::memcpy(data, reinterpret_cast<const void*>(host[l]), reads.bytes[l]);
    std::memcpy(target.block[l]->shared + to[l], data, copy.bytes);
  }
  w.progress = true;
  return op + 1;
}

void report_no_copy(const Warp& w, const XOp* op) {
  if (op->source->async->kind != code::AsyncKind::kCopy) return;
  report(w, op, trace::Space::kGlobal, 0, nullptr, false, nullptr);
  report(w, op, trace::Space::kShared, 0, nullptr, false, nullptr);
}

const XOp* run_bulk_copy(Warp& w, const XOp* op) {
  const code::AsyncDetails& copy = *op->source->async;
  AsyncPlaces to, from, barrier;
  if (!find_async_addresses(w, op, copy.to, to) || !find_async_addresses(w, op, copy.from, from)) return nullptr;
  if (copy.has_barrier && !find_async_addresses(w, op, copy.barrier, barrier)) return nullptr;
  const std::uint32_t* amount = w.src<std::uint32_t>(copy.amount.bits);
  // Machine code: of the uniform datapath, one copy whatever lanes run.
  const GroupMask lanes = op->source->uniform ? GroupMask{1} : w.active;
  for (GroupMask m = lanes; m; m &= m - 1) {
    const unsigned l = lowest(m);
    const std::uint32_t bytes = copy.units == 1 ? amount[l] : (amount[l] & 0xffffu) * copy.units;
    if (!check_units(w, op, l, to.at[l], from.at[l], bytes)) return nullptr;
    if (!copy.multicast.exists() && !copy.multicast_in_amount) {
      if (!copy_range(w, op, l, to[l], from[l], barrier[l], bytes)) return nullptr;
      continue;
    }
    // The same offsets in the shared memory of each block that the mask names (PTX ISA, ".multicast::cluster").
    const std::uint32_t ranks =
        copy.multicast_in_amount ? amount[l] >> 16 : w.src<std::uint16_t>(copy.multicast.bits)[l];
    for (std::uint32_t left = ranks; left; left &= left - 1) {
      const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
      Block* const block = rank < w.block->peers.size() ? w.block->peers[rank] : nullptr;
      if (!block) {
        fault_no_block(w, op, l, std::uint64_t{rank} << code::kRankShift | to.at[l]);
        return nullptr;
      }
      if (!copy_range(w, op, l, {block, to.at[l]}, from[l], {block, barrier.at[l]}, bytes)) return nullptr;
    }
  }
  return op + 1;
}

}  // namespace muscope::exec
