#include "advice/bank_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace muscope::advice {
namespace {

constexpr std::uint64_t kBankRow = 128;  ///< bytes over all 32 banks
constexpr std::uint64_t kShortestRow = 32;
constexpr std::size_t kMostPitches = 24;

/// Addresses that follow the data, of which only some are known: a layout searched for these would fit them alone.
bool follows_data(const Site& site) {
  if (site.samples->complete) return false;
  std::uint64_t scattered = 0, all = 0;
  for (const views::AccessPattern& pattern : site.samples->patterns) {
    all += pattern.count;
    scattered += pattern.scattered() ? pattern.count : 0;
  }
  return 2 * scattered > all;
}

bool moves(const Site& site) {
  return site.counts->kind != trace::Kind::kCopy && site.counts->kind != trace::Kind::kCopyAround;
}

}  // namespace

std::uint64_t BankLayout::place(std::uint64_t offset) const {
  const std::uint64_t row = offset / pitch, inside = offset % pitch;
  if (xor_bits == 0) return row * (pitch + pad) + inside;
  const std::uint64_t column = inside / unit, key = (row >> xor_shift) & ((std::uint64_t{1} << xor_bits) - 1);
  return row * pitch + (column ^ key) * unit + inside % unit;
}

std::string BankLayout::text() const {
  const std::uint64_t one = element == 0 ? unit : element;
  if (xor_bits == 0 && seen && tile)
    return fmt::format("pad the rows: a pitch of {} instead of {} elements of {} B, as in tile[...][{}]",
                       (pitch + pad) / one, pitch / one, one, (pitch + pad) / one);
  if (xor_bits == 0)
    return fmt::format(
        "put element i at i + {} (elements of {} B)",
        pad == one ? fmt::format("i / {}", pitch / one) : fmt::format("{} * (i / {})", pad / one, pitch / one), one);
  const std::string row = xor_shift == 0 ? "row" : fmt::format("(row / {})", 1u << xor_shift);
  return fmt::format("in rows of {} elements of {} B, put column c of a row at c ^ ({} % {})", pitch / unit, unit, row,
                     1u << xor_bits);
}

BankReplay::BankReplay(const Array& array) {
  origin_ = array.low / 16 * 16;
  bytes_ = array.high - origin_;
  for (const Site* site : array.sites) {
    unit_ = std::max(unit_, std::uint64_t{std::bit_ceil(site->bytes())});
    if (site->bytes() > 0) element_ = std::min(element_, std::uint64_t{std::bit_ceil(site->bytes())});
    wavefronts_ += site->counts->wavefronts;
    ideal_ += site->counts->ideal_wavefronts;
    const auto same = replay(*site, [](const views::AccessPattern&, Lanes&) { return true; });
    const bool data = follows_data(*site);
    if (data) data_wavefronts_ += site->counts->wavefronts - site->counts->ideal_wavefronts;
    const bool fixed = data || !moves(*site) || !same || (same->exact && same->sum != site->counts->wavefronts);
    sites_.push_back({site, fixed});
  }
  unit_ = std::min<std::uint64_t>(unit_, 16);
  element_ = std::clamp<std::uint64_t>(element_, 4, unit_);  // padding of less than a bank helps nobody
}

Change BankReplay::moved(const BankLayout& layout, const Site& site) const {
  return [layout, origin = origin_, bytes = site.bytes()](const views::AccessPattern& pattern, Lanes& lanes) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
      if (((pattern.mask >> lane) & 1) == 0) continue;
      const std::uint64_t offset = lanes[lane] - origin;
      // An access that crosses the end of a row or of a unit would be torn.
      if (offset % layout.pitch + bytes > layout.pitch) return false;
      if (layout.xor_bits != 0 && offset % layout.unit + bytes > layout.unit) return false;
      lanes[lane] = layout.place(offset);
      if (lanes[lane] % bytes != 0) return false;
    }
    return true;
  };
}

std::optional<LayoutCost> BankReplay::cost(const BankLayout& layout) const {
  LayoutCost cost{layout, 0, true};
  for (const auto& [site, fixed] : sites_) {
    if (fixed) {
      cost.wavefronts += site->counts->wavefronts;
      cost.exact = false;
      continue;
    }
    const auto one = replay(*site, moved(layout, *site));
    if (!one) return {};
    cost.wavefronts += one->sum;
    cost.exact = cost.exact && one->exact;
  }
  return cost;
}

std::vector<BankReplay::Pitch> BankReplay::pitches() const {
  std::map<std::uint64_t, bool> found{{kBankRow, false}};
  const auto add = [&](std::uint64_t a, std::uint64_t b) {
    std::uint64_t distance = a < b ? b - a : a - b;
    for (bool seen = true; distance >= kShortestRow && distance <= bytes_; distance /= 2, seen = false) {
      if (distance % unit_ == 0) found[distance] |= seen;
      if (distance % 2 != 0) break;
    }
  };
  for (const auto& [site, fixed] : sites_)
    for (const views::AccessPattern& pattern : site->samples->patterns) {
      if (found.size() > 4 * kMostPitches) break;
      for (unsigned lane = 1; lane < kGroupLanes; ++lane) {
        if (((pattern.mask >> (lane - 1)) & 3) != 3) continue;
        add(pattern.address(lane - 1), pattern.address(lane));
        if (!pattern.scattered()) break;
      }
    }
  for (std::size_t i = 1; i < sites_.size(); ++i) add(sites_[i - 1].site->samples->low, sites_[i].site->samples->low);
  std::vector<Pitch> all;
  for (const auto& [bytes, seen] : found)
    if (all.size() < kMostPitches) all.push_back({bytes, seen});
  return all;
}

LayoutSearch search_layouts(const BankReplay& replay, std::uint64_t most_extra) {
  LayoutSearch found;
  using Rank = std::tuple<std::uint64_t, bool, std::uint64_t, unsigned, unsigned>;
  std::map<const void*, Rank> best_rank;
  const auto keep = [&](std::optional<LayoutCost>& best, const std::optional<LayoutCost>& cost, bool seen) {
    if (!cost) return;
    const Rank rank{cost->wavefronts, !seen, cost->layout.extra(replay.bytes()), cost->layout.xor_bits,
                    cost->layout.xor_shift};
    if (best && !(rank < best_rank[&best])) return;
    best = cost;
    best_rank[&best] = rank;
  };
  for (const auto& [pitch, seen] : replay.pitches()) {
    for (std::uint64_t pad = replay.unit(); pad <= kBankRow; pad += replay.unit()) {
      const BankLayout layout{replay.unit(), pitch, pad, 0, 0, seen};
      if (layout.extra(replay.bytes()) > most_extra) break;
      keep(found.pad, replay.cost(layout), seen);
    }
    if (!std::has_single_bit(pitch)) continue;
    for (unsigned bits = 1; bits <= 5 && (replay.unit() << bits) <= pitch; ++bits)
      for (unsigned shift = 0; shift <= 2; ++shift)
        keep(found.swizzle, replay.cost({replay.unit(), pitch, 0, bits, shift, seen}), seen);
  }
  if (found.pad)
    found.by_habit = replay.cost({replay.unit(), found.pad->layout.pitch, replay.unit(), 0, 0, found.pad->layout.seen});
  return found;
}

}  // namespace muscope::advice
