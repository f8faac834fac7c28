#include "cli/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "arch/gpu_spec.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"

namespace muscope::cli {

std::string read_input(const std::string& path, std::size_t most, std::string_view code, const std::string& hint) {
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

report::Report read_report_file(const std::string& path, report::Sources* sources) {
  constexpr std::size_t kMostReportBytes = std::size_t{1} << 30;
  report::Report report = report::from_json(
      read_input(path, kMostReportBytes, "D760", "name a report that `muscope run --json` wrote"), path, sources);
  // Rules that the file does not hold are needed to name causes.
  const std::vector<std::string> names = arch::gpu_names();
  if (std::find(names.begin(), names.end(), report.gpu.name) != names.end())
    report.gpu = arch::find_gpu(report.gpu.name);
  return report;
}

}  // namespace muscope::cli
