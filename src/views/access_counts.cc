#include "views/access_counts.h"

#include <tuple>

#include "model/banks.h"
#include "model/constant.h"
#include "model/local.h"
#include "model/sectors.h"
#include "model/texture.h"

namespace muscope::views {

void AccessCounts::access(const trace::WarpAccess& access) {
  SiteCounts& row = rows_[access.site * kSpaces + static_cast<std::size_t>(access.space)];
  if (row.executed == 0) {
    row.site = access.site;
    row.space = access.space;
    row.kind = access.kind;
    row.generic = access.generic;
  }
  ++row.executed;
  if (access.mask == 0) return;  // all lanes predicated off: an instruction, but no request
  const auto lanes = static_cast<std::uint32_t>(std::popcount(access.mask));
  row.lanes += lanes;
  const bool data = access.kind == trace::Kind::kLoad || access.kind == trace::Kind::kStore;
  const std::uint32_t asked =
      access.space == trace::Space::kGlobal && data ? model::count_distinct_addresses(access) : lanes;
  row.bytes += std::uint64_t{asked} * access.bytes;
  std::uint32_t cost = 0;
  switch (access.space) {
    case trace::Space::kGlobal: {
      ++row.requests;
      const bool atomic = access.kind == trace::Kind::kRed || access.kind == trace::Kind::kAtom;
      const model::SectorCounts counts = atomic ? model::count_atomic_sectors(access) : model::count_sectors(access);
      row.sectors += counts.sectors;
      row.ideal_sectors += counts.ideal;
      row.lines += counts.lines;
      if (access.host_memory) row.host_sectors += counts.sectors;
      cost = counts.sectors;
      break;
    }
    case trace::Space::kLocal: {
      ++row.requests;
      const model::SectorCounts counts = model::count_local_sectors(access);
      row.sectors += counts.sectors;
      row.ideal_sectors += counts.ideal;
      row.lines += counts.lines;
      cost = counts.sectors;
      break;
    }
    case trace::Space::kShared: {
      ++row.requests;
      const model::BankCounts counts = model::count_banks(access);
      row.wavefronts += counts.wavefronts;
      row.ideal_wavefronts += counts.ideal;
      cost = counts.wavefronts;
      break;
    }
    case trace::Space::kConst:
      cost = model::count_constant(access).requests;
      row.requests += cost;
      break;
    case trace::Space::kTexture:
      row.requests += model::count_quads(access.mask);
      break;
  }
  if (cost >= row.worst_cost && cost > 0) keep_worst(row, access, cost);
}

void AccessCounts::keep_worst(SiteCounts& row, const trace::WarpAccess& access, std::uint32_t cost) {
  // Of equal costs the first block and warp, so that the choice does not depend on who ran what.
  if (cost == row.worst_cost && std::tie(row.worst_block, row.worst_warp) <= std::tie(access.block, access.warp))
    return;
  row.worst_cost = cost;
  row.worst_mask = access.mask;
  row.worst_block = access.block;
  row.worst_warp = access.warp;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    row.worst_addresses[lane] = (access.mask >> lane) & 1 ? access.address(lane) : 0;
}

void AccessCounts::merge(const AccessCounts& other) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    SiteCounts& to = rows_[i];
    const SiteCounts& from = other.rows_[i];
    if (from.executed == 0) continue;
    if (to.executed == 0) {
      to = from;
      continue;
    }
    to.executed += from.executed;
    to.lanes += from.lanes;
    to.requests += from.requests;
    to.sectors += from.sectors;
    to.ideal_sectors += from.ideal_sectors;
    to.lines += from.lines;
    to.bytes += from.bytes;
    to.wavefronts += from.wavefronts;
    to.ideal_wavefronts += from.ideal_wavefronts;
    to.host_sectors += from.host_sectors;
    const bool worse = from.worst_cost > to.worst_cost ||
                       (from.worst_cost == to.worst_cost &&
                        std::tie(from.worst_block, from.worst_warp) < std::tie(to.worst_block, to.worst_warp));
    if (worse) {
      to.worst_cost = from.worst_cost;
      to.worst_mask = from.worst_mask;
      to.worst_block = from.worst_block;
      to.worst_warp = from.worst_warp;
      to.worst_addresses = from.worst_addresses;
    }
  }
}

std::vector<SiteCounts> AccessCounts::finish() const {
  std::vector<SiteCounts> out;
  for (const SiteCounts& row : rows_)
    if (row.executed > 0) out.push_back(row);
  return out;
}

}  // namespace muscope::views
