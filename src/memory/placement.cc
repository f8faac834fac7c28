#include "memory/placement.h"

#include <iterator>

#include "base/check.h"
#include "memory/address_space.h"

namespace muscope::memory {
namespace {

constexpr std::uint64_t kLargestSmall = std::uint64_t{1} << 20;  // two blocks of 1 MiB share a slab, 1 MiB + 1 does not

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

Placement::Placement(std::uint64_t bytes) {
  MUSCOPE_CHECK(bytes % kGranule == 0);
  if (bytes > 0) granules_.emplace(0, bytes);
}

std::optional<std::uint64_t> Placement::take(Holes& holes, std::uint64_t bytes) {
  auto chosen = holes.end();
  for (auto it = holes.begin(); it != holes.end(); ++it) {
    if (it->second == bytes) {  // a freed block of the same size comes first
      chosen = it;
      break;
    }
    if (chosen == holes.end() && it->second > bytes) chosen = it;
  }
  if (chosen == holes.end()) return std::nullopt;
  const auto [offset, length] = *chosen;
  holes.erase(chosen);
  if (length > bytes) holes.emplace(offset + bytes, length - bytes);
  return offset;
}

void Placement::give(Holes& holes, std::uint64_t offset, std::uint64_t bytes) {
  auto next = holes.lower_bound(offset);
  if (next != holes.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = holes.erase(next);
  }
  if (next != holes.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  holes.emplace(offset, bytes);
}

bool Placement::fits(const Holes& holes, std::uint64_t bytes) {
  for (const auto& [offset, length] : holes) {
    if (length >= bytes) return true;
  }
  return false;
}

std::uint64_t Placement::would_map(std::uint64_t bytes) const {
  if (bytes > kLargestSmall) return round_up(bytes, kGranule);
  const std::uint64_t rounded = round_up(bytes, kSmallStep);
  for (const auto& [offset, slab] : slabs_) {
    if (fits(slab.holes, rounded)) return 0;
  }
  return kGranule;
}

std::optional<Placement::Placed> Placement::place(std::uint64_t bytes) {
  if (bytes == 0 || bytes > (std::uint64_t{1} << 62)) return std::nullopt;
  if (bytes > kLargestSmall) {
    const std::uint64_t rounded = round_up(bytes, kGranule);
    const auto offset = take(granules_, rounded);
    if (!offset) return std::nullopt;
    blocks_.emplace(*offset, rounded);
    return Placed{{*offset, rounded}, {*offset, rounded}};
  }
  const std::uint64_t rounded = round_up(bytes, kSmallStep);
  for (auto& [base, slab] : slabs_) {
    if (const auto inside = take(slab.holes, rounded)) {
      ++slab.blocks;
      blocks_.emplace(base + *inside, rounded);
      return Placed{{base + *inside, rounded}, {}};
    }
  }
  const auto base = take(granules_, kGranule);
  if (!base) return std::nullopt;
  Slab& slab = slabs_[*base];
  slab.blocks = 1;
  slab.holes.emplace(rounded, kGranule - rounded);
  blocks_.emplace(*base, rounded);
  return Placed{{*base, rounded}, {*base, kGranule}};
}

std::optional<Placement::Removed> Placement::remove(std::uint64_t offset) {
  const auto found = blocks_.find(offset);
  if (found == blocks_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second;
  blocks_.erase(found);
  const std::uint64_t granule = offset / kGranule * kGranule;
  const auto slab = slabs_.find(granule);
  if (slab == slabs_.end()) {
    give(granules_, offset, bytes);
    return Removed{{offset, bytes}, {offset, bytes}};
  }
  give(slab->second.holes, offset - granule, bytes);
  if (--slab->second.blocks > 0) return Removed{{offset, bytes}, {}};
  slabs_.erase(slab);
  give(granules_, granule, kGranule);
  return Removed{{offset, bytes}, {granule, kGranule}};
}

}  // namespace muscope::memory
