// The cases that people met in practice (cases/README.md): small programs whose comments say what muscope must count
// and advise, compiled and run as a user would.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kFolder = MUSCOPE_SOURCE_DIR "/tests/advice/cases/";

/// One comment: //! P-G1 global load sectors=16 advice=A101 says="..."
struct Expectation {
  int line = 0;
  std::string id, space, kind;
  std::map<std::string, std::string> values;
};

std::vector<Expectation> expectations_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<Expectation> all;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t at = line.find("//! ");
    if (at == std::string::npos) continue;
    std::string rest = line.substr(at + 4);
    Expectation e;
    e.line = number;
    static const std::regex kQuoted("says=\"([^\"]*)\"");
    std::smatch match;
    if (std::regex_search(rest, match, kQuoted)) {
      e.values["says"] = match[1];
      rest = match.prefix().str() + match.suffix().str();
    }
    std::istringstream words(rest);
    words >> e.id >> e.space;
    if (e.space != "launch") words >> e.kind;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      e.values[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
    all.push_back(e);
  }
  return all;
}

/// What the report says of the accesses of one line, over all launches.
struct Found {
  std::map<std::string, double> sums;
  std::vector<json> advice;
  double launches = 0, threads = 0;
};

/// Whether a line or an advice is at `number` of the file, itself or by one of its call sites.
bool is_at(const json& item, int number) {
  const auto here = [&](const json& at) {
    return at.value("line", 0) == number && at.value("file", "").find("/cases/") != std::string::npos &&
           at.value("file", "").find("case.h") == std::string::npos;
  };
  if (item.contains("at") ? here(item["at"]) : item.contains("file") && here(item)) return true;
  for (const json& at : item.value("inlined_at", json::array()))
    if (here(at)) return true;
  return false;
}

Found find(const json& report, const Expectation& e) {
  Found found;
  for (const json& launch : report["launches"]) {
    bool any = false;
    std::set<int> sites;
    if (e.space == "launch") {
      const std::string kernel = launch["kernel"];
      std::ifstream in;  // the launch of the kernel that is declared in this line
      any = kernel.find(e.values.at("kernel")) != std::string::npos;
      if (any) {
        const json& metrics = launch["metrics"];
        const char* name = "muscope__managed_first_touch_pages.sum";
        if (metrics.contains(name)) found.sums["managed_pages"] += metrics[name]["value"].get<double>();
        for (const json& advice : launch["advice"]) found.advice.push_back(advice);
      }
      continue;
    }
    for (const json& line : launch["lines"]) {
      if (!is_at(line, e.line)) continue;
      for (const json& site : line["sites"]) {
        if (site["space"] != e.space || site["kind"] != e.kind) continue;
        any = true;
        sites.insert(site["site"].get<int>());
        for (const char* key : {"executed", "requests", "sectors", "lines", "bytes", "wavefronts", "ideal_wavefronts",
                                "lanes", "distinct_sectors"})
          found.sums[key] += site[key].get<double>();
      }
    }
    if (any) {
      ++found.launches;
      for (const json& advice : launch["advice"])
        for (const json& site : advice.value("sites", json::array()))
          if (sites.contains(site.get<int>())) {
            found.advice.push_back(advice);
            break;
          }
    }
  }
  return found;
}

double metric_of(Found& found, const std::string& key) {
  auto& s = found.sums;
  if (key == "sectors") return s["sectors"] / s["requests"];
  if (key == "distinct") return s["distinct_sectors"] / s["requests"];
  if (key == "lines") return s["lines"] / s["requests"];
  if (key == "wf") return s["wavefronts"] / s["requests"];
  if (key == "cf") return (s["wavefronts"] - s["ideal_wavefronts"]) / s["requests"];
  if (key == "total_conflicts") return s["wavefronts"] - s["ideal_wavefronts"];
  if (key == "eff") return 100 * s["bytes"] / (32 * s["sectors"]);
  if (key == "words") return s["requests"] / s["executed"];
  if (key == "requests") return s["requests"];
  if (key == "bytes_per_thread") return s["bytes"] / 32;
  return s[key];
}

std::string texts_of(const json& advice) {
  return advice["text"].get<std::string>() + " | " + advice["change"].get<std::string>() + " | " +
         advice.value("bound", "");
}

void check(const json& report, const Expectation& e) {
  SCOPED_TRACE(fmt::format("{} line {}", e.id, e.line));
  Found found = find(report, e);
  ASSERT_TRUE(e.space == "launch" || found.sums["executed"] > 0) << "no such access in the report";
  std::vector<std::string> given;
  for (const json& advice : found.advice) given.push_back(advice["code"]);
  for (const auto& [key, value] : e.values) {
    if (key == "advice") {
      if (value == "none")
        EXPECT_THAT(given, testing::IsEmpty());
      else
        EXPECT_THAT(given, testing::Contains(value));
    } else if (key == "not") {
      EXPECT_THAT(given, testing::Not(testing::Contains(value)));
    } else if (key == "says") {
      bool said = false;
      std::string all;
      for (const json& advice : found.advice) {
        if (e.values.contains("advice") && advice["code"] != e.values.at("advice")) continue;
        said |= texts_of(advice).find(value) != std::string::npos;
        all += texts_of(advice) + "\n";
      }
      EXPECT_TRUE(said) << "'" << value << "' is not in\n" << all;
    } else if (key == "after" || key == "lanes_per_address") {
      for (const json& advice : found.advice) {
        if (advice["code"] != e.values.at("advice")) continue;
        // The figures are those of all accesses of the advice together; a global line has its share of them.
        const double before = advice["before"], after = advice["after"];
        const double now = key != "after"        ? before / after
                           : e.space == "shared" ? after
                                                 : found.sums["sectors"] / found.sums["requests"] * after / before;
        EXPECT_NEAR(now, std::stod(value), 0.01) << key;
        break;
      }
    } else if (key != "callers" && key != "kernel") {
      const std::size_t about = value.find('~');
      const double allowed = about == std::string::npos ? 0.051 : std::stod(value.substr(about + 1));
      EXPECT_NEAR(metric_of(found, key), std::stod(value.substr(0, about)), allowed) << key;
    }
  }
}

class Cases : public testing::Test {
 protected:
  void SetUp() override {
    if (!toolchain::find_clang(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs clang 19 or newer";
    std::string name = (fs::temp_directory_path() / "muscope-cases-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Cases() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  json run(const std::string& source, std::vector<std::string> args = {}) {
    const std::string out = (folder_ / "report.json").string();
    std::vector<std::string> command{kMuscope, "run", "--toolchain", "clang", "--count-from",
                                     "ptx",    "-q",  "--json",      out,     kFolder + source};
    command.insert(command.end(), args.begin(), args.end());
    result_ = toolchain::run_process(command);
    std::ifstream in(out);
    return in.good() ? json::parse(in, nullptr, false) : json();
  }
  void check_all(const std::string& source) {
    const json report = run(source);
    ASSERT_TRUE(report.is_object()) << result_.err;
    const std::vector<Expectation> all = expectations_of(kFolder + source);
    EXPECT_GT(all.size(), 3u);
    for (const Expectation& e : all) check(report, e);
  }
  fs::path folder_;
  toolchain::ProcessResult result_;
};

TEST_F(Cases, Global) { check_all("global.cu"); }
TEST_F(Cases, Shared) { check_all("shared.cu"); }
TEST_F(Cases, Local) { check_all("local.cu"); }
TEST_F(Cases, Barriers) { check_all("barriers.cu"); }

/// The fault's diagnostic of the only launch, or null.
const json* fault_of(const json& report) {
  if (!report.is_object() || report["launches"].size() != 1 || !report["launches"][0].contains("fault")) return nullptr;
  return &report["launches"][0]["fault"];
}

TEST_F(Cases, RowsOfOddLength) {
  // P-B3: rows of v floats read 16 bytes at a time, from an aligned base and from one 4 bytes beyond.
  struct Row {
    int v, row, shift;
    bool legal;
  };
  for (const Row& r :
       {Row{4, 1, 0, true}, Row{2, 1, 0, false}, Row{2, 2, 0, true}, Row{1, 3, 0, false}, Row{1, 4, 0, true},
        Row{4, 1, 1, false}, Row{1, 3, 1, true}, Row{3, 1, 1, true}, Row{3, 3, 1, false}}) {
    SCOPED_TRACE(fmt::format("v {} row {} shift {}", r.v, r.row, r.shift));
    const json report = run("misaligned.cu", {std::to_string(r.v), std::to_string(r.row), std::to_string(r.shift)});
    EXPECT_EQ(fault_of(report) == nullptr, r.legal) << result_.err;
  }
}

TEST_F(Cases, ReadAtAnOddByte) {
  const json report = run("misaligned.cu");
  const json* fault = fault_of(report);
  ASSERT_NE(fault, nullptr) << result_.err;
  EXPECT_EQ((*fault)["thread"], json({1, 0, 0}));
}

TEST(CasesTable, NamesEveryCase) {
  std::ifstream in(kFolder + "README.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<std::string> listed, waiting;
  static const std::regex kRow("\\| (P-[A-Z][0-9]+) \\| ([^|]*) \\|");
  for (std::sregex_iterator at(text.begin(), text.end(), kRow), end; at != end; ++at) {
    listed.insert((*at)[1]);
    if ((*at)[2].str().find("waits") != std::string::npos) waiting.insert((*at)[1]);
  }
  EXPECT_EQ(listed.size(), 55u);
  EXPECT_GE(listed.size() - waiting.size(), 44u);
  for (const char* source : {"global.cu", "shared.cu", "local.cu"})
    for (const Expectation& e : expectations_of(kFolder + source)) {
      EXPECT_TRUE(listed.contains(e.id)) << e.id;
      EXPECT_FALSE(waiting.contains(e.id)) << e.id << " has expectations";
    }
}

}  // namespace
}  // namespace muscope
