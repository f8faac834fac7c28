// The metric table: one row per metric, with its name, old names, unit, meaning and definition from summed counts. The
// report, `--metrics`, the CSV and `muscope explain` all read this table and nothing else.
//
// Names are Nsight Compute's where it has one (checked against the metric database of CUDA 13.0 for GH100), suffix
// included; our own begin with "muscope__". Old nvprof names are kept as aliases.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/counts.h"
#include "report/report.h"

namespace muscope::report {

enum class MetricGroup : std::uint8_t {
  kGlobal,
  kLocal,
  kShared,
  kConstant,
  kTexture,
  kHost,
  kCopies,
  kInstructions,
  kLaunch,
  kOccupancy,
  kNotModelled,
};
/// "global memory", ...
std::string_view title_of(MetricGroup group);

enum class Aggregation : std::uint8_t {
  kAdditive,   ///< lines sum to the launch
  kRatio,      ///< of two sums
  kPerLaunch,  ///< an attribute of the launch; lines do not have it
};

/// What bounds the grade of a metric besides the launch's stream grade (see grade_of).
enum class GradeRule : std::uint8_t {
  kGiven,                ///< given with the launch
  kRegisterCount,        ///< as good as the register count
  kCarveoutRule,         ///< as good as the register count where the driver's choice of carve-out was measured
  kExecuted,             ///< follows from the executed instructions
  kGlobalRule,           ///< also needs the GPU's transaction rules
  kGlobalAtomicRule,     ///< sectors of atomics: model/atomic_passes.h
  kTagStageRule,         ///< which lines share a set of L1's tag stage
  kTagStageAtomicRule,   ///< the same for atomics
  kDataStageRule,        ///< passes of L1's data stage
  kBankRule,             ///< also needs the GPU's bank rules
  kAllBankRule,          ///< the same over all kinds of access: matrix loads and stores by their own rule
  kMatrixRule,           ///< matrix loads and stores: one wavefront per matrix without conflicts, not measured
  kBankRuleRaw,          ///< the hardware counter also holds arbitration noise
  kCopyRule,             ///< asynchronous copies (model/async_copy.h)
  kCopyPacketRule,       ///< wavefronts of copies past L1: right in nearly all that was measured
  kCopyBytesRule,        ///< bytes that copies write: ncu miscounts some
  kAllGlobalRule,        ///< hardware's sectors of loads, copies past L1 included
  kConstantRule,         ///< PTX does not say which constant loads become operands
  kMachineConstantRule,  ///< LDC is known from machine code only: no value otherwise
  kTextureRule,          ///< requests of fetches (model/texture.h)
  kSurfaceRule,          ///< requests and sectors of surfaces (model/texture.h)
  kManagedRule,          ///< the driver migrates more than is touched
};

using MetricValue = std::variant<std::uint64_t, double>;

struct MetricRow {
  std::string_view name;
  std::string_view nvprof;  ///< old names, comma-separated; may be empty
  std::string_view unit;
  std::string_view description;  ///< one line
  std::string_view formula;      ///< how it follows from what was counted, or why it is not modelled
  MetricGroup group = MetricGroup::kNotModelled;
  Aggregation aggregation = Aggregation::kAdditive;
  GradeRule grade = GradeRule::kExecuted;
  /// No value where the accesses it is about did not occur. Null for launch attributes and for what is not modelled.
  std::optional<MetricValue> (*compute)(const Counts&) = nullptr;

  bool modelled() const { return group != MetricGroup::kNotModelled; }
};

/// All rows, by group. Rows of kNotModelled come last; their names may end in "*" (a family).
std::span<const MetricRow> metric_rows();

/// The row of that name, of that name without its suffix (".sum", ".pct", ".ratio"), or of that nvprof name; null when
/// there is none. Families of metrics that are not modelled match by prefix.
const MetricRow* find_metric(std::string_view name);

struct MetricSelection {
  std::vector<const MetricRow*> rows;   ///< modelled ones, in the order asked for, without repeats
  std::vector<Diagnostic> diagnostics;  ///< D710 for what is known but not modelled
};
/// Reads `--metrics`: names, nvprof names and globs (`*`, `?`), comma-separated. Throws Error D107 for names that
/// nothing knows, naming the nearest.
MetricSelection select_metrics(std::string_view list);

/// What the grade of a launch's metrics depends on.
struct GradeContext {
  Grade stream = Grade::kModelled;
  std::string stream_source;
  Grade registers = Grade::kCounted;
  std::string registers_reason;
  const arch::GpuSpec* gpu = nullptr;
  bool machine_code = false;  ///< what was counted are machine instructions
};
struct GradeAndReason {
  Grade grade = Grade::kCounted;
  std::string reason;
};
GradeAndReason grade_of(GradeRule rule, const GradeContext& context);

/// Every metric that is a function of counts and has a value for these.
Metrics compute_metrics(const Counts& counts, const GradeContext& context);

/// The names among `known` nearest to `name` (edit distance, parts in common), best first.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> known,
                                       std::size_t most);

/// `*` any characters, `?` one.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace muscope::report
