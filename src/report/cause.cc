#include "report/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "report/counts.h"
#include "report/number_format.h"

namespace muscope::report {
namespace {

using trace::Kind;
using trace::Space;

/// The active lanes of the example, in order.
struct Example {
  std::vector<unsigned> lanes;
  std::vector<std::uint64_t> addresses;

  explicit Example(const SiteReport& site) {
    if (site.worst_cost == 0) return;
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      if ((site.worst_mask >> lane) & 1) {
        lanes.push_back(lane);
        addresses.push_back(site.worst_addresses[lane]);
      }
  }
};

/// The distance between neighbouring active lanes that is most common, and how many pairs have it.
struct Stride {
  std::int64_t bytes = 0;
  std::size_t pairs = 0;
  std::size_t of = 0;
  bool regular() const { return of > 0 && 5 * pairs >= 3 * of; }
};

Stride stride_of(const Example& example) {
  std::map<std::int64_t, std::size_t> seen;
  Stride stride;
  for (std::size_t i = 1; i < example.lanes.size(); ++i) {
    if (example.lanes[i] != example.lanes[i - 1] + 1) continue;
    const auto distance = static_cast<std::int64_t>(example.addresses[i] - example.addresses[i - 1]);
    const std::size_t pairs = ++seen[distance];
    ++stride.of;
    if (pairs > stride.pairs) {
      stride.pairs = pairs;
      stride.bytes = distance;
    }
  }
  return stride;
}

std::size_t most_on_one_address(const Example& example) {
  std::map<std::uint64_t, std::size_t> lanes;
  std::size_t most = 0;
  for (const std::uint64_t address : example.addresses) most = std::max(most, ++lanes[address]);
  return most;
}

std::string distance_text(std::int64_t bytes) {
  const auto magnitude = static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes);
  return fmt::format("{} B", grouped(magnitude));
}

struct Pattern {
  std::string text;
  std::string family;
  Pattern(std::string pattern) : text(pattern), family(std::move(pattern)) {}
  Pattern(std::string pattern, std::string general) : text(std::move(pattern)), family(std::move(general)) {}
};

Pattern linear_pattern(const SiteReport& site, const Example& example) {
  if (example.lanes.empty()) return {"addresses do not fill the sectors they touch"};
  if (const std::size_t most = most_on_one_address(example);
      most > 1 && (site.kind == Kind::kAtom || site.kind == Kind::kRed))
    return {fmt::format("up to {} lanes hit one address, one after the other", most),
            "lanes hit one address, one after the other"};
  const Stride stride = stride_of(example);
  const std::uint64_t lowest = *std::min_element(example.addresses.begin(), example.addresses.end());
  const std::uint64_t highest = *std::max_element(example.addresses.begin(), example.addresses.end());
  const bool neighbours = stride.regular() && std::abs(stride.bytes) == site.lane_bytes;
  if (neighbours) {
    if (highest - lowest == (example.lanes.size() - 1) * site.lane_bytes)
      return {fmt::format("the warp starts {} B into a sector", lowest % 32), "warps start inside sectors"};
    return {"runs of neighbouring lanes end inside sectors"};
  }
  if (stride.regular() && stride.bytes != 0)
    return {fmt::format("neighbouring lanes are {} apart{}", distance_text(stride.bytes),
                        stride.bytes < 0 ? ", backwards" : "")};
  return {fmt::format("lanes are scattered over {}", format_bytes(highest - lowest + site.lane_bytes)),
          "lanes are scattered"};
}

Pattern local_pattern(const SiteReport& site, const Example& example) {
  if (most_on_one_address(example) < example.lanes.size()) return {"lanes index their arrays differently"};
  if (site.lane_bytes < 4) return {fmt::format("lanes use {} of every 4 B", distance_text(site.lane_bytes))};
  return {"few lanes of the warp are active"};
}

/// Copies through L1 need a bank of L1's line and a bank of shared memory at once (model/async_copy.h).
Pattern copy_pattern(const SiteReport& site, const Example& example) {
  constexpr std::uint64_t kRowBytes = 128;
  const std::uint64_t bank_bytes = std::max<std::uint64_t>(4, site.lane_bytes);
  std::map<std::pair<std::uint64_t, std::uint64_t>, unsigned> lanes;  // of a group of lanes and a bank
  unsigned most = 0;
  for (std::size_t i = 0; i < example.lanes.size(); ++i)
    most = std::max(
        most, ++lanes[{example.lanes[i] * bank_bytes / kRowBytes, example.addresses[i] % kRowBytes / bank_bytes}]);
  if (most > 1) return {fmt::format("up to {} lanes write one bank", most), "several lanes write one bank"};
  return {"lanes read one bank of L1's lines"};
}

Pattern shared_pattern(const SiteReport& site, const Example& example, const arch::GpuSpec& gpu) {
  if (example.lanes.empty()) return {"several lanes share a bank"};
  const auto banks = static_cast<std::uint64_t>(std::max(1, gpu.shared.banks));
  const auto bank_bytes = static_cast<std::uint64_t>(std::max(1, gpu.shared.bank_bytes));
  const bool atomic = site.kind == Kind::kAtom || site.kind == Kind::kRed;
  if (atomic) {
    if (const std::size_t most = most_on_one_address(example); most > 1)
      return {fmt::format("up to {} lanes hit one word, one after the other", most),
              "lanes hit one word, one after the other"};
  }
  if (site.kind == Kind::kCopy) return copy_pattern(site, example);
  const unsigned group_lanes = site.lane_bytes <= 4 ? 32u : site.lane_bytes <= 8 ? 16u : 8u;
  // Per group and bank the distinct words; the fullest bank is the cause.
  std::map<std::pair<unsigned, std::uint64_t>, std::set<std::uint64_t>> words;
  for (std::size_t i = 0; i < example.lanes.size(); ++i)
    for (std::uint64_t byte = 0; byte < std::max<std::uint64_t>(1, site.lane_bytes); byte += bank_bytes) {
      const std::uint64_t word = (example.addresses[i] + byte) / bank_bytes;
      words[{example.lanes[i] / group_lanes, word % banks}].insert(word);
    }
  const auto fullest = std::max_element(words.begin(), words.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const Stride stride = stride_of(example);
  std::string apart;
  if (stride.regular() && stride.bytes != 0) apart = fmt::format(", neighbours {} apart", distance_text(stride.bytes));
  return {fmt::format("{} different words fall into bank {}{}", fullest->second.size(), fullest->first.second, apart),
          fmt::format("different words fall into one bank{}", apart)};
}

}  // namespace

std::string_view verb_of(Kind kind) {
  switch (kind) {
    case Kind::kLoad:
      return "load";
    case Kind::kStore:
      return "store";
    case Kind::kRed:
      return "reduction";
    case Kind::kCopy:
    case Kind::kCopyAround:
      return "async copy";
    case Kind::kLoadMatrix:
      return "matrix load";
    case Kind::kStoreMatrix:
      return "matrix store";
    case Kind::kSample:
      return "fetch";
    case Kind::kAtom:
      break;
  }
  return "atomic";
}

std::string_view name_of(Space space) {
  switch (space) {
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConst:
      return "constant";
    case Space::kSurface:
      return "surface";
    case Space::kTexture:
      break;
  }
  return "texture";
}

std::uint64_t waste_of(const views::SiteCounts& site) {
  const AccessSums sums = sums_of(site);
  switch (site.space) {
    case Space::kGlobal:
    case Space::kLocal:
      return sums.excess_sectors;
    case Space::kShared:
      return sums.conflicts;
    case Space::kConst:
      return sums.replays;
    case Space::kTexture:
    case Space::kSurface:
      break;
  }
  return 0;
}

std::string Cause::text() const {
  return fmt::format("{}: {} {} per {} where {} would do", pattern, average_text(cost, requests), unit, per,
                     average_text(ideal, requests));
}

bool Cause::merge(const Cause& other) {
  if (subject != other.subject || family != other.family || unit != other.unit) return false;
  if (pattern != other.pattern) pattern = family;
  cost += other.cost;
  ideal += other.ideal;
  requests += other.requests;
  return true;
}

std::optional<Cause> cause_of(const SiteReport& site, const arch::GpuSpec& gpu) {
  if (waste_of(site) == 0 || site.requests == 0) return {};
  const Example example(site);
  Cause cause;
  cause.cost = site.sectors;
  cause.ideal = site.ideal_sectors;
  cause.requests = site.requests;
  cause.unit = "sectors";
  cause.per = "request";
  Pattern pattern{{}};
  switch (site.space) {
    case Space::kGlobal:
      pattern = linear_pattern(site, example);
      break;
    case Space::kLocal:
      pattern = local_pattern(site, example);
      break;
    case Space::kShared:
      pattern = shared_pattern(site, example, gpu);
      cause.cost = site.wavefronts;
      cause.ideal = site.ideal_wavefronts;
      cause.unit = "wavefronts";
      break;
    case Space::kConst:
      pattern = {"lanes read different words, which are served one by one"};
      cause.cost = site.requests;
      cause.ideal = cause.requests = site.executed;
      cause.unit = "requests";
      cause.per = "load";
      break;
    case Space::kTexture:
    case Space::kSurface:
      return {};
  }
  cause.pattern = std::move(pattern.text);
  cause.family = std::move(pattern.family);
  cause.subject = verb_of(site.kind);
  if (site.space != Space::kGlobal) cause.subject = fmt::format("{} {}", name_of(site.space), cause.subject);
  return cause;
}

}  // namespace muscope::report
