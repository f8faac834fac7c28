// Text files that cmake/EmbedText.cmake put into the program.
#pragma once

#include <span>
#include <string_view>

namespace muscope::cli {

struct EmbeddedText {
  std::string_view name;  ///< of the file, without folder and extension
  std::string_view text;
};

/// docs/explain/*.md, in the order of their names.
std::span<const EmbeddedText> explain_texts();
/// Guides for users: docs/*.md.
std::span<const EmbeddedText> guide_texts();
/// The learner's pages: docs/learn/*.md.
std::span<const EmbeddedText> learn_texts();

/// data/port/*.tsv: the rules of `muscope port`.
std::span<const EmbeddedText> port_texts();

/// web/dist/*.html: the page of the HTML report alone.
std::span<const EmbeddedText> page_texts();
/// What report::to_html() puts reports into.
inline std::string_view report_page() { return page_texts().front().text; }

}  // namespace muscope::cli
