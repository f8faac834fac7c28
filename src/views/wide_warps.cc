#include "views/wide_warps.h"

#include <algorithm>
#include <bit>

namespace muscope::views {
namespace {

constexpr std::uint64_t kSectorBytes = 32, kLineSectors = 4;
/// Blocks that a worker has begun and not ended are few; those that have ended leave nothing that is needed.
constexpr std::size_t kMostBlocks = 1024;
/// Of one instruction: a group that is farther ahead than this loses its oldest executions, which then count by
/// themselves.
constexpr std::size_t kMostAhead = std::size_t{1} << 17;

std::uint32_t ideal_of(std::size_t sectors, std::uint32_t lanes, std::uint32_t bytes) {
  return std::min(static_cast<std::uint32_t>(sectors),
                  static_cast<std::uint32_t>((std::uint64_t{lanes} * bytes + kSectorBytes - 1) / kSectorBytes));
}

}  // namespace

WideWarps::WideWarps(unsigned lanes, std::uint32_t threads)
    : groups_(std::clamp(lanes / kGroupLanes, 1u, 4u)), blocks_((threads + kGroupLanes - 1) / kGroupLanes) {}

WideWarps::BlockState& WideWarps::state_of(std::uint64_t block) {
  const auto found = states_.find(block);
  if (found != states_.end()) {
    found->second.used = ++clock_;
    return found->second;
  }
  if (states_.size() >= kMostBlocks) {
    // The half that was not used for longest.
    std::vector<std::uint64_t> uses;
    for (const auto& [id, state] : states_) uses.push_back(state.used);
    std::nth_element(uses.begin(), uses.begin() + kMostBlocks / 2, uses.end());
    const std::uint64_t middle = uses[kMostBlocks / 2];
    std::erase_if(states_, [&](const auto& entry) { return entry.second.used < middle; });
  }
  BlockState& state = states_[block];
  state.used = ++clock_;
  return state;
}

void WideWarps::add_places(const trace::WarpAccess& access, Entry& entry, Joined& joined) {
  const bool constant = access.space == trace::Space::kConst;
  const std::uint32_t ideal_before = ideal_of(entry.places.size(), entry.lanes, access.bytes);
  const auto add = [&](std::uint64_t place) {
    bool line_known = false;
    for (const std::uint64_t known : entry.places) {
      if (known == place) return;
      line_known = line_known || known / kLineSectors == place / kLineSectors;
    }
    entry.places.push_back(place);
    ++joined.sectors;
    joined.lines += line_known ? 0 : 1;
  };
  for (GroupMask left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address(static_cast<unsigned>(std::countr_zero(left)));
    if (constant) {
      add(address);
      continue;
    }
    for (std::uint64_t s = address / kSectorBytes; s <= (address + access.bytes - 1) / kSectorBytes; ++s) add(s);
  }
  entry.lanes += static_cast<std::uint32_t>(std::popcount(access.mask));
  joined.addresses = joined.sectors;
  joined.ideal = ideal_of(entry.places.size(), entry.lanes, access.bytes) - ideal_before;
}

WideWarps::Joined WideWarps::join(const trace::WarpAccess& access) {
  const bool places = access.space == trace::Space::kGlobal || access.space == trace::Space::kConst;
  const std::uint32_t warp = access.warp / groups_, group = access.warp % groups_;
  const std::uint32_t members = std::min(groups_, blocks_ > warp * groups_ ? blocks_ - warp * groups_ : 1);
  const std::uint64_t key =
      (std::uint64_t{warp} << 40) | (std::uint64_t{access.site} << 3) | static_cast<std::uint64_t>(access.space);
  Queue& queue = state_of(access.block).queues[key];
  const std::uint64_t k = queue.next[group]++;
  Joined joined;
  if (k < queue.base) {
    Entry alone;
    if (access.mask != 0 && places) add_places(access, alone, joined);
    return joined;
  }
  while (queue.entries.size() <= k - queue.base) queue.entries.emplace_back();
  Entry& entry = queue.entries[k - queue.base];
  joined.instruction = entry.groups++ == 0;
  joined.request = access.mask != 0 && !entry.requested;
  entry.requested = entry.requested || access.mask != 0;
  if (access.mask != 0 && places) add_places(access, entry, joined);
  while (!queue.entries.empty() && (queue.entries.front().groups >= members || queue.entries.size() > kMostAhead)) {
    queue.entries.pop_front();
    ++queue.base;
  }
  return joined;
}

}  // namespace muscope::views
