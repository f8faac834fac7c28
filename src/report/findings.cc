#include "report/findings.h"

#include <fmt/format.h>

#include <map>

#include "report/kernel_name.h"

namespace muscope::report {

std::vector<RepeatedFinding> findings_of(const Report& report) {
  std::vector<RepeatedFinding> all;
  std::map<std::string, std::size_t> places;
  for (const LaunchReport& launch : report.launches)
    for (std::size_t i = launch.fault ? 1 : 0; i < launch.diagnostics.size(); ++i) {
      const Diagnostic& d = launch.diagnostics[i];
      const std::string key =
          fmt::format("{}\n{}\n{}\n{}\n{}", launch.kernel, d.code, d.text, d.where.file, d.where.line);
      const auto [place, fresh] = places.emplace(key, all.size());
      if (fresh) all.push_back({d, fmt::format("{}, launch #{}", kernel_base_name(launch.kernel), launch.index), 0});
      ++all[place->second].launches;
    }
  return all;
}

}  // namespace muscope::report
