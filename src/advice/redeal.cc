#include "advice/redeal.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "advice/replay.h"
#include "model/sectors.h"

namespace muscope::advice {

std::vector<BlockAccess> block_accesses(const Context& context) {
  std::vector<BlockAccess> all;
  const auto threads = static_cast<std::size_t>(context.threads_per_block());
  for (const views::WitnessBlock& block : context.samples().witnesses) {
    std::map<std::uint32_t, BlockAccess> by_site;
    for (const views::WitnessRequest& request : block.requests) {
      const Site* site = context.find(request.site, trace::Space::kGlobal);
      if (site == nullptr || site->is_atomic()) continue;
      BlockAccess& access = by_site[request.site];
      access.site = site;
      access.block = block.block;
      access.addresses.resize(threads);
      for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
        const std::size_t thread = std::size_t{request.warp} * kGroupLanes + lane;
        if (((request.access.mask >> lane) & 1) && thread < threads)
          access.addresses[thread] = request.access.address(lane);
      }
    }
    for (auto& [site, access] : by_site) all.push_back(std::move(access));
  }
  return all;
}

namespace {

/// The addresses of the threads from `first` on in the order: one warp's. Returns its active lanes.
GroupMask deal(const BlockAccess& access, const std::vector<std::uint32_t>& order, std::size_t first, Lanes& lanes) {
  GroupMask mask = 0;
  for (unsigned lane = 0; lane < kGroupLanes && first + lane < order.size(); ++lane) {
    const std::uint32_t thread = order[first + lane];
    if (thread >= access.addresses.size() || !access.addresses[thread]) continue;
    lanes[lane] = *access.addresses[thread];
    mask |= GroupMask{1} << lane;
  }
  return mask;
}

}  // namespace

std::optional<report::AdvicePicture> picture_of(const BlockAccess& access, const std::vector<std::uint32_t>& now,
                                                const std::vector<std::uint32_t>& order) {
  report::AdvicePicture picture;
  picture.kind = access.site->counts->kind;
  picture.lane_bytes = picture.after_lane_bytes = access.site->bytes();
  picture.mask = deal(access, now, 0, picture.before);
  if (picture.mask == 0 || deal(access, order, 0, picture.after) != picture.mask) return {};
  return picture;
}

std::uint64_t sectors_of(const BlockAccess& access, const std::vector<std::uint32_t>& order) {
  std::uint64_t sum = 0;
  for (std::size_t first = 0; first < order.size(); first += kGroupLanes) {
    Lanes lanes{};
    const GroupMask mask = deal(access, order, first, lanes);
    if (mask != 0) sum += model::count_sectors({lanes, WarpMask::of(mask), access.site->bytes()}).sectors;
  }
  return sum;
}

std::vector<std::uint32_t> order_as_is(const Context& context) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(context.threads_per_block()));
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<std::uint32_t> order_swapped(const Context& context) {
  const auto [x, y, z] = context.launch().block;
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < z; ++k)
    for (std::uint32_t i = 0; i < x; ++i)
      for (std::uint32_t j = 0; j < y; ++j) order.push_back((k * y + j) * x + i);
  return order;
}

std::vector<std::uint32_t> order_by_address(const BlockAccess& access) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t thread = 0; thread < access.addresses.size(); ++thread)
    if (access.addresses[thread]) order.push_back(thread);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return *access.addresses[a] < *access.addresses[b]; });
  return order;
}

Fit fit_of(const Context& context, const std::vector<BlockAccess>& accesses, const Site& site) {
  const auto [nx, ny, nz] = context.launch().block;
  Fit fit;
  const auto along = [&](std::uint32_t step, std::uint32_t size, std::uint32_t below) {
    std::optional<std::int64_t> distance;
    if (size < 2) return distance;
    for (const BlockAccess& access : accesses) {
      if (access.site != &site) continue;
      for (std::uint32_t t = 0; t + step < access.addresses.size(); ++t) {
        if (t / below % size + 1 == size || !access.addresses[t] || !access.addresses[t + step]) continue;
        const auto here = static_cast<std::int64_t>(*access.addresses[t + step] - *access.addresses[t]);
        if (distance && *distance != here) return std::optional<std::int64_t>();
        distance = here;
      }
    }
    return distance;
  };
  fit.x = along(1, nx, 1);
  fit.y = along(nx, ny, nx);
  fit.z = along(nx * ny, nz, nx * ny);
  return fit;
}

}  // namespace muscope::advice
