// muscope verify: a JSON report held against what Nsight Compute read off a GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/input_file.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "verify/verify_text.h"

namespace muscope::cli {
namespace {

constexpr const char* kWhatToName =
    "name a report that `muscope run --json` wrote, then a capture that `ncu --csv` wrote";

void warn(std::string code, std::string text, std::string hint) {
  Diagnostic d;
  d.severity = Severity::kWarning;
  d.code = std::move(code);
  d.text = std::move(text);
  d.hint = std::move(hint);
  std::fputs(to_text(d).c_str(), stderr);
}

/// What was left out while reading.
void warn_about(const verify::Capture& capture, const std::string& name) {
  if (capture.unreadable_lines > 0)
    warn("D746",
         fmt::format(
             "{}: {} not understood, the first is line {}", arch::printable(name),
             capture.unreadable_lines == 1 ? "1 line was" : fmt::format("{} lines were", capture.unreadable_lines),
             capture.first_unreadable_line),
         "a capture of its own has nothing else in it: ncu --log-file capture.csv");
  if (capture.unreadable_values > 0)
    warn("D746",
         fmt::format("{}: {} cells that should be numbers were left out", arch::printable(name),
                     capture.unreadable_values),
         "ncu prints n/a where a counter could not be read");
}

}  // namespace

int verify_command(const Arguments& args) {
  CLI::App app(
      "Compares a report with what Nsight Compute captured of the same program, counter by counter. Exit code 0: every "
      "counter that addresses determine is equal, and noisy ones are within their tolerance; 4: they are not.",
      "muscope verify");
  std::string report_name, capture_name, json;
  bool all = false;
  int width = 100;
  app.add_option("REPORT", report_name, "what `muscope run --json` wrote")->required();
  app.add_option("CAPTURE", capture_name, "what `ncu --csv` wrote; - is stdin")->required();
  app.add_option("--json", json, "the comparison as JSON, schema muscope.verify/1; - is stdout, without the text");
  app.add_flag("--all", all, "list every difference and every launch without a counterpart");
  app.add_option("--width", width, "columns of the text")->capture_default_str()->check(CLI::Range(60, 400));
  parse(app, args,
        "  muscope run --json report.json ./app\n"
        "  ncu --csv --page raw --print-units base --log-file capture.csv ./app     (on a machine with the GPU)\n"
        "  muscope verify report.json capture.csv\n"
        "  muscope verify --json - report.json capture.csv\n");
  OutputFile out(json);
  const report::Report report = read_report_file(report_name, nullptr, "D745");
  const verify::Capture capture = verify::read_capture(
      read_input(capture_name, verify::kMostCaptureBytes + 1, "D745", kWhatToName), capture_name, verify::comparable);
  warn_about(capture, capture_name);
  const verify::Comparison comparison = verify::compare(report, capture, capture_name);
  if (out) out.write(verify::to_json(comparison, report, capture));
  if (!out.is_stdout()) {
    verify::VerifyTextOptions options;
    options.width = width;
    options.colour = may_colour(STDOUT_FILENO);
    options.all = all;
    options.report_name = report_name;
    options.capture_name = capture_name;
    write_stdout(verify::to_text(comparison, report, capture, options));
  }
  return comparison.good() ? kOk : kFound;
}

}  // namespace muscope::cli
