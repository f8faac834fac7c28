#include "model/texture.h"

#include <algorithm>
#include <array>

#include "model/sectors.h"

namespace muscope::model {

SurfaceCounts count_surface(const trace::WarpAccess& access) {
  SurfaceCounts counts;
  const unsigned group = access.request_lanes;
  counts.requests = count_texture_requests(access.mask, group);
  for (unsigned first = 0; first < kGroupLanes; first += group) {
    std::array<std::uint64_t, kLanesPerWideRequest> at{};
    unsigned lanes = 0;
    for (unsigned lane = first; lane < first + group; ++lane) {
      const std::uint64_t address = access.address(lane);
      if (((access.mask >> lane) & 1) == 0 || address == kNoSurfaceElement) continue;
      unsigned place = lanes++;  // sorted by insertion
      for (; place > 0 && at[place - 1] > address; --place) at[place] = at[place - 1];
      at[place] = address;
    }
    // Per sector one pass; of reductions as many as lanes meet in one of its elements.
    std::uint32_t sectors = 0, distinct = 0, passes = 0, same = 0;
    for (unsigned i = 0; i < lanes; ++i) {
      const bool new_sector = i == 0 || at[i] / kSectorBytes != at[i - 1] / kSectorBytes;
      if (new_sector) {
        sectors += passes;
        ++distinct;
        passes = 0;
      }
      same = !new_sector && at[i] == at[i - 1] ? same + 1 : 1;
      passes = std::max(passes, same);
    }
    sectors += passes;
    if (access.kind != trace::Kind::kRed) sectors = distinct;
    counts.sectors += sectors;
    counts.ideal += std::min(sectors, (lanes * access.bytes + kSectorBytes - 1) / kSectorBytes);
  }
  return counts;
}

}  // namespace muscope::model
