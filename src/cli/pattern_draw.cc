// The pictures of `muscope pattern`. Plain ASCII; colour only where asked for.
//
//   shared: a row per pass, a column per bank, the lane that is served in the cell
//   global: a row per 128-byte line, four sectors of eight words:   |########|##......|        |        |
//           '#' asked for, '+' in part, '.' moved along, ' ' not moved
//   const:  a row per distinct word                                   local: a row per word, a column per lane
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/pattern_view.h"

namespace muscope::cli {
namespace {

using model::Pattern;
using model::PatternOp;

constexpr std::string_view kRed = "\x1b[31m", kGreen = "\x1b[32m", kDim = "\x1b[2m", kPlain = "\x1b[0m";

class Pen {
 public:
  explicit Pen(bool colour) : colour_(colour) {}
  std::string ink(std::string_view text, std::string_view code) const {
    return colour_ ? std::string(code) + std::string(text) + std::string(kPlain) : std::string(text);
  }

 private:
  bool colour_;
};

std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

/// Lanes, cut so that a row stays within 120 columns.
std::string short_lanes(const std::vector<unsigned>& lanes, std::size_t room) {
  std::string text = (lanes.size() == 1 ? "lane " : "lanes ") + lane_list(lanes);
  if (text.size() <= room) return text;
  text.resize(room - 3);
  while (!text.empty() && text.back() != ' ') text.pop_back();
  return text + "...";
}

// --- shared
// -----------------------------------------------------------------------------------------------------------

std::string draw_shared(const PatternView& view, const Pen& pen) {
  const Pattern& p = view.pattern;
  const bool atomic = p.op == PatternOp::kRed || p.op == PatternOp::kAtom;
  std::string out = "  bank     ";
  for (unsigned bank = 0; bank < model::kBanks; ++bank) out += fmt::format("{:>3}", bank);
  out += '\n';
  const auto passes = view.passes.empty() ? 0u : *std::max_element(view.passes.begin(), view.passes.end());
  // Lanes of each cell: the lowest one is shown, '+' when others share the word.
  std::vector<std::array<std::vector<unsigned>, model::kBanks>> cells(passes);
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) {
    if (view.passes[lane] == 0) continue;
    const std::uint64_t begin = p.addresses[lane] / model::kBankBytes;
    const std::uint64_t last = atomic ? begin : (p.addresses[lane] + p.bytes - 1) / model::kBankBytes;
    for (std::uint64_t word = begin; word <= last; ++word)
      cells[view.passes[lane] - 1][word % model::kBanks].push_back(lane);
  }
  bool any_shared = false;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    std::string row = fmt::format("  pass {:<3} ", pass + 1);
    bool shared_word = false;
    for (const std::vector<unsigned>& lanes : cells[pass]) {
      if (lanes.empty()) {
        row += pen.ink("  .", kDim);
        continue;
      }
      const std::string cell = fmt::format("{:>3}", lanes.front());
      shared_word = shared_word || lanes.size() > 1;
      row += pen.ink(cell, pass == 0 || passes == *view.counts.ideal_wavefronts ? kGreen : kRed);
    }
    if (shared_word) row += "  +";
    any_shared = any_shared || shared_word;
    out += row + '\n';
  }
  if (passes > 0)
    out += any_shared
               ? "  cells: the lane served there; + in that pass a word goes to several lanes, the lowest is shown\n"
               : "  cells: the lane served there\n";
  return out;
}

// --- global
// -----------------------------------------------------------------------------------------------------------

std::string draw_global(const PatternView& view, const Pen& pen) {
  const Pattern& p = view.pattern;
  struct Line {
    std::array<std::uint8_t, 128> asked{};
    std::vector<unsigned> lanes;
  };
  std::map<std::uint64_t, Line> lines;
  model::for_each_lane(p.mask, [&](unsigned lane) {
    for (std::uint64_t byte = p.addresses[lane]; byte < p.addresses[lane] + p.bytes; ++byte) {
      Line& line = lines[byte / 128];
      line.asked[byte % 128] = 1;
      if (line.lanes.empty() || line.lanes.back() != lane) line.lanes.push_back(lane);
    }
  });
  const bool whole_lines = p.kind() == trace::Kind::kLoad && view.gpu.global.load_granularity_l1_on == 128 &&
                           view.l1_on && p.op == PatternOp::kLoad;
  std::string out = "  line              sector 0 sector 1 sector 2 sector 3   lanes\n";
  for (const auto& [number, line] : lines) {
    std::string row = fmt::format("  {:<#16x}  |", number * 128);
    for (unsigned sector = 0; sector < 4; ++sector) {
      const auto begin = line.asked.begin() + sector * 32;
      const bool touched = std::any_of(begin, begin + 32, [](std::uint8_t x) { return x != 0; });
      for (unsigned word = 0; word < 8; ++word) {
        const auto count = std::count(begin + word * 4, begin + word * 4 + 4, 1);
        row += count == 4               ? pen.ink("#", kGreen)
               : count > 0              ? pen.ink("+", kGreen)
               : touched || whole_lines ? pen.ink(".", kRed)
                                        : " ";
      }
      row += '|';
    }
    out += trimmed(row + "   " + short_lanes(line.lanes, 55));
  }
  if (!lines.empty()) out += "  a character is 4 bytes: # asked for, + in part, . moved but not asked for\n";
  return out;
}

// --- constant and local
// -----------------------------------------------------------------------------------------------

std::string draw_const(const PatternView& view) {
  const Pattern& p = view.pattern;
  const std::uint64_t unit = std::max(4u, p.bytes);
  std::map<std::uint64_t, std::vector<unsigned>> words;
  model::for_each_lane(p.mask, [&](unsigned lane) { words[p.addresses[lane] / unit].push_back(lane); });
  std::string out = "  word      64-byte line   lanes\n";
  for (const auto& [word, lanes] : words)
    out += fmt::format("  {:<9} {:<14} {}\n", word, word * unit / 64, short_lanes(lanes, 90));
  return out;
}

std::string draw_local(const PatternView& view, const Pen& pen) {
  const Pattern& p = view.pattern;
  std::map<std::uint64_t, std::array<bool, 32>> rows;
  model::for_each_lane(p.mask, [&](unsigned lane) {
    for (std::uint64_t word = p.addresses[lane] / 4; word <= (p.addresses[lane] + p.bytes - 1) / 4; ++word)
      if (lane < 32) rows[word][lane] = true;
  });
  std::string out = "  word of the frame   lanes 0-7 8-15   16-23    24-31\n";
  for (const auto& [word, lanes] : rows) {
    std::string row = fmt::format("  {:<18} |", word);
    for (unsigned sector = 0; sector < 4; ++sector) {
      const bool touched =
          std::any_of(lanes.begin() + sector * 8, lanes.begin() + sector * 8 + 8, [](bool x) { return x; });
      for (unsigned lane = sector * 8; lane < sector * 8 + 8; ++lane)
        row += lanes[lane] ? pen.ink("#", kGreen) : touched ? pen.ink(".", kRed) : " ";
      row += '|';
    }
    out += row + '\n';
  }
  if (!rows.empty())
    out += "  each row of 32 lanes is 128 bytes of memory, each eight lanes a sector; # asked for, . moved along\n";
  return out;
}

}  // namespace

std::string pattern_picture(const PatternView& view, bool colour) {
  const Pen pen(colour);
  switch (view.pattern.space) {
    case model::PatternSpace::kGlobal:
      return draw_global(view, pen);
    case model::PatternSpace::kShared:
      return draw_shared(view, pen);
    case model::PatternSpace::kConst:
      return draw_const(view);
    case model::PatternSpace::kLocal:
      break;
  }
  return draw_local(view, pen);
}

}  // namespace muscope::cli
