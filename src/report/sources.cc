#include "report/sources.h"

#include <set>
#include <utility>

namespace muscope::report {

Sources source_lines_of(const Report& report,
                        const std::function<std::optional<std::string>(const std::string& file, int line)>& read) {
  std::set<std::pair<std::string_view, int>> wanted;
  const auto want = [&](const SourcePosition& at) {
    if (!at.file.empty() && at.line > 0) wanted.emplace(at.file, at.line);
  };
  for (const LaunchReport& launch : report.launches)
    for (const LineReport& line : launch.lines) {
      want(line.at);
      for (const SourcePosition& at : line.inlined_at) want(at);
    }
  Sources sources;
  for (const auto& [file, line] : wanted) {
    const std::string name(file);
    if (auto text = read(name, line)) sources[name].emplace(line, std::move(*text));
  }
  return sources;
}

}  // namespace muscope::report
