// Markdown for the terminal: the small part of it that docs/explain uses. Paragraphs and lists are wrapped, tables
// aligned (and turned into lists where they would be too wide), code stands as it is, links become their text.
#pragma once

#include <string>
#include <string_view>

namespace muscope::cli {

struct MarkdownStyle {
  std::size_t width = 80;
  bool colour = false;
};

std::string render_markdown(std::string_view markdown, const MarkdownStyle& style);

}  // namespace muscope::cli
