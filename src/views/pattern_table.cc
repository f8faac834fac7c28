#include "views/pattern_table.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace muscope::views {
namespace {

constexpr std::uint64_t kLineMask = 127;

/// The finalizer of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

constexpr std::array<std::uint64_t, kGroupLanes> kLaneFactors = [] {
  std::array<std::uint64_t, kGroupLanes> factors{};
  for (std::size_t lane = 0; lane < kGroupLanes; ++lane) factors[lane] = mix(lane + 1) | 1;
  return factors;
}();

/// What distinguishes one pattern from another. `origin` is subtracted from global addresses: a whole line.
struct Canonical {
  GroupMask mask = 0;
  std::int64_t stride = 0;
  bool scattered = false;
  std::uint64_t base = 0;    ///< of the request
  std::uint64_t offset = 0;  ///< of the base: in its line, or as it is
};

Canonical canonical_of(const trace::WarpAccess& access) {
  Canonical form;
  form.mask = access.mask;
  const auto first = static_cast<unsigned>(std::countr_zero(access.mask));
  if (std::has_single_bit(access.mask)) {
    form.base = access.address(first);
  } else if (access.shape == trace::Shape::kScattered) {
    form.scattered = true;
    form.base = access.addresses[first];
  } else {
    form.base = access.base;
    form.stride = access.shape == trace::Shape::kAffine ? access.stride : 0;
  }
  form.offset = access.space == trace::Space::kGlobal ? form.base & kLineMask : form.base;
  return form;
}

std::uint64_t hash_of(const Canonical& form) {
  return mix(form.mask * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(form.stride) * 0xd1b54a32d192ed03u +
             form.offset * 0xaef17502108ef2d9u);
}

auto time_of(const AccessPattern& p) { return std::tie(p.block, p.warp, p.issue); }

}  // namespace

void PatternTable::extend(std::uint64_t low, std::uint64_t high, std::uint32_t bytes) {
  low_ = std::min(low_, low);
  high_ = std::max(high_, high + bytes);
}

void PatternTable::take_shape(const trace::WarpAccess& access) {
  const std::uint64_t base = access.addresses[std::countr_zero(access.mask)];
  if (access.mask == shape_.mask) {
    std::uint64_t differences = 0;
    if (access.mask == kAllLanes) {
      for (unsigned lane = 0; lane < kGroupLanes; ++lane)
        differences |= (access.addresses[lane] - base) ^ shape_.distances[lane];
    } else {
      for (GroupMask left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        differences |= (access.addresses[lane] - base) ^ shape_.distances[lane];
      }
    }
    if (differences == 0) return;
  }
  shape_.mask = access.mask;
  shape_.low = shape_.high = 0;
  std::uint64_t sum = access.mask * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  for (GroupMask left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t distance = access.addresses[lane] - base;
    shape_.distances[lane] = distance;
    sum += distance * kLaneFactors[lane];
    shape_.low = std::min(shape_.low, static_cast<std::int64_t>(distance));
    shape_.high = std::max(shape_.high, static_cast<std::int64_t>(distance));
  }
  shape_.hash = sum;
}

void PatternTable::count(AccessPattern& p, const trace::WarpAccess& access, std::uint64_t base) {
  ++p.count;
  p.low = std::min(p.low, base);
  p.high = std::max(p.high, base);
  if (access.block > p.block) return;  // the usual case
  if (std::tie(access.block, access.warp, access.issue) >= time_of(p)) return;
  p.block = access.block;
  p.warp = access.warp;
  p.issue = access.issue;
  p.base = base;
  if (p.scattered())
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      p.addresses[lane] = (access.mask >> lane) & 1 ? access.addresses[lane] : 0;
}

std::size_t PatternTable::find(std::uint64_t hash) {
  std::uint8_t& slot = slots_[hash % slots_.size()];
  if (slot != 0 && hashes_[slot - 1u] == hash) return slot - 1u;
  if (is_beyond(hash)) return kNone;
  const auto at = std::find(hashes_.begin(), hashes_.end(), hash);
  if (at == hashes_.end()) return kNone;
  slot = static_cast<std::uint8_t>(at - hashes_.begin() + 1);
  return slot - 1u;
}

std::size_t PatternTable::insert(std::uint64_t hash, AccessPattern pattern) {
  std::size_t at = hashes_.size();
  if (at < kMostPatterns) {
    hashes_.push_back(hash);
    patterns_.push_back(std::move(pattern));
  } else {
    if (is_beyond(hash)) return kNone;
    at = highest_;
    hashes_[at] = hash;
    patterns_[at] = std::move(pattern);
  }
  slots_[hash % slots_.size()] = static_cast<std::uint8_t>(at + 1);
  if (hashes_.size() == kMostPatterns)
    highest_ = static_cast<std::size_t>(std::max_element(hashes_.begin(), hashes_.end()) - hashes_.begin());
  return at;
}

void PatternTable::add(const trace::WarpAccess& access) {
  ++requests_;
  const Canonical form = canonical_of(access);
  std::uint64_t hash = 0;
  if (form.scattered) {
    take_shape(access);
    extend(form.base + static_cast<std::uint64_t>(shape_.low), form.base + static_cast<std::uint64_t>(shape_.high),
           access.bytes);
    hash = mix(shape_.hash + form.offset * 0xaef17502108ef2d9u);
  } else {
    const std::uint64_t a = access.address(static_cast<unsigned>(std::countr_zero(access.mask)));
    const std::uint64_t b = access.address(kGroupLanes - 1 - static_cast<unsigned>(std::countl_zero(access.mask)));
    extend(std::min(a, b), std::max(a, b), access.bytes);
    if (last_ < patterns_.size()) {
      AccessPattern& p = patterns_[last_];
      const std::uint64_t kept = access.space == trace::Space::kGlobal ? kLineMask : ~std::uint64_t{0};
      if (p.mask == form.mask && p.stride == form.stride && ((p.base ^ form.base) & kept) == 0 && !p.scattered())
        return count(p, access, form.base);
    }
    hash = hash_of(form);
  }
  if (const std::size_t at = find(hash); at != kNone) {
    last_ = at;
    return count(patterns_[at], access, form.base);
  }
  if (is_beyond(hash)) return;
  AccessPattern pattern;
  pattern.mask = form.mask;
  pattern.stride = form.stride;
  pattern.count = 1;
  pattern.base = pattern.low = pattern.high = form.base;
  pattern.block = access.block;
  pattern.warp = access.warp;
  pattern.issue = access.issue;
  if (form.scattered) {
    pattern.addresses.assign(kGroupLanes, 0);
    for (GroupMask left = access.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      pattern.addresses[lane] = access.addresses[lane];
    }
  }
  if (const std::size_t at = insert(hash, std::move(pattern)); at != kNone) last_ = at;
}

void PatternTable::merge(const PatternTable& other) {
  requests_ += other.requests_;
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
  for (std::size_t i = 0; i < other.hashes_.size(); ++i) {
    const AccessPattern& from = other.patterns_[i];
    const std::size_t at = find(other.hashes_[i]);
    if (at == kNone) {
      insert(other.hashes_[i], from);
      continue;
    }
    AccessPattern& to = patterns_[at];
    AccessPattern merged = time_of(from) < time_of(to) ? from : to;
    merged.count = from.count + to.count;
    merged.low = std::min(from.low, to.low);
    merged.high = std::max(from.high, to.high);
    to = std::move(merged);
  }
}

void PatternTable::finish(SiteSamples& out) const {
  out.requests = requests_;
  out.low = low_;
  out.high = high_;
  std::vector<std::size_t> order(hashes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple_cat(time_of(patterns_[a]), std::tie(hashes_[a])) <
           std::tuple_cat(time_of(patterns_[b]), std::tie(hashes_[b]));
  });
  std::uint64_t counted = 0;
  for (const std::size_t i : order) {
    counted += patterns_[i].count;
    out.patterns.push_back(patterns_[i]);
  }
  out.complete = counted == requests_;
}

}  // namespace muscope::views
