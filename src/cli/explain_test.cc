#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/diagnostic.h"
#include "cli/explain_metrics.h"
#include "cli/explain_pages.h"
#include "cli/explain_topics.h"
#include "report/metrics.h"

namespace muscope::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string explain(std::string_view topic, std::size_t width = 80) { return explain_topic(topic, {width, false}); }

/// Guides quote output of commands, as wide as it is.
bool is_guide(const ExplainPage& page) { return page.group == kGuideGroup || page.group == kLearnGroup; }

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, line.size());
  return most;
}

TEST(ExplainPages, AllLinksResolve) {
  std::set<std::string> names;
  for (const ExplainPage& page : explain_pages()) names.insert(page.name);
  ASSERT_GT(names.size(), 40u);
  std::size_t links = 0;
  for (const ExplainPage& page : explain_pages()) {
    if (is_guide(page)) continue;  // theirs lead to files of the repository: tests/docs
    for (const std::string& link : links_of(page)) {
      EXPECT_TRUE(names.contains(link)) << page.name << ".md links to " << link << ".md";
      ++links;
    }
  }
  EXPECT_GT(links, 60u);
}

TEST(ExplainPages, HaveTitlesGroupsAndBodies) {
  std::set<std::string> keys;
  for (const ExplainPage& page : explain_pages()) {
    EXPECT_FALSE(page.title.empty()) << page.name;
    EXPECT_NE(page.group, "other") << page.name << " has no group";
    EXPECT_GT(page.body.size(), 80u) << page.name;
    if (!is_guide(page)) {
      EXPECT_THAT(page.body, Not(HasSubstr("<!--"))) << page.name;
    }
    if (page.group.starts_with("messages")) {
      EXPECT_TRUE(page.title.starts_with(page.name + ": ")) << page.name << ": " << page.title;
    }
    // No two pages answer to one name.
    EXPECT_TRUE(keys.insert(topic_key(page.name)).second) << page.name;
    for (const std::string& name : page.also)
      EXPECT_TRUE(keys.insert(topic_key(name)).second) << page.name << ": " << name;
  }
}

TEST(ExplainPages, EveryTermTheReportUsesHasAPage) {
  for (const char* term : {"coalescing",         "sector",  "request",  "wavefront", "bank",
                           "bank-conflict",      "warp",    "lane",     "occupancy", "constant-memory",
                           "local-memory",       "spill",   "register", "pinned",    "zero-copy",
                           "unified-addressing", "managed", "texture",  "grades",    "efficiency",
                           "ideal-sectors",      "atomics", "memory",   "waves",     "block",
                           "divergence"})
    EXPECT_NE(find_page(term), nullptr) << term;
}

TEST(ExplainPages, GuidesAndLessonsArePages) {
  for (const char* guide : {"how-it-works", "comparison", "accuracy", "performance", "limits", "commands", "claims"}) {
    const ExplainPage* page = find_page(guide);
    ASSERT_NE(page, nullptr) << guide;
    EXPECT_EQ(page->group, kGuideGroup) << guide;
  }
  ASSERT_NE(find_page("learn"), nullptr);
  EXPECT_EQ(find_page("learn")->title, "Learning GPU memory with muscope");
  ASSERT_NE(find_page("learn banks"), nullptr);
  EXPECT_THAT(explain("learn banks"), HasSubstr("Word w is in bank w mod 32"));
  EXPECT_EQ(find_page("bank"), find_page("banks"));  // the term, not the lesson
}

TEST(ExplainPages, TheCostsInThemFollowTheRules) {
  // Pages that give numbers as examples; the numbers are those of the rules (see src/model).
  EXPECT_THAT(explain("coalescing"), HasSubstr("lane i reads base + 4096*i   32 sectors"));
  EXPECT_THAT(explain("stride"), HasSubstr("16 B  16                         25.0 %"));
  EXPECT_THAT(explain("bank conflict"), HasSubstr("tile[32][33], lane i reads tile[i][c]    none"));
}

TEST(Explain, FindsTopicsByOtherNames) {
  EXPECT_EQ(find_page("Bank Conflicts"), find_page("bank-conflict"));
  EXPECT_EQ(find_page("uva"), find_page("unified-addressing"));
  EXPECT_EQ(find_page("d702")->name, "D702");
  EXPECT_EQ(find_page("nothing of the kind"), nullptr);
  EXPECT_THAT(explain("cudaMallocManaged"), HasSubstr("Managed memory"));
}

TEST(Explain, EveryMetricAndOldName) {
  for (const report::MetricRow& row : report::metric_rows()) {
    if (row.name.ends_with('*')) continue;
    EXPECT_THAT(explain(row.name, 100), HasSubstr(std::string(row.name))) << row.name;
  }
  const std::string text = explain("gld_efficiency");
  EXPECT_THAT(text, HasSubstr("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"));
  EXPECT_THAT(text, HasSubstr("nvprof    gld_efficiency"));
  // A broadcast lowers the hardware's number (4 of 32 bytes are 12.5 %), it does not raise it.
  EXPECT_THAT(text, AllOf(HasSubstr("share count once"), Not(HasSubstr("100 %"))));
  EXPECT_THAT(explain("achieved_occupancy"), HasSubstr("not modelled yet"));
  EXPECT_THAT(explain("l1tex__t_sectors*"), HasSubstr("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"));
}

TEST(Explain, ThePageOfMetricsIsTheProgramsOwn) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/docs/metrics.md");
  const std::string committed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string page = metrics_page();
  EXPECT_TRUE(committed == page) << "docs/metrics.md: write it anew, muscope explain --metrics-page > docs/metrics.md";
  for (const report::MetricRow& row : report::metric_rows())
    EXPECT_THAT(page, HasSubstr("| `" + std::string(row.name) + "`"));
}

TEST(Explain, PagesThatMetricsPointToExist) {
  for (const report::MetricRow& row : report::metric_rows()) {
    const std::string text = explain(row.name.ends_with('*') ? row.name.substr(0, row.name.size() - 1) : row.name, 200);
    const std::size_t at = text.find("  see       ");
    ASSERT_NE(at, std::string::npos) << row.name;
    std::string names = text.substr(at + 12);
    names = names.substr(0, names.find('\n'));
    std::istringstream in(names);
    for (std::string name; std::getline(in, name, ',');)
      EXPECT_NE(find_page(name.substr(name.find_first_not_of(' '))), nullptr) << row.name << ": " << name;
  }
}

TEST(Explain, PtxInstructions) {
  EXPECT_THAT(explain("ld.global.v4.f32"), HasSubstr("PTX instruction ld"));
  EXPECT_THAT(explain("fma"), HasSubstr("https://docs.nvidia.com/cuda/parallel-thread-execution/"));
}

TEST(Explain, PtxListsWhatIsExecuted) {
  const std::string text = explain("ptx");
  const std::size_t some = text.find("\nsome forms executed\n"), none = text.find("\nnot executed");
  ASSERT_NE(some, std::string::npos);
  ASSERT_NE(none, std::string::npos);
  const auto part = [&](const std::string& name) {
    const std::size_t at = text.find("  " + name, text.find("\nexecuted\n"));
    return at == std::string::npos ? "nowhere" : at < some ? "executed" : at < none ? "some" : "none";
  };
  EXPECT_STREQ(part("fma "), "some");  // not those of two packed floats
  EXPECT_STREQ(part("shfl  "), "executed");
  EXPECT_STREQ(part("clusterlaunchcontrol  "), "none");  // of compute capability 10.0
  EXPECT_THAT(explain("clusterlaunchcontrol"), HasSubstr("cannot execute"));
  EXPECT_THAT(explain("shfl"), Not(HasSubstr("cannot execute")));
}

TEST(Explain, FindsPagesByTheirWords) {
  EXPECT_THAT(explain("race"), HasSubstr("Race"));
  EXPECT_THAT(explain("races"), HasSubstr("missing barrier"));
  EXPECT_THAT(explain("surfaces"), HasSubstr("Surface"));
  EXPECT_THAT(explain("spills"), HasSubstr("Spill"));
  const std::string two = explain("managed pages");
  EXPECT_THAT(two, HasSubstr("No page is called 'managed pages'"));
  EXPECT_THAT(two, HasSubstr("\n  A603"));
  EXPECT_LE(widest(two), 80u);
  for (const ExplainPage* page : search_pages("managed pages", 8))
    EXPECT_THAT(std::string(page->title) + std::string(page->body), HasSubstr("anaged"));
  EXPECT_TRUE(search_pages("xyzzy", 8).empty());
  EXPECT_TRUE(search_pages("nosuchthing", 8).empty());  // in a listing of docs/commands.md only
  EXPECT_TRUE(search_pages("", 8).empty());
}

TEST(Explain, UnknownTopicsNameTheNearest) {
  try {
    explain("ocupancy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "D106");
    EXPECT_THAT(error.what(), HasSubstr("did you mean occupancy"));
  }
}

TEST(Explain, StaysWithinTheTerminal) {
  for (const ExplainPage& page : explain_pages()) {
    if (page.group.starts_with("messages") || is_guide(page)) continue;
    for (const std::size_t width : {80u, 100u})
      EXPECT_LE(widest(explain_topic(page.name, {width, false})), width) << page.name;
  }
  EXPECT_LE(widest(list_topics({80, false})), 100u);
}

TEST(Explain, VeryLongTopicsAreRefusedAtOnce) {
  try {
    explain_topic(std::string(100'000, 'a'), {80, false});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a topic of 100000 characters"));
    EXPECT_EQ(error.diagnostics().front().code, "D106");
  }
}

TEST(Explain, ListsNameEverything) {
  const std::string topics = list_topics({80, false}), all = list_everything({80, false});
  EXPECT_THAT(topics, HasSubstr("bank-conflict"));
  for (const report::MetricRow& row : report::metric_rows()) EXPECT_THAT(all, HasSubstr(std::string(row.name)));
  for (const ExplainPage& page : explain_pages()) EXPECT_THAT(all, HasSubstr(page.title));
}

TEST(Markdown, Renders) {
  const auto render = [](std::string_view text, std::size_t width = 20) {
    return render_markdown(text, {width, false});
  };
  EXPECT_EQ(render("one two three four five six"), "one two three four\nfive six\n");
  EXPECT_EQ(render("a [link](x.md) and `code` **bold**", 60), "a link and code bold\n");
  EXPECT_EQ(render("- one two three four five"), "- one two three four\n  five\n");
  EXPECT_EQ(render("    verbatim   text that is long"), "    verbatim   text that is long\n");
  EXPECT_EQ(render("| a | b |\n|---|---|\n| long | x |"), "a     b\nlong  x\n");
  EXPECT_EQ(render("| a | b |\n|---|---|\n| long | a cell that is too wide for it |"),
            "long\n  b: a cell that is\n    too wide for it\n");
  EXPECT_EQ(render("p\n\nq\n"), "p\n\nq\n");
  EXPECT_EQ(render("p\n\n<!-- for tools -->\n\nq\n"), "p\n\nq\n");
  EXPECT_EQ(render("keep x[i] and c[bank][offset]", 60), "keep x[i] and c[bank][offset]\n");
  EXPECT_EQ(render_markdown("`x`", {20, true}), "\x1b[36mx\x1b[0m\n");
}

}  // namespace
}  // namespace muscope::cli
