// The texts of `muscope explain`.
#pragma once

#include <string>
#include <string_view>

#include "cli/markdown_text.h"

namespace muscope::cli {

/// What is known of the topic: its page, the metric of that name (or nvprof name, or all that match a pattern), the PTX
/// instruction. Throws Error D106 naming the nearest topics when nothing is.
std::string explain_topic(std::string_view topic, const MarkdownStyle& style);

/// Topics by group.
std::string list_topics(const MarkdownStyle& style);

/// The same with titles, and every metric and instruction.
std::string list_everything(const MarkdownStyle& style);

}  // namespace muscope::cli
