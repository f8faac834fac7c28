// What the parts of the text report are written with: a page of limited width, styles, wrapped paragraphs, tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace muscope::report {

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen, kBlue };

class Page {
 public:
  Page(int width, bool colour);

  std::size_t width() const { return width_; }
  /// The text in that style: with escape sequences when the page has colours.
  std::string styled(std::string_view text, Style style) const;
  void line(std::string_view text = {});
  /// Words of `text` wrapped to the page; the first line starts with `first`, the others with `indent` spaces.
  void paragraph(std::string_view first, std::string_view text, std::size_t indent, Style style = Style::kPlain);
  /// The same with `next` before the lines that follow; `indent` is how wide `first` and `next` look.
  void hang(std::string_view first, std::string_view next, std::string_view text, std::size_t indent,
            Style style = Style::kPlain);
  /// `left`, then `right` flush with the right margin; on a line of its own when both do not fit.
  void spread(std::string_view left, Style left_style, std::string_view right, Style right_style);
  const std::string& text() const { return text_; }

 private:
  std::size_t width_;
  bool colour_;
  std::string text_;
};

/// `text` cut into lines of at most `width` characters at spaces; words longer than that stand alone.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Rows of cells, one column aligned left and the others right, with a remark after each row.
struct Table {
  struct Row {
    std::vector<std::string> cells;
    std::string remark;
    bool heading = false;
  };
  std::vector<Row> rows;
  Style remark_style = Style::kYellow;
  void heading(std::vector<std::string> cells) { rows.push_back({std::move(cells), {}, true}); }
  void row(std::vector<std::string> cells, std::string remark = {}) {
    rows.push_back({std::move(cells), std::move(remark), false});
  }
  /// Characters of the widest row without remarks and indentation.
  std::size_t width() const;
  /// `indent` spaces before each row. Remarks that do not fit go on a line below their row.
  void print(Page& page, std::size_t indent) const;
};

}  // namespace muscope::report
