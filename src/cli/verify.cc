// muscope verify: a JSON report held against what Nsight Compute read off a GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/run_output.h"
#include "cli/run_progress.h"
#include "report/json.h"
#include "verify/verify_text.h"

namespace muscope::cli {
namespace {

constexpr std::size_t kMostReportBytes = std::size_t{1} << 30;

/// The whole file, "-": stdin. Throws Error D745 when it cannot be read or is longer than `most`.
std::string read_whole(const std::string& path, std::size_t most) {
  const auto unreadable = [&](const std::string& why) {
    fail("D745", fmt::format("{} cannot be read: {}", arch::printable(path), why),
         "name a report that `muscope run --json` wrote, then a capture that `ncu --csv` wrote", {path, 0, 0});
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"),
                                                       path == "-" ? +[](std::FILE*) { return 0; } : &std::fclose);
  if (!file) unreadable(std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, got);
    if (text.size() > most) unreadable(fmt::format("it is longer than {} MiB", most >> 20));
    if (got == sizeof buffer) continue;
    if (std::ferror(file.get()) != 0) unreadable(std::strerror(errno != 0 ? errno : EIO));
    return text;
  }
}

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
  const report::Report report = report::from_json(read_whole(report_name, kMostReportBytes), report_name);
  const verify::Capture capture =
      verify::read_capture(read_whole(capture_name, verify::kMostCaptureBytes + 1), capture_name, verify::comparable);
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
