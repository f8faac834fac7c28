// The page of `muscope pattern`: what was asked, the lanes, the picture, the numbers.
#include <fmt/format.h>

#include <algorithm>

#include "cli/pattern_view.h"
#include "model/pattern_file.h"
#include "report/number_format.h"
#include "report/text_page.h"

namespace muscope::cli {
namespace {

using model::Pattern;
using model::PatternOp;
using model::PatternSpace;
using report::Style;

constexpr int kWidth = 110;

std::string verb(PatternOp op) {
  switch (op) {
    case PatternOp::kLoad:
      return "load";
    case PatternOp::kLoadCg:
      return "load past the L1 (ld.cg)";
    case PatternOp::kLoadNc:
      return "read-only load (ld.nc)";
    case PatternOp::kStore:
      return "store";
    case PatternOp::kRed:
      return "reduction (red)";
    case PatternOp::kAtom:
      break;
  }
  return "atomic (atom)";
}

std::string space_word(PatternSpace space) {
  return space == PatternSpace::kConst ? "constant" : std::string(model::name_of(space));
}

/// The table of lanes, two columns of lanes side by side.
void lanes_table(const PatternView& view, report::Page& page) {
  const Pattern& p = view.pattern;
  const bool banked = p.space == PatternSpace::kShared;
  const bool indexed = !view.indexes.empty();
  std::size_t wide_address = 7, wide_index = 5, wide_unit = 6;
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) {
    wide_address = std::max(wide_address, std::to_string(p.addresses[lane]).size());
    wide_unit = std::max(wide_unit, std::to_string(p.addresses[lane] / 32).size());
    if (indexed && view.indexes[lane]) wide_index = std::max(wide_index, std::to_string(*view.indexes[lane]).size());
  }
  const bool cas = view.counts.cas_loop.has_value();
  const auto heading = [&] {
    std::string text = fmt::format("{:>4}", "lane");
    if (indexed) text += fmt::format("  {:>{}}", "index", wide_index);
    text += fmt::format("  {:>{}}", p.space == PatternSpace::kLocal ? "offset" : "address", wide_address);
    if (p.space == PatternSpace::kGlobal)
      text += fmt::format("  {:>{}}  {:>{}}", "sector", wide_unit, "line", wide_unit);
    if (banked || p.space == PatternSpace::kConst || p.space == PatternSpace::kLocal)
      text += fmt::format("  {:>{}}", "word", wide_unit);
    if (banked) text += fmt::format("  {:>5}", "bank");
    if (!cas) text += fmt::format("  {:>4}", "pass");
    return text;
  }();
  const auto cell = [&](unsigned lane) {
    std::string text = fmt::format("{:>4}", lane);
    const std::uint64_t a = p.addresses[lane];
    if (indexed)
      text += fmt::format("  {:>{}}", view.indexes[lane] ? std::to_string(*view.indexes[lane]) : "", wide_index);
    text += fmt::format("  {:>{}}", a, wide_address);
    if (p.space == PatternSpace::kGlobal)
      text += fmt::format("  {:>{}}  {:>{}}", a / 32, wide_unit, a / 128, wide_unit);
    if (banked || p.space == PatternSpace::kConst || p.space == PatternSpace::kLocal)
      text += fmt::format("  {:>{}}", a / 4, wide_unit);
    if (banked) {
      const std::uint64_t bank = a / 4 % 32;
      text += fmt::format("  {:>5}",
                          p.bytes <= 4 ? std::to_string(bank) : fmt::format("{}-{}", bank, (a + p.bytes - 1) / 4 % 32));
    }
    if (!cas) text += fmt::format("  {:>4}", view.passes[lane]);
    return text;
  };
  std::vector<unsigned> active, inactive;
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) (p.mask.test(lane) ? active : inactive).push_back(lane);
  const bool two = active.size() > 8 && 2 * heading.size() + 8 <= 120;
  page.line(page.styled("  " + heading + (two ? "   | " + heading : ""), Style::kDim));
  const std::size_t rows = two ? (active.size() + 1) / 2 : active.size();
  for (std::size_t row = 0; row < rows; ++row)
    page.line("  " + cell(active[row]) + (two && row + rows < active.size() ? "   | " + cell(active[row + rows]) : ""));
  if (!inactive.empty()) page.paragraph("  inactive: ", lane_list(inactive), 12);
}

void number_line(report::Page& page, std::string_view name, std::string_view value, std::string_view remark = {},
                 Style style = Style::kPlain) {
  std::string line = fmt::format("  {:<22}{:>10}", name, value);
  if (!remark.empty()) line += "   " + page.styled(remark, style);
  page.line(line);
}

std::string percent(double share) { return report::grouped(100 * share, 1) + " %"; }

void global_numbers(const PatternView& view, report::Page& page) {
  const model::PatternCounts& c = view.counts;
  const model::Transactions& t = *c.transactions;
  const bool modern = view.gpu.cc_major >= 7 || view.gpu.cc_major == 0;
  number_line(page, "requests", report::grouped(std::uint64_t{*c.requests}),
              *c.requests > 1 ? "a wide or split instruction makes several" : "");
  const double efficiency =
      modern ? (*c.sectors == 0 ? 0 : static_cast<double>(c.bytes_asked) / (32.0 * *c.sectors)) : t.efficiency();
  const bool wasteful = *c.sectors > *c.ideal_sectors;
  // Atomics on one address are one word, asked for by many lanes.
  const bool atomic = view.pattern.op == model::PatternOp::kRed || view.pattern.op == model::PatternOp::kAtom;
  const std::string remark = !wasteful ? "the least possible"
                             : atomic  ? fmt::format("{} would do", *c.ideal_sectors)
                                       : fmt::format("{} would do for {}", *c.ideal_sectors,
                                                     report::counted_noun(c.bytes_asked, "byte", "bytes"));
  number_line(page, "sectors (32 B)", report::grouped(std::uint64_t{*c.sectors}), *c.sectors == 0 ? "" : remark,
              wasteful ? Style::kRed : Style::kGreen);
  number_line(page, "ideal sectors", report::grouped(std::uint64_t{*c.ideal_sectors}));
  if (modern) number_line(page, "lines (128 B)", report::grouped(std::uint64_t{*c.lines}), "tag lookups");
  number_line(
      page, "efficiency", percent(efficiency),
      efficiency > 1 ? "bytes asked / bytes moved; above 100 %: lanes share bytes" : "bytes asked / bytes moved");
  std::string sizes;
  for (const auto& [count, size] : {std::pair{t.of_32, 32}, std::pair{t.of_64, 64}, std::pair{t.of_128, 128}})
    if (count > 0) sizes += fmt::format("{}{} x {} B", sizes.empty() ? "" : " + ", count, size);
  number_line(page, "transactions", report::grouped(std::uint64_t{t.total()}), sizes);
  number_line(
      page, "bus utilisation", percent(t.bus_utilisation()),
      fmt::format("{} of {} bytes moved are used", report::grouped(t.bytes_used), report::grouped(t.bytes_moved)));
  if (c.t_wavefronts)
    number_line(page, "T-stage wavefronts", report::grouped(std::uint64_t{*c.t_wavefronts}),
                "passes of the L1 tag lookup, four sets of lines");
}

void shared_numbers(const PatternView& view, report::Page& page) {
  const model::PatternCounts& c = view.counts;
  if (c.cas_loop) {
    number_line(page, "rounds", report::grouped(std::uint64_t{c.cas_loop->rounds}),
                "an 8-byte atomic is a loop of load and compare-and-swap");
    number_line(page, "load wavefronts", report::grouped(std::uint64_t{c.cas_loop->load_wavefronts}));
    number_line(page, "atomic wavefronts", report::grouped(std::uint64_t{c.cas_loop->atom_wavefronts}));
    number_line(page, "bank conflicts", report::grouped(std::uint64_t{*c.bank_conflicts}), "of the loop's loads");
    return;
  }
  const std::uint32_t extra = *c.bank_conflicts;
  number_line(page, "requests", report::grouped(std::uint64_t{*c.requests}));
  number_line(page, "wavefronts", report::grouped(std::uint64_t{*c.wavefronts}),
              extra > 0 ? fmt::format("{} would do", *c.ideal_wavefronts) : "the least possible",
              extra > 0 ? Style::kRed : Style::kGreen);
  number_line(page, "ideal wavefronts", report::grouped(std::uint64_t{*c.ideal_wavefronts}));
  number_line(page, "bank conflicts", report::grouped(std::uint64_t{extra}));
  const std::string collisions = pattern_collisions(view);
  for (std::size_t at = 0; at < collisions.size();) {
    const std::size_t end = std::min(collisions.find('\n', at), collisions.size());
    page.paragraph("    ", std::string_view(collisions).substr(at, end - at), 6);
    at = end + 1;
  }
}

void other_numbers(const PatternView& view, report::Page& page) {
  const model::PatternCounts& c = view.counts;
  if (c.constant_requests) {
    number_line(page, "constant requests", report::grouped(std::uint64_t{*c.constant_requests}),
                *c.constant_requests > 1 ? "distinct words, served one after another" : "",
                *c.constant_requests > 1 ? Style::kRed : Style::kPlain);
    number_line(page, "lines (64 B)", report::grouped(std::uint64_t{*c.constant_lines}),
                "misses when nothing is cached yet");
    return;
  }
  number_line(page, "requests", report::grouped(std::uint64_t{*c.requests}));
  number_line(page, "sectors (32 B)", report::grouped(std::uint64_t{*c.sectors}),
              *c.sectors > *c.ideal_sectors ? fmt::format("{} would do", *c.ideal_sectors) : "the least possible",
              *c.sectors > *c.ideal_sectors ? Style::kRed : Style::kGreen);
  number_line(page, "rows (128 B)", report::grouped(std::uint64_t{*c.lines}));
}

}  // namespace

std::string pattern_text(const PatternView& view, bool colour) {
  const Pattern& p = view.pattern;
  report::Page page(kWidth, colour);
  const std::string what = fmt::format("{} {}, {} byte{} x {} lane{}", space_word(p.space), verb(p.op), p.bytes,
                                       p.bytes == 1 ? "" : "s", view.counts.lanes, view.counts.lanes == 1 ? "" : "s");
  page.spread(what, Style::kBold, fmt::format("{} ({})", view.gpu.full_name, view.gpu.sm_text()), Style::kDim);
  std::string how = view.origin;
  if (!view.place.empty()) how += ", " + view.place;
  if (p.mask.words != WarpMask::of(kAllLanes).words)
    how += ", mask " + model::mask_text(p.mask, static_cast<unsigned>(p.addresses.size()));
  const bool l1_matters = p.space == PatternSpace::kGlobal &&
                          view.gpu.global.load_granularity_l1_on != view.gpu.global.load_granularity_l1_off;
  if (l1_matters) how += view.l1_on ? ", L1 on" : ", L1 off";
  page.paragraph("  ", how, 2);
  page.line();
  lanes_table(view, page);
  page.line();
  std::string out = page.text();
  if (!view.counts.cas_loop) out += pattern_picture(view, colour) + "\n";

  report::Page numbers(kWidth, colour);
  if (p.space == PatternSpace::kGlobal) {
    global_numbers(view, numbers);
  } else if (p.space == PatternSpace::kShared) {
    shared_numbers(view, numbers);
  } else {
    other_numbers(view, numbers);
  }
  if (!view.misaligned.empty()) {
    numbers.line();
    numbers.paragraph("  ",
                      fmt::format("misaligned: lane{} {}. Hardware stops such a kernel (error 716, misaligned "
                                  "address); the counts are of the bytes touched.",
                                  view.misaligned.size() == 1 ? "" : "s", lane_list(view.misaligned)),
                      2, Style::kRed);
  }
  const GradedReason grade = grade_of(view.gpu, p);
  numbers.line();
  numbers.paragraph("  ", fmt::format("[{}] {}", report::name_of(grade.grade), grade.reason), 2, Style::kDim);
  return out + numbers.text();
}

}  // namespace muscope::cli
