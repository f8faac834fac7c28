#include "cli/explain_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace muscope::cli {

using report::MetricGroup;
using report::MetricRow;

std::string_view pages_of(MetricGroup group) {
  switch (group) {
    case MetricGroup::kGlobal:
      return "coalescing, sector, request, ideal-sectors, efficiency";
    case MetricGroup::kLocal:
      return "local-memory, spill, sector";
    case MetricGroup::kShared:
      return "shared-memory, wavefront, bank-conflict";
    case MetricGroup::kConstant:
      return "constant-memory";
    case MetricGroup::kTexture:
      return "texture";
    case MetricGroup::kHost:
      return "zero-copy, managed, pinned";
    case MetricGroup::kCopies:
      return "coalescing, sector, bank-conflict";
    case MetricGroup::kInstructions:
      return "warp, lane, divergence";
    case MetricGroup::kLaunch:
      return "block, register";
    case MetricGroup::kOccupancy:
      return "occupancy, waves";
    case MetricGroup::kNotModelled:
      break;
  }
  return "ncu, grades";
}

std::string_view grade_text(report::GradeRule rule) {
  using report::GradeRule;
  switch (rule) {
    case GradeRule::kGiven:
      return "counted";
    case GradeRule::kRegisterCount:
      return "counted when the registers come from machine code, else estimated";
    case GradeRule::kCarveoutRule:
      return "counted when the registers come from machine code and the carve-out that the driver chooses was measured "
             "(compute capability 9.0), else estimated";
    case GradeRule::kExecuted:
      return "counted from machine code, modelled when the PTX was followed";
    case GradeRule::kMachineConstantRule:
      return "counted from machine code; no value when the PTX was followed";
    case GradeRule::kGlobalRule:
      return "counted from machine code, modelled when the PTX was followed; estimated on GPUs whose transaction rules "
             "no "
             "source gives";
    case GradeRule::kAllGlobalRule:
      return "counted from machine code, modelled when the PTX was followed or with asynchronous copies past L1; "
             "estimated on GPUs whose transaction rules no source gives";
    case GradeRule::kCopyRule:
      return "counted from machine code, modelled when the PTX was followed or on GPUs other than compute capability "
             "9.0";
    case GradeRule::kCopyPacketRule:
      return "modelled with asynchronous copies past L1: one lower than on an H200 in 1 of 167 measured launches; else "
             "as "
             "other counts of copies";
    case GradeRule::kCopyBytesRule:
      return "modelled: Nsight Compute counts one lane of copies whose address in shared memory has an immediate "
             "offset";
    case GradeRule::kGlobalAtomicRule:
      return "modelled: exact in all that was measured on compute capability 9.0; where lanes of a warp are more than "
             "2 MiB apart, which lines hinder each other is not known";
    case GradeRule::kTagStageRule:
      return "modelled, exact in launches of one warp; estimated on GPUs other than compute capability 9.0, whose sets "
             "were not measured";
    case GradeRule::kTagStageAtomicRule:
      return "modelled: exact in all that was measured; where lanes of a warp are more than 2 MiB apart, which lines "
             "share a set is not known; estimated on GPUs other than compute capability 9.0";
    case GradeRule::kDataStageRule:
      return "modelled: no counter has it alone; estimated on GPUs other than compute capability 9.0";
    case GradeRule::kBankRule:
      return "counted from machine code, modelled when the PTX was followed or where 8- and 16-byte accesses were not "
             "measured";
    case GradeRule::kAllBankRule:
      return "counted from machine code, modelled when the PTX was followed, with matrix loads or stores or "
             "asynchronous copies, or where 8- and 16-byte accesses were not measured";
    case GradeRule::kMatrixRule:
      return "modelled: matrix loads and stores were not measured";
    case GradeRule::kBankRuleRaw:
      return "modelled: hardware adds arbitration noise under load";
    case GradeRule::kConstantRule:
      return "modelled: ptxas decides which constant loads are indexed";
    case GradeRule::kTextureRule:
      return "modelled: tex1Dfetch was measured with some formats only";
    case GradeRule::kSurfaceRule:
      return "modelled: measured inside of surfaces, x counting bytes, on compute capability 9.0 only";
    case GradeRule::kManagedRule:
      break;
  }
  return "estimated: drivers migrate larger blocks than are touched";
}

namespace {

constexpr std::string_view kWords =
    R"(
## Ideal, wasted, efficiency

- **ideal**: the least sectors (of shared memory: wavefronts) that the bytes of the active lanes fill, were they packed:
  min(sectors, ceil(active lanes x bytes / 32)) of each request.
- **wasted**: what lies above the ideal, of all: (sectors - ideal) / sectors. Another order of data or threads could save it.
- **efficiency**: bytes that lanes asked for, of the bytes that moved for them: bytes / (32 x sectors), Nsight Compute's quotient.

A broadcast of 4 bytes moves one sector, which is its ideal: nothing is wasted, and the efficiency is 12.5 %. Text, HTML,
`muscope check` and `muscope diff` use the words so ([more](explain/efficiency.md)).
)";

constexpr std::string_view kIntroduction = R"(# Metrics

<!-- Written by `muscope explain --metrics-page`; a test holds it against the program. -->

Every metric that `muscope run` knows, as `--metrics`, `--json` and `--csv` name it. `muscope explain NAME` prints one of them;
`*` and `?` match several. A name that does not begin with `muscope__` is Nsight Compute's own, suffix included, and means what
its counter means; names of nvprof that lead to the same metric stand below it.

*lines* says how the values of source lines relate to that of the launch: they **sum** to it, are a **quotient** of sums, or
only the **launch** has the metric. What *counted*, *modelled* and *estimated* promise: [grades](explain/grades.md). How the
values compare with a real GPU: [accuracy](accuracy.md).
)";

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

/// A cell of a table: the bars that would end it are escaped.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

/// "`name`", and below it the names of nvprof.
std::string name_cell(const MetricRow& row) {
  std::string out = code(row.name);
  for (std::string_view old = row.nvprof; !old.empty();) {
    const std::size_t comma = std::min(old.find(','), old.size());
    out += fmt::format("<br>nvprof {}", code(old.substr(0, comma)));
    old.remove_prefix(std::min(comma + 1, old.size()));
  }
  return out;
}

std::string_view lines_cell(report::Aggregation aggregation) {
  switch (aggregation) {
    case report::Aggregation::kAdditive:
      return "sum";
    case report::Aggregation::kRatio:
      return "quotient";
    case report::Aggregation::kPerLaunch:
      break;
  }
  return "launch";
}

}  // namespace

std::string metrics_page() {
  // Grades are sentences; the tables name them by number.
  std::vector<std::string_view> grades;
  const auto grade_number = [&grades](report::GradeRule rule) {
    const std::string_view text = grade_text(rule);
    const auto at = std::find(grades.begin(), grades.end(), text);
    if (at != grades.end()) return at - grades.begin() + 1;
    grades.push_back(text);
    return static_cast<std::ptrdiff_t>(grades.size());
  };
  std::string tables;
  const MetricRow* before = nullptr;
  for (const MetricRow& row : report::metric_rows()) {
    if (before == nullptr || before->group != row.group) {
      tables += fmt::format("\n## {}\n\n", report::title_of(row.group));
      if (row.modelled()) {
        tables += "| metric | unit | meaning | computed | lines | grade |\n|---|---|---|---|---|---|\n";
      } else {
        tables += "These are known, and asked for they answer with [D710](explain/D710.md).\n\n";
        tables += "| metric | unit | meaning | why not |\n|---|---|---|---|\n";
      }
    }
    tables +=
        fmt::format("| {} | {} | {} | {} |", name_cell(row), cell(row.unit), cell(row.description), cell(row.formula));
    if (row.modelled())
      tables += fmt::format(" {} | [{}](#grades) |", lines_cell(row.aggregation), grade_number(row.grade));
    tables += '\n';
    before = &row;
  }
  std::string out(kIntroduction);
  out += kWords;
  out += "\n## Grades\n\n";
  for (std::size_t i = 0; i < grades.size(); ++i) out += fmt::format("{}. {}\n", i + 1, grades[i]);
  return out + tables;
}

}  // namespace muscope::cli
