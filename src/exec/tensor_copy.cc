// Copies by tensor maps: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, UTMALDG, UTMASTG, UTMAREDG; tile mode.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "code/async.h"
#include "exec/async.h"
#include "exec/builtin_call.h"
#include "exec/cluster.h"
#include "exec/control.h"
#include "exec/reduction.h"
#include "exec/tensor_map.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

constexpr std::uint32_t kUnit = 16, kTileAlignment = 128;  ///< bytes
constexpr std::uint16_t kNan = 0x7ff7;  ///< of elements out of bounds, two bytes at a time, in all float types (H200)
constexpr std::uint8_t kTf32 = 11, kTf32Flushed = 12, kFlushed = 10;  ///< CUtensorMapDataType
constexpr std::uint32_t kTf32Dropped = 0x1fff;

using Coordinates = std::array<std::int64_t, 5>;

/// The bytes of a map at a generic address: a kernel parameter, constant or global memory.
bool read_map(Warp& w, unsigned lane, std::uint64_t address, TensorMap::Bytes& bytes) {
  if (address - code::kParamWindow < code::kWindowBytes) {
    std::uint64_t low = 0, size = 0, host = 0;
    read_only_bank(w, true, low, size, host);
    if (address - low > size || size - (address - low) < bytes.size()) return false;
    std::memcpy(bytes.data(), reinterpret_cast<const void*>(host + (address - low)), bytes.size());
    return true;
  }
  return read(w, lane, address, bytes.data(), bytes.size());
}

const XOp* refuse(Warp& w, const XOp* op, const std::string& why) {
  return raise(w, op, Outcome::kIllegalInstruction, "D623", "copy by a tensor map: " + why,
               "the map must be of cuTensorMapEncodeTiled() and of the copy's rank, and the tile begin at 16 bytes");
}

class Tile {
 public:
  Tile(Warp& w, const XOp* op, unsigned lane, const TensorMap& map, const Coordinates& start)
      : w_(w), op_(op), lane_(lane), map_(map), start_(start) {}

  /// Calls f(offset in the tile, host address of what is in bounds or null, bytes) for runs of a row, in order. False
  /// with a fault.
  template <typename F>
  bool for_rows(F&& f) {
    const unsigned size = map_.element_bytes();
    std::uint64_t rows = 1;
    for (unsigned d = 1; d < map_.rank; ++d) rows *= map_.extent(d);
    for (std::uint64_t row = 0; row < rows; ++row) {
      bool inside = true;
      std::uint64_t address = map_.address, rest = row;
      for (unsigned d = 1; d < map_.rank; ++d) {
        const std::int64_t c = start_[d] + static_cast<std::int64_t>(rest % map_.extent(d)) * map_.steps[d];
        rest /= map_.extent(d);
        inside = inside && c >= 0 && static_cast<std::uint64_t>(c) < map_.dims[d];
        address += static_cast<std::uint64_t>(c) * map_.strides[d - 1];
      }
      const std::uint64_t at = row * map_.row_pitch();
      // Elements begin, begin + 1 ... end - 1 of the row lie in bounds.
      const std::int64_t width = map_.box[0], limit = static_cast<std::int64_t>(map_.dims[0]);
      const std::int64_t begin = inside ? std::clamp<std::int64_t>(-start_[0], 0, width) : width;
      const std::int64_t end = inside ? std::clamp<std::int64_t>(limit - start_[0], begin, width) : width;
      if (begin > 0) f(at, nullptr, static_cast<std::uint64_t>(begin) * size);
      if (end > begin && inside) {
        const auto bytes = static_cast<std::uint32_t>(static_cast<std::uint64_t>(end - begin) * size);
        std::uint8_t* const host = find(address + static_cast<std::uint64_t>(start_[0] + begin) * size, bytes);
        if (!host) return false;
        f(at + static_cast<std::uint64_t>(begin) * size, host, bytes);
      }
      if (end < width)
        f(at + static_cast<std::uint64_t>(end) * size, nullptr, static_cast<std::uint64_t>(width - end) * size);
    }
    return true;
  }

 private:
  std::uint8_t* find(std::uint64_t address, std::uint32_t bytes) {
    alignas(64) std::uint64_t addresses[kGroupLanes] = {}, host[kGroupLanes] = {};
    addresses[lane_] = address;
    const GroupMask all = w_.active;
    set_active(w_, 1u << lane_);
    const bool found = resolve_global(w_, op_, addresses, bytes, host);
    if (found) set_active(w_, all);
    return found ? reinterpret_cast<std::uint8_t*>(host[lane_]) : nullptr;
  }

  Warp& w_;
  const XOp* op_;
  unsigned lane_;
  const TensorMap& map_;
  const Coordinates& start_;
};

/// In pieces that a swizzle keeps together: f(place in shared memory, offset in the run, bytes).
template <typename F>
void for_units(const TensorMap& map, std::uint64_t base, std::uint64_t bytes, F&& f) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = base + done, piece = std::min<std::uint64_t>(bytes - done, kUnit - at % kUnit);
    f(swizzled(map.swizzle, at), done, piece);
    done += piece;
  }
}

void fill(const TensorMap& map, std::uint8_t* to, std::uint64_t bytes) {
  std::memset(to, 0, bytes);
  if (!map.nan_fill) return;
  for (std::uint64_t at = 0; at + sizeof kNan <= bytes; at += sizeof kNan) std::memcpy(to + at, &kNan, sizeof kNan);
}

/// Loads the tile into `block`. False with a fault.
bool load_tile(Warp& w, const XOp* op, unsigned lane, const TensorMap& map, const Coordinates& start, SharedPlace to) {
  std::uint8_t* const shared = to.block->shared;
  const bool tf32 = map.type == kTf32 || map.type == kTf32Flushed;
  bool rounds = false;
  const bool done =
      Tile(w, op, lane, map, start).for_rows([&](std::uint64_t at, std::uint8_t* host, std::uint64_t bytes) {
        for_units(map, to.offset + at, bytes, [&](std::uint64_t place, std::uint64_t from, std::uint64_t piece) {
          if (!host) return fill(map, shared + place, piece);
          std::memcpy(shared + place, host + from, piece);
          if (!tf32) return;
          for (std::uint64_t e = 0; e + 4 <= piece; e += 4) {
            std::uint32_t bits;
            std::memcpy(&bits, shared + place + e, sizeof bits);
            rounds = rounds || (bits & kTf32Dropped) > kTf32Dropped / 2;
            bits &= ~kTf32Dropped;
            std::memcpy(shared + place + e, &bits, sizeof bits);
          }
        });
      });
  if (!done) return false;
  if (rounds) {
    raise(w, op, Outcome::kUnsupported, "D609",
          "muscope cannot execute a load of TFLOAT32 elements whose low bits would have to be rounded yet",
          "how hardware rounds them is not measured; the type FLOAT32 keeps all bits");
    return false;
  }
  to.block->progress = true;
  return true;
}

bool store_tile(Warp& w, const XOp* op, unsigned lane, const TensorMap& map, const Coordinates& start,
                SharedPlace from) {
  const code::AsyncDetails& copy = *op->source->async;
  const std::uint8_t* const shared = from.block->shared;
  bool known = true;
  const bool done =
      Tile(w, op, lane, map, start).for_rows([&](std::uint64_t at, std::uint8_t* host, std::uint64_t bytes) {
        if (!host) return;
        for_units(map, from.offset + at, bytes, [&](std::uint64_t place, std::uint64_t to, std::uint64_t piece) {
          if (copy.reduces)
            known = reduce_range(map.element(), copy.reduction, map.type == kFlushed || map.type == kTf32Flushed,
                                 host + to, shared + place, piece) &&
                    known;
          else
            std::memcpy(host + to, shared + place, piece);
        });
      });
  if (done && !known) run_unsupported(w, op);
  return done && known;
}

}  // namespace

const XOp* run_tensor_copy(Warp& w, const XOp* op) {
  const code::AsyncDetails& copy = *op->source->async;
  AsyncPlaces tile, barrier, map_at;
  if (!find_async_addresses(w, op, copy.to, tile) || !find_async_addresses(w, op, copy.from, map_at)) return nullptr;
  if (copy.has_barrier && !find_async_addresses(w, op, copy.barrier, barrier)) return nullptr;
  const GroupMask lanes = op->source->uniform ? GroupMask{1} : w.active;
  for (GroupMask m = lanes; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    TensorMap::Bytes bytes;
    if (!read_map(w, l, map_at.at[l], bytes)) {
      fault_outside(w, op, l, map_at.at[l], "global", "the address of the tensor map");
      return nullptr;
    }
    const auto map = TensorMap::decode(bytes);
    if (!map) return refuse(w, op, "its map is none of cuTensorMapEncodeTiled()");
    if (map->rank != copy.values.size())
      return refuse(
          w, op,
          fmt::format("its {} coordinates are for another rank than the map's, {}", copy.values.size(), map->rank));
    if (map->interleaved) return run_unsupported(w, op);
    Coordinates start{};
    for (unsigned d = 0; d < map->rank; ++d) {
      start[d] = static_cast<std::int32_t>(w.src<std::uint32_t>(copy.values[d].bits)[l]);
      if (!copy.has_barrier && start[d] < 0) return refuse(w, op, "a store before the start of the tensor");
    }
    if (start[0] * static_cast<std::int64_t>(map->element_bytes()) % kUnit != 0)
      return refuse(w, op, fmt::format("its first coordinate, {}, is at no multiple of 16 bytes", start[0]));
    std::uint64_t rows = 1;
    for (unsigned d = 1; d < map->rank; ++d) rows *= map->extent(d);
    const std::uint64_t room = rows * map->row_pitch();
    const auto data = static_cast<std::uint32_t>(rows * map->row_bytes());
    if (!copy.has_barrier) {
      if (!check_shared(w, op, l, tile[l], room, kTileAlignment)) return nullptr;
      if (!store_tile(w, op, l, *map, start, tile[l])) return nullptr;
      w.progress = true;
      continue;
    }
    const auto load = [&](SharedPlace to, SharedPlace phase) {
      if (!check_shared(w, op, l, phase, 8, 8) || !check_shared(w, op, l, to, room, kTileAlignment)) return false;
      if (!load_tile(w, op, l, *map, start, to)) return false;
      complete_transactions(w, phase, data);
      return true;
    };
    if (!copy.multicast.exists()) {
      if (!load(tile[l], barrier[l])) return nullptr;
      continue;
    }
    const std::uint32_t ranks = copy.multicast_in_amount ? w.src<std::uint32_t>(copy.multicast.bits)[l] >> 16
                                                         : w.src<std::uint16_t>(copy.multicast.bits)[l];
    for (std::uint32_t left = ranks; left; left &= left - 1) {
      const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
      if (rank >= w.block->peers.size()) {
        fault_no_block(w, op, l, std::uint64_t{rank} << code::kRankShift | tile.at[l]);
        return nullptr;
      }
      Block* const block = w.block->peers[rank];
      if (!load({block, tile.at[l]}, {block, barrier.at[l]})) return nullptr;
    }
  }
  return op + 1;
}

}  // namespace muscope::exec
