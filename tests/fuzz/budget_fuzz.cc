// links: check diff report
// corpus: tests/fuzz/budget_seeds/*
//
// What `muscope check` and `muscope diff` read: budget files (first byte T), baselines (B) and reports (any other).
// Whatever the text, a judgement that can be written in every format, or a diagnostic.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "check/init.h"
#include "check/output.h"
#include "diff/diff_output.h"
#include "report/json.h"

namespace {

using namespace muscope;

report::Report a_report() {
  report::Report report;
  report.gpu.name = "h200";
  report.gpu.cc_major = 9;
  for (const char* kernel : {"copy(float*, const float*, int)", "void tiled<float, (int)16>(float*)", "copy(int*)"}) {
    report::LaunchReport launch;
    launch.index = static_cast<std::uint32_t>(report.launches.size());
    launch.kernel = kernel;
    launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"].value = std::uint64_t{1000};
    launch.metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"].value = 25.0;
    launch.metrics["launch__registers_per_thread"].value = std::uint64_t{16};
    report::LineReport line;
    line.at = {"copy.cu", 7, 3, {}};
    line.metrics = launch.metrics;
    line.metrics.erase("launch__registers_per_thread");
    launch.lines.edit().push_back(line);
    report.launches.push_back(std::move(launch));
  }
  return report;
}

void write_all(const report::Report& report, const check::Budgets& budgets, const check::Baseline* baseline) {
  const check::CheckResult result = check::hold(report, budgets, baseline);
  check::CheckContext context;
  context.report = &report;
  context.budgets = &budgets;
  context.result = &result;
  context.directory = context.root = "/src";
  check::to_text(context, {});
  check::to_markdown(context);
  check::to_sarif(context);
  check::to_junit(context);
  check::to_gitlab(context);
  check::to_github(context);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const report::Report known = a_report();
  static const check::Baseline before = check::baseline_of(known);
  static const check::Budgets all = check::read_budgets(
      "[[budget]]\nmetric = [\"gst_transactions\", \"gst_efficiency\", \"launch__registers_per_thread\"]\nmax = 10\n"
      "ratchet = \"down\"\n",
      "fuzz.toml");
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 'T') {
      write_all(known, check::read_budgets(text, "fuzz.toml"), &before);
    } else if (data[0] == 'B') {
      const check::Baseline baseline = check::read_baseline(text, "fuzz.json");
      write_all(known, all, &baseline);
      // What was read is written so that it reads the same.
      const std::string again = check::to_json(baseline);
      if (check::to_json(check::read_baseline(again, "fuzz.json")) != again) std::abort();
    } else {
      report::Sources sources;
      const report::Report report = report::from_json(text, "fuzz.json", &sources);
      write_all(report, all, &before);
      const check::Baseline now = check::baseline_of(report);
      if (!check::incomparable(now, now).empty()) std::abort();
      // A run holds the budgets that were made of it.
      const check::Budgets own = check::read_budgets(check::initial_budgets(report, {"app"}, "b.json"), "own.toml");
      if (!own.budgets.empty() && check::hold(report, own, &now).errors > 0 && !report.launches.empty()) std::abort();
      const auto source = [&](const std::string& file, int line) -> std::optional<std::string> {
        const auto found = sources.find(file);
        if (found == sources.end() || !found->second.contains(line)) return {};
        return found->second.at(line);
      };
      const diff::Difference difference = diff::compare(known, report, {}, source);
      diff::to_text(difference, known, report, {});
      diff::to_markdown(difference, known, report, {});
      diff::to_json(difference, known, report, {});
    }
  } catch (const Error&) {
  }
  return 0;
}
