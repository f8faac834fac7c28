// The text report: what `muscope run` prints. Shape:
//
//   muscope 0.1.0: ./transpose 1024: exited with 0
//   NVIDIA H200 (sm_90), clang 19.1.7, 2 launches of 2 kernels
//
//   naiveRow(float*, const float*, int, int)                                                launch #1 (2 in all)
//     grid 64x64, block 16x16, 1,048,576 threads, 16 registers [counted: ptxas]
//     memory [modelled]  requests  sectors  /request    ideal  efficiency
//     global load          32,768  131,072      4.00  131,072     100.0 %
//     global store         32,768  524,288     16.00  131,072      25.0 %  <- 3 of 4 bytes wasted
//     occupancy     100.0 % [counted]: 8 blocks, 64 warps per SM, 3.88 waves
//     transpose.cu
//       41 | out[ix * ny + iy] = in[iy * nx + ix];
//          | ^~~~~~~~~~~~~~~~~ store: neighbouring lanes are 4,096 B apart: 16 sectors per request where 4 would do
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/metrics.h"
#include "report/report.h"

namespace muscope::report {

/// Gives the text of a source line (from 1), or nothing when the file cannot be read.
using SourceReader = std::function<std::optional<std::string>(const std::string& file, int line)>;

/// Reads files from disk as the compiler named them, and keeps them. Tabs become spaces up to columns of 8.
SourceReader read_sources_from_disk();

/// Of this process; empty when there is none.
std::string working_directory();

enum class SortBy { kTraffic, kWaste, kRequests, kName, kOrder };
/// "traffic", "waste", "requests", "name", "order". Throws Error D108 for anything else.
SortBy sort_by_name(std::string_view name);

struct TextOptions {
  int width = 100;  ///< columns of the terminal; output stays within max(width, 60) and 120
  bool colour = false;
  int top = 5;                ///< kernels shown in detail, and lines per kernel
  int advice = 3;             ///< pieces of advice per launch, the best ones
  bool instructions = false;  ///< memory instructions with their counts instead of source lines
  SortBy sort = SortBy::kTraffic;
  std::vector<const MetricRow*> metrics;  ///< when not empty: these metrics per launch instead of the tables
  SourceReader source = read_sources_from_disk();
  std::string directory = working_directory();  ///< files below it are named as seen from there
};

/// The whole report. Ends with a newline. Grades stand in brackets on every table and number.
std::string to_text(const Report& report, const TextOptions& options = {});

}  // namespace muscope::report
