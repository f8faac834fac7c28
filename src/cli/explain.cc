// muscope explain: pages, metrics, old names and PTX instructions.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/explain_metrics.h"
#include "cli/explain_pages.h"
#include "cli/explain_topics.h"
#include "cli/run_progress.h"

namespace muscope::cli {

int explain_command(const Arguments& args) {
  CLI::App app("What a metric, message, term or PTX instruction means.", "muscope explain");
  std::vector<std::string> words;
  bool all = false, page = false;
  app.add_option("TOPIC", words,
                 "a term, metric, nvprof name, message code or PTX instruction; without one: the topics");
  app.add_flag("--all", all, "list every topic, all metrics, messages and instructions included");
  app.add_flag("--metrics-page", page, "all metrics with meaning, unit, formula and grade, as Markdown");
  parse(app, args,
        "  muscope explain bank conflict\n  muscope explain gld_efficiency\n  muscope explain 'l1tex__t_sectors*'\n"
        "  muscope explain D601\n  muscope explain ld.global\n  muscope explain memory\n");

  MarkdownStyle style;
  if (const std::size_t width = terminal_width(STDOUT_FILENO); width != 0)
    style.width = std::clamp<std::size_t>(width, 40, 100);
  style.colour = may_colour(STDOUT_FILENO);
  std::string text;
  if (page) {
    text = metrics_page();
  } else if (words.empty()) {
    text = all ? list_everything(style) : list_topics(style);
  } else {
    text = explain_topic(fmt::format("{}", fmt::join(words, " ")), style);
  }
  std::fputs(text.c_str(), stdout);
  return kOk;
}

}  // namespace muscope::cli
