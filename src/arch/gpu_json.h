// A GPU as JSON: what `muscope gpu h200 --json` writes and `--gpu FILE.json` reads.
//
//   {
//     "schema": "muscope.gpu/1",
//     "base": "h200",                                      (optional, reading only: start from a known GPU)
//     "name": "my-h200",
//     "sm_count": {"value": 132, "confidence": "measured", "source": "nvidia-smi"},
//     "l2_bytes": 62914560,                                 (a bare number: assumed, the file is the source)
//     "global": {"load_granularity_l1_on": 32, ...}, "shared": {"banks": 32, ...}
//   }
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "arch/gpu_spec.h"

namespace muscope::arch {

/// One number of GpuSpec by name, with the range that a file may give.
struct NumberField {
  std::string_view name;
  Sourced GpuSpec::* member;
  std::string_view unit;
  double least;
  double most;
};

/// Every Sourced member of GpuSpec.
std::span<const NumberField> number_fields();

std::string_view name_of(Confidence confidence);  ///< "measured", "documented", "assumed"

/// Indented JSON, ending with a newline.
std::string gpu_to_json(const GpuSpec& gpu);

/// Throws Error D111 with the path and what is wrong: not JSON, unknown keys, wrong types, numbers out of range.
GpuSpec gpu_from_json(std::string_view text, const std::string& path);

}  // namespace muscope::arch
