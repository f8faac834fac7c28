// What ptxas made of the source: spills in short, everything in the view of machine code.
#include <fmt/format.h>

#include <algorithm>

#include "report/compiled_text.h"
#include "report/number_format.h"
#include "report/text_parts.h"
#include "report/user_place.h"

namespace muscope::report {
namespace {

constexpr std::size_t kSpillingLines = 3;

struct SpillingLine {
  SourcePosition at;
  std::uint64_t stores = 0, loads = 0, executed = 0;
};

const SourcePosition& shown_place(const CodeChangeReport& change) {
  return *user_place(change.at, change.inlined_at).at;
}

/// "kernel.cu:12"
std::string file_and_line(const SourcePosition& at, const TextOptions& options) {
  std::string place = position_text(at, options);
  if (const std::size_t slash = place.rfind('/'); slash != std::string::npos) place.erase(0, slash + 1);
  return place;
}

std::uint64_t bytes_of(const Metric& metric) {
  const auto* bytes = std::get_if<std::uint64_t>(&metric.value);
  return bytes == nullptr ? 0 : *bytes;
}

}  // namespace

void print_spills(Page& page, const LaunchReport& launch, const TextOptions& options) {
  const CodeReport& code = launch.code;
  if (!code.known || bytes_of(code.spill_store_bytes) + bytes_of(code.spill_load_bytes) == 0) return;
  page.paragraph("  spills        ",
                 fmt::format("{} stored, {} loaded per thread{}, {} of stack",
                             counted_noun(bytes_of(code.spill_store_bytes), "byte", "bytes"),
                             grouped(bytes_of(code.spill_load_bytes)), grade_mark(code.spill_store_bytes),
                             counted_noun(std::max(code.frame_bytes, code.stack_bytes), "byte", "bytes")),
                 16);
  std::vector<SpillingLine> lines;
  for (const CodeChangeReport& change : code.changes) {
    if (change.kind != views::CodeChangeKind::kSpilled) continue;
    const SourcePosition& at = shown_place(change);
    auto line = std::find_if(lines.begin(), lines.end(), [&](const SpillingLine& l) { return l.at == at; });
    if (line == lines.end()) line = lines.insert(lines.end(), {at});
    const bool store = change.access == trace::Kind::kStore;
    (store ? line->stores : line->loads) += change.machine.count;
    line->executed += change.executed;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const SpillingLine& a, const SpillingLine& b) { return a.executed > b.executed; });
  const std::size_t shown = std::min(lines.size(), kSpillingLines);
  for (std::size_t n = 0; n < shown; ++n)
    page.paragraph(std::string(16, ' '),
                   fmt::format("{}: {}, {}; {} executed by warps", file_and_line(lines[n].at, options),
                               counted_noun(lines[n].stores, "spill store", "spill stores"),
                               counted_noun(lines[n].loads, "load", "loads"), grouped(lines[n].executed)),
                   18);
  if (lines.size() > shown)
    page.line(std::string(16, ' ') +
              fmt::format("and {} (--view sass)", counted_noun(lines.size() - shown, "more line", "more lines")));
}

void print_changes(Page& page, const LaunchReport& launch, const TextOptions& options) {
  if (launch.code.changes.empty()) return;
  page.line("  " + page.styled("what ptxas made of the source", Style::kBold));
  std::size_t widest = 0;
  std::vector<std::string> places;
  for (const CodeChangeReport& change : launch.code.changes) {
    places.push_back(file_and_line(shown_place(change), options));
    widest = std::max(widest, places.back().size());
  }
  for (std::size_t n = 0; n < places.size(); ++n)
    page.paragraph(fmt::format("    {:<{}}  ", places[n], widest), spill_text(launch.code.changes[n]), widest + 6);
}

}  // namespace muscope::report
