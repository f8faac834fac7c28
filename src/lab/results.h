// The lab's results: rows with what was made of their samples, held against the ceilings of the same process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/counters.h"
#include "lab/raw.h"
#include "lab/statistics.h"

namespace muscope::lab {

struct ResultRow {
  std::string program;
  RawRow raw;
  std::optional<Summary> time;        ///< of the samples, in raw.unit; nothing when none were taken
  std::optional<Summary> in_graph;    ///< microseconds per call of many in a graph, one after the other
  std::optional<Summary> in_stream;   ///< the same in a stream
  std::optional<double> rate;         ///< 10^9 bytes or operations per second, by the median
  std::optional<double> bus_rate;     ///< of collectives: per link and direction, as NCCL's own tests count
  std::optional<double> of_ceiling;   ///< share of the fastest ceiling of its mix, at the nearest size, in its process
  std::optional<double> of_pins;      ///< share of what the memory's pins move at its clock
  std::optional<Counters> predicted;  ///< by muscope
  std::optional<Counters> measured;   ///< by Nsight Compute
  double counted_bytes = 0;           ///< useful bytes of what was counted; 0 when not known or counted in operations
  std::string verdict;  ///< "wrong", "noisy", "beyond the pins", "at the ceiling", "near", "below", "ok", "not timed"
};

struct SeriesFit {
  std::string experiment, series;
  Fit fit;
};

struct Results {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<ResultRow> rows;
  std::vector<std::pair<std::string, std::string>> skipped;
  std::vector<SeriesFit> fits;
  double pins_gb_per_s = 0;  ///< clock x 2 x bus width; 0 when not known
  int wrong = 0, noisy = 0;
};

/// What one program left: its run, and what was counted in its mode `count`, where that was done.
struct ProgramResults {
  RawRun run;
  std::vector<std::optional<Counters>> predicted, measured;  ///< per row of the mode `count`
  RawRun counted;                                            ///< the rows of that mode
};

/// Rows of `counted` are joined to those of the run by experiment and name; else by the name without the size that ends
/// it; else by their order within the experiment when the numbers of rows agree. Sizes differ: compare counts per
/// request.
Results combine(const std::vector<ProgramResults>& programs);

/// From to_json's output; what was derived from samples is derived again. Throws Error D791.
std::vector<ProgramResults> read_results(std::string_view json, const std::string& name);

/// A row is noisy when the 95 % interval of its median is wider than this share of it, or the copy that was timed in
/// each round moved by more than kSentinelDrift against the program's median.
inline constexpr double kNoisyInterval = 0.06;
inline constexpr double kSentinelDrift = 0.02;

/// More than the memory can move: a cache answered, or bytes are counted that were not moved.
inline constexpr double kBeyondPins = 1.05;

}  // namespace muscope::lab
