#include "cli/markdown_text.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace muscope::cli {
namespace {

constexpr std::string_view kBold = "\x1b[1m", kCode = "\x1b[36m", kReset = "\x1b[0m";
// Marks of inline styles while text is laid out: one byte each, of no width.
constexpr char kCodeOn = '\x01', kCodeOff = '\x02', kBoldOn = '\x03', kBoldOff = '\x04';

bool is_mark(char c) { return c >= kCodeOn && c <= kBoldOff; }

std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if (!is_mark(c) && (static_cast<unsigned char>(c) & 0xc0) != 0x80) ++width;
  return width;
}

/// Links to their text, `code` and **bold** to marks.
std::string inline_marks(std::string_view text) {
  std::string out;
  bool code = false, bold = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {
      out += code ? kCodeOff : kCodeOn;
      code = !code;
    } else if (!code && text.substr(i, 2) == "**") {
      out += bold ? kBoldOff : kBoldOn;
      bold = !bold;
      ++i;
    } else if (!code && text[i] == '[') {
      const std::size_t middle = text.find("](", i),
                        end = middle == std::string_view::npos ? middle : text.find(')', middle);
      if (end == std::string_view::npos || text.substr(i + 1, middle - i - 1).find('[') != std::string_view::npos) {
        out += text[i];
        continue;
      }
      out += inline_marks(text.substr(i + 1, middle - i - 1));
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

class Renderer {
 public:
  explicit Renderer(const MarkdownStyle& style) : style_(style) {}

  std::string render(std::string_view markdown) {
    while (!markdown.empty()) {
      const std::size_t end = std::min(markdown.find('\n'), markdown.size());
      take(markdown.substr(0, end));
      markdown.remove_prefix(std::min(end + 1, markdown.size()));
    }
    flush();
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void take(std::string_view line) {
    if (fenced_) {
      if (line.starts_with("```")) {
        fenced_ = false;
      } else {
        emit("    " + std::string(line));
      }
      return;
    }
    if (line.starts_with("<!--") && line.ends_with("-->")) return;
    if (line.starts_with("```")) {
      flush();
      fenced_ = true;
    } else if (line.find_first_not_of(' ') == std::string_view::npos) {
      flush();
      if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
    } else if (line.starts_with("    ") && paragraph_.empty()) {
      emit(std::string(line));
    } else if (line.starts_with("|")) {
      if (!paragraph_.empty()) flush();
      rows_.push_back(cells_of(line));
    } else if (line.starts_with("#")) {
      flush();
      const std::size_t text = line.find_first_not_of("# ");
      emit(kBoldOn + std::string(line.substr(std::min(text, line.size()))) + kBoldOff);
    } else if (line.starts_with("- ") || line.starts_with("* ")) {
      flush();
      indent_ = 2;
      paragraph_ = line;
    } else {
      if (!rows_.empty()) flush();
      if (!paragraph_.empty()) paragraph_ += ' ';
      paragraph_ += line.substr(line.find_first_not_of(' '));
    }
  }

  static std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    line.remove_prefix(1);
    while (!line.empty()) {
      const std::size_t end = std::min(line.find('|'), line.size());
      std::string_view cell = line.substr(0, end);
      while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
      while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
      if (end < line.size() || !cell.empty()) cells.push_back(inline_marks(cell));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return cells;
  }

  void flush() {
    if (!paragraph_.empty()) wrap(inline_marks(paragraph_), indent_);
    paragraph_.clear();
    indent_ = 0;
    if (!rows_.empty()) table();
    rows_.clear();
  }

  void wrap(std::string_view text, std::size_t hang, std::size_t indent = 0) {
    std::string line;
    bool empty = true;
    while (!text.empty()) {
      const std::size_t start = text.find_first_not_of(' ');
      if (start == std::string_view::npos) break;
      text.remove_prefix(start);
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(word.size());
      if (!empty && shown_width(line) + 1 + shown_width(word) > style_.width) {
        emit(line);
        line.assign(hang, ' ');
      } else if (empty) {
        line.assign(indent, ' ');
      } else {
        line += ' ';
      }
      line += word;
      empty = false;
    }
    emit(line);
  }

  void table() {
    std::erase_if(rows_, [](const auto& row) {
      return !row.empty() && std::all_of(row.begin(), row.end(), [](const std::string& cell) {
        return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
      });
    });
    if (rows_.empty()) return;
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown_width(row[i]));
    }
    std::size_t all = 0;
    for (const std::size_t width : widths) all += width + 2;
    if (all > style_.width + 2) return list();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t i = 0; i < rows_[r].size(); ++i) {
        const std::string& cell = rows_[r][i];
        line += r == 0 ? kBoldOn + cell + kBoldOff : cell;
        if (i + 1 < rows_[r].size()) line.append(widths[i] - shown_width(cell) + 2, ' ');
      }
      emit(line);
    }
  }

  /// A table that is too wide: per row the first cell, then "heading: cell" for the others.
  void list() {
    for (std::size_t r = 1; r < rows_.size(); ++r) {
      if (rows_[r].empty()) continue;
      emit(kBoldOn + rows_[r][0] + kBoldOff);
      for (std::size_t i = 1; i < rows_[r].size() && i < rows_[0].size(); ++i)
        wrap(rows_[0][i] + ": " + rows_[r][i], 4, 2);
    }
  }

  void emit(std::string_view line) {
    for (const char c : line) {
      if (!is_mark(c)) {
        out_ += c;
      } else if (style_.colour) {
        out_ += c == kCodeOn ? kCode : c == kBoldOn ? kBold : kReset;
      }
    }
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }

  MarkdownStyle style_;
  std::string out_, paragraph_;
  std::size_t indent_ = 0;
  std::vector<std::vector<std::string>> rows_;
  bool fenced_ = false;
};

}  // namespace

std::string render_markdown(std::string_view markdown, const MarkdownStyle& style) {
  return Renderer(style).render(markdown);
}

}  // namespace muscope::cli
