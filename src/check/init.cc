#include "check/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arch/gpu_spec.h"
#include "check/check.h"
#include "diff/kernel_group.h"

namespace muscope::check {
namespace {

/// Counts that cost time when they grow.
constexpr std::string_view kRatchets[] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",       "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",      "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",   "muscope__constant_requests.sum",
};

struct Limit {
  std::string_view metric;
  bool is_min;
  std::string_view why;
};
constexpr Limit kLimits[] = {
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", true, "of the bytes that global loads move"},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", true, "of the bytes that global stores move"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", false, "0 is the least"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", false, "spills and local arrays"},
    {"launch__registers_per_thread", false, "more may lower occupancy"},
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 32 || c == 127)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + '"';
}

/// A limit that the value just holds, with few digits.
std::string bound_text(const report::MetricValue& value, bool is_min) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *whole);
  // A tenth further where rounding would put the limit on the wrong side of the value.
  const double number = std::get<double>(value);
  double bound = (is_min ? std::floor(number * 10) : std::ceil(number * 10)) / 10;
  if (is_min && bound > number) bound -= 0.1;
  if (!is_min && bound < number) bound += 0.1;
  return fmt::format("{:.1f}", std::max(bound, 0.0));
}

void add_limits(std::string& out, const diff::KernelGroup& kernel) {
  std::string limits;
  for (const Limit& limit : kLimits) {
    const report::MetricRow* row = report::find_metric(limit.metric);
    if (row == nullptr) continue;
    const diff::MetricTotals totals = diff::totals_of(kernel, *row);
    // A guess is no limit, and what never happens needs none: the ratchets hold it at 0.
    if (!totals.known || totals.grade == report::Grade::kEstimated) continue;
    const bool count = row->aggregation == report::Aggregation::kAdditive;
    const report::MetricValue& value = count ? totals.sum : limit.is_min ? totals.least : totals.most;
    if (count && diff::as_double(value) == 0) continue;
    limits +=
        fmt::format("[[budget]]\nkernel = {}\nmetric = {}\n{} = {}   # {}\n\n", quoted(kernel.kernel),
                    quoted(short_name(*row)), limit.is_min ? "min" : "max", bound_text(value, limit.is_min), limit.why);
  }
  out += limits;
}

}  // namespace

std::string initial_budgets(const report::Report& report, const std::vector<std::string>& command,
                            const std::string& baseline) {
  std::string out =
      "# Budgets for `muscope check`, as `muscope check --init` measured them. Change them as you like: they are "
      "yours.\n"
      "#\n"
      "# Each [[budget]] names kernels (patterns: * and ? match; default all) and metrics (names of Nsight Compute, "
      "nvprof or\n"
      "# muscope: muscope explain --all), and what is allowed:\n"
      "#   min, max           a limit\n"
      "#   ratchet = \"down\"   never more than in the baseline (\"up\": never less); slack = 16 or \"2 %\" allows a "
      "little\n"
      "#   grade = \"counted\"  the value must be that certain\n"
      "# and, where wanted:\n"
      "#   over = \"launch\"    each launch by itself; \"run\": the sum of a kernel's launches, which is how counts "
      "are held\n"
      "#   level = \"warning\"  tell, but pass\n"
      "#   optional = true    kernels need not be there\n"
      "#   why = \"...\"        shown when it is crossed\n\n"
      "version = 1\n";
  // One that a file described has no name that --gpu knows.
  const std::vector<std::string> known = arch::gpu_names();
  if (std::find(known.begin(), known.end(), report.gpu.name) != known.end())
    out += fmt::format("gpu = {}\n", quoted(report.gpu.name));
  out += fmt::format("baseline = {}   # muscope check --update-baseline writes it\n", quoted(baseline));
  if (!command.empty()) {
    std::vector<std::string> words;
    for (const std::string& word : command) words.push_back(quoted(word));
    out +=
        fmt::format("command = [{}]   # what `muscope check` runs when it is told nothing\n", fmt::join(words, ", "));
  }
  const std::vector<diff::KernelGroup> kernels = diff::kernels_of(report);
  std::vector<std::string> ratchets;
  bool registers = !kernels.empty();
  for (const std::string_view name : kRatchets) {
    const report::MetricRow* row = report::find_metric(name);
    if (row != nullptr) ratchets.push_back(quoted(short_name(*row)));
  }
  for (const diff::KernelGroup& kernel : kernels)
    for (const report::LaunchReport* launch : kernel.launches)
      registers &= launch->registers.grade != report::Grade::kEstimated;
  out += fmt::format(
      "\n# Traffic of every kernel may only fall.\n[[budget]]\nkernel = \"*\"\nmetric = [\n  {},\n]\nratchet = "
      "\"down\"\n\n",
      fmt::join(ratchets, ",\n  "));
  if (registers)
    out += "# So may registers.\n[[budget]]\nmetric = \"launch__registers_per_thread\"\nratchet = \"down\"\n\n";
  out += "# What each kernel reaches today.\n";
  for (const diff::KernelGroup& kernel : kernels) add_limits(out, kernel);
  out.pop_back();
  return out;
}

}  // namespace muscope::check
