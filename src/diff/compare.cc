#include "diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diff/verdict.h"
#include "report/cause.h"
#include "report/kernel_name.h"
#include "report/metric_formulas.h"
#include "report/number_format.h"

namespace muscope::diff {
namespace {

using report::AccessSums;
using report::MetricValue;
using trace::Kind;
using trace::Space;

struct AccessRow {
  std::string_view label;
  report::AccessClass wanted;
  enum class Priced : std::uint8_t { kSectors, kWavefronts, kRequests } priced;
};

using report::formulas::in;
constexpr AccessRow kAccesses[] = {
    {"global load", in(Space::kGlobal, Kind::kLoad), AccessRow::Priced::kSectors},
    {"global store", in(Space::kGlobal, Kind::kStore), AccessRow::Priced::kSectors},
    {"global reduction", in(Space::kGlobal, Kind::kRed), AccessRow::Priced::kSectors},
    {"global atomic", in(Space::kGlobal, Kind::kAtom), AccessRow::Priced::kSectors},
    {"async copy", in(Space::kGlobal, report::formulas::kAsyncCopies), AccessRow::Priced::kSectors},
    {"local load", in(Space::kLocal, Kind::kLoad), AccessRow::Priced::kSectors},
    {"local store", in(Space::kLocal, Kind::kStore), AccessRow::Priced::kSectors},
    {"shared load", in(Space::kShared, Kind::kLoad), AccessRow::Priced::kWavefronts},
    {"shared store", in(Space::kShared, Kind::kStore), AccessRow::Priced::kWavefronts},
    {"shared atomic", in(Space::kShared, report::formulas::kAtomics), AccessRow::Priced::kWavefronts},
    {"matrix load", in(Space::kShared, Kind::kLoadMatrix), AccessRow::Priced::kWavefronts},
    {"matrix store", in(Space::kShared, Kind::kStoreMatrix), AccessRow::Priced::kWavefronts},
    {"constant load", in(Space::kConst), AccessRow::Priced::kRequests},
    {"texture fetch", in(Space::kTexture), AccessRow::Priced::kRequests},
    {"surface load", in(Space::kSurface, Kind::kLoad), AccessRow::Priced::kSectors},
    {"surface store", in(Space::kSurface, Kind::kStore), AccessRow::Priced::kSectors},
    {"surface reduction", in(Space::kSurface, Kind::kRed), AccessRow::Priced::kSectors},
};

enum class Better { kLess, kMore, kNeither };

Change change_of(std::string label, std::string unit, std::optional<MetricValue> before,
                 std::optional<MetricValue> after, Better better, report::Grade grade) {
  Change c;
  c.label = std::move(label);
  c.unit = std::move(unit);
  c.before = before;
  c.after = after;
  c.grade = grade;
  const bool same =
      before.has_value() == after.has_value() && (!before || (!less(*before, *after) && !less(*after, *before)));
  if (same) return c;
  if (!before || !after || better == Better::kNeither)
    c.direction = Direction::kOther;
  else
    c.direction = less(*after, *before) == (better == Better::kLess) ? Direction::kBetter : Direction::kWorse;
  return c;
}

std::optional<MetricValue> quotient(std::uint64_t numerator, std::uint64_t denominator, double factor = 1) {
  if (denominator == 0) return {};
  return factor * static_cast<double>(numerator) / static_cast<double>(denominator);
}

AccessChange access_change(const AccessRow& row, const AccessSums& a, const AccessSums& b, report::Grade grade) {
  AccessChange out{std::string(row.label), {}};
  const auto add = [&](std::string label, std::string unit, std::optional<MetricValue> before,
                       std::optional<MetricValue> after, Better better) {
    out.changes.push_back(change_of(std::move(label), std::move(unit), before, after, better, grade));
  };
  // Traffic that goes away is better and traffic that comes is worse, with two exceptions. Shared memory that one side
  // does not use: data were moved there, or back; conflicts count. Constant loads: every use of a parameter is one, so
  // that they grow with the grid; replays count.
  const bool both = a.executed > 0 && b.executed > 0;
  const bool neutral = row.label == "constant load" || (row.priced == AccessRow::Priced::kWavefronts && !both);
  const Better fewer = neutral ? Better::kNeither : Better::kLess;
  const auto counts = [&](std::string_view first, const char* first_unit, std::uint64_t AccessSums::* one,
                          std::string_view second, const char* second_unit, std::uint64_t AccessSums::* two,
                          std::string_view each) {
    add(std::string(first), first_unit, a.*one, b.*one, fewer);
    add(std::string(second), second_unit, a.*two, b.*two, fewer);
    add(std::string(each), "", quotient(a.*two, a.*one), quotient(b.*two, b.*one), Better::kNeither);
  };
  switch (row.priced) {
    case AccessRow::Priced::kSectors:
      counts("requests", "request", &AccessSums::requests, "sectors", "sector", &AccessSums::sectors, "/request");
      add("efficiency", "%", quotient(a.bytes, a.sectors, 100.0 / 32), quotient(b.bytes, b.sectors, 100.0 / 32),
          Better::kMore);
      break;
    case AccessRow::Priced::kWavefronts:
      counts("requests", "request", &AccessSums::requests, "wavefronts", "wavefront", &AccessSums::wavefronts,
             "/request");
      add("conflicts", "wavefront", a.conflicts, b.conflicts, Better::kLess);
      break;
    case AccessRow::Priced::kRequests:
      counts("loads", "inst", &AccessSums::executed, "requests", "request", &AccessSums::requests, "/load");
      add("replays", "request", a.replays, b.replays, Better::kLess);
      break;
  }
  return out;
}

/// Distance of what a class of accesses costs.
double cost_moved(const AccessRow& row, const AccessSums& a, const AccessSums& b) {
  const auto field = row.priced == AccessRow::Priced::kSectors      ? &AccessSums::sectors
                     : row.priced == AccessRow::Priced::kWavefronts ? &AccessSums::wavefronts
                                                                    : &AccessSums::requests;
  return std::fabs(static_cast<double>(a.*field) - static_cast<double>(b.*field));
}

report::Counts counts_of(const std::vector<LineSums>& lines) {
  report::Counts counts;
  for (const LineSums& line : lines) counts += line.counts;
  return counts;
}

std::vector<AccessChange> access_changes(const report::Counts& a, const report::Counts& b, report::Grade grade,
                                         bool moved_only) {
  std::vector<AccessChange> all;
  for (const AccessRow& row : kAccesses) {
    const AccessSums before = a.of(row.wanted), after = b.of(row.wanted);
    if (before.executed == 0 && after.executed == 0) continue;
    AccessChange change = access_change(row, before, after, grade);
    if (!moved_only || change.moved()) all.push_back(std::move(change));
  }
  return all;
}

std::string cause_text(const LineSums* line, const arch::GpuSpec& gpu) {
  if (line == nullptr || line->worst == nullptr) return {};
  const auto cause = report::cause_of(*line->worst, gpu);
  return cause ? cause->subject + ": " + cause->text() : std::string();
}

/// What people ask first, whether there are numbers or not. Names that muscope has no number for yet are
/// looked up too: the day it has, they appear.
struct HardwareRow {
  std::string_view label, metric;
  Better better;
};
constexpr HardwareRow kHardware[] = {
    {"memory throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", Better::kMore},
    {"DRAM throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed", Better::kMore},
    {"L1 hit rate", "l1tex__t_sector_hit_rate.pct", Better::kMore},
    {"L2 hit rate", "lts__t_sector_hit_rate.pct", Better::kMore},
    {"theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct", Better::kMore},
    {"achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", Better::kMore},
};

struct Attribute {
  std::string_view label, metric;
  Better better;
};
constexpr Attribute kAttributes[] = {
    {"threads", "launch__thread_count", Better::kNeither},
    {"registers", "launch__registers_per_thread", Better::kLess},
    {"static shared", "launch__shared_mem_per_block_static", Better::kNeither},
    {"dynamic shared", "launch__shared_mem_per_block_dynamic", Better::kNeither},
    {"blocks per SM", "muscope__blocks_per_multiprocessor", Better::kMore},
    {"warp instructions", "smsp__inst_executed.sum", Better::kLess},
};

/// Median over the launches, by the name alone: metrics that this muscope does not know may come from a newer one.
std::optional<MetricValue> value_of(const KernelGroup* group, std::string_view name, bool sum, report::Grade& grade,
                                    std::string& unit) {
  if (group == nullptr) return {};
  report::MetricRow row;
  row.name = name;
  row.aggregation = sum ? report::Aggregation::kAdditive : report::Aggregation::kPerLaunch;
  const MetricTotals totals = totals_of(*group, row);
  if (!totals.known) return {};
  if (const auto found = group->launches.front()->metrics.find(name); found != group->launches.front()->metrics.end())
    unit = found->second.unit;
  grade = std::max(grade, totals.grade);
  return sum ? totals.sum : totals.median;
}

std::vector<Change> hardware_of(const KernelPair& pair) {
  std::vector<Change> all;
  for (const HardwareRow& row : kHardware) {
    report::Grade grade = report::Grade::kCounted;
    std::string unit = "%";
    const auto before = value_of(pair.before, row.metric, false, grade, unit);
    const auto after = value_of(pair.after, row.metric, false, grade, unit);
    Change change = change_of(std::string(row.label), unit, before, after, row.better, grade);
    if (!before && !after) {
      const report::MetricRow* known = report::find_metric(row.metric);
      change.missing = known != nullptr && known->modelled() ? "not known" : "not modelled yet";
    }
    all.push_back(std::move(change));
  }
  return all;
}

std::vector<Change> attributes_of(const KernelPair& pair) {
  std::vector<Change> all;
  const auto launches = [](const KernelGroup* group) {
    return group == nullptr ? std::optional<MetricValue>() : MetricValue(std::uint64_t{group->launches.size()});
  };
  all.push_back(change_of("launches", "", launches(pair.before), launches(pair.after), Better::kNeither,
                          report::Grade::kCounted));
  for (const Attribute& row : kAttributes) {
    report::Grade grade = report::Grade::kCounted;
    std::string unit;
    const bool sum = row.metric == "smsp__inst_executed.sum";
    const auto before = value_of(pair.before, row.metric, sum, grade, unit);
    const auto after = value_of(pair.after, row.metric, sum, grade, unit);
    if (before || after) all.push_back(change_of(std::string(row.label), unit, before, after, row.better, grade));
  }
  return all;
}

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  std::string text = fmt::format("{}", extent[0]);
  if (extent[1] > 1 || extent[2] > 1) text += fmt::format("x{}", extent[1]);
  if (extent[2] > 1) text += fmt::format("x{}", extent[2]);
  return text;
}

std::vector<std::string> reasons_of(const KernelChange& kernel) {
  std::vector<std::string> reasons;
  const KernelPair& pair = kernel.kernels;
  if (pair.before == nullptr || pair.after == nullptr) return reasons;
  const report::LaunchReport &a = *pair.before->launches.front(), &b = *pair.after->launches.front();
  if (pair.before->launches.size() != pair.after->launches.size())
    reasons.push_back(fmt::format("it was launched {}, is now {}: counts are sums",
                                  report::times_text(pair.before->launches.size()),
                                  report::times_text(pair.after->launches.size())));
  if (a.grid != b.grid)
    reasons.push_back(fmt::format("the grid was {}, is {}", extent_text(a.grid), extent_text(b.grid)));
  if (a.block != b.block)
    reasons.push_back(fmt::format("the block was {}, is {}", extent_text(a.block), extent_text(b.block)));
  for (const Change& c : kernel.hardware) {
    if (c.label != "theoretical occupancy" || !c.moved()) continue;
    const auto limit = [](const std::string& text) { return text.empty() ? std::string("nothing") : text; };
    std::string why = fmt::format("occupancy was limited by {}, is limited by {}", limit(a.occupancy_limit),
                                  limit(b.occupancy_limit));
    for (const Change& attribute : kernel.launch)
      if (attribute.label == "registers" && attribute.moved() && attribute.before && attribute.after)
        why += fmt::format("; registers went from {} to {}", value_text(*attribute.before, ""),
                           value_text(*attribute.after, ""));
    reasons.push_back(std::move(why));
  }
  if (counted_from(*pair.before) != counted_from(*pair.after))
    reasons.push_back(
        fmt::format("counted from {}, now from {}", counted_from(*pair.before), counted_from(*pair.after)));
  return reasons;
}

std::uint64_t traffic_of(const report::Counts& counts) {
  constexpr auto kMemory =
      static_cast<std::uint8_t>(report::formulas::bit(Space::kGlobal) | report::formulas::bit(Space::kLocal));
  return counts.of({kMemory, report::formulas::kEveryKind}).sectors;
}

KernelChange kernel_change(const KernelPair& pair, const report::Report& before, const report::Report& after,
                           const SourceText& text_before, const SourceText& text_after,
                           std::deque<std::vector<LineSums>>& keep) {
  KernelChange out;
  out.kernels = pair;
  const auto lines = [&](const KernelGroup* group, const SourceText& text) -> const std::vector<LineSums>& {
    return keep.emplace_back(group == nullptr ? std::vector<LineSums>() : lines_of(*group, text));
  };
  const std::vector<LineSums>& lines_before = lines(pair.before, text_before);
  const std::vector<LineSums>& lines_after = lines(pair.after, text_after);
  report::Grade grade = report::Grade::kCounted;
  if (pair.before != nullptr) grade = std::max(grade, stream_grade(*pair.before));
  if (pair.after != nullptr) grade = std::max(grade, stream_grade(*pair.after));
  const report::Counts all_before = counts_of(lines_before), all_after = counts_of(lines_after);
  out.accesses = access_changes(all_before, all_after, grade, false);
  out.traffic_before = traffic_of(all_before);
  out.traffic_after = traffic_of(all_after);
  out.hardware = hardware_of(pair);
  out.launch = attributes_of(pair);
  out.reasons = reasons_of(out);
  out.verdict = verdict_of(out.accesses, out.launch, out.hardware);
  if (pair.before == nullptr || pair.after == nullptr) return out;
  static const report::Counts kNothing;
  for (const LinePair& line : match_lines(lines_before, lines_after)) {
    LineChange change;
    change.lines = line;
    const report::Counts& a = line.before != nullptr ? line.before->counts : kNothing;
    const report::Counts& b = line.after != nullptr ? line.after->counts : kNothing;
    change.accesses = access_changes(a, b, grade, true);
    if (change.accesses.empty()) continue;
    for (const AccessRow& row : kAccesses) change.weight += cost_moved(row, a.of(row.wanted), b.of(row.wanted));
    change.cause_before = cause_text(line.before, before.gpu);
    change.cause_after = cause_text(line.after, after.gpu);
    out.lines.push_back(std::move(change));
  }
  std::stable_sort(out.lines.begin(), out.lines.end(),
                   [](const LineChange& a, const LineChange& b) { return a.weight > b.weight; });
  return out;
}

std::vector<std::string> warnings_of(const report::Report& before, const report::Report& after) {
  std::vector<std::string> out;
  const auto differ = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b)
      out.push_back(
          fmt::format("{}: {} before, {} after", what, a.empty() ? "not known" : a, b.empty() ? "not known" : b));
  };
  const auto gpu = [](const report::Report& r) {
    if (r.gpu.cc_major == 0) return fmt::format("{} (mp_{})", r.gpu.name, r.gpu.cc_minor);  // of MUSA
    return fmt::format("{} (compute capability {}.{})", r.gpu.name, r.gpu.cc_major, r.gpu.cc_minor);
  };
  differ("the GPUs differ", gpu(before), gpu(after));
  differ("the toolchains differ", before.toolchain, after.toolchain);
  return out;
}

}  // namespace

std::string_view name_of(Direction direction) {
  switch (direction) {
    case Direction::kSame:
      return "same";
    case Direction::kBetter:
      return "better";
    case Direction::kWorse:
      return "worse";
    case Direction::kOther:
      break;
  }
  return "different";
}

bool AccessChange::moved() const {
  return std::any_of(changes.begin(), changes.end(), [](const Change& c) { return c.moved(); });
}

bool KernelChange::moved() const {
  const auto change = [](const Change& c) { return c.moved(); };
  return kernels.by == MatchedBy::kNothing || !lines.empty() ||
         std::any_of(accesses.begin(), accesses.end(), [](const AccessChange& a) { return a.moved(); }) ||
         std::any_of(launch.begin(), launch.end(), change) || std::any_of(hardware.begin(), hardware.end(), change);
}

bool is_unrelated(const Difference& difference) {
  const auto matched = std::count_if(difference.kernels.begin(), difference.kernels.end(),
                                     [](const KernelChange& k) { return k.kernels.by != MatchedBy::kNothing; });
  return difference.kernels.size() > 2 && 2 * static_cast<std::size_t>(matched) < difference.kernels.size();
}

Difference compare(const report::Report& before, const report::Report& after, const SourceText& text_before,
                   const SourceText& text_after) {
  Difference out;
  out.warnings = warnings_of(before, after);
  out.groups_before = kernels_of(before);
  out.groups_after = kernels_of(after);
  for (const KernelPair& pair : match_kernels(out.groups_before, out.groups_after))
    out.kernels.push_back(kernel_change(pair, before, after, text_before, text_after, out.lines));
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [](const KernelChange& a, const KernelChange& b) {
    const auto moved = [](const KernelChange& k) {
      return k.traffic_before > k.traffic_after ? k.traffic_before - k.traffic_after
                                                : k.traffic_after - k.traffic_before;
    };
    return moved(a) > moved(b);
  });
  return out;
}

}  // namespace muscope::diff
