#include "cli/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/run_output.h"
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
  keep_input(path);
  return report::from_json(read_whole(path, kMostReportBytes, hint), path, sources);
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
