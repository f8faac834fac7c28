// The view of machine code: memory instructions in the order of the code, with what each moved, as ncu's source page
// has them, and the source line that each belongs to.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/number_format.h"
#include "report/text_parts.h"
#include "report/user_place.h"

namespace muscope::report {
namespace {

struct Row {
  const SiteReport* site = nullptr;
  const LineReport* line = nullptr;
};

std::vector<Row> rows_of(const LaunchReport& launch) {
  std::vector<Row> rows;
  for (const LineReport& line : launch.lines)
    for (const SiteReport& site : line.sites) rows.push_back({&site, &line});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.site->pc, a.site->ptx_line) < std::tie(b.site->pc, b.site->ptx_line);
  });
  return rows;
}

std::string place_of(const SiteReport& site) {
  return site.pc == views::kNoPc ? fmt::format("PTX {}", site.ptx_line) : fmt::format("{:#x}", site.pc);
}

/// "sparse.cu:27", or nothing without line information.
std::string line_of(const LineReport& line) {
  const SourcePosition& at = *user_place(line.at, line.inlined_at).at;
  if (at.file.empty()) return {};
  const std::size_t slash = at.file.rfind('/');
  return fmt::format("{}:{}", slash == std::string::npos ? at.file : at.file.substr(slash + 1), at.line);
}

/// What a request of the space is made of: sectors, or wavefronts.
std::uint64_t passes_of(const SiteReport& site) {
  return site.space == trace::Space::kShared ? site.wavefronts : site.sectors;
}

}  // namespace

void print_instructions(Page& page, const LaunchReport& launch) {
  const std::vector<Row> rows = rows_of(launch);
  if (rows.empty()) return;
  Table table;
  table.heading({fmt::format("instructions [{}]", name_of(launch.stream_grade)), "executed", "lanes", "requests",
                 "sectors*", "ideal"});
  for (const auto& [site, line] : rows) {
    const bool shared = site->space == trace::Space::kShared;
    const bool counted = site->space != trace::Space::kConst && site->space != trace::Space::kTexture;
    const std::string_view spill = site->local_use == views::LocalUse::kSpill ? " (spill)" : "";
    const std::uint64_t ideal = shared ? site->ideal_wavefronts : site->ideal_sectors;
    table.row({fmt::format("{:>7} {}{}", place_of(*site), site->text, spill), grouped(site->executed),
               average_text(site->lanes, site->executed), grouped(site->requests),
               counted ? grouped(passes_of(*site)) : "-", counted ? grouped(ideal) : "-"},
              line_of(*line));
  }
  table.remark_style = Style::kDim;
  table.print(page, 2);
  page.line("  * wavefronts of shared memory; of constants, requests are distinct words");
}

}  // namespace muscope::report
