#include "report/text_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace muscope::report {
namespace {

constexpr std::size_t kNarrowest = 60, kWidest = 120;

std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::size_t> column_widths(const std::vector<Table::Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Table::Row& row : rows) {
    widths.resize(std::max(widths.size(), row.cells.size()));
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  return widths;
}

/// Units stay with their number.
bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return word == "%" || word == "B" || word == "KiB" || word == "MiB" || word == "GiB";
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (const std::size_t next = text.find_first_not_of(' ', end); next == end + 1) {
      const std::size_t next_end = std::min(text.find_first_of(" \n", next), text.size());
      if (is_unit(text.substr(next, next_end - next))) end = next_end;
    }
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(word.size());
    if (!line.empty() && line.size() + 1 + word.size() > width) lines.push_back(std::exchange(line, {}));
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

Page::Page(int width, bool colour)
    : width_(std::clamp(width < 0 ? kNarrowest : static_cast<std::size_t>(width), kNarrowest, kWidest)),
      colour_(colour) {}

std::string Page::styled(std::string_view text, Style style) const {
  if (!colour_ || style == Style::kPlain || text.empty()) return std::string(text);
  int code = 0;
  switch (style) {
    case Style::kBold:
      code = 1;
      break;
    case Style::kDim:
      code = 2;
      break;
    case Style::kRed:
      code = 31;
      break;
    case Style::kYellow:
      code = 33;
      break;
    case Style::kGreen:
      code = 32;
      break;
    case Style::kBlue:
      code = 36;
      break;
    case Style::kPlain:
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Page::line(std::string_view text) {
  text_ += trimmed_right(text);
  text_ += '\n';
}

void Page::paragraph(std::string_view first, std::string_view text, std::size_t indent, Style style) {
  hang(first, std::string(indent, ' '), text, indent, style);
}

void Page::hang(std::string_view first, std::string_view next, std::string_view text, std::size_t indent, Style style) {
  const std::size_t room = width_ > indent + 20 ? width_ - indent : 20;
  const auto lines = wrap(text, room);
  if (lines.empty()) return line(first);
  for (std::size_t i = 0; i < lines.size(); ++i)
    line(fmt::format("{}{}", i == 0 ? first : next, styled(lines[i], style)));
}

void Page::spread(std::string_view left, Style left_style, std::string_view right, Style right_style) {
  if (left.size() + 2 + right.size() <= width_) {
    line(styled(left, left_style) + std::string(width_ - left.size() - right.size(), ' ') + styled(right, right_style));
    return;
  }
  line(styled(left, left_style));
  line("  " + styled(right, right_style));
}

std::size_t Table::width() const {
  std::size_t sum = 0;
  for (const std::size_t width : column_widths(rows)) sum += width + 2;
  return sum < 2 ? 0 : sum - 2;
}

void Table::print(Page& page, std::size_t indent) const {
  const std::vector<std::size_t> widths = column_widths(rows);
  for (const Row& row : rows) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      text +=
          i == 0 ? fmt::format("{:<{}}", row.cells[i], widths[i]) : fmt::format("  {:>{}}", row.cells[i], widths[i]);
    }
    const std::size_t used = text.size();
    if (row.heading) text = page.styled(text, Style::kDim);
    if (row.remark.empty()) {
      page.line(text);
    } else if (used + 2 + row.remark.size() <= page.width()) {
      page.line(text + "  " + page.styled(row.remark, remark_style));
    } else {
      page.line(text);
      page.paragraph(std::string(indent + 4, ' '), row.remark, indent + 4, remark_style);
    }
  }
}

}  // namespace muscope::report
