#include "cli/explain_pages.h"

#include <algorithm>
#include <cctype>

#include "cli/embedded_text.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kComment = "<!--", kCommentEnd = "-->";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_code(std::string_view name) {
  return name.size() == 4 && std::isupper(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string group_of_code(std::string_view code) {
  switch (code[0]) {
    case 'A':
      return "advice";
    case 'C':
      return "findings of checkers";
    case 'P':
      return "porting";
    default:
      break;
  }
  switch (code[1]) {
    case '1':
      return "messages: command line and files";
    case '2':
      return "messages: binaries";
    case '3':
      return "messages: PTX";
    case '4':
      return "messages: toolchain";
    case '5':
      return "messages: runtime API";
    case '6':
      return "messages: execution";
    case '7':
      return "messages: reports";
    default:
      return "messages";
  }
}

/// "group: x; also: a, b"
void read_header(ExplainPage& page, std::string_view header) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view part = trimmed(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(part.substr(0, colon));
    std::string_view value = trimmed(part.substr(colon + 1));
    if (key == "group") page.group = value;
    if (key != "also") continue;
    while (!value.empty()) {
      const std::size_t comma = std::min(value.find(','), value.size());
      if (const std::string_view name = trimmed(value.substr(0, comma)); !name.empty()) page.also.emplace_back(name);
      value.remove_prefix(std::min(comma + 1, value.size()));
    }
  }
}

ExplainPage parse_page(const EmbeddedText& file, std::string_view group = "") {
  ExplainPage page;
  page.name = file.name;
  if (group == kLearnGroup) page.name = page.name == "README" ? "learn" : "learn-" + page.name;
  std::string_view rest = file.text;
  std::string_view title = take_line(rest);
  if (title.starts_with("# ")) title.remove_prefix(2);
  page.title = title;
  page.group = !group.empty() ? group : is_code(page.name) ? group_of_code(page.name) : "other";
  if (rest.starts_with(kComment)) {
    std::string_view line = take_line(rest);
    line.remove_prefix(kComment.size());
    read_header(page, line.substr(0, line.find(kCommentEnd)));
  }
  while (rest.starts_with('\n')) rest.remove_prefix(1);
  page.body = rest;
  return page;
}

}  // namespace

const std::vector<ExplainPage>& explain_pages() {
  static const std::vector<ExplainPage> pages = [] {
    std::vector<ExplainPage> all;
    for (const EmbeddedText& file : explain_texts()) all.push_back(parse_page(file));
    for (const EmbeddedText& file : guide_texts()) all.push_back(parse_page(file, kGuideGroup));
    for (const EmbeddedText& file : learn_texts()) all.push_back(parse_page(file, kLearnGroup));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
  }();
  return pages;
}

std::string topic_key(std::string_view topic) {
  std::string key;
  for (const char c : topic)
    key += c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

const ExplainPage* find_page(std::string_view topic) {
  const std::string key = topic_key(topic);
  for (const ExplainPage& page : explain_pages())
    if (topic_key(page.name) == key) return &page;
  for (const ExplainPage& page : explain_pages())
    for (const std::string& name : page.also)
      if (topic_key(name) == key) return &page;
  return nullptr;
}

namespace {

/// A word without the ending of a plural, in lower case.
std::string stem_of(std::string_view word) {
  std::string stem = topic_key(word);
  constexpr std::size_t kShortest = 3;
  if (stem.size() > kShortest + 1 && stem.ends_with("ies"))
    stem.replace(stem.size() - 3, 3, "y");
  else if (stem.size() > kShortest && stem.ends_with('s') && !stem.ends_with("ss"))
    stem.pop_back();
  return stem;
}

/// The page without its listings: what commands print explains nothing.
std::string prose_of(std::string_view body) {
  std::string prose;
  bool listing = false;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string_view line = body.substr(at, end - at);
    if (line.starts_with("```"))
      listing = !listing;
    else if (!listing)
      prose.append(line) += '\n';
    at = end + 1;
  }
  return prose;
}

/// Whether a word of the text begins with the stem.
std::size_t mentions(std::string_view text, const std::string& stem) {
  const std::string low = topic_key(text);
  std::size_t count = 0;
  for (std::size_t at = low.find(stem); at != std::string::npos; at = low.find(stem, at + stem.size()))
    count += at == 0 || std::isalnum(static_cast<unsigned char>(low[at - 1])) == 0;
  return count;
}

}  // namespace

std::vector<const ExplainPage*> search_pages(std::string_view words, std::size_t most) {
  constexpr std::size_t kInTitle = 100, kInName = 200;  // more than any text repeats a word
  std::vector<std::string> stems;
  const std::string key = topic_key(words);
  for (std::size_t at = 0; at < key.size();) {
    const std::size_t end = std::min(key.find('-', at), key.size());
    if (end > at + 1) stems.push_back(stem_of(std::string_view(key).substr(at, end - at)));
    at = end + 1;
  }
  if (stems.empty()) return {};
  std::vector<std::pair<std::size_t, const ExplainPage*>> found;
  for (const ExplainPage& page : explain_pages()) {
    std::size_t weight = 0;
    bool all = true;
    const std::string prose = prose_of(page.body);
    for (const std::string& stem : stems) {
      std::string names = page.name;
      for (const std::string& name : page.also) names += ' ' + name;
      const std::size_t in_name = mentions(names, stem), in_title = mentions(page.title, stem),
                        in_body = mentions(prose, stem);
      all = all && in_name + in_title + in_body > 0;
      weight += kInName * std::min<std::size_t>(in_name, 1) + kInTitle * std::min<std::size_t>(in_title, 1) +
                std::min<std::size_t>(in_body, kInTitle - 1);
    }
    if (all) found.emplace_back(weight, &page);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const ExplainPage*> pages;
  for (const auto& [weight, page] : found)
    if (pages.size() < most) pages.push_back(page);
  return pages;
}

std::vector<std::string> links_of(const ExplainPage& page) {
  std::vector<std::string> links;
  std::string_view text = page.body;
  for (std::size_t at = text.find("]("); at != std::string_view::npos; at = text.find("](", at + 2)) {
    const std::size_t end = text.find(')', at);
    if (end == std::string_view::npos) break;
    const std::string_view target = text.substr(at + 2, end - at - 2);
    if (target.ends_with(".md")) links.emplace_back(target.substr(0, target.size() - 3));
  }
  return links;
}

}  // namespace muscope::cli
