#include "report/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/metric_formulas.h"
#include "report/metric_tables.h"

namespace muscope::report {
namespace {

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

bool is_family(const MetricRow& row) { return row.name.ends_with('*'); }

/// The name up to its first dot: "l1tex__t_bytes.sum.per_second" -> "l1tex__t_bytes".
std::string_view base_of(std::string_view name) { return name.substr(0, name.find('.')); }

constexpr char kPacketReason[] =
    "wavefronts of asynchronous copies past L1: one lower than on an H200 in 1 of 167 measured launches";
constexpr char kPastL1Reason[] =
    "asynchronous copies past L1: right in all measured launches but those in which several lanes write one place";
constexpr char kHighBits[] = "exact in all that was measured; address bits from 35 up are not known in the set rule";
constexpr char kMatrixReason[] = "the rule of matrix loads and stores is not measured";

bool has_matrix_accesses(const Counts& counts) {
  constexpr std::uint16_t kMatrices =
      formulas::bit(trace::Kind::kLoadMatrix) | formulas::bit(trace::Kind::kStoreMatrix);
  return counts.of(formulas::in(trace::Space::kShared, kMatrices)).executed != 0;
}

bool has_copies_past_l1(const Counts& counts) {
  return counts.of(formulas::in(trace::Space::kShared, trace::Kind::kCopyAround)).executed != 0;
}

bool has_alias(const MetricRow& row, std::string_view name) {
  const auto aliases = split_list(row.nvprof);
  return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Diagnostic not_modelled(std::string_view asked, const MetricRow& row) {
  std::string hint = fmt::format("{}: {}", row.description, row.formula);
  return {Severity::kWarning, "D710", fmt::format("metric '{}' is not modelled yet", asked), {}, std::move(hint)};
}

/// Of a name or pattern that was asked for; looking for what is near takes time with its length.
constexpr std::size_t kLongestName = 1000;

[[noreturn]] void unknown_metric(std::string_view name) {
  std::vector<std::string_view> known;
  for (const MetricRow& row : metric_rows()) {
    if (!is_family(row)) known.push_back(row.name);
    for (const std::string_view alias : split_list(row.nvprof)) known.push_back(alias);
  }
  std::string hint = "muscope explain --all lists the metrics";
  if (name.size() > kLongestName)
    fail("D107", fmt::format("a metric's name of {} characters, at most {} are allowed", name.size(), kLongestName),
         std::move(hint));
  if (const auto near = nearest_names(name, known, 2); !near.empty())
    hint = fmt::format("did you mean {}? {}", fmt::join(near, " or "), hint);
  fail("D107", fmt::format("unknown metric '{}'", name), std::move(hint));
}

}  // namespace

std::string_view title_of(MetricGroup group) {
  switch (group) {
    case MetricGroup::kGlobal:
      return "global memory";
    case MetricGroup::kLocal:
      return "local memory";
    case MetricGroup::kShared:
      return "shared memory";
    case MetricGroup::kConstant:
      return "constant memory";
    case MetricGroup::kTexture:
      return "texture";
    case MetricGroup::kHost:
      return "host memory";
    case MetricGroup::kCopies:
      return "asynchronous copies";
    case MetricGroup::kInstructions:
      return "instructions";
    case MetricGroup::kLaunch:
      return "launch";
    case MetricGroup::kOccupancy:
      return "occupancy";
    case MetricGroup::kNotModelled:
      break;
  }
  return "not modelled yet";
}

std::span<const MetricRow> metric_rows() {
  static const std::vector<MetricRow> rows = [] {
    std::vector<MetricRow> all;
    for (const auto part : {global_metric_rows(), shared_metric_rows(), texture_metric_rows(), copy_metric_rows(),
                            instruction_metric_rows(), not_modelled_metric_rows()})
      all.insert(all.end(), part.begin(), part.end());
    std::stable_sort(all.begin(), all.end(), [](const MetricRow& a, const MetricRow& b) { return a.group < b.group; });
    return all;
  }();
  return rows;
}

const MetricRow* find_metric(std::string_view name) {
  const auto rows = metric_rows();
  for (const MetricRow& row : rows)
    if (row.name == name && !is_family(row)) return &row;
  for (const MetricRow& row : rows)
    if (has_alias(row, name)) return &row;
  // Without a suffix the first row of that base name is meant: percentages come before plain ratios.
  for (const MetricRow& row : rows)
    if (!is_family(row) && base_of(row.name) == name) return &row;
  for (const MetricRow& row : rows)
    if (is_family(row) && name.starts_with(row.name.substr(0, row.name.size() - 1))) return &row;
  return nullptr;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> known,
                                       std::size_t most) {
  std::vector<std::pair<std::size_t, std::string_view>> scored;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    const bool inside = name.size() >= 4 && candidate.find(name) != std::string_view::npos;
    if (distance <= std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 4)) {
      scored.emplace_back(distance, candidate);
    } else if (inside) {
      scored.emplace_back(100 + distance, candidate);
    }
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> names;
  for (const auto& [score, candidate] : scored) {
    if (names.size() == most) break;
    if (std::find(names.begin(), names.end(), candidate) == names.end()) names.emplace_back(candidate);
  }
  return names;
}

MetricSelection select_metrics(std::string_view list) {
  MetricSelection selection;
  const auto add = [&](const MetricRow& row) {
    if (std::find(selection.rows.begin(), selection.rows.end(), &row) == selection.rows.end())
      selection.rows.push_back(&row);
  };
  for (const std::string_view name : split_list(list)) {
    if (name.size() > kLongestName) unknown_metric(name);
    if (name.find_first_of("*?") != std::string_view::npos) {
      const std::size_t before = selection.rows.size();
      bool known = false;
      for (const MetricRow& row : metric_rows()) {
        bool matches = is_family(row) ? glob_matches(row.name, name) : glob_matches(name, row.name);
        for (const std::string_view alias : split_list(row.nvprof)) matches = matches || glob_matches(name, alias);
        known = known || matches;
        if (matches && row.modelled()) add(row);
      }
      if (!known) unknown_metric(name);
      if (selection.rows.size() == before) {
        // Nothing new: either asked for already, or a family without numbers.
        const MetricRow* family = find_metric(name.substr(0, name.find_first_of("*?")));
        if (family != nullptr && !family->modelled()) selection.diagnostics.push_back(not_modelled(name, *family));
      }
    } else if (const MetricRow* row = find_metric(name); row == nullptr) {
      unknown_metric(name);
    } else if (row->modelled()) {
      add(*row);
    } else {
      selection.diagnostics.push_back(not_modelled(name, *row));
    }
  }
  return selection;
}

GradeAndReason grade_of(GradeRule rule, const GradeContext& context) {
  GradeAndReason result;
  const auto at_best = [&](Grade grade, std::string_view reason) {
    if (grade > result.grade) result = {grade, std::string(reason)};
  };
  if (rule == GradeRule::kGiven) return result;
  if (rule == GradeRule::kRegisterCount) return {context.registers, context.registers_reason};
  if (rule == GradeRule::kCarveoutRule) {
    const bool chosen = context.gpu != nullptr && context.gpu->shared_carveouts.size() > 1;
    const bool measured = !chosen || context.gpu->cc_major == 9;  // on an H200: model/occupancy.h
    if (measured) return {context.registers, context.registers_reason};
    return {Grade::kEstimated, "which carve-out the driver chooses was not measured on this GPU"};
  }
  if (rule == GradeRule::kManagedRule) return {Grade::kEstimated, "drivers migrate larger blocks than are touched"};

  at_best(context.stream, context.stream_source);
  const arch::GpuSpec* gpu = context.gpu;
  switch (rule) {
    case GradeRule::kGlobalAtomicRule:
      at_best(Grade::kModelled, gpu != nullptr && (gpu->cc_major != 9 || gpu->cc_minor != 0)
                                    ? "which lanes are served together was measured on compute capability 9.0 only"
                                    : kHighBits);
      [[fallthrough]];
    case GradeRule::kGlobalRule:
    case GradeRule::kAllGlobalRule:
      if (gpu != nullptr && gpu->global.confidence == arch::Confidence::kAssumed)
        at_best(Grade::kEstimated, "this GPU's transaction rules are assumed");
      break;
    case GradeRule::kTagStageAtomicRule:
    case GradeRule::kTagStageRule:
    case GradeRule::kDataStageRule:
      if (gpu != nullptr && (gpu->cc_major != 9 || gpu->cc_minor != 0))
        at_best(Grade::kEstimated,
                "which lines share a set of the tag stage was measured on compute capability 9.0 only");
      else if (rule == GradeRule::kTagStageAtomicRule)
        at_best(Grade::kModelled, kHighBits);
      else if (rule == GradeRule::kDataStageRule)
        at_best(Grade::kModelled, "measured with one access at a time; no counter has it alone");
      else
        at_best(Grade::kModelled,
                "address bits from 35 up are not known in the set rule; under load up to 0.16 % more");
      break;
    case GradeRule::kBankRuleRaw:
      at_best(Grade::kModelled, "hardware adds arbitration noise under load");
      [[fallthrough]];
    case GradeRule::kBankRule:
    case GradeRule::kAllBankRule:
      if (gpu != nullptr && !gpu->shared.wide_rules_measured)
        at_best(Grade::kModelled, "rules for 8 and 16 bytes are not measured on this GPU");
      break;
    case GradeRule::kCopyPacketRule:
      at_best(Grade::kModelled, kPacketReason);
      [[fallthrough]];
    case GradeRule::kCopyRule:
      if (gpu != nullptr && (gpu->cc_major != 9 || gpu->cc_minor != 0))
        at_best(Grade::kModelled, "asynchronous copies were measured on compute capability 9.0 only");
      break;
    case GradeRule::kCopyBytesRule:
      at_best(Grade::kModelled,
              "Nsight Compute counts one lane of copies whose address in shared memory has an immediate offset");
      break;
    case GradeRule::kMatrixRule:
      at_best(Grade::kModelled, kMatrixReason);
      break;
    case GradeRule::kConstantRule:
      if (!context.machine_code) at_best(Grade::kModelled, "ptxas decides which constant loads are indexed");
      break;
    case GradeRule::kTextureRule:
      at_best(Grade::kModelled, "tex1Dfetch was measured with texels of one and four components of 32 bits only");
      break;
    case GradeRule::kSurfaceRule:
      at_best(Grade::kModelled, "measured inside of surfaces, x counting bytes, on compute capability 9.0 only");
      break;
    default:
      break;
  }
  return result;
}

Metrics compute_metrics(const Counts& counts, const GradeContext& context) {
  Metrics metrics;
  for (const MetricRow& row : metric_rows()) {
    if (row.compute == nullptr || (row.grade == GradeRule::kMachineConstantRule && !context.machine_code)) continue;
    const std::optional<MetricValue> value = row.compute(counts);
    if (!value) continue;
    const bool matrices = row.grade == GradeRule::kAllBankRule && has_matrix_accesses(counts);
    const bool past_l1 = has_copies_past_l1(counts);
    const bool no_packets = row.grade == GradeRule::kCopyPacketRule && !past_l1;
    GradeAndReason graded = grade_of(no_packets ? GradeRule::kCopyRule : row.grade, context);
    if (matrices && graded.grade == Grade::kCounted) graded = {Grade::kModelled, kMatrixReason};
    if (past_l1 && graded.grade == Grade::kCounted) {
      if (row.grade == GradeRule::kAllBankRule) graded = {Grade::kModelled, kPacketReason};
      if (row.grade == GradeRule::kAllGlobalRule) graded = {Grade::kModelled, kPastL1Reason};
    }
    metrics.emplace(row.name, Metric{*value, std::string(row.unit), graded.grade, std::move(graded.reason)});
  }
  return metrics;
}

}  // namespace muscope::report
