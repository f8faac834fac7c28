#include "views/pattern_table.h"

#include <algorithm>
#include <bit>
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

std::uint64_t hash_of(const Canonical& form, const trace::WarpAccess& access) {
  std::uint64_t sum = form.mask * 0x9e3779b97f4a7c15u + (form.scattered ? 0x632be59bd9b4e019u : 0);
  if (!form.scattered)
    return mix(sum ^ mix(static_cast<std::uint64_t>(form.stride) * 3 + 1) ^ mix(form.offset * 5 + 2));
  const std::uint64_t origin = form.base - form.offset;
  if (access.mask == ~GroupMask{0}) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) sum += (access.addresses[lane] - origin) * kLaneFactors[lane];
  } else {
    for (GroupMask left = access.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      sum += (access.addresses[lane] - origin) * kLaneFactors[lane];
    }
  }
  return mix(sum);
}

auto time_of(const AccessPattern& p) { return std::tie(p.block, p.warp, p.issue); }

}  // namespace

void PatternTable::extend(const trace::WarpAccess& access) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  if (access.shape != trace::Shape::kScattered) {
    const std::uint64_t a = access.address(static_cast<unsigned>(std::countr_zero(access.mask)));
    const std::uint64_t b = access.address(kGroupLanes - 1 - static_cast<unsigned>(std::countl_zero(access.mask)));
    low = std::min(a, b);
    high = std::max(a, b);
  } else if (access.mask == kAllLanes) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
      low = std::min(low, access.addresses[lane]);
      high = std::max(high, access.addresses[lane]);
    }
  } else {
    for (GroupMask left = access.mask; left != 0; left &= left - 1) {
      const std::uint64_t address = access.addresses[std::countr_zero(left)];
      low = std::min(low, address);
      high = std::max(high, address);
    }
  }
  low_ = std::min(low_, low);
  high_ = std::max(high_, high + access.bytes);
}

void PatternTable::count(Entry& entry, const trace::WarpAccess& access, std::uint64_t base) {
  AccessPattern& p = entry.pattern;
  ++p.count;
  p.low = std::min(p.low, base);
  p.high = std::max(p.high, base);
  if (std::tie(access.block, access.warp, access.issue) >= time_of(p)) return;
  p.block = access.block;
  p.warp = access.warp;
  p.issue = access.issue;
  p.base = base;
  if (p.scattered())
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      p.addresses[lane] = (access.mask >> lane) & 1 ? access.addresses[lane] : 0;
}

PatternTable::Entry* PatternTable::find(std::uint64_t hash) {
  const std::size_t slot = slots_[hash % slots_.size()];
  if (slot != 0 && slot <= entries_.size() && entries_[slot - 1].hash == hash) return &entries_[slot - 1];
  if (entries_.size() == kMostPatterns && hash > entries_[highest_].hash) return nullptr;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].hash != hash) continue;
    slots_[hash % slots_.size()] = static_cast<std::uint8_t>(i + 1);
    return &entries_[i];
  }
  return nullptr;
}

PatternTable::Entry* PatternTable::insert(std::uint64_t hash, AccessPattern pattern) {
  std::size_t at = entries_.size();
  if (at < kMostPatterns) {
    entries_.push_back({hash, std::move(pattern)});
  } else {
    if (hash > entries_[highest_].hash) return nullptr;
    at = highest_;
    entries_[at] = {hash, std::move(pattern)};
  }
  slots_[hash % slots_.size()] = static_cast<std::uint8_t>(at + 1);
  if (entries_.size() == kMostPatterns)
    highest_ =
        static_cast<std::size_t>(std::max_element(entries_.begin(), entries_.end(),
                                                  [](const Entry& a, const Entry& b) { return a.hash < b.hash; }) -
                                 entries_.begin());
  return &entries_[at];
}

void PatternTable::add(const trace::WarpAccess& access) {
  ++requests_;
  extend(access);
  const Canonical form = canonical_of(access);
  if (!form.scattered && last_ < entries_.size()) {
    Entry& last = entries_[last_];
    const AccessPattern& p = last.pattern;
    const std::uint64_t same =
        access.space == trace::Space::kGlobal ? (p.base ^ form.base) & kLineMask : p.base ^ form.base;
    if (p.mask == form.mask && p.stride == form.stride && same == 0 && !p.scattered())
      return count(last, access, form.base);
  }
  const std::uint64_t hash = hash_of(form, access);
  Entry* entry = find(hash);
  if (entry != nullptr) {
    last_ = static_cast<std::size_t>(entry - entries_.data());
    return count(*entry, access, form.base);
  }
  if (entries_.size() == kMostPatterns && hash > entries_[highest_].hash) return;
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
  if (Entry* made = insert(hash, std::move(pattern)); made != nullptr)
    last_ = static_cast<std::size_t>(made - entries_.data());
}

void PatternTable::merge(const PatternTable& other) {
  requests_ += other.requests_;
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
  for (const Entry& from : other.entries_) {
    Entry* to = find(from.hash);
    if (to == nullptr) {
      insert(from.hash, from.pattern);
      continue;
    }
    AccessPattern merged = time_of(from.pattern) < time_of(to->pattern) ? from.pattern : to->pattern;
    merged.count = from.pattern.count + to->pattern.count;
    merged.low = std::min(from.pattern.low, to->pattern.low);
    merged.high = std::max(from.pattern.high, to->pattern.high);
    to->pattern = std::move(merged);
  }
}

void PatternTable::finish(SiteSamples& out) const {
  out.requests = requests_;
  out.low = low_;
  out.high = high_;
  std::vector<const Entry*> order;
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::tuple_cat(time_of(a->pattern), std::tie(a->hash)) <
           std::tuple_cat(time_of(b->pattern), std::tie(b->hash));
  });
  std::uint64_t counted = 0;
  for (const Entry* entry : order) {
    counted += entry->pattern.count;
    out.patterns.push_back(entry->pattern);
  }
  out.complete = counted == requests_;
}

}  // namespace muscope::views
