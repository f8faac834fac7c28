// Which launch of a capture is which launch of a report: by process, kernel and order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.h"
#include "verify/capture.h"

namespace muscope::verify {

/// Three spellings of a kernel name, each coarser than the one before; names are compared by them in turn, since ncu,
/// nvcc and demanglers differ in spaces, in "(int)16" and "16u" for 16, in namespaces, and in parameters ("T1 *").
struct KernelKeys {
  std::string full;       ///< parameters and all, without spaces
  std::string templated;  ///< "tiled<float,16>"
  std::string bare;       ///< "tiled"
};
KernelKeys keys_of(std::string_view name);

struct Matching {
  std::vector<std::pair<std::size_t, std::size_t>>
      pairs;  ///< launch of the report, launch of the capture; by the former
  std::vector<std::size_t> report_only, capture_only;
};

/// Launches of one kernel are paired in order. Where one side has more of them, grids and blocks say which are left out
/// if they can, else the last ones are. With the same number of processes on both sides (of those that launched
/// something), each is compared with its counterpart, in the order of their first launches.
Matching match_launches(const report::Report& report, const Capture& capture);

}  // namespace muscope::verify
