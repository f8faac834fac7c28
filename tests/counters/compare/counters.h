// What hardware counted and what muscope counts, side by side: reads both, compares launch by launch, and holds what
// differs against the list of known differences.
//
//   const Reported ours = run_program(kSuite, {"manifest", "1024"});
//   const std::vector<Launch> hardware = read_csv("suite_h200.csv", "label");
//   Comparison comparison("suite");
//   comparison.compare(ours.launches[0].values, hardware[0], metrics);
//   for (const Difference& d : comparison.differences()) ...
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muscope::counters {

/// Metric name as ncu spells it ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") to value.
using Values = std::map<std::string, double>;

/// One launch, as hardware or muscope counted it. A metric that is missing read zero (muscope) or was not collected.
struct Launch {
  std::string label;   ///< unique within its group
  std::string kernel;  ///< demangled, without parameters
  Values values;
};

/// A program under `muscope run --json`.
struct Reported {
  int exit_code = -1;
  std::string out, err;
  std::vector<Launch> launches;  ///< in the report's order; the label is the launch's index
  std::vector<int> indices;      ///< `index` of each launch
  std::vector<std::string> states;
  nlohmann::json report;  ///< without the lines of the launches, unless asked for
};

/// Runs `muscope run OPTIONS --json ... PROGRAM ARGS` in `directory`. `lines`: keep the lines of the report.
Reported run_program(const std::vector<std::string>& options, const std::string& program,
                     const std::vector<std::string>& args, const std::string& directory, bool lines = false);

/// A line of a CSV file cut into its cells, quotes removed. Cells hold no line breaks.
std::vector<std::string> csv_cells(const std::string& line);

/// Reads rows of ncu's raw page: one header, possibly a row of units (no label there). Cells that are no numbers are left
/// out. `label` names the column that labels the rows; `kernel` the one with the kernel's name. Throws
/// std::runtime_error when the file or a column is missing.
std::vector<Launch> read_csv(const std::string& path, const std::string& label, const std::string& kernel);

/// The value, or 0 when the metric is missing.
double value_of(const Values& values, const std::string& metric);

/// A counter that is not the same on both sides.
struct Difference {
  std::string group;   ///< "suite", "patterns", "examples"
  std::string launch;  ///< label
  std::string metric;
  double ours = 0;
  double hardware = 0;

  auto key() const { return std::pair(group + " " + launch, metric); }
};

/// How many launches were compared in a metric, in how many either side was not zero, and in how many both were equal.
struct Tally {
  int compared = 0;
  int used = 0;   ///< either side is not zero
  int equal = 0;  ///< of `used`
};

class Comparison {
 public:
  explicit Comparison(std::string group) : group_(std::move(group)) {}

  /// Compares one launch in every one of the metrics that hardware has. Percentages are equal when they round alike:
  /// ncu prints two decimals.
  void compare(const Values& ours, const Launch& hardware, std::span<const std::string_view> metrics);

  const std::string& group() const { return group_; }
  const std::map<std::string, Tally>& tallies() const { return tallies_; }
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  std::string group_;
  std::map<std::string, Tally> tallies_;
  std::vector<Difference> differences_;
};

/// A difference that is understood.
struct KnownDifference {
  Difference difference;
  std::string reason;  ///< key of a reason
  std::string detail;  ///< which PTX and which SASS instructions
};

/// The list of known differences: differences.tsv, and what the reasons in it mean: reasons.tsv.
struct KnownDifferences {
  std::vector<KnownDifference> rows;
  std::vector<std::pair<std::string, std::string>> reasons;  ///< key, text; in the file's order

  static KnownDifferences read(const std::string& folder);
  const KnownDifference* find(const Difference& difference) const;
};

/// What differs between the list and what was found: one line per new, changed or vanished difference, as a row for
/// differences.tsv where there is one. Empty when all is as listed.
std::string deviations(const KnownDifferences& known, const Comparison& found);

/// A count without needless decimals.
std::string number(double value);

// The groups. Each runs its programs and compares everything that is deterministic on hardware.

/// What is determined by addresses and the code, and so must repeat: requests, sectors, wavefronts, instructions.
std::span<const std::string_view> counted_metrics();
/// Attributes of the launch and occupancy limits.
std::span<const std::string_view> launch_metrics();

struct GroupResult {
  Comparison comparison;
  std::vector<Reported> runs;  ///< one per program (or example)
  std::string problem;         ///< why launches could not be paired; empty when all is well
};

/// What is executed and counted: PTX, or the machine code that the programs carry (sm_90). Reports of machine code keep
/// their lines.
enum class Code { kPtx, kMachine };

GroupResult run_suite(const std::string& work, Code code = Code::kPtx);
GroupResult run_examples(const std::string& work, Code code = Code::kPtx);
/// The programs of kernels/: kernels of many more kinds.
GroupResult run_kernels(const std::string& work, Code code = Code::kMachine);
/// `rows`: how many rows of patterns.tsv were met.
GroupResult run_patterns(const std::string& work, int* rows);

}  // namespace muscope::counters
