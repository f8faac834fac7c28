// `muscope verify` from end to end: reports of programs built by nvcc against what Nsight Compute captured of them on
// an H200 (tests/counters/examples/examples_h200.csv, whose first column names the example).
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "toolchain/process.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kExamples = MUSCOPE_SOURCE_DIR "/tests/counters/examples/";

class VerifyCases : public testing::Test {
 protected:
  VerifyCases() {
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~VerifyCases() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// ncu's own file of one example: names, units, and its rows, without the column in front.
  std::string capture_of(const std::string& example) {
    std::ifstream in(kExamples + "examples_h200.csv");
    std::string text = "==PROF== Connected to process 568 (/tmp/" + example + ")\nPASS\n==PROF== Disconnected\n";
    int number = 0;
    for (std::string line; std::getline(in, line); ++number) {
      const std::size_t cell = line.find("\",") + 2;
      if (number < 2 || line.starts_with('"' + example + '"')) text += line.substr(cell) + '\n';
    }
    std::ofstream(path("capture.csv")) << text;
    return path("capture.csv");
  }

  std::string report_of(const std::string& example, const std::string& count_from) {
    const ProcessResult run = toolchain::run_process({kMuscope, "run", "--quiet", "--count-from", count_from, "--json",
                                                      path("report.json"), kExamples + "programs/" + example});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return path("report.json");
  }

  ProcessResult verify(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kMuscope, "verify"});
    return toolchain::run_process(arguments);
  }

  fs::path folder_;
};

TEST_F(VerifyCases, EveryAddressCounterOfAKernelWithoutBranchesIsEqual) {
  const ProcessResult done = verify({report_of("aos_soa", "auto"), capture_of("aos_soa")});
  EXPECT_THAT(done.out, HasSubstr("4 launches compared; the report has 4, the capture 4"));
  EXPECT_THAT(done.out, HasSubstr("capture  " + path("capture.csv") + ": NVIDIA H200, compute capability 9.0"))
      << done.out;
  // l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum: 4 launches, 4 exact.
  EXPECT_THAT(done.out, testing::ContainsRegex("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum +4 +4 +- +-"));
  EXPECT_THAT(done.out, testing::ContainsRegex("smsp__inst_executed_op_global_ld.sum +4 +4 +- +-"));
  EXPECT_EQ(done.err, "");
}

TEST_F(VerifyCases, AnotherProgramIsNotItsCapture) {
  const std::string report = report_of("aos_soa", "ptx");
  const ProcessResult other = verify({report, capture_of("copy")});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("error D743"));
  EXPECT_THAT(other.err, HasSubstr("addToPairsAoS"));
}

TEST_F(VerifyCases, DifferencesAreListedWithTheirReason) {
  const std::string report = report_of("histogram", "ptx");
  const ProcessResult text = verify({report, capture_of("histogram")});
  EXPECT_EQ(text.exit_code, 4) << text.out;
  EXPECT_THAT(text.out, HasSubstr("the PTX was counted, not the machine code that ran"));
  EXPECT_THAT(text.out, HasSubstr("within noise"));
  const ProcessResult as_json = verify({"--json", "-", report, path("capture.csv")});
  EXPECT_EQ(as_json.exit_code, 4);
  const json result = json::parse(as_json.out);
  EXPECT_EQ(result["schema"], "muscope.verify/1");
  EXPECT_EQ(result["good"], false);
  EXPECT_EQ(result["launches"]["compared"], 3);
  for (const json& d : result["differences"])
    EXPECT_NE(d["metric"], "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum") << "contended, and still equal";
}

TEST_F(VerifyCases, AChangedCounterIsFound) {
  const std::string report = report_of("aos_soa", "ptx");
  json edited = json::parse(std::ifstream(report));
  for (json& launch : edited["launches"])
    for (auto& [name, metric] : launch["metrics"].items())
      if (name == "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") metric["value"] = 1;
  std::ofstream(report) << edited;
  const ProcessResult done = verify({report, capture_of("aos_soa")});
  EXPECT_EQ(done.exit_code, 4);
  EXPECT_THAT(done.out, testing::ContainsRegex("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum +4 +- +- +4"));
}

TEST_F(VerifyCases, WhatCannotBeRead) {
  const std::string report = report_of("aos_soa", "ptx");
  EXPECT_THAT(verify({report, path("absent.csv")}).err, HasSubstr("error D745"));
  EXPECT_EQ(verify({report, path("absent.csv")}).exit_code, 3);
  EXPECT_THAT(verify({report, report}).err, HasSubstr("error D740")) << "the report twice";
  EXPECT_THAT(verify({capture_of("copy"), report}).err, HasSubstr("error D701")) << "in the other order";
  EXPECT_EQ(verify({report}).exit_code, 2);
  EXPECT_EQ(verify({"--nosuch", report, report}).exit_code, 2);
  std::ofstream(path("cut.csv")) << std::ifstream(capture_of("aos_soa")).rdbuf() << "\"9\",\"568\",\"aos";
  const ProcessResult cut = verify({report, path("cut.csv")});
  EXPECT_THAT(cut.err, HasSubstr("warning D746"));
  EXPECT_THAT(cut.out, HasSubstr("4 launches compared"));
}

}  // namespace
}  // namespace muscope
