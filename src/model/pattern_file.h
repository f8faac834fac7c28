// Pattern files: tab-separated rows of warp accesses, the batch form of `muscope pattern`.
//
//   space  op  bytes  mask      offsets           (more columns pass through)
//   shared LD  4      ffffffff  0,128,256,...     -> the same row with requests, sectors, wavefronts, bank_conflicts
//   and
//                                                    constant_requests appended, empty where they do not apply
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "model/pattern.h"

namespace muscope::model {

/// Where the columns that are read stand.
class PatternFile {
 public:
  /// `header` is the file's first line. Throws Error D115 when a column is missing or stands twice, or when one that
  /// would be appended is there already. `path` is for messages.
  PatternFile(std::string_view header, std::string path);

  /// The header with the new columns, without a newline.
  std::string output_header() const;

  struct Row {
    Pattern pattern;
    bool has_offsets = true;  ///< false when `offsets` is empty: nothing to count
  };

  /// One row. Throws Error D115 naming the line.
  Row parse(std::string_view line, int line_number) const;

  /// The row with its counts appended, without a newline; empty counts when `counts` is null.
  static std::string output_row(std::string_view line, const PatternCounts* counts);

 private:
  [[noreturn]] void refuse(int line_number, const std::string& what) const;

  std::string header_;
  std::string path_;
  std::size_t columns_ = 0;
  std::size_t space_ = 0, op_ = 0, bytes_ = 0, mask_ = 0, offsets_ = 0;
};

/// "ffffffff", "0xFF", "all" -> lanes. Hexadecimal, at most 32 digits. Throws Error D114.
WarpMask parse_mask(std::string_view text);
std::string mask_text(const WarpMask& mask, unsigned lanes);  ///< "ffffffff"

/// "0,4,8", "0..124:4" (both ends included), "64*16" (sixteen times). At most kMaxWarpLanes offsets. Throws Error D114.
std::vector<std::uint64_t> parse_offsets(std::string_view text);

}  // namespace muscope::model
