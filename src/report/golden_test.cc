// Printed reports against the files in tests/golden/report. After a wanted change: MUSCOPE_UPDATE_GOLDEN=1 report_test,
// then read the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/csv.h"
#include "report/json.h"
#include "report/test_records_more.h"
#include "report/text.h"

namespace muscope::report {
namespace {

std::string golden_path(const std::string& name) {
  return std::string(MUSCOPE_SOURCE_DIR) + "/tests/golden/report/" + name;
}

void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("MUSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden_path(name), std::ios::binary) << text;
    return;
  }
  std::ifstream in(golden_path(name), std::ios::binary);
  std::ostringstream wanted;
  wanted << in.rdbuf();
  EXPECT_TRUE(in.good() || in.eof()) << "missing " << golden_path(name);
  EXPECT_EQ(text, wanted.str()) << name;
}

Report report_of(const views::ProcessRecord& process) {
  return build_report({process}, testing::h200(), testing::options_of(process));
}

TextOptions options(int width) {
  TextOptions options;
  options.width = width;
  options.source = testing::transpose_source;
  return options;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, line.size());
  return most;
}

TEST(Golden, Transpose) {
  const Report report = report_of(testing::transpose());
  for (const int width : {80, 100, 120}) {
    const std::string text = to_text(report, options(width));
    EXPECT_LE(widest(text), static_cast<std::size_t>(width));
    expect_golden("transpose-" + std::to_string(width) + ".txt", text);
  }
  expect_golden("transpose.json", to_json(report));
  expect_golden("transpose.csv", to_csv(report));
}

TEST(Golden, Everything) {
  const Report report = report_of(testing::everything());
  for (const int width : {80, 120}) {
    const std::string text = to_text(report, options(width));
    EXPECT_LE(widest(text), static_cast<std::size_t>(width));
    expect_golden("everything-" + std::to_string(width) + ".txt", text);
  }
  TextOptions top = options(100);
  top.top = 1;
  top.sort = SortBy::kWaste;
  expect_golden("everything-top1-waste.txt", to_text(report, top));
}

TEST(Golden, Faulty) {
  const std::string text = to_text(report_of(testing::faulty()), options(100));
  EXPECT_LE(widest(text), 100u);
  expect_golden("faulty-100.txt", text);
}

TEST(Golden, MachineCode) {
  const Report report = report_of(testing::machine_code());
  const std::string text = to_text(report, options(100));
  EXPECT_LE(widest(text), 100u);
  expect_golden("machine-code-100.txt", text);
  TextOptions instructions = options(100);
  instructions.instructions = true;
  expect_golden("machine-code-sass.txt", to_text(report, instructions));
  const std::string json = to_json(report);
  EXPECT_NE(json.find("\"kind\": \"joined\""), std::string::npos);
  EXPECT_EQ(to_json(from_json(json, "machine-code.json")), json);
}

TEST(Golden, ChosenMetrics) {
  TextOptions chosen = options(100);
  chosen.metrics =
      select_metrics("gst_*,gld_efficiency,gst_efficiency,launch__waves*,*bank_conflicts*_shared.sum").rows;
  const Report report = report_of(testing::transpose());
  expect_golden("chosen-metrics.txt", to_text(report, chosen));
  expect_golden("chosen-metrics.csv", to_csv(report, chosen.metrics));
}

TEST(Text, ColoursChangeNothingButColour) {
  const Report report = report_of(testing::faulty());
  TextOptions plain = options(100), coloured = options(100);
  coloured.colour = true;
  std::string text = to_text(report, coloured), stripped;
  EXPECT_NE(text.find("\x1b[31m"), std::string::npos);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      stripped += text[i];
    }
  }
  EXPECT_EQ(stripped, to_text(report, plain));
  EXPECT_EQ(to_text(report, plain).find('\x1b'), std::string::npos);
}

TEST(Text, KernelsThatAreNotShownAreCounted) {
  const Report report = report_of(testing::transpose());
  TextOptions one = options(100);
  one.top = 1;
  EXPECT_NE(to_text(report, one).find("\n1 more kernel: --top 2\n"), std::string::npos);
  one.top = 2;
  EXPECT_EQ(to_text(report, one).find("--top"), std::string::npos);
  one.top = 0;
  EXPECT_EQ(to_text(report, one).find("--top"), std::string::npos);
}

// The table of kernels has what costs beside sectors: 300 loads of 7 words are 1,800 replays.
TEST(Text, TheTableOfKernelsHasReplaysAndSpills) {
  views::ProcessRecord process = testing::transpose();
  const std::string before = to_text(report_of(process), options(100));
  EXPECT_EQ(before.find("replays"), std::string::npos);
  EXPECT_EQ(before.find("spills"), std::string::npos);
  process.kernels[0].sites.push_back({"ld.const.f32", 40, 1, 4});
  process.launches[0].sites.push_back(testing::SiteOf(2, trace::Space::kConst, trace::Kind::kLoad, 300).words(7));
  process.kernels[1].compiled.known = true;
  process.kernels[1].compiled.spill_store_bytes = 16;
  process.kernels[1].compiled.spill_load_bytes = 24;
  std::istringstream in(to_text(report_of(process), options(100)));
  std::string heading, naive, tiled;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("kernels [")) heading = line;
    if (line.starts_with("naiveRow") && naive.empty()) naive = line;
    if (line.starts_with("tiled") && tiled.empty()) tiled = line;
  }
  EXPECT_TRUE(heading.ends_with("replays  spills")) << heading;
  EXPECT_TRUE(naive.ends_with("1,800       -")) << naive;
  EXPECT_TRUE(tiled.ends_with("-    40 B")) << tiled;
}

// 64 x 64 blocks of 256 threads are 32,768 warps.
TEST(Text, WaitsAreSaidToDependOnTime) {
  const auto noted = [](const char* text, std::uint64_t executed) {
    views::ProcessRecord process = testing::transpose();
    process.kernels[0].sites.push_back({text, 40, 1, 4});
    process.launches[0].sites.push_back(
        testing::SiteOf(2, trace::Space::kGlobal, trace::Kind::kLoad, executed).sectors(1, 1));
    for (const std::string& note : report_of(process).notes)
      if (note.find("depend on time, in naiveRow(float*, const float*, int, int) (line 41)") != std::string::npos)
        return true;
    return false;
  };
  EXPECT_TRUE(noted("LDG.E.STRONG.GPU R2, [R4.64]", 32769));
  EXPECT_TRUE(noted("ld.acquire.gpu.u32", 40000));
  EXPECT_FALSE(noted("LDG.E.STRONG.GPU R2, [R4.64]", 32768));
  EXPECT_FALSE(noted("LDG.E R2, [R4.64]", 40000));
}

TEST(Text, EmptyRunsAndUnknownSortKeys) {
  EXPECT_NE(to_text(Report{}, options(80)).find("0 launches of 0 kernels"), std::string::npos);
  EXPECT_THROW(sort_by_name("speed"), Error);
  EXPECT_EQ(sort_by_name("waste"), SortBy::kWaste);
}

TEST(Csv, HasTheLayoutOfNcu) {
  const std::string csv =
      to_csv(report_of(testing::transpose()), select_metrics("gst_transactions,gst_efficiency").rows);
  EXPECT_EQ(
      csv,
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\","
      "\"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"sector\",\"%\"\n"
      "\"0\",\"0\",\"transpose\",\"127.0.0.1\",\"naiveRow(float*, const float*, int, int)\",\"1\",\"0\",\"(16, 16, "
      "1)\","
      "\"(64, 64, 1)\",\"0\",\"9.0\",\"524288\",\"25\"\n"
      "\"1\",\"0\",\"transpose\",\"127.0.0.1\",\"tiled(float*, const float*, int, int)\",\"1\",\"0\",\"(32, 32, 1)\","
      "\"(32, 32, 1)\",\"0\",\"9.0\",\"131072\",\"100\"\n");
}

TEST(Json, RoundTrip) {
  for (const auto& process :
       {testing::transpose(), testing::everything(), testing::faulty(), testing::machine_code()}) {
    const std::string text = to_json(report_of(process));
    const Report back = from_json(text, "x.json");
    EXPECT_EQ(to_json(back), text);
    // The text report of what was read back is the same as well.
    EXPECT_EQ(to_text(back, options(100)), to_text(report_of(process), options(100)));
  }
}

TEST(Json, HasNoTimesAndNoProcessNumbers) {
  views::ProcessRecord process = testing::faulty(), other = testing::faulty();
  process.launches[0].wall_seconds = 1.25;
  other.launches[0].wall_seconds = 99;
  other.pid = 31337;
  other.parent = 99;
  EXPECT_EQ(to_json(report_of(process)), to_json(report_of(other)));
  EXPECT_EQ(to_csv(report_of(process)), to_csv(report_of(other)));
  EXPECT_EQ(to_json(report_of(process)).find("4711"), std::string::npos);
}

TEST(Json, ChildrenNameTheirParent) {
  views::ProcessRecord parent = testing::transpose(), child = testing::transpose();
  child.pid = 5000;
  child.parent = parent.pid;
  const auto json = nlohmann::json::parse(to_json(build_report({parent, child}, testing::h200(), {})));
  EXPECT_TRUE(json["processes"][0]["parent"].is_null());
  EXPECT_EQ(json["processes"][1]["parent"], 0);
  EXPECT_EQ(json["launches"][3]["process"], 1);
  EXPECT_EQ(json["launches"][3]["index"], 3);
}

TEST(Json, BrokenTextIsWrittenAsUtf8) {
  views::ProcessRecord process = testing::transpose();
  process.argv = {"./a\xff\xfe", "x"};
  process.kernels[0].name = "k\xc3";
  Report report = report_of(process);
  EXPECT_NO_THROW(from_json(to_json(report), "x.json"));
}

// Names of a report that somebody sent neither steer the terminal nor forge lines; source lines stay as they are.
TEST(Json, ControlCharactersOfNamesAreEscaped) {
  views::ProcessRecord process = testing::faulty();
  for (views::KernelInfo& kernel : process.kernels) kernel.name = "k\x1b]0;x\x07\nerror D999: forged";
  const Report report = from_json(to_json(report_of(process)), "x.json");
  EXPECT_EQ(report.launches.at(0).kernel, "k\\x1b]0;x\\x07\\x0aerror D999: forged");
  const std::string text = to_text(report, options(100));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\nerror D999"), std::string::npos);
  EXPECT_EQ(muscope::to_text(Diagnostic{Severity::kError, "D601", "in k\x1b[31m", {}, "a\x7f"}),
            "error D601: in k\\x1b[31m\n  help: a\\x7f\n");
}

TEST(Json, WrongFilesAreRefusedByName) {
  const auto code_of = [](const std::string& text) {
    try {
      from_json(text, "x.json");
    } catch (const Error& error) {
      return error.diagnostics().front().code + " " + error.diagnostics().front().text;
    }
    return std::string("accepted");
  };
  EXPECT_THAT(code_of(""), ::testing::HasSubstr("D701"));
  EXPECT_THAT(code_of("{\"schema\": \"other/3\"}"), ::testing::HasSubstr("D702"));
  EXPECT_THAT(code_of("[1,2]"), ::testing::HasSubstr("D702"));
  EXPECT_THAT(code_of("{\"schema\": \"muscope.report/1\"}"), ::testing::HasSubstr("D703 tool: is missing"));

  auto json = nlohmann::json::parse(to_json(report_of(testing::transpose())));
  const auto with = [&](auto change) {
    nlohmann::json changed = json;
    change(changed);
    return code_of(changed.dump());
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_EQ(with([](auto& j) { j["launches"][1]["kernel"] = 5; }), "D703 launches/1/kernel: expected text");
  EXPECT_EQ(with([](auto& j) { j["launches"][0]["grid"] = {1, 2}; }),
            "D703 launches/0/grid: expected an array of 3 numbers");
  EXPECT_EQ(with([](auto& j) { j["launches"][0]["block"][1] = -4; }),
            "D703 launches/0/block/1: expected a whole number that fits");
  EXPECT_EQ(with([](auto& j) { j["launches"][0]["process"] = 3; }),
            "D703 launches/0/process: there is no such process");
  EXPECT_EQ(with([](auto& j) { j["launches"][0]["state"] = "asleep"; }),
            "D703 launches/0/state: 'asleep' is not one of the words allowed here");
  EXPECT_EQ(with([](auto& j) { j["gpu"]["cc"] = "nine"; }), "D703 gpu/cc: expected a compute capability like 9.0");
  EXPECT_EQ(with([](auto& j) { j["unheard_of"] = 1; }), "accepted");
}

// Every member of a report, taken away or turned into another type, is either not needed or refused: never a crash.
TEST(Json, SurvivesAnyDamage) {
  const auto json = nlohmann::json::parse(to_json(report_of(testing::faulty()))).flatten();
  std::size_t refused = 0, place = 0;
  for (const auto& [path, value] : json.items()) {
    if (place++ % 29 != 0) continue;
    for (const nlohmann::json& other :
         {nlohmann::json(nullptr), nlohmann::json(-1), nlohmann::json("x"), nlohmann::json(1.5)}) {
      nlohmann::json damaged = json;
      damaged[path] = other;
      try {
        from_json(damaged.unflatten().dump(), "x.json");
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 50u);
}

}  // namespace
}  // namespace muscope::report
