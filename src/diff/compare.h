// Two reports compared: per kernel what moved, on which lines, and why.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "diff/lines.h"
#include "diff/match_kernels.h"
#include "report/report.h"

namespace muscope::diff {

enum class Direction { kSame, kBetter, kWorse, kOther };  ///< kOther: different, but neither better nor worse
std::string_view name_of(Direction direction);

/// One number on both sides.
struct Change {
  std::string label;  ///< "sectors", "registers"
  std::string unit;
  std::optional<report::MetricValue> before, after;  ///< nothing: no value there
  report::Grade grade = report::Grade::kCounted;     ///< the worse of both
  Direction direction = Direction::kSame;
  std::string missing;  ///< why neither side has a value: "not modelled yet"; else empty

  bool moved() const { return direction != Direction::kSame; }
};

/// One class of accesses: "global load".
struct AccessChange {
  std::string label;
  std::vector<Change> changes;  ///< requests, sectors or wavefronts, per request, efficiency or conflicts
  bool moved() const;
};

struct LineChange {
  LinePair lines;
  std::vector<AccessChange> accesses;     ///< those that moved
  std::string cause_before, cause_after;  ///< why the line costs more than it could; may be empty
  double weight = 0;                      ///< how much moved, for ranking: sectors, wavefronts and requests together
};

/// The headline of a kernel (verdict.h).
struct Verdict {
  Direction direction = Direction::kSame;  ///< kOther: different, or mixed
  bool mixed = false;                      ///< some got better, some worse, neither by far
  std::string worse_row;                   ///< of a mixed one, the row that got worse most: "local load sectors"
};

struct KernelChange {
  KernelPair kernels;
  std::vector<AccessChange> accesses;
  std::vector<Change> launch;        ///< launches, grid, block, registers, shared memory, instructions
  std::vector<Change> hardware;      ///< throughput, hit rates, theoretical and achieved occupancy: always all of them
  std::vector<LineChange> lines;     ///< those that moved, most first
  std::vector<std::string> reasons;  ///< what explains it, a sentence each
  std::uint64_t traffic_before = 0, traffic_after = 0;  ///< sectors of global and local memory, all launches
  Verdict verdict;
  bool moved() const;
};

/// Its parts point into the two reports and into each other: it can be moved, not copied.
struct Difference {
  Difference() = default;
  Difference(Difference&&) noexcept = default;
  Difference& operator=(Difference&&) noexcept = default;

  std::vector<KernelGroup> groups_before, groups_after;
  std::deque<std::vector<LineSums>> lines;  ///< that `kernels` point to
  std::vector<std::string> warnings;        ///< other GPUs, compilers, ptxas: what else may explain a difference
  std::vector<KernelChange> kernels;        ///< those with most traffic that came or went first
};

/// Fewer than half of the kernels have a counterpart: most likely two different programs.
bool is_unrelated(const Difference& difference);

/// The texts may be empty functions.
Difference compare(const report::Report& before, const report::Report& after, const SourceText& text_before,
                   const SourceText& text_after);

}  // namespace muscope::diff
