// The pages of docs/explain as topics, and the guides of docs/ ("how-it-works") and docs/learn ("learn-banks"). A page:
//
//   # Bank conflict
//   <!-- group: shared memory; also: conflict, n-way -->
//
//   Text in Markdown. Links to other pages: [bank](bank.md).
//
// Pages of messages (D101, A101, ...) have no second line; their group follows from their name, that of guides from
// their folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muscope::cli {

struct ExplainPage {
  std::string name;   ///< "bank-conflict", "D101"
  std::string title;  ///< "Bank conflict", "D101: wrong command line"
  std::string group;  ///< "shared memory"; "messages: command line and files" for D1xx
  std::vector<std::string> also;
  std::string_view body;  ///< Markdown, after title and group
};

/// Groups of docs/*.md and docs/learn/*.md.
inline constexpr std::string_view kGuideGroup = "guides", kLearnGroup = "learning step by step";

/// All pages, parsed once, by name.
const std::vector<ExplainPage>& explain_pages();

/// By name or one of its other names; capitals, blanks, underscores and hyphens do not matter. Null when there is none.
const ExplainPage* find_page(std::string_view topic);

/// Pages that have all of these words, in their name, title or text ("races" finds "race"), those that are about them
/// first. At most `most`.
std::vector<const ExplainPage*> search_pages(std::string_view words, std::size_t most);

/// Lower case with "-" for blanks and underscores: how topics are compared.
std::string topic_key(std::string_view topic);

/// The targets of links to other pages ("bank"), in order.
std::vector<std::string> links_of(const ExplainPage& page);

}  // namespace muscope::cli
