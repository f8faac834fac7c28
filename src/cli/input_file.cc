#include "cli/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arch/gpu_spec.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/run_output.h"
#include "report/findings.h"

namespace muscope::cli {
namespace {

/// A JSON report names its GPU and holds little of it; causes, limits and bounds need the rest.
void complete_gpu(arch::GpuSpec& gpu) {
  try {
    arch::GpuSpec known = arch::find_gpu(gpu.name);
    if (known.cc_major == gpu.cc_major && known.cc_minor == gpu.cc_minor) gpu = std::move(known);
  } catch (const Error&) {  // a GPU of the user's own: what the report holds has to do
  }
}

}  // namespace

std::string read_input(const std::string& path, std::size_t most, std::string_view code, const std::string& hint) {
  if (path != "-") keep_input(path);
  const auto unreadable = [&](const std::string& why) {
    fail(code, fmt::format("{} cannot be read: {}", arch::printable(path), why), hint, {path, 0, 0});
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

arch::GpuSpec read_gpu(const std::string& name) {
  // The other names are no files, whatever lies in the folder.
  if (name.find('/') != std::string::npos || name.ends_with(".json")) keep_input(name);
  return arch::find_gpu(name);
}

report::Report read_report_file(const std::string& path, report::Sources* sources, std::string_view code) {
  constexpr std::size_t kMostReportBytes = std::size_t{1} << 30;
  report::Report report = report::from_json(
      read_input(path, kMostReportBytes, code, "name a report that `muscope run --json` wrote"), path, sources);
  complete_gpu(report.gpu);
  return report;
}

void tell_diagnostics(const report::Report& report, bool findings, const std::string& name) {
  const auto say = [&name](Diagnostic d) {
    if (!name.empty()) d.text = fmt::format("{}: {}", arch::printable(name), d.text);
    std::fputs(to_text(d).c_str(), stderr);
  };
  for (const report::LaunchReport& launch : report.launches)
    if (launch.fault && !launch.diagnostics.empty()) say(launch.diagnostics.front());
  if (findings)
    for (const report::RepeatedFinding& finding : report::findings_of(report)) {
      Diagnostic d = finding.diagnostic;
      d.text += fmt::format("; in {}", finding.first_place);
      if (finding.launches > 1) d.text += fmt::format(" and {} more", finding.launches - 1);
      say(std::move(d));
    }
  for (const report::ProcessReport& process : report.processes)
    for (const Diagnostic& d : process.diagnostics) say(d);
  for (const Diagnostic& d : report.diagnostics) say(d);
}

report::SourceReader reader_of(report::Sources lines) {
  auto own = std::make_shared<const report::Sources>(std::move(lines));
  auto edited = std::make_shared<std::map<std::string, bool>>();
  return [own, edited, disk = report::read_sources_from_disk()](const std::string& file,
                                                                int line) -> std::optional<std::string> {
    const auto known = own->find(file);
    if (known == own->end()) return disk(file, line);
    const auto [changed, fresh] = edited->try_emplace(file, false);
    if (fresh)
      changed->second = std::any_of(known->second.begin(), known->second.end(),
                                    [&](const auto& one) { return disk(file, one.first) != one.second; });
    if (const auto text = known->second.find(line); text != known->second.end()) return text->second;
    return changed->second ? std::nullopt : disk(file, line);
  };
}

}  // namespace muscope::cli
