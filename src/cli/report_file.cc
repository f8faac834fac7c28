#include "cli/report_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "report/json.h"

namespace muscope::cli {
namespace {

constexpr std::size_t kMostReportBytes = std::size_t{1} << 30;

}  // namespace

std::string read_whole(const std::string& path, std::size_t most, const std::string& hint) {
  const auto unreadable = [&](const std::string& why) {
    fail("D745", fmt::format("{} cannot be read: {}", arch::printable(path), why), hint, {path, 0, 0});
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

report::Report read_report(const std::string& path, const std::string& hint, report::Sources* sources) {
  return report::from_json(read_whole(path, kMostReportBytes, hint), path, sources);
}

}  // namespace muscope::cli
