#include "check/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arch/gpu_spec.h"
#include "check/check.h"
#include "diff/kernel_group.h"

namespace muscope::check {
namespace {

/// Counts that cost time when they grow.
constexpr std::string_view kRatchets[] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",  "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",   "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
};

/// The same of kernels that use shared memory. Of those that do not, no ratchet: to move data there is how a kernel
/// saves traffic (a transpose through a tile). Nor of constant requests: every use of a parameter is one.
constexpr std::string_view kSharedRatchets[] = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
};

/// Quotients, of which no ratchet of counts takes care: 4-byte elements a stride apart are as many sectors of a smaller
/// problem.
constexpr std::string_view kEfficiencies[] = {
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
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

/// The largest limit with one decimal that the value holds.
std::string bound_text(double number) {
  double bound = std::floor(number * 10) / 10;
  if (bound > number) bound -= 0.1;
  return fmt::format("{:.1f}", std::max(bound, 0.0));
}

/// "\"a\"" of one text, "[\"a\", \"b\"]" of several.
std::string list_text(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(quoted(text));
  if (all.size() == 1) return all.front();
  return fmt::format("[{}]", fmt::join(all, ", "));
}

/// What a kernel's shared memory costs may only fall: for each kind of traffic, the kernels that have it; the kinds of
/// the same kernels share a budget.
std::string shared_budgets(const std::vector<diff::KernelGroup>& kernels) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> budgets;  // kernels, metrics
  for (const std::string_view name : kSharedRatchets) {
    const report::MetricRow* row = report::find_metric(name);
    if (row == nullptr) continue;
    std::vector<std::string> names;
    for (const diff::KernelGroup& kernel : kernels) {
      const auto moves = [&](std::string_view metric) {
        const report::MetricRow* other = report::find_metric(metric);
        return other != nullptr && diff::as_double(diff::totals_of(kernel, *other).sum) > 0;
      };
      const bool conflicts = name.find("conflicts") != std::string_view::npos;
      if (conflicts ? moves(kSharedRatchets[0]) || moves(kSharedRatchets[1]) : moves(name))
        names.push_back(kernel.kernel);
    }
    if (names.empty()) continue;
    const auto same = std::find_if(budgets.begin(), budgets.end(), [&](const auto& b) { return b.first == names; });
    if (same != budgets.end())
      same->second.push_back(quoted(short_name(*row)));
    else
      budgets.emplace_back(std::move(names), std::vector{quoted(short_name(*row))});
  }
  std::string out;
  for (const auto& [names, metrics] : budgets)
    out += fmt::format("[[budget]]\nkernel = {}\nmetric = [\n  {},\n]\nratchet = \"down\"\n\n", list_text(names),
                       fmt::join(metrics, ",\n  "));
  return out;
}

/// One budget for all kernels with the same limits: each kernel and metric is named once.
std::string efficiency_budgets(const std::vector<diff::KernelGroup>& kernels) {
  using Bound = std::pair<std::string, std::string>;  // metric, limit
  std::vector<std::pair<std::vector<Bound>, std::vector<std::string>>> groups;
  for (const diff::KernelGroup& kernel : kernels) {
    std::vector<Bound> bounds;
    for (const std::string_view name : kEfficiencies) {
      const report::MetricRow* row = report::find_metric(name);
      if (row == nullptr) continue;
      const diff::MetricTotals totals = diff::totals_of(kernel, *row);
      // A guess is no limit.
      if (!totals.known || totals.grade == report::Grade::kEstimated) continue;
      bounds.emplace_back(short_name(*row), bound_text(diff::as_double(totals.least)));
    }
    if (bounds.empty()) continue;
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == bounds; });
    if (known != groups.end())
      known->second.push_back(kernel.kernel);
    else
      groups.emplace_back(std::move(bounds), std::vector{kernel.kernel});
  }
  std::string out;
  for (const auto& [bounds, names] : groups)
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      std::vector<std::string> metrics;
      for (std::size_t k = i; k < bounds.size(); ++k)
        if (bounds[k].second == bounds[i].second) metrics.push_back(bounds[k].first);
      const bool told = std::any_of(bounds.begin(), bounds.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Bound& b) { return b.second == bounds[i].second; });
      if (!told)
        out += fmt::format("[[budget]]\nkernel = {}\nmetric = {}\nmin = {}\n\n", list_text(names), list_text(metrics),
                           bounds[i].second);
    }
  return out;
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
      "\n# Traffic of global and local memory may only fall.\n[[budget]]\nkernel = \"*\"\nmetric = [\n  "
      "{},\n]\nratchet = "
      "\"down\"\n\n",
      fmt::join(ratchets, ",\n  "));
  if (const std::string shared = shared_budgets(kernels); !shared.empty())
    out += "# So may that of shared memory, where there is some.\n" + shared;
  if (registers)
    out +=
        "# Registers: only told, for some more may be what saves traffic.\n[[budget]]\n"
        "metric = \"launch__registers_per_thread\"\nratchet = \"down\"\nlevel = \"warning\"\n\n";
  if (const std::string limits = efficiency_budgets(kernels); !limits.empty())
    out += "# What kernels use of the bytes that global loads and stores move may only rise.\n" + limits;
  out.pop_back();
  return out;
}

}  // namespace muscope::check
