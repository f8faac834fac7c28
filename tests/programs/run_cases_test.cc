// `muscope run` from end to end with a real program: how it may end, and what the user is told.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kCases = MUSCOPE_SOURCE_DIR "/tests/programs/process_cases.cu";

const std::string kBinaries = MUSCOPE_SOURCE_DIR "/tests/counters/binaries/";  // made by nvcc, committed

/// The line of process_cases.cu that carries this remark.
int line_of(const std::string& remark) {
  std::ifstream in(kCases);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("// " + remark) != line.npos) return number;
  }
  ADD_FAILURE() << "no line says " << remark;
  return 0;
}

class RunCases : public testing::Test {
 protected:
  RunCases() {
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RunCases() override { fs::remove_all(folder_); }

  void SetUp() override {
    const auto places = toolchain::SearchPlaces::from_environment();
    if (toolchain::find_clang(places)) {
      compiler_ = "clang";
    } else if (toolchain::find_nvcc(places)) {
      compiler_ = "nvcc";
    } else {
      GTEST_SKIP() << "needs clang 19 or newer, or nvcc";
    }
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ProcessResult muscope(std::vector<std::string> args) {
    args.insert(args.begin(), {kMuscope, "run"});
    return toolchain::run_process(args);
  }
  /// process_cases with these steps; the report is read back from JSON.
  ProcessResult cases(const std::vector<std::string>& steps, std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--toolchain", compiler_, "--json", path("report.json"), kCases});
    options.insert(options.end(), steps.begin(), steps.end());
    const ProcessResult result = muscope(options);
    report_ = read_report();
    return result;
  }
  json read_report() const {
    std::ifstream in(path("report.json"));
    return json::parse(in, nullptr, false);
  }
  std::size_t launches() const { return report_.value("launches", json::array()).size(); }
  std::string codes() const {
    std::string all;
    for (const json& d : report_.value("diagnostics", json::array())) all += d.value("code", "") + " ";
    return all;
  }

  fs::path folder_;
  std::string compiler_;
  json report_;
};

TEST_F(RunCases, ReportsAndPassesOn) {
  const ProcessResult good = cases({"launch:2", "say:hello"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out.substr(0, 6), "hello\n");
  EXPECT_THAT(good.out, HasSubstr("scale(float*, int)"));
  EXPECT_EQ(launches(), 2u);
  EXPECT_EQ(report_["program"]["exit"], 0);
  // Host code has lines though nobody asked for debug information.
  EXPECT_THAT(good.out, HasSubstr("process_cases.cu:" + std::to_string(line_of("copies to the device"))));

  EXPECT_EQ(cases({"launch", "exit:3"}).exit_code, 1);
  EXPECT_EQ(report_["program"]["exit"], 3);
  EXPECT_EQ(cases({"launch", "exit:3"}, {"--propagate"}).exit_code, 3);
}

TEST_F(RunCases, EveryWayToEndLeavesAReport) {
  EXPECT_EQ(cases({"launch", "_exit:0"}).exit_code, 0);
  EXPECT_EQ(launches(), 1u);
  EXPECT_EQ(cases({"launch", "abort"}, {"--propagate"}).exit_code, 128 + SIGABRT);
  EXPECT_EQ(launches(), 1u);
  EXPECT_EQ(cases({"launch:2", "null"}).exit_code, 1);
  EXPECT_EQ(launches(), 2u);
  EXPECT_EQ(report_["program"]["exit_text"], "killed by SIGSEGV");
  EXPECT_EQ(cases({"launch:3", "kill:9"}).exit_code, 1);
  EXPECT_EQ(launches(), 3u);
  EXPECT_EQ(report_["program"]["exit_text"], "killed by SIGKILL");
}

TEST_F(RunCases, HostCodeThatTouchesDeviceMemoryIsNamed) {
  const ProcessResult r = cases({"launch", "touch"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("D590"));
  EXPECT_THAT(r.out, HasSubstr("host code reads device memory at 0x"));
  EXPECT_THAT(r.out, HasSubstr("read_device_memory"));
}

TEST_F(RunCases, AKernelThatFaultsFailsTheRun) {
  const ProcessResult r = cases({"launch", "fault", "exit:0"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("cudaErrorIllegalAddress"));
  EXPECT_THAT(r.out, HasSubstr("process_cases.cu:" + std::to_string(line_of("faults here"))));
}

TEST_F(RunCases, Forks) {
  const ProcessResult before = cases({"fork", "launch:2"});
  EXPECT_THAT(before.out, HasSubstr("child ended with 0"));
  EXPECT_EQ(launches(), 2u);
  // CUDA does not survive a fork; the parent's records must.
  const ProcessResult after = cases({"launch", "fork", "launch"});
  EXPECT_THAT(after.out, HasSubstr("cudaErrorInitializationError"));
  EXPECT_EQ(launches(), 1u);
}

TEST_F(RunCases, ExecAndShellsAreFollowed) {
  cases({"launch", "exec", "launch:2"});
  EXPECT_EQ(launches(), 3u);
  EXPECT_THAT(report_["processes"], SizeIs(2));

  const std::string vadd = kBinaries + "vadd_shared";
  const ProcessResult r =
      muscope({"--json", path("report.json"), "--", "/bin/sh", "-c", vadd + " & " + vadd + "; wait; exit 4"});
  EXPECT_EQ(r.exit_code, 1);
  report_ = read_report();
  EXPECT_EQ(launches(), 2u);
  EXPECT_THAT(report_["processes"], SizeIs(2));
  EXPECT_EQ(report_["program"]["exit"], 4);
}

TEST_F(RunCases, AShellWithoutCudaIsSaidToHaveNone) {
  const ProcessResult r = muscope({"--quiet", "--", "/bin/sh", "-c", "echo from the shell"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.out, "from the shell\n");
  EXPECT_THAT(r.err, HasSubstr("D735"));
}

TEST_F(RunCases, TestRunnersAreFollowed) {
  std::ofstream(path("CTestTestfile.cmake")) << "add_test(one \"" << kBinaries << "vadd_shared\")\n"
                                             << "add_test(two \"" << kBinaries << "vadd_shared\")\n";
  const ProcessResult r = muscope({"--json", path("report.json"), "--", "ctest", "--test-dir", folder_.string()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("100% tests passed"));
  report_ = read_report();
  EXPECT_EQ(launches(), 2u);
}

TEST_F(RunCases, Threads) {
  const ProcessResult r = cases({"threads:4"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, Not(HasSubstr("wrong result")));
  EXPECT_EQ(launches(), 20u);
}

TEST_F(RunCases, OwnSignalHandlersRun) {
  const ProcessResult crash = cases({"handle:11", "launch", "null"}, {"--propagate"});
  EXPECT_EQ(crash.exit_code, 7);
  EXPECT_THAT(crash.out, HasSubstr("own handler 11"));
  const ProcessResult later = cases({"launch", "handle:11", "null"}, {"--propagate"});
  EXPECT_EQ(later.exit_code, 7);
  EXPECT_EQ(launches(), 1u);
}

TEST_F(RunCases, TimeoutNamesTheSpinningLine) {
  const ProcessResult r = cases({"launch", "spin", "sleep:60000"}, {"--timeout", "1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(launches(), 2u);
  EXPECT_THAT(codes(), HasSubstr("D734"));
  const std::string where = "process_cases.cu:" + std::to_string(line_of("spins here"));
  EXPECT_THAT(r.out, HasSubstr(where));
  EXPECT_THAT(r.out, HasSubstr("wait_for"));
}

TEST_F(RunCases, TimeoutEndsALongKernel) {
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult r = cases({"launch", "long", "sleep:60000"}, {"--timeout", "1"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("count_up(int*, int)"));
  EXPECT_EQ(launches(), 2u);
}

TEST_F(RunCases, StepsAreLimited) {
  const ProcessResult r = cases({"long"}, {"--max-steps", "100000"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("cudaErrorLaunchTimeout"));
}

TEST_F(RunCases, InterruptStopsTheLaunchAndReports) {
  // sh gives the process number of muscope, which takes its place.
  cases({"launch"});  // compiled now, so that the time below is the program's
  std::thread interrupter([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!fs::exists(path("ready")) && std::chrono::steady_clock::now() < end) ::usleep(10'000);
    ::usleep(700'000);
    std::ifstream in(path("pid"));
    int pid = 0;
    in >> pid;
    if (pid > 1) ::kill(pid, SIGINT);
  });
  const ProcessResult r = toolchain::run_process({"/bin/sh", "-c",
                                                  "echo $$ > " + path("pid") + "; touch " + path("ready") + "; exec " +
                                                      kMuscope + " run --toolchain " + compiler_ + " --json " +
                                                      path("report.json") + " " + kCases + " launch spin sleep:60000"});
  interrupter.join();
  EXPECT_EQ(r.exit_code, 130) << r.err;
  report_ = read_report();
  EXPECT_THAT(codes(), HasSubstr("D738"));
  EXPECT_EQ(launches(), 2u);
  EXPECT_EQ(report_["program"]["exit_text"], "killed by SIGINT");
}

TEST_F(RunCases, ReportsThatCannotBeWrittenAreFoundBeforeTheRun) {
  const ProcessResult r = muscope({"--json", "/nowhere/r.json", "--toolchain", compiler_, kCases, "say:ran"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.err, HasSubstr("D730"));
  EXPECT_THAT(r.out, Not(HasSubstr("ran")));
}

TEST_F(RunCases, AFullDiskIsTold) {
  const ProcessResult r = muscope({"--json", "/dev/full", "--toolchain", compiler_, kCases, "launch"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.err, HasSubstr("D731"));
  EXPECT_THAT(r.out, HasSubstr("scale(float*, int)")) << "the text report still appears";
}

TEST_F(RunCases, EveryCommandTellsThatItsOutputWasLost) {
  for (const char* command : {"gpu h200", "pattern --index tid", "explain sector", "--version", "completion bash"}) {
    const ProcessResult r =
        toolchain::run_process({"/bin/sh", "-c", kMuscope + std::string(" ") + command + " > /dev/full"});
    EXPECT_EQ(r.exit_code, 3) << command;
    EXPECT_THAT(r.err, HasSubstr("D731")) << command;
  }
}

TEST_F(RunCases, WhatCannotRunIsRefused) {
  std::ofstream(path("text")) << "no program";
  EXPECT_THAT(muscope({path("missing")}).err, HasSubstr("D201"));
  EXPECT_THAT(muscope({path("text")}).err, HasSubstr("D202"));
  EXPECT_THAT(muscope({folder_.string()}).err, HasSubstr("D201"));
  EXPECT_THAT(muscope({"surely-no-such-command"}).err, HasSubstr("D120"));
  for (const char* gpu : {"a100", "sm_89", "sm_100"})
    EXPECT_THAT(muscope({"--gpu", gpu, kBinaries + "vadd_sass90"}).err, HasSubstr("D204")) << gpu;
  EXPECT_THAT(muscope({"--count-from", "ptx", kBinaries + "vadd_sass90"}).err, HasSubstr("D204"));
  EXPECT_EQ(muscope({path("missing")}).exit_code, 3);
  EXPECT_EQ(muscope({}).exit_code, 2);
  EXPECT_EQ(muscope({"--gpu"}).exit_code, 2);
}

TEST_F(RunCases, MachineCodeAloneRunsWhereItIsFor) {
  const ProcessResult r = muscope({"--gpu", "h200", "--json", path("report.json"), kBinaries + "vadd_sass90"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("vadd PASS"));
  EXPECT_THAT(r.err, Not(HasSubstr("error")));
  report_ = read_report();
  ASSERT_EQ(launches(), 1u);
}

// Its PTX is the variant for compute capability 7.5.
TEST_F(RunCases, MachineCodeOfAnotherVariantOfTheSourceIsTakenAsAWhole) {
  for (const auto& [count_from, variant] :
       {std::pair{"auto", "variant 900"}, std::pair{"sass", "variant 900"}, std::pair{"ptx", "variant 750"}}) {
    const ProcessResult r = muscope({"--gpu", "h200", "--count-from", count_from, kBinaries + "arch_dependent"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr(variant));
    EXPECT_THAT(r.out, HasSubstr("arch_dependent PASS"));
  }
}

TEST_F(RunCases, AStrippedRuntimeOfAKnownReleaseIsReplaced) {
  const ProcessResult r = muscope({"--json", path("report.json"), kBinaries + "vadd_static_stripped"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("vadd PASS"));
  report_ = read_report();
  ASSERT_EQ(launches(), 1u);
}

TEST_F(RunCases, MachineCodeAloneWithAnUnknownInstructionIsNamed) {
  std::ifstream in(kBinaries + "vadd_sass90", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string fadd("\x21\x72\x09\x04\x03\0\0\0", 8);  // FADD R9, R4, R3
  const std::size_t at = bytes.find(fadd);
  ASSERT_NE(at, bytes.npos);
  bytes[at] = '\xff';  // opcode 0xfff is none
  bytes[at + 1] = '\x7f';
  const std::string program = path("unknown_instruction");
  std::ofstream(program, std::ios::binary) << bytes;
  fs::permissions(program, fs::perms::owner_all);
  const ProcessResult r = muscope({"--gpu", "h200", program});
  EXPECT_EQ(r.exit_code, 1) << "the program's own: its launch failed";
  EXPECT_THAT(r.out, HasSubstr("vadd FAIL"));
  EXPECT_THAT(r.out, HasSubstr("D509"));
  EXPECT_THAT(r.out, HasSubstr("at 0x110 is not known"));
}

TEST_F(RunCases, SelectionCountsOnlyWhatWasAskedFor) {
  const ProcessResult r = cases({"launch:5"}, {"--launches", "1-2", "--csv", path("report.csv")});
  ASSERT_EQ(launches(), 2u);
  // Under the program's own numbers.
  EXPECT_EQ(report_["launches"][0]["index"], 1);
  EXPECT_EQ(report_["launches"][1]["index"], 2);
  EXPECT_THAT(r.out, HasSubstr("launch #1 and 1 like it (2 shown)"));
  std::ifstream csv(path("report.csv"));
  std::string header, units, row;
  std::getline(csv, header), std::getline(csv, units), std::getline(csv, row);
  EXPECT_EQ(header.substr(0, 4), "\"ID\"");
  EXPECT_EQ(row.substr(0, 4), "\"1\",");
  cases({"launch:5"}, {"--kernel", "^nothing"});
  EXPECT_EQ(launches(), 0u);
  EXPECT_THAT(codes(), HasSubstr("D737"));
}

TEST_F(RunCases, NothingLaunchedIsSaid) {
  const ProcessResult none = cases({"say:x"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(codes(), HasSubstr("D735"));
  cases({"query", "exit:2"});
  EXPECT_THAT(codes(), HasSubstr("D735"));
  // A program that wants arguments and got none: the usual reason.
  std::ofstream(path("usage.cu")) << "int main(int argc, char**) { return argc == 6 ? 0 : 1; }\n";
  const ProcessResult usage = muscope({"--toolchain", compiler_, path("usage.cu")});
  EXPECT_EQ(usage.exit_code, 1);
  EXPECT_THAT(usage.out, HasSubstr("the program exited with 1, and it got no arguments"));
  EXPECT_THAT(muscope({"--toolchain", compiler_, path("usage.cu"), "1"}).out, Not(HasSubstr("no arguments")));
}

TEST_F(RunCases, ALaunchThatWasKilledIsNotCalledUnselected) {
  ASSERT_EQ(toolchain::run_process({kMuscope, "cc", "--toolchain", compiler_, "-o", path("cases"), kCases}).exit_code,
            0);
  const ProcessResult r = muscope({"--json", path("report.json"), "--quiet", "--", "/bin/sh", "-c",
                                   path("cases") + " spin & sleep 1; kill -9 $!; wait; exit 0"});
  report_ = read_report();
  EXPECT_EQ(launches(), 0u);
  EXPECT_THAT(codes(), Not(HasSubstr("D737")));
  EXPECT_THAT(r.err, HasSubstr("while kernel wait_for(int volatile*) ran"));
}

TEST_F(RunCases, RefusedLaunchesAreTold) {
  const ProcessResult r = cases({"refused"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, HasSubstr("D507"));
  EXPECT_THAT(r.out, HasSubstr("write_at(int*) was not launched: a block of 1025x1x1 threads, the GPU allows 1024"));
  EXPECT_THAT(r.out, HasSubstr("a grid without blocks"));
  EXPECT_THAT(r.out, HasSubstr("every launch was refused"));
}

TEST_F(RunCases, QuietAndMachineReportsStillTellWhyALaunchEnded) {
  const ProcessResult quiet = cases({"fault"}, {"--quiet"});
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_THAT(quiet.err, HasSubstr("error D601: global store of 4 bytes at 0x10"));
  const ProcessResult json = muscope({"--json", "-", "--toolchain", compiler_, kCases, "fault"});
  EXPECT_THAT(json.err, HasSubstr("error D601"));
}

TEST_F(RunCases, JsonOnStdoutStandsAlone) {
  const ProcessResult r = muscope({"--json", "-", "--toolchain", compiler_, kCases, "launch"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(json::parse(r.out, nullptr, false)["schema"], "muscope.report/1");
}

TEST_F(RunCases, NoFilesStayBehind) {
  ::setenv("TMPDIR", folder_.c_str(), 1);
  const ProcessResult r = muscope({"--toolchain", compiler_, kCases, "launch"});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace muscope
