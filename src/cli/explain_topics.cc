#include "cli/explain_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/diagnostic.h"
#include "cli/explain_metrics.h"
#include "cli/explain_pages.h"
#include "ptx/opcodes.h"
#include "report/metrics.h"

namespace muscope::cli {
namespace {

using report::MetricRow;

// Groups of terms stand in this order; others follow.
constexpr std::string_view kGroupOrder[] = {kGuideGroup,     kLearnGroup,   "memory spaces", "global memory",
                                            "shared memory", "host memory", "execution",     "muscope"};

std::string bold(std::string_view text, const MarkdownStyle& style) {
  return style.colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

/// Words in lines of the page's width, each line behind `indent` blanks.
std::string fill(const std::vector<std::string>& words, std::size_t indent, const MarkdownStyle& style) {
  std::string out, line;
  for (const std::string& word : words) {
    if (!line.empty() && indent + line.size() + 2 + word.size() > style.width) {
      out += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    if (!line.empty()) line += "  ";
    line += word;
  }
  return line.empty() ? out : out + std::string(indent, ' ') + line + '\n';
}

/// Markdown with `indent` blanks before each line.
std::string wrapped(std::string_view text, std::size_t indent, const MarkdownStyle& style) {
  MarkdownStyle inner = style;
  inner.width = std::max<std::size_t>(20, style.width - std::min(style.width, indent));
  std::string rest = render_markdown(text, inner), out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    out += std::string(indent, ' ') + rest.substr(0, end);
    rest.erase(0, end);
  }
  return out;
}

/// "  label      text", wrapped.
std::string field(std::string_view label, std::string_view text, const MarkdownStyle& style) {
  constexpr std::size_t kIndent = 12;
  std::string out = wrapped(text, kIndent, style);
  return out.replace(2, std::min(label.size(), kIndent - 2), label);
}

/// A form of an instruction: broken before modifiers and operands where it is too long.
std::string wrapped_form(std::string_view form, std::size_t indent, const MarkdownStyle& style) {
  std::string out, line(indent, ' ');
  while (!form.empty()) {
    std::size_t end = std::min(form.find_first_of("{ ", 1), form.size());
    if (form[0] == '{') end = std::min(form.find('}', 1), form.size() - 1) + 1;
    if (line.size() > indent + 4 && line.size() + end > style.width) {
      out += line + '\n';
      line.assign(indent + 4, ' ');
      if (form[0] == ' ') form.remove_prefix(1), --end;
    }
    line += form.substr(0, end);
    form.remove_prefix(end);
  }
  return out + line + '\n';
}

std::string describe(const MetricRow& row, const MarkdownStyle& style) {
  std::string out = bold(row.name, style) + '\n';
  out += wrapped(row.description, 2, style);
  if (!row.unit.empty()) out += field("unit", row.unit, style);
  if (!row.modelled()) {
    out += field("here", fmt::format("not modelled yet: {}", row.formula), style);
  } else {
    out += field("computed", row.formula, style);
    switch (row.aggregation) {
      case report::Aggregation::kAdditive:
        out += field("lines", "sum to the launch", style);
        break;
      case report::Aggregation::kRatio:
        out += field("lines", "a quotient of sums, per line and per launch", style);
        break;
      case report::Aggregation::kPerLaunch:
        out += field("lines", "only launches have it", style);
        break;
    }
    out += field("grade", grade_text(row.grade), style);
  }
  if (!row.nvprof.empty()) out += field("nvprof", row.nvprof, style);
  out += field("see", pages_of(row.group), style);
  return out;
}

std::string metrics_matching(std::string_view pattern, const MarkdownStyle& style) {
  std::string out;
  for (const MetricRow& row : report::metric_rows())
    if (report::glob_matches(pattern, row.name)) {
      out += bold(row.name, style) + '\n';
      out += wrapped(fmt::format("{}{}", row.description, row.modelled() ? "" : " (not modelled yet)"), 2, style);
    }
  return out;
}

/// "ld.global.f32" -> the rows of ld.
std::span<const ptx::OpcodeRow> opcode_of(std::string_view topic) {
  return ptx::find_rows(ptx::find_opcode(topic.substr(0, topic.find('.'))));
}

std::string describe(std::span<const ptx::OpcodeRow> rows, const MarkdownStyle& style) {
  const std::string_view name = ptx::name_of(rows.front().opcode);
  std::string out = bold(fmt::format("PTX instruction {}", name), style) + '\n';
  std::vector<std::string> manuals;
  for (const ptx::OpcodeRow& row : rows) {
    out += wrapped_form(row.form, 2, style);
    if (const std::string_view missing = ptx::not_executed(row); missing == "*") {
      out += "      muscope cannot execute it yet: a launch that reaches it ends (D609)\n";
    } else if (!missing.empty()) {
      out += wrapped(fmt::format("muscope cannot execute, for instance, {} yet (D609)", missing), 6, style);
    }
    if (!row.groups.empty()) out += wrapped_form(row.groups, 6, style);
    if (std::string url = ptx::manual_url(row); std::find(manuals.begin(), manuals.end(), url) == manuals.end())
      manuals.push_back(std::move(url));
  }
  for (const std::string& url : manuals) out += fmt::format("  manual: {}\n", url);
  return out;
}

std::vector<std::string> opcode_names() {
  std::set<std::string> names;
  for (const ptx::OpcodeRow& row : ptx::opcode_rows()) names.emplace(ptx::name_of(row.opcode));
  return {names.begin(), names.end()};
}

/// Every PTX instruction by whether the engine has a handler for it.
std::string executed_instructions(const MarkdownStyle& style) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> forms;  // with a handler, without
  for (const ptx::OpcodeRow& row : ptx::opcode_rows()) {
    auto& [with, without] = forms[std::string(ptx::name_of(row.opcode))];
    ++(ptx::not_executed(row) == "*" ? without : with);
  }
  std::vector<std::string> all, some, none;
  for (const auto& [name, counts] : forms) {
    if (counts.second == 0) {
      all.push_back(name);
    } else if (counts.first == 0) {
      none.push_back(name);
    } else {
      some.push_back(fmt::format("{} ({} of {})", name, counts.first, counts.first + counts.second));
    }
  }
  return fmt::format("\n{}\n{}\n{}\n{}\n{}\n{}", bold("executed", style), fill(all, 2, style),
                     bold("some forms executed", style), fill(some, 2, style),
                     bold("not executed: a launch that reaches one ends (D609)", style), fill(none, 2, style));
}

/// Where to read about something that has no page of its own; empty where no page has the words.
std::string pages_with_words(std::string_view topic, const MarkdownStyle& style) {
  constexpr std::size_t kMostPages = 8, kName = 20;
  const std::vector<const ExplainPage*> pages = search_pages(topic, kMostPages);
  if (pages.empty()) return {};
  std::string out = fmt::format("No page is called '{}'. These speak of it (muscope explain NAME):\n\n", topic);
  for (const ExplainPage* page : pages) {
    const bool named = page->title.starts_with(page->name);
    std::string line =
        fmt::format("  {:<{}}{}", page->name, kName, named ? page->title.substr(page->name.size()) : page->title);
    if (line.size() > style.width) line = line.substr(0, style.width - 3) + "...";
    out += line + '\n';
  }
  return out;
}

[[noreturn]] void unknown_topic(std::string_view topic) {
  std::vector<std::string> owned = opcode_names();
  for (const ExplainPage& page : explain_pages()) {
    owned.push_back(page.name);
    owned.insert(owned.end(), page.also.begin(), page.also.end());
  }
  for (const MetricRow& row : report::metric_rows()) {
    owned.emplace_back(row.name);
    std::string_view old = row.nvprof;
    while (!old.empty()) {
      const std::size_t comma = std::min(old.find(','), old.size());
      owned.emplace_back(old.substr(0, comma));
      old.remove_prefix(std::min(comma + 1, old.size()));
    }
  }
  const std::vector<std::string_view> known(owned.begin(), owned.end());
  std::string hint = "muscope explain lists the topics";
  std::vector<std::string> near = report::nearest_names(topic, known, 3);
  if (near.empty()) near = report::nearest_names(topic_key(topic), known, 3);
  if (!near.empty()) hint = fmt::format("did you mean {}? {}", fmt::join(near, " or "), hint);
  fail("D106", fmt::format("nothing is known of '{}'", topic), std::move(hint));
}

/// Pages by group, groups in the order of the list.
std::vector<std::pair<std::string, std::vector<const ExplainPage*>>> grouped_pages() {
  std::map<std::string, std::vector<const ExplainPage*>> groups;
  for (const ExplainPage& page : explain_pages()) groups[page.group].push_back(&page);
  std::vector<std::pair<std::string, std::vector<const ExplainPage*>>> ordered;
  for (const std::string_view name : kGroupOrder)
    if (const auto found = groups.find(std::string(name)); found != groups.end()) {
      ordered.emplace_back(found->first, std::move(found->second));
      groups.erase(found);
    }
  for (auto& [name, pages] : groups) ordered.emplace_back(name, std::move(pages));
  return ordered;
}

}  // namespace

std::string explain_topic(std::string_view topic, const MarkdownStyle& style) {
  constexpr std::size_t kLongestTopic = 1000;
  if (topic.size() > kLongestTopic)
    fail("D106", fmt::format("a topic of {} characters, at most {} are allowed", topic.size(), kLongestTopic),
         "muscope explain lists the topics");
  std::string out;
  const auto add = [&](const std::string& part) {
    if (!out.empty() && !part.empty()) out += '\n';
    out += part;
  };
  const MetricRow* row = report::find_metric(topic);
  // A metric's own name is about the metric, also where a page answers to a similar word ("gld efficiency").
  const bool metric_meant = row != nullptr && topic.find('_') != std::string_view::npos;
  if (const ExplainPage* page = find_page(topic); page != nullptr && !metric_meant)
    add(bold(page->title, style) + "\n\n" + render_markdown(page->body, style) +
        (page->name == "ptx" ? executed_instructions(style) : ""));
  if (topic.find_first_of("*?") != std::string_view::npos) {
    add(metrics_matching(topic, style));
  } else if (row != nullptr) {
    add(describe(*row, style));
  }
  if (const auto rows = opcode_of(topic); !rows.empty()) add(describe(rows, style));
  if (out.empty()) out = pages_with_words(topic, style);
  if (out.empty()) unknown_topic(topic);
  return out;
}

std::string list_topics(const MarkdownStyle& style) {
  std::string out = "muscope explain TOPIC, where TOPIC is one of these, a metric, an nvprof name, or several words\n";
  std::vector<std::string> messages;
  for (const auto& [group, pages] : grouped_pages()) {
    std::vector<std::string> names;
    for (const ExplainPage* page : pages) names.push_back(page->name);
    if (group.starts_with("messages")) {
      messages.push_back(fmt::format("{}-{}", names.front(), names.back()));
      continue;
    }
    out += fmt::format("\n{}\n{}", bold(group, style), fill(names, 2, style));
  }
  std::map<std::string_view, std::size_t> metrics;
  std::vector<std::string> kinds;
  for (const MetricRow& row : report::metric_rows())
    if (metrics[report::title_of(row.group)]++ == 0) kinds.emplace_back(report::title_of(row.group));
  for (std::string& kind : kinds) kind = fmt::format("{} ({})", kind, metrics[kind]);
  out += fmt::format("\n{}\n{}", bold("metrics (--all names them)", style), fill(kinds, 2, style));
  out += fmt::format("\n{}\n{}", bold("messages", style), fill(messages, 2, style));
  out += fmt::format("\n{}\n{}", bold("PTX instructions", style), fill(opcode_names(), 2, style));
  return out;
}

std::string list_everything(const MarkdownStyle& style) {
  std::string out;
  for (const auto& [group, pages] : grouped_pages()) {
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", bold(group, style));
    for (const ExplainPage* page : pages)
      out += page->title.starts_with(page->name) ? fmt::format("  {}\n", page->title)
                                                 : fmt::format("  {:<20}{}\n", page->name, page->title);
  }
  std::string_view title;
  for (const MetricRow& row : report::metric_rows()) {
    if (title != report::title_of(row.group)) {
      title = report::title_of(row.group);
      out += fmt::format("\n{}\n", bold(fmt::format("metrics: {}", title), style));
    }
    out += fmt::format("  {}{}\n", row.name, row.nvprof.empty() ? "" : fmt::format("  (nvprof: {})", row.nvprof));
  }
  out += fmt::format("\n{}\n{}", bold("PTX instructions", style), fill(opcode_names(), 2, style));
  return out;
}

}  // namespace muscope::cli
