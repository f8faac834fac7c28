// The architecture that a piece of device code was made for: "90", "90a", "100f".
#pragma once

#include <string>

namespace muscope::cubin {

/// `sm` is 10 x major + minor of the compute capability. `variant` is 0 (plain: runs on that and, as PTX, on later
/// GPUs), 'a' (that GPU only) or 'f' (that GPU's family: same major, same or later minor), as nvcc's -arch spells them
/// (CUDA C++ Programming Guide, "Compute Capability", feature sets).
struct SmTarget {
  int sm = 0;
  char variant = 0;

  friend bool operator==(const SmTarget&, const SmTarget&) = default;
};

inline std::string to_string(const SmTarget& target) {
  std::string text = std::to_string(target.sm);
  if (target.variant != 0) text += target.variant;
  return text;
}

}  // namespace muscope::cubin
