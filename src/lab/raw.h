// What the lab's programs write (lab/lab.cuh): lines of JSON, one per result. Read with suspicion: files come from
// anywhere.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muscope::lab {

/// One row as it was measured.
struct RawRow {
  std::string experiment, name, x_unit, work, mix, series, flush, unit, verified, why;
  double x = 0, amount = 0;
  double bus = 0;  ///< of collectives: bytes per link and direction over `amount`
  int launches = 0;
  std::array<double, 2> clock_mhz{};
  std::vector<double> samples, sentinel_us;
  std::vector<double> graph_us, stream_us;  ///< per call of many back to back; of short rows only
};

struct RawRun {
  std::string program, mode;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<RawRow> rows;
  std::vector<std::pair<std::string, std::string>> skipped;  ///< experiment, reason
  bool ended = false;                                        ///< the program came to its end
};

/// Control characters become spaces: those of ASCII, and U+0080 to U+009F, which terminals obey too.
std::string without_controls(std::string text);

/// Throws Error D791 with file and line: not JSON, another format, a field missing, of the wrong type or out of range.
/// `name` is the file, for messages. Unknown types of lines and unknown fields are passed over.
RawRun read_raw(std::string_view text, const std::string& name);

}  // namespace muscope::lab
