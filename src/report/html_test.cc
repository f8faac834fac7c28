// The data of the HTML report: what a page finds in it, and that nothing in it can be taken for HTML.
#include "report/html.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/html_parts.h"
#include "report/test_records.h"
#include "views/samples.h"

namespace muscope::report {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPage = "<html><!--muscope-data--><script>program</script></html>";

HtmlOptions options() {
  HtmlOptions options;
  options.source = testing::transpose_source;
  options.directory = "/home/me";
  return options;
}

Report transpose() {
  const views::ProcessRecord process = testing::transpose();
  return build_report({process}, testing::h200(), testing::options_of(process));
}

std::string page_of(const Report& report, const HtmlOptions& how = options()) {
  const Report* const one[] = {&report};
  return to_html(one, kPage, how);
}

/// What stands in the script element of that id; null when there is none.
Json element(const std::string& page, const std::string& id) {
  const std::string begin = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t at = page.find(begin);
  if (at == std::string::npos) return nullptr;
  const std::size_t end = page.find("</script>", at);
  return Json::parse(page.substr(at + begin.size(), end - at - begin.size()));
}

/// The index of the first line of the launch that accesses memory.
std::size_t first_with_sites(const LaunchReport& launch) {
  for (std::size_t i = 0; i < launch.lines.size(); ++i)
    if (!launch.lines[i].sites.empty()) return i;
  ADD_FAILURE() << "no line accesses memory";
  return 0;
}

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Html, KeepsThePageAroundTheData) {
  const std::string page = page_of(transpose());
  EXPECT_THAT(page, ::testing::StartsWith("<html><script type=\"application/json\" id=\"muscope-data\">"));
  EXPECT_THAT(page, ::testing::EndsWith("<script>program</script></html>"));
  EXPECT_EQ(page, page_of(transpose()));
}

TEST(Html, HoldsTheLaunchesOfTheReport) {
  const Report report = transpose();
  const std::string page = page_of(report);
  const Json data = element(page, "muscope-data");
  EXPECT_EQ(data["format"], "muscope.page/1");
  const Json& one = data["reports"][0];
  ASSERT_EQ(one["launches"].size(), report.launches.size());
  EXPECT_EQ(one["gpu"]["limits"]["registers_per_sm"], 65536);
  EXPECT_EQ(one["gpu"]["limits"]["clock_mhz"], nullptr);
  for (std::size_t i = 0; i < report.launches.size(); ++i) {
    const LaunchReport& launch = report.launches[i];
    const Json& row = one["launches"][i];
    EXPECT_EQ(row[0], launch.index);
    const Json& kind = one["kinds"][row[4].get<std::size_t>()];
    EXPECT_EQ(kind["kernel"], launch.kernel);
    ASSERT_EQ(kind["metrics"].size(), launch.metrics.size());
    std::size_t n = 0;
    for (const auto& [name, metric] : launch.metrics) {
      const Json& stored = kind["metrics"][n++];
      EXPECT_EQ(data["metrics"][stored[0].get<std::size_t>()][0], name);
      EXPECT_EQ(data["metrics"][stored[0].get<std::size_t>()][1], metric.unit);
      EXPECT_EQ(stored[1].get<double>(), metric.as_double());
      EXPECT_EQ(data["grades"][stored[2].get<std::size_t>()][0], name_of(metric.grade));
    }
    const Json body = element(page, "muscope-0-" + std::to_string(row[4].get<int>()));
    ASSERT_EQ(body["lines"].size(), launch.lines.size());
    for (std::size_t line = 0; line < launch.lines.size(); ++line)
      EXPECT_EQ(body["lines"][line]["sites"].size(), launch.lines[line].sites.size());
  }
}

TEST(Html, LaunchesThatAreAlikeShareABody) {
  Report report = transpose();
  report.launches.resize(1);
  for (std::uint32_t i = 1; i < 5; ++i) {
    report.launches.push_back(report.launches.front());
    report.launches.back().index = i;
    report.launches.back().stream = i;
  }
  report.launches.push_back(report.launches.front());
  report.launches.back().grid[0] += 1;
  const std::string page = page_of(report);
  const Json one = element(page, "muscope-data")["reports"][0];
  EXPECT_EQ(one["launches"].size(), 6u);
  EXPECT_EQ(one["kinds"].size(), 2u);
  EXPECT_EQ(count_of(page, "id=\"muscope-0-"), 2u);
  EXPECT_EQ(one["launches"][4], Json({4, 0, 4, report.launches[0].device, 0}));
}

TEST(Html, NothingInItIsTakenForHtml) {
  Report report = transpose();
  const std::string evil = "</script><!--<script>\xff\xfe";
  report.argv = {evil};
  report.notes = {evil};
  report.launches[0].kernel = evil;
  LineReport& line = report.launches[0].lines.edit()[first_with_sites(report.launches[0])];
  line.at.file = evil;
  line.sites[0].text = evil;
  HtmlOptions how = options();
  how.source = [&](const std::string&, int line) { return line < 5 ? std::optional(evil) : std::nullopt; };
  const std::string page = page_of(report, how);
  EXPECT_EQ(count_of(page, "<!--"), 0u);
  // Those of the page and of its data alone.
  EXPECT_EQ(count_of(page, "<script"), count_of(page, "</script>"));
  EXPECT_EQ(count_of(page, "<script"), 2 + element(page, "muscope-data")["reports"][0]["kinds"].size());
  EXPECT_EQ(element(page, "muscope-data")["reports"][0]["notes"][0], "</script><!--<script>\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Html, AddressesAreShortWhereLanesAreEquallyFarApart) {
  Report report = transpose();
  const std::size_t line = first_with_sites(report.launches[0]);
  SiteReport& site = report.launches[0].lines.edit()[line].sites[0];
  site.worst_cost = 4;
  site.worst_mask = 0xfffffff0;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) site.worst_addresses[lane] = 0x7f0000000000 - 8 * lane;
  Json worst = element(page_of(report), "muscope-0-0")["lines"][line]["sites"][0]["worst"];
  EXPECT_EQ(worst["mask"], 0xfffffff0);
  EXPECT_EQ(worst["first"], 0x7f0000000000 - 8 * 4);
  EXPECT_EQ(worst["stride"], -8);
  EXPECT_FALSE(worst.contains("addresses"));
  site.worst_addresses[31] = 5;
  worst = element(page_of(report), "muscope-0-0")["lines"][line]["sites"][0]["worst"];
  EXPECT_EQ(worst["addresses"].size(), 28u);
  EXPECT_EQ(worst["addresses"][27], 5);
  EXPECT_FALSE(worst.contains("stride"));
}

TEST(Html, TheMostFrequentPatternIsTypical) {
  Report report = transpose();
  LaunchReport& launch = report.launches[0];
  const std::size_t line = first_with_sites(launch);
  const SiteReport& site = launch.lines[line].sites[0];
  views::SiteSamples samples;
  samples.site = site.site;
  samples.space = site.space;
  samples.requests = 10;
  views::AccessPattern seldom, usual;
  seldom.mask = usual.mask = 0xffffffff;
  seldom.count = 3;
  usual.count = 7;
  usual.stride = 8;
  usual.base = 4096;
  usual.block = 5;
  samples.patterns = {seldom, usual};
  auto recorded = std::make_shared<views::LaunchSamples>();
  recorded->sites = {samples};
  launch.samples = std::move(recorded);
  const Json typical = element(page_of(report), "muscope-0-0")["lines"][line]["sites"][0]["typical"];
  EXPECT_EQ(typical["first"], 4096);
  EXPECT_EQ(typical["stride"], 8);
  EXPECT_EQ(typical["block"], 5);
  EXPECT_EQ(typical["count"], 7);
  EXPECT_EQ(typical["of"], 10);
}

TEST(Html, InstructionsNameTheirLines) {
  Report report = transpose();
  LaunchReport& launch = report.launches[0];
  auto listing = std::make_shared<Listing>();
  listing->push_back({0, "LDC R1, c[0x0][0x28]", {"elsewhere.cu", 3, 0, ""}, {}});
  listing->push_back({16, "LDG.E R2, [R4.64]", launch.lines[0].at, launch.lines[0].inlined_at});
  launch.listing = listing;
  const Json body = element(page_of(report), "muscope-0-0");
  EXPECT_EQ(body["listing"], Json::parse(R"([[0, "LDC R1, c[0x0][0x28]", -1], [16, "LDG.E R2, [R4.64]", 0]])"));
}

TEST(Html, LongSourcesAreCutToWhatIsSpokenOf) {
  SourceUse used;
  used["/home/me/short.cu"] = {2};
  used["/home/me/long.cu"] = {5, 1000, 1060, 9000};
  used["/home/me/gone.cu"] = {1};
  used["/usr/include/cuda/x.h"] = {1};
  HtmlOptions how = options();
  how.source = [](const std::string& file, int line) -> std::optional<std::string> {
    const int lines = file == "/home/me/short.cu"  ? 3
                      : file == "/home/me/long.cu" ? 9010
                      : file == "/home/me/gone.cu" ? 0
                                                   : 5;
    if (line > lines) return std::nullopt;
    if (line == 1000) return std::string(5000, 'x');
    return "\tline " + std::to_string(line);
  };
  const Json json = Json::parse(sources_of(used, how).dump());
  ASSERT_EQ(json.size(), 4u);
  const auto of = [&](std::string_view file) {
    return *std::find_if(json.begin(), json.end(), [&](const Json& one) { return one["file"] == file; });
  };
  EXPECT_EQ(of("/home/me/short.cu")["excerpts"],
            Json::parse(R"([[1, "        line 1\n        line 2\n        line 3\n"]])"));
  EXPECT_EQ(of("/home/me/short.cu")["shown"], "short.cu");
  const Json excerpts = of("/home/me/long.cu")["excerpts"];
  ASSERT_EQ(excerpts.size(), 3u);
  EXPECT_EQ(excerpts[0][0], 1);
  EXPECT_EQ(excerpts[1][0], 960);
  EXPECT_EQ(std::ranges::count(excerpts[1][1].get<std::string>(), '\n'), 1100 - 960 + 1);
  EXPECT_LT(excerpts[1][1].get<std::string>().size(), 5000u);
  EXPECT_EQ(excerpts[2][0], 8960);
  EXPECT_EQ(std::ranges::count(excerpts[2][1].get<std::string>(), '\n'), 9010 - 8960 + 1);
  EXPECT_EQ(of("/home/me/gone.cu")["excerpts"], Json::array());
  EXPECT_TRUE(of("/usr/include/cuda/x.h")["system"].get<bool>());
  EXPECT_FALSE(of("/usr/include/cuda/x.h").contains("excerpts"));
}

TEST(Html, ReportsMayHaveSourcesOfTheirOwn) {
  const Report one = transpose();
  const Report* const both[] = {&one, &one};
  HtmlOptions how = options();
  const auto only = [](std::string text) {
    return [text](const std::string&, int line) { return line == 41 ? std::optional(text) : std::nullopt; };
  };
  how.sources = {only("before"), only("after")};
  const Json data = element(to_html(both, kPage, how), "muscope-data");
  for (const auto& [report, text] : {std::pair{0, "before"}, {1, "after"}}) {
    const Json wanted = Json::parse(std::string("[[41, \"") + text + "\\n\"]]");
    const Json& sources = data["reports"][static_cast<std::size_t>(report)]["sources"];
    EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [&](const Json& source) {
      return source.value("excerpts", Json()) == wanted;
    })) << sources;
  }
}

TEST(Html, TwoReportsStandBesideEachOther) {
  const Report before = transpose();
  Report after = transpose();
  after.exit_code = 3;
  const Report* const both[] = {&before, &after};
  const std::string page = to_html(both, kPage, options());
  const Json data = element(page, "muscope-data");
  ASSERT_EQ(data["reports"].size(), 2u);
  EXPECT_EQ(data["reports"][1]["program"]["exit"], 3);
  EXPECT_FALSE(element(page, "muscope-1-0").is_null());
}

}  // namespace
}  // namespace muscope::report
