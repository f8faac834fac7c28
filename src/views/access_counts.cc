#include "views/access_counts.h"

#include <algorithm>
#include <tuple>

#include "model/async_copy.h"
#include "model/constant.h"
#include "model/l1_stages.h"
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
  WideWarps::Joined joined;
  if (wide_) joined = wide_->join(access);
  row.executed += joined.instruction;
  if (access.mask == 0) {  // all lanes predicated off: an instruction, but no request
    // Copies of zeros alone pass L1's tag stage (H200: tests/counters/kernels/async.cu, copyZerosAtEdge).
    row.t_wavefronts += access.copy != nullptr && access.space == trace::Space::kGlobal;
    return;
  }
  if (samples_) samples_->access(access);
  const auto lanes = static_cast<std::uint32_t>(std::popcount(access.mask));
  row.lanes += lanes;
  std::uint32_t asked = lanes;
  std::uint32_t cost = 0;
  switch (access.space) {
    case trace::Space::kGlobal: {
      row.requests += joined.request;
      model::GlobalCounts counts = model::count_global(access);
      if (access.kind == trace::Kind::kCopyAround && access.copy != nullptr) {
        const model::CopyReads reads = model::count_reads_past_l1(*access.copy);
        counts.sectors.sectors = reads.sectors;
        counts.distinct_sectors = reads.sass_sectors;
        counts.addresses = reads.addresses;
      }
      cost = counts.sectors.sectors;
      if (wide_ && (access.kind == trace::Kind::kLoad || access.kind == trace::Kind::kStore)) {
        counts.sectors = {joined.sectors, joined.lines, joined.ideal};
        counts.distinct_sectors = joined.sectors;
      }
      row.sectors += counts.sectors.sectors;
      row.ideal_sectors += counts.sectors.ideal;
      row.lines += counts.sectors.lines;
      row.distinct_sectors += counts.distinct_sectors;
      row.t_wavefronts += counts.t_wavefronts;
      row.data_wavefronts += counts.data_wavefronts;
      if (access.host_memory) row.host_sectors += counts.sectors.sectors;
      if (counts.addresses != 0) asked = counts.addresses;
      break;
    }
    case trace::Space::kLocal: {
      // Words of 4 bytes lie 128 bytes apart: wider accesses are a request for each (H200: tests/counters, spiller,
      // local_array, local_bytes).
      if (joined.request) row.requests += access.bytes > 4 ? access.bytes / 4u : 1u;
      const model::SectorCounts counts = model::count_local_sectors(access);
      row.sectors += counts.sectors;
      row.ideal_sectors += counts.ideal;
      row.lines += counts.lines;
      cost = counts.sectors;
      break;
    }
    case trace::Space::kShared: {
      row.requests += joined.request;
      model::BankCounts counts;
      if (access.copy != nullptr) {
        const model::CopyWrites writes = access.kind == trace::Kind::kCopy
                                             ? model::count_writes_through_l1(*access.copy)
                                             : model::count_writes_past_l1(*access.copy);
        counts = writes.banks;
        asked = writes.addresses;
        row.sass_least_wavefronts += writes.sass_least;
      } else {
        counts = banks_.count(access);
        row.sass_least_wavefronts += counts.ideal;
      }
      row.wavefronts += counts.wavefronts;
      row.ideal_wavefronts += counts.ideal;
      row.sass_wavefronts += counts.sass;
      row.sass_ideal_wavefronts += counts.sass_ideal;
      // Rows that several lanes name count once (H200: tests/counters/kernels/matrix_h200.csv, launches 12 to 17).
      if (access.kind == trace::Kind::kLoadMatrix) asked = model::count_distinct_addresses(access);
      cost = counts.wavefronts;
      break;
    }
    case trace::Space::kConst:
      cost = model::count_constant(access).requests;
      row.requests += wide_ ? std::min(cost, joined.addresses) : cost;
      break;
    case trace::Space::kTexture:
      row.requests += model::count_texture_requests(access.mask, access.request_lanes);
      break;
    case trace::Space::kSurface: {
      const model::SurfaceCounts counts = model::count_surface(access);
      row.requests += counts.requests;
      row.sectors += counts.sectors;
      row.ideal_sectors += counts.ideal;
      break;
    }
  }
  row.bytes += std::uint64_t{asked} * access.bytes;
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

void AccessCounts::merge(AccessCounts& other) {
  if (samples_ && other.samples_) samples_->merge(*other.samples_);
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
    to.distinct_sectors += from.distinct_sectors;
    to.t_wavefronts += from.t_wavefronts;
    to.data_wavefronts += from.data_wavefronts;
    to.sass_wavefronts += from.sass_wavefronts;
    to.sass_ideal_wavefronts += from.sass_ideal_wavefronts;
    to.sass_least_wavefronts += from.sass_least_wavefronts;
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
