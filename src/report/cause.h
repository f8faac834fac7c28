// One-line causes: what the addresses of the costliest execution of an instruction have in common, and what that cost.
//
//   store: neighbouring lanes are 4,096 B apart: 16 sectors per request where 4 would do
//   load: 32 lanes fall into bank 0, 128 B apart: 32 wavefronts per request where 1 would do
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arch/gpu_spec.h"
#include "report/report.h"

namespace muscope::report {

/// "load", "store", "reduction", "atomic"
std::string_view verb_of(trace::Kind kind);
/// "global", "shared", "local", "constant", "texture", "surface"
std::string_view name_of(trace::Space space);

/// What this instruction cost beyond the least it could have: sectors (global, local), wavefronts (shared), requests
/// (constant).
std::uint64_t waste_of(const views::SiteCounts& site);

struct Cause {
  std::string subject;  ///< "store", "shared load"
  std::string pattern;  ///< "the warp starts 4 B into a sector"
  std::string family;   ///< the pattern without its numbers, for several instructions: "warps start inside sectors"
  std::uint64_t cost = 0, ideal = 0, requests = 0;  ///< sums
  std::string_view unit;                            ///< "sectors"
  std::string_view per;                             ///< "request"

  /// "the warp starts 4 B into a sector: 5 sectors per request where 4 would do"
  std::string text() const;
  /// Takes in another cause when it is of the same kind (copies of one loop body); false when it is not.
  bool merge(const Cause& other);
};

/// Nothing when the instruction wasted nothing.
std::optional<Cause> cause_of(const SiteReport& site, const arch::GpuSpec& gpu);

}  // namespace muscope::report
