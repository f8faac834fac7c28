// The page and the JSON of `muscope occupancy`.
#pragma once

#include <cstdint>
#include <string>

#include "arch/gpu_spec.h"
#include "model/occupancy.h"

namespace muscope::cli {

struct OccupancyQuestion {
  arch::GpuSpec gpu;
  model::LaunchShape launch;     ///< threads_per_block 0: only the table over block sizes
  std::int64_t grid_blocks = 0;  ///< 0: no waves
};

std::string occupancy_text(const OccupancyQuestion& question);
/// Schema muscope.occupancy/1.
std::string occupancy_json(const OccupancyQuestion& question);

}  // namespace muscope::cli
