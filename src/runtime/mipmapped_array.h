// Mipmapped arrays: one array for each level. Programs get the levels as arrays of their own.
#pragma once

#include <memory>
#include <vector>

#include "runtime/array.h"
#include "runtime/handles.h"

namespace muscope::runtime {

struct MipmappedArray {
  std::vector<std::shared_ptr<Array>> levels;  ///< from the largest on; the first owns the memory of all
  std::uint64_t address = 0;
};

/// The process's, by handle.
Handles<MipmappedArray>& mipmapped_arrays();

}  // namespace muscope::runtime
