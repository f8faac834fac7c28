// From what programs write to what is shown.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/diagnostic.h"
#include "lab/catalog.h"
#include "lab/output.h"
#include "lab/raw.h"
#include "lab/results.h"

namespace muscope::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.diagnostics().front().code;
  }
  return "";
}

std::string row_line(const std::string& experiment, const std::string& name, double x, double amount,
                     const std::string& mix, const std::string& samples, const std::string& more = "") {
  std::ostringstream line;
  line
      << R"({"type":"row","experiment":")" << experiment << R"(","name":")" << name << R"(","x":)" << x
      << R"(,"x_unit":"B","work":"byte","amount":)" << amount << R"(,"mix":")" << mix << R"(","series":")" << more
      << R"(","flush":"clean","unit":"us","launches":1,"verified":"yes","why":"because","clock_mhz":[1980,1980],"samples":[)"
      << samples << R"(],"sentinel_us":[33,33,33]})" << "\n";
  return line.str();
}

const std::string kBegin =
    R"({"type":"begin","format":"muscope.lab.raw/1","program":"patterns","mode":"full","samples":3})"
    "\n";
const std::string kEnvironment = R"({"type":"environment","key":"memory clock kHz","value":"3201000"})"
                                 "\n"
                                 R"({"type":"environment","key":"memory bus bits","value":"6144"})"
                                 "\n";
const std::string kEnd = R"({"type":"end","wrong":0})"
                         "\n";

RawRun sample_run() {
  return read_raw(kBegin + kEnvironment + row_line("ceilings", "copy a", 1000, 2000, "copy", "1,1,1") +
                      row_line("ceilings", "copy b", 1000, 2000, "copy", "0.8,0.8,0.8") +
                      row_line("ceilings", "copy c", 64000, 128000, "copy", "10,10,10") +
                      row_line("ceilings", "read", 1000, 1000, "read", "0.1,0.1,0.1") +
                      row_line("stride-read", "read with stride 2", 2, 2000, "copy", "1,1,1") +
                      row_line("stride-read", "read with stride 32", 32, 2000, "copy", "8,9,10") + kEnd,
                  "p.jsonl");
}

TEST(Catalog, EveryExperimentStandsInItsProgram) {
  std::set<std::string_view> names;
  for (const Experiment& e : experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name << " twice";
    const std::string source = std::string(MUSCOPE_SOURCE_DIR) + "/" + source_of(e.program);
    std::string all;
    // Some programs keep experiments in a header of lab/.
    for (const std::string& file : {source, std::string(MUSCOPE_SOURCE_DIR "/lab/chase.cuh"),
                                    std::string(MUSCOPE_SOURCE_DIR "/lab/halves.cuh")}) {
      std::ifstream in(file);
      ASSERT_TRUE(in) << file;
      std::ostringstream text;
      text << in.rdbuf();
      all += text.str();
    }
    EXPECT_THAT(all, HasSubstr('"' + std::string(e.name) + '"')) << source;
  }
}

TEST(Catalog, SelectsByPartsOfNames) {
  EXPECT_EQ(select({}).size(), experiments().size());
  const auto strides = select({"stride"});
  ASSERT_EQ(strides.size(), 2u);
  EXPECT_EQ(strides[0].name, "stride-read");
  EXPECT_EQ(code_of([] { select({"stride", "nonsense"}); }), "D119");
  EXPECT_EQ(code_of([] { select({""}); }), "D119");
  const auto plans = plan(select({"stride", "ladder-scan"}));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].program, "patterns");
  EXPECT_EQ(plans[0].only, "stride-read,stride-write");
  EXPECT_EQ(plans[1].program, "ladder-scan");
  EXPECT_EQ(plans[1].only, "");
  EXPECT_EQ(source_of("ladder-scan"), "kernels/ladder/scan.cu");
  EXPECT_EQ(source_of("memory"), "lab/memory.cu");
}

TEST(Raw, RefusesWhatIsNoMeasurement) {
  const auto read = [](const std::string& text) { return code_of([&] { read_raw(text, "f"); }); };
  EXPECT_EQ(read(""), "D791");
  EXPECT_EQ(read("\n\n"), "D791");
  EXPECT_EQ(read("{"), "D791");
  EXPECT_EQ(read("[]\n"), "D791");
  EXPECT_EQ(read(kEnd), "D791");
  EXPECT_EQ(read(R"({"type":"begin","format":"muscope.lab.raw/2","program":"p","mode":"full"})"), "D791");
  EXPECT_EQ(read(kBegin + row_line("e", "n", 1, 1, "", "1,\"2\"")), "D791");
  EXPECT_EQ(read(kBegin + row_line("e", "n", 1, 1, "", "1e999")), "D791");
  EXPECT_EQ(read(kBegin + R"({"type":"row","experiment":"e"})"), "D791");
  EXPECT_EQ(read(kBegin +
                 R"({"type":"something new","of":[1]})"
                 "\n" +
                 kEnd),
            "");
  EXPECT_EQ(read(kBegin + row_line("e", "n", 1, 1, "", "1,0")), "D791");
  EXPECT_EQ(read(kBegin + row_line("e", "n", 1, 1, "", "-1")), "D791");
  EXPECT_EQ(read(kBegin + row_line("e", "n", 1, 1, "", "1e-310")), "D791");
  EXPECT_EQ(read_raw(kBegin + row_line("e",
                                       "a\xc2\x9b"
                                       "31m\xc3\xa9",
                                       1, 1, "", "1"),
                     "f")
                .rows.at(0)
                .name,
            "a 31m\xc3\xa9");
  const RawRun cut = read_raw(kBegin + row_line("e", "n\\u0007", 1, 1, "", ""), "f");
  EXPECT_FALSE(cut.ended);
  EXPECT_EQ(cut.rows.at(0).name, "n ");
}

TEST(Combine, HoldsRowsAgainstTheNearestCeiling) {
  const Results results = combine({{sample_run(), {}, {}, {}}});
  ASSERT_EQ(results.rows.size(), 6u);
  EXPECT_NEAR(results.pins_gb_per_s, 4916.736, 1e-3);  // 3.201 GHz x 2 x 768 bytes
  const ResultRow& near = results.rows[4];
  EXPECT_NEAR(*near.rate, 2.0, 1e-12);        // 2000 bytes in 1 us
  EXPECT_NEAR(*near.of_ceiling, 0.8, 1e-12);  // of "copy b": 2.5 GB/s; "copy c" is faster but of another size
  EXPECT_EQ(near.verdict, "near");
  EXPECT_EQ(results.rows[5].verdict, "noisy");  // 8 to 10 around 9
  EXPECT_EQ(results.noisy, 1);
  EXPECT_EQ(results.rows[1].verdict, "at the ceiling");
}

TEST(Combine, JoinsCountersByNameThenBySize) {
  ProgramResults program;
  program.run = read_raw(kBegin + row_line("transposes", "copy, 128 x 128", 1, 1, "", "1") +
                             row_line("transposes", "naive, 8192 x 8192", 1, 1, "", "1") +
                             row_line("transposes", "naive, 4096 x 4096", 1, 1, "", "1") + kEnd,
                         "f");
  program.counted = read_raw(kBegin + row_line("transposes", "copy, 128 x 128", 1, 1, "", "") +
                                 row_line("transposes", "naive, 128 x 128", 1, 1, "", "") + kEnd,
                             "f");
  Counters copy, naive;
  copy.global_requests = 2, copy.global_sectors = 8;
  naive.global_requests = 2, naive.global_sectors = 36;
  program.predicted = counters_of_rows({copy, naive}, {1, 1});
  program.measured = counters_of_rows({copy}, {1, 1});  // one launch is missing: nothing is certain
  const Results results = combine({program});
  EXPECT_EQ(counted_text(results.rows[0].predicted), "4 sect/req");
  EXPECT_EQ(counted_text(results.rows[1].predicted), "18 sect/req");
  EXPECT_EQ(counted_text(results.rows[2].predicted), "18 sect/req");
  EXPECT_FALSE(results.rows[0].measured);
}

TEST(Combine, RowsThatAreWrongAreTold) {
  RawRun run = sample_run();
  run.rows[4].verified = "NO";
  const Results results = combine({{run, {}, {}, {}}});
  EXPECT_EQ(results.wrong, 1);
  EXPECT_EQ(results.rows[4].verdict, "wrong");
  EXPECT_THAT(to_text(results), HasSubstr("1 wrong"));
}

std::string with(std::string line, const std::string& more) {
  return line.insert(line.rfind('}'), more);  // before the end of the object
}

TEST(Output, ShortRowsAreShownBackToBack) {
  const Results results = combine({{read_raw(kBegin +
                                                 with(row_line("stride-read", "short", 1, 8000, "", "4,4,4"),
                                                      R"(,"graph_us":[1.5,1.25,2],"stream_us":[2.5,2.5,3])") +
                                                 row_line("stride-read", "long", 2, 8000, "", "40,40,40") +
                                                 row_line("offset-read", "long", 2, 8000, "", "40,40,40") + kEnd,
                                             "f"),
                                    {},
                                    {},
                                    {}}});
  EXPECT_EQ(results.rows[0].in_graph->median, 1.5);
  EXPECT_EQ(results.rows[0].in_stream->median, 2.5);
  EXPECT_FALSE(results.rows[1].in_graph);
  const auto groups = groups_of(results);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(
      cells_of(groups[0]),
      ElementsAre(ElementsAre("row", "median", "95 %", "in a graph", "in a stream", "rate", "L2", "verdict"),
                  ElementsAre("short", "4.00 us", "4.00 to 4.00", "1.50 us", "2.50 us", "2.00 GB/s", "clean", "ok"),
                  ElementsAre("long", "40.00 us", "40.00 to 40.00", "", "", "0.20 GB/s", "clean", "ok")));
  EXPECT_THAT(cells_of(groups[1])[0], ElementsAre("row", "median", "95 %", "rate", "L2", "verdict"));
  EXPECT_THAT(to_text(results), HasSubstr("in a graph"));
  EXPECT_THAT(to_html(results, "1"), HasSubstr("<td>1.50 us<td>2.50 us"));
  EXPECT_THAT(to_csv(results), HasSubstr(",not modelled yet,1.5,2.5,,because"));
  const auto parsed = nlohmann::json::parse(to_json(results, "1"));
  EXPECT_EQ(parsed.at("rows")[0].at("in_graph").at("median"), 1.5);
  EXPECT_EQ(parsed.at("rows")[0].at("stream_us"), (std::vector<double>{2.5, 2.5, 3}));
  EXPECT_FALSE(parsed.at("rows")[1].contains("in_graph"));
  EXPECT_EQ(code_of([] { read_raw(kBegin + with(row_line("e", "n", 1, 1, "", "1"), R"(,"graph_us":[1])"), "f"); }),
            "D791");  // one without the other
}

TEST(Combine, NothingIsFasterThanThePins) {
  // 4917 GB/s: 6 MB in 1 us is 122 % of that, 5 MB is 102 %.
  const Results results =
      combine({{read_raw(kBegin + kEnvironment + row_line("ceilings", "triad", 2e6, 6e6, "triad", "1,1,1") +
                             row_line("ceilings", "copy", 25e5, 5e6, "copy", "1,1,1") + kEnd,
                         "f"),
                {},
                {},
                {}}});
  EXPECT_EQ(results.rows[0].verdict, "beyond the pins");
  EXPECT_EQ(results.rows[1].verdict, "at the ceiling");
}

TEST(Output, EnvironmentIsShownInUnitsOfPeople) {
  RawRun run = sample_run();
  run.environment = {{"memory bytes", "150109880320"},
                     {"L2 bytes", "62914560"},
                     {"SM clock kHz", "1980000"},
                     {"CUDA driver", "13010"},
                     {"odd bytes", "many"}};
  const auto shown = shown_environment(combine({{run, {}, {}, {}}}));
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(shown, ElementsAre(Pair("memory", "139.8 GiB"), Pair("L2", "60 MiB"), Pair("SM clock", "1980 MHz"),
                                 Pair("CUDA driver", "13.1"), Pair("odd bytes", "many")));
}

TEST(Output, CollectivesHaveABusRate) {
  const Results results = combine(
      {{read_raw(kBegin + with(row_line("nccl-all-gather", "n", 8000, 8000, "", "4,4,4"), R"(,"bus":0.5)") + kEnd, "f"),
        {},
        {},
        {}}});
  EXPECT_DOUBLE_EQ(*results.rows[0].rate, 2.0);
  EXPECT_DOUBLE_EQ(*results.rows[0].bus_rate, 1.0);
  EXPECT_THAT(cells_of(groups_of(results)[0])[1],
              ElementsAre("n", "4.00 us", "4.00 to 4.00", "2.00 GB/s", "1.00 GB/s", "clean", "ok"));
  EXPECT_THAT(to_csv(results), HasSubstr(",not modelled yet,,,1.00,because"));
}

TEST(Output, CeilingsAreToldApartByTheirPrograms) {
  RawRun other = sample_run();
  other.program = "memory";
  other.rows.resize(1);
  other.environment.emplace_back("launch floor us", "3.5");
  RawRun first = sample_run();
  first.environment.emplace_back("launch floor us", "4.5");
  const Results results = combine({{first, {}, {}, {}}, {other, {}, {}, {}}});
  std::vector<std::string> titles;
  for (const Group& group : groups_of(results)) titles.push_back(group.title);
  EXPECT_THAT(titles, ElementsAre("ceilings of patterns", "stride-read", "ceilings of memory"));
  EXPECT_THAT(to_text(results), HasSubstr("launch floor us: 4.00\n"));  // the median over the programs
  EXPECT_THAT(to_html(results, "1"), HasSubstr("<a href='#memory-ceilings'>ceilings of memory</a>"));
}

TEST(Output, FormsAgree) {
  const Results results = combine({{sample_run(), {}, {}, {}}});
  const std::string text = to_text(results);
  EXPECT_THAT(text, HasSubstr("read with stride 2"));
  EXPECT_THAT(text, HasSubstr("80%"));
  EXPECT_THAT(text, HasSubstr("not modelled yet"));
  EXPECT_THAT(to_text(results, {.why = false}), Not(HasSubstr("because")));
  const std::string csv = to_csv(results);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  std::istringstream lines(csv);
  std::string head, line;
  std::getline(lines, head);
  while (std::getline(lines, line)) EXPECT_EQ(commas(line), commas(head)) << line;
  const auto parsed = nlohmann::json::parse(to_json(results, "1.2.3"));
  EXPECT_EQ(parsed.at("schema"), "muscope.lab/1");
  EXPECT_EQ(parsed.at("rows").size(), 6u);
  EXPECT_EQ(parsed.at("rows")[5].at("samples"), (std::vector<double>{8, 9, 10}));
}

TEST(Output, PagesAreSafeForAnyNames) {
  RawRun run = sample_run();
  run.rows[4].name = "<script>alert(1)</script>\"&";
  run.environment.emplace_back("<b>", "</td>");
  const std::string page = to_html(combine({{run, {}, {}, {}}}), "1");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;"));
}

TEST(Compare, TellsWhatMovedBeyondItsIntervals) {
  RawRun run = sample_run();
  const Results before = combine({{run, {}, {}, {}}});
  run.rows[4].samples = {1.5, 1.5, 1.5};
  run.rows[0].samples = {0.5, 0.5, 0.5};
  run.rows[2].name = "another";
  const Comparison c = compare(read_known(to_json(before, "1"), "b"), combine({{run, {}, {}, {}}}));
  EXPECT_EQ(c.slower, 1);
  EXPECT_EQ(c.faster, 1);
  EXPECT_EQ(c.unmatched, 1);
  EXPECT_EQ(c.same, 3);
  EXPECT_THAT(c.text, HasSubstr("+50.0 %"));
  EXPECT_EQ(code_of([] { read_known("{}", "b"); }), "D791");
  EXPECT_EQ(code_of([] { read_known(R"({"schema":"muscope.lab/1","rows":[3]})", "b"); }), "D791");
  EXPECT_EQ(
      code_of([] {
        read_known(
            R"({"schema":"muscope.lab/1","rows":[{"program":"p","experiment":"e","name":"n","unit":"u","time":3}]})",
            "b");
      }),
      "D791");
}

TEST(Fits, AreMadePerSeries) {
  std::string text = kBegin;
  for (double size = 1024; size < 1e8; size *= 4)
    text += row_line("copy-to-device-pinned", "s", size, size, "", std::to_string(8 + size / 50e3), "pinned");
  const Results results = combine({{read_raw(text + kEnd, "f"), {}, {}, {}}});
  ASSERT_EQ(results.fits.size(), 1u);
  EXPECT_EQ(results.fits[0].series, "pinned");
  EXPECT_NEAR(results.fits[0].fit.gb_per_s, 50, 0.01);
  EXPECT_NEAR(results.fits[0].fit.overhead_us, 8, 0.01);
}

TEST(Counters, LeaveOutTheLabsOwnKernels) {
  const std::string csv =
      "==PROF== Connected\n"
      R"x("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")x"
      "\n"
      R"x("","","","","","","","","","","","request","sector","sector")x"
      "\n"
      R"x("0","1","p","h","void lab::fill<lab::MixedWord>(unsigned int *)","1","7","(256, 1, 1)","(32, 1, 1)","0","9.0","0","0","4,096")x"
      "\n"
      R"x("1","1","p","h","stride_kernel(unsigned int *)","1","7","(256, 1, 1)","(32, 1, 1)","0","9.0","256","1,024","1,024")x"
      "\n";
  const auto launches = counters_of_capture(csv, "c");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].global_requests, 256);
  EXPECT_EQ(launches[0].global_sectors, 2048);
  EXPECT_THAT(counter_metrics(), HasSubstr("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,"));
  const auto rows = counters_of_rows({launches[0], launches[0], launches[0]}, {2, 0, 1});
  EXPECT_EQ(rows[0]->global_sectors, 4096);
  EXPECT_FALSE(rows[1]);
  EXPECT_EQ(rows[2]->global_sectors, 2048);
}

}  // namespace
}  // namespace muscope::lab
