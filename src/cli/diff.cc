// `muscope diff`: two reports, or two programs that are run, compared kernel by kernel and line by line.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "arch/gpu_spec.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/embedded_text.h"
#include "cli/input_file.h"
#include "cli/run_execute.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "cli/run_request.h"
#include "diff/diff_output.h"
#include "diff/verdict.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "toolchain/compile.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kExamples =
    "  muscope diff before.json after.json     two reports of muscope run --json\n"
    "  muscope diff v1.cu v2.cu 1024           runs both, each with 1024\n"
    "  muscope diff --markdown diff.md before.json ./app\n";

/// Reports begin with a brace; programs and sources do not.
bool is_report(const std::string& path) {
  if (toolchain::is_device_source(path)) return false;
  std::ifstream in(path, std::ios::binary);
  char c = 0;
  while (in.get(c))
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c == '{';
  return path.ends_with(".json");
}

struct Side {
  report::Report report;
  report::Sources sources;  ///< as they were when it ran
};

Side side_of(const std::string& name, RunRequest request, const Arguments& args) {
  Side side;
  if (is_report(name)) {
    side.report = read_report_file(name, &side.sources, "D760");
    tell_diagnostics(side.report, true, name);
    return side;
  }
  if (toolchain::is_device_source(name))
    request.sources = {name};
  else
    request.program = name;
  request.args = args;
  RunOutcome outcome = execute_run(request, read_gpu(request.gpu), true);
  if (outcome.interrupted) throw Leave{kInterrupted};
  side.report = std::move(outcome.report);
  tell_diagnostics(side.report, true, name);
  side.sources = report::source_lines_of(side.report, report::read_sources_from_disk());
  if (const int code = exit_code(request, outcome); code != kOk) {
    Diagnostic d;
    d.severity = Severity::kWarning;
    d.code = "D770";
    d.text = fmt::format("{}: the program {}; what it did until then is compared", arch::printable(name),
                         outcome.exit_code != 0 ? side.report.exit_text : "did not finish all its launches");
    d.hint = "muscope run shows why";
    std::fputs(to_text(d).c_str(), stderr);
  }
  return side;
}

void warn(std::string_view code, const std::string& text, std::string hint) {
  Diagnostic d;
  d.severity = Severity::kWarning;
  d.code = std::string(code);
  d.text = text;
  d.hint = std::move(hint);
  std::fputs(to_text(d).c_str(), stderr);
}

}  // namespace

int diff_command(const Arguments& args) {
  std::string markdown, html;
  diff::DiffTextOptions text;
  Arguments names;
  RunCommandLine line;
  line.name = "muscope diff";
  line.description =
      "Compare two reports, or run two programs and compare those: what got better or worse, per kernel and line, and "
      "why. What follows the two names are the arguments of both programs.\n";
  line.usage = "Usage: muscope diff [OPTIONS] BEFORE AFTER [ARGS]\n";
  line.examples = kExamples;
  line.report_options = false;
  line.add_options = [&](CLI::App& app) {
    app.add_option("--markdown", markdown, "write the comparison as Markdown (- for stdout)")
        ->type_name("FILE")
        ->group("Comparison");
    app.add_option("--html", html, "write both reports as one page for the browser, side by side (- for stdout)")
        ->type_name("FILE")
        ->group("Comparison");
    app.add_option("--top", text.top, "lines of each kernel; default 5")->type_name("N")->group("Comparison");
    app.add_flag("--all", text.all, "also kernels where nothing moved")->group("Comparison");
  };
  line.json_help = "write the comparison as JSON, schema muscope.diff/1 (- for stdout)";
  line.take_rest = [&](RunRequest&, Arguments& rest) {
    names = rest;
    return true;
  };
  const RunRequest request = parse_run_request(args, line);
  if (names.size() < 2)
    fail("D105", names.empty() ? "nothing to compare" : "only one thing to compare",
         "muscope diff before.json after.json, or two programs: muscope diff v1.cu v2.cu");
  if (text.top < 0) fail("D104", fmt::format("--top {} is negative", text.top));
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--json", &request.json}, {"--markdown", &markdown}, {"--html", &html}};
  for (const auto& [one_name, one] : outputs)
    for (const auto& [other_name, other] : outputs)
      if (one != other && !one->empty() && *one == *other)
        fail("D104", fmt::format("{} and {} both write to {}", one_name, other_name, arch::printable(*one)),
             "name a file of its own for each");
  const Arguments program_args(names.begin() + 2, names.end());
  if (!program_args.empty() && is_report(names[0]) && is_report(names[1]))
    fail("D104", fmt::format("'{}' was not expected", arch::printable(program_args.front())),
         "two reports need no arguments");
  OutputFile json(request.json), md(markdown), page(html);
  const Side before = side_of(names[0], request, program_args);
  const Side after = side_of(names[1], request, program_args);
  // Not from disk here: a file may have been edited since a report was made.
  const auto text_of = [](const report::Sources& sources) {
    return [&sources](const std::string& file, int number) -> std::optional<std::string> {
      const auto lines = sources.find(file);
      if (lines == sources.end()) return {};
      const auto found = lines->second.find(number);
      return found == lines->second.end() ? std::nullopt : std::optional(found->second);
    };
  };
  const diff::Difference difference =
      diff::compare(before.report, after.report, text_of(before.sources), text_of(after.sources));
  for (const std::string& w : difference.warnings)
    warn(w.find("GPU") != std::string::npos ? "D768" : "D769", w, "part of what moved may come from that");
  text.directory = report::working_directory();
  text.before_name = names[0];
  text.after_name = names[1];
  if (json) json.write(diff::to_json(difference, before.report, after.report, text));
  if (md) md.write(diff::to_markdown(difference, before.report, after.report, text));
  if (page) {
    const report::Report* const both[] = {&before.report, &after.report};
    report::HtmlOptions options;
    options.sources = {reader_of(before.sources), reader_of(after.sources)};
    options.verdicts = diff::page_verdicts(difference);
    page.write(report::to_html(both, report_page(), options));
  }
  if (!request.quiet && !json.is_stdout() && !md.is_stdout() && !page.is_stdout()) {
    if (const std::size_t width = terminal_width(STDOUT_FILENO); width != 0) text.width = static_cast<int>(width);
    text.colour = may_colour(STDOUT_FILENO);
    write_stdout(diff::to_text(difference, before.report, after.report, text));
  }
  return kOk;
}

}  // namespace muscope::cli
