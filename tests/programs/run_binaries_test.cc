// Programs as nvcc and clang left them (tests/counters/binaries): what `muscope run` makes of their machine code, PTX
// and runtimes.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kBinaries = MUSCOPE_SOURCE_DIR "/tests/counters/binaries/";  // made by nvcc, committed

// ---- programs that nvcc made, committed: no compiler is needed ----
struct BinaryRun {
  ProcessResult result;
  json report;
};

BinaryRun run_binary(const std::string& name, const char* count_from = "auto") {
  std::string folder = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
  ::mkdtemp(folder.data());
  BinaryRun run;
  run.result = toolchain::run_process(
      {kMuscope, "run", "--count-from", count_from, "--json", folder + "/report.json", kBinaries + name});
  std::ifstream in(folder + "/report.json");
  run.report = json::parse(in, nullptr, false);
  fs::remove_all(folder);
  return run;
}

TEST(RunBinaries, DeviceCodeOfSeveralFilesIsLinked) {
  const BinaryRun run = run_binary("rdc_shared");
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_THAT(run.result.out, HasSubstr("rdc PASS"));
  ASSERT_THAT(run.report["launches"], SizeIs(3));
  EXPECT_EQ(run.report["launches"][1]["kernel"], "apply(int*)");
  EXPECT_EQ(run.report["launches"][2]["kernel"], "part(int*)");
  EXPECT_THAT(run.report["processes"][0]["diagnostics"], IsEmpty());
}

// Its runtime is chosen by the soname.
TEST(RunBinaries, ProgramsOfCuda11And12) {
  for (const char* name : {"raw_ptx_cudart11", "raw_ptx_cudart12"}) {
    const BinaryRun run = run_binary(name);
    EXPECT_THAT(run.result.out, HasSubstr("raw_ptx PASS")) << name;
    EXPECT_EQ(run.report["launches"].size(), 1u) << name;
  }
}

TEST(RunBinaries, AProgramWithoutALibraryIsSaidNotToHaveStarted) {
  std::string folder = (std::filesystem::temp_directory_path() / "muscope-missing-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ifstream in(kBinaries + "raw_ptx_cudart11", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string soname = "libcudart.so.11.0";
  for (std::size_t at = bytes.find(soname); at != std::string::npos; at = bytes.find(soname, at))
    bytes.replace(at, soname.size(), "libcudart.so.99.0");
  const std::string program = folder + "/missing";
  std::ofstream(program, std::ios::binary) << bytes;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ProcessResult run = toolchain::run_process({kMuscope, "run", program});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("it did not start: a library was not found"));
  std::filesystem::remove_all(folder);
}

TEST(RunBinaries, AFileWithoutPtxIsToldAndOnlyWhatNeedsItFails) {
  const BinaryRun run = run_binary("rdc_partial", "ptx");
  EXPECT_EQ(run.result.exit_code, 1);
  EXPECT_THAT(run.result.out, HasSubstr("warning D208"));
  EXPECT_THAT(run.result.out, HasSubstr("has no PTX, only SASS 90"));
  EXPECT_THAT(run.result.out, HasSubstr("external function '_Z6triplei'"));
}

// The linked machine code has it all.
TEST(RunBinaries, AFileWithoutPtxRunsFromMachineCode) {
  const BinaryRun run = run_binary("rdc_partial");
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_THAT(run.result.out, HasSubstr("rdc PASS"));
  EXPECT_THAT(run.result.out, Not(HasSubstr("D208")));
  EXPECT_THAT(run.report["processes"][0]["diagnostics"], IsEmpty());
}

// What an H200 said (driver 580.159): the stack of the machine code, spilled registers included.
TEST(RunBinaries, LocalMemoryOfAKernelIsThatOfItsMachineCode) {
  const BinaryRun run = run_binary("../examples/programs/register_pressure");
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_THAT(run.result.out, HasSubstr("manyThreads: 32 registers, 360 bytes of local memory; "
                                        "manyRegisters: 72 registers, 0 bytes"));
}

TEST(RunBinaries, ClustersRunTogetherAndWrongOnesAreTold) {
  const BinaryRun run = run_binary("clusters");
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_THAT(run.result.out, HasSubstr("clusters PASS"));
  const json& told = run.report["processes"][0]["diagnostics"];
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0]["code"], "D507");
  EXPECT_THAT(told[0]["text"].get<std::string>(), HasSubstr("pairs(int*) was not launched: in clusters of 2x1x1"));
  EXPECT_EQ(told[1]["code"], "D507");
  EXPECT_THAT(told[1]["text"].get<std::string>(), HasSubstr("plain(int*) was not launched"));
  const ProcessResult waits = toolchain::run_process({kMuscope, "run", kBinaries + "clusters", "sync"});
  EXPECT_EQ(waits.exit_code, 0) << waits.out;
  EXPECT_THAT(waits.out, HasSubstr("clusters PASS"));
}

TEST(RunSources, OfSeveralFilesAreLinkedByNvcc) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const std::string sources = kBinaries + "src/";
  const ProcessResult r = toolchain::run_process({kMuscope, "run", "--quiet", "--toolchain", "nvcc", "--compile-flags",
                                                  "-rdc=true", sources + "rdc_main.cu", sources + "rdc_part.cu"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, "rdc PASS\n");

  // The steps that build systems take.
  std::string folder = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
  ::mkdtemp(folder.data());
  const std::string one = folder + "/main.o", two = folder + "/part.o", link = folder + "/link.o",
                    program = folder + "/program";
  const auto cc = [](std::vector<std::string> words) {
    words.insert(words.begin(), {kMuscope, "cc", "--toolchain", "nvcc", "-arch=sm_90"});
    const ProcessResult result = toolchain::run_process(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  cc({"-dc", sources + "rdc_main.cu", "-o", one});
  cc({"-rdc=true", "-c", sources + "rdc_part.cu", "-o", two});
  cc({"-dlink", one, two, "-o", link});
  cc({one, two, link, "-o", program});
  EXPECT_EQ(toolchain::run_process({kMuscope, "run", "--quiet", program}).out, "rdc PASS\n");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace muscope
