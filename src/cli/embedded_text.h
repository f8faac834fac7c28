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

}  // namespace muscope::cli
