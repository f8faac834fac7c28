// `muscope run`: compile or find the program, run it with our runtime in the place of CUDA's, report what it did.
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <string>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/embedded_text.h"
#include "cli/input_file.h"
#include "cli/run_execute.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "cli/run_request.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/report.h"
#include "report/text.h"

namespace muscope::cli {
namespace {

void say(const Diagnostic& diagnostic) { std::fputs(to_text(diagnostic).c_str(), stderr); }

/// How the report is to be shown, checked before anything runs.
struct Presentation {
  report::TextOptions text;
  std::vector<const report::MetricRow*> metrics;
  std::vector<Diagnostic> diagnostics;
};

Presentation presentation_of(const RunRequest& request) {
  Presentation p;
  if (!request.sort.empty()) p.text.sort = report::sort_by_name(request.sort);
  if (!request.metrics.empty()) {
    report::MetricSelection selection = report::select_metrics(request.metrics);
    p.metrics = selection.rows;
    p.text.metrics = std::move(selection.rows);
    p.diagnostics = std::move(selection.diagnostics);
  }
  p.text.instructions = request.view == "sass";
  if (request.view == "kernels") p.text.top = 0;  // the table of kernels alone
  if (request.top >= 0) p.text.top = request.top;
  if (!request.advice.empty())
    p.text.advice = request.advice == "all"    ? std::numeric_limits<int>::max()
                    : request.advice == "none" ? 0
                                               : std::stoi(request.advice);
  if (const std::size_t width = terminal_width(STDOUT_FILENO); width != 0) p.text.width = static_cast<int>(width);
  p.text.colour = may_colour(STDOUT_FILENO);
  return p;
}

/// Writes what was asked for; a failure is told and does not keep the others from being written. False on failure.
bool write_reports(const report::Report& report, const Presentation& how, const RunRequest& request, OutputFile& json,
                   OutputFile& csv, OutputFile& html) {
  bool good = true;
  const auto attempt = [&](auto&& action) {
    try {
      action();
    } catch (const Error& e) {
      std::fputs(e.what(), stderr);
      good = false;
    }
  };
  // Files first: writing to stdout may end this process, when it is a pipe that nobody reads to the end.
  if (json)
    attempt([&] {
      const report::Sources sources = report::source_lines_of(report, report::read_sources_from_disk());
      json.write_parts([&](const OutputFile::Sink& sink) { report::write_json(report, sources, sink); });
    });
  if (csv) attempt([&] { csv.write(report::to_csv(report, how.metrics)); });
  if (html)
    attempt([&] {
      const report::Report* const one[] = {&report};
      html.write(report::to_html(one, report_page()));
    });
  // A machine's report on stdout is not mixed with the text for people.
  const bool text = !request.quiet && !json.is_stdout() && !csv.is_stdout() && !html.is_stdout();
  if (text) {
    attempt([&] { write_stdout(report::to_text(report, how.text)); });
  } else {
    tell_diagnostics(report, false);  // why a launch ended early is told in any case
  }
  return good;
}

}  // namespace

int run_command(const Arguments& args) {
  const RunRequest request = parse_run_request(args);
  const arch::GpuSpec gpu = read_gpu(request.gpu);
  const Presentation how = presentation_of(request);
  for (const Diagnostic& d : how.diagnostics) say(d);
  OutputFile json(request.json);
  OutputFile csv(request.csv);
  OutputFile html(request.html);
  const RunOutcome outcome = execute_run(request, gpu, json.is_stdout() || csv.is_stdout() || html.is_stdout());
  const bool written = write_reports(outcome.report, how, request, json, csv, html);
  return written ? exit_code(request, outcome) : static_cast<int>(outcome.interrupted ? kInterrupted : kCannot);
}

}  // namespace muscope::cli
