// What kernels are counted from: a cubin in the program, what ptxas makes of the PTX, or the PTX. With programs that
// nvcc and clang made, committed, and shell scripts in the place of ptxas: nothing of NVIDIA's is needed.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/assembly_service.h"
#include "cli/run_child.h"
#include "cli/run_directory.h"
#include "cli/run_program.h"
#include "cli/run_records.h"
#include "toolchain/link_code.h"
#include "toolchain/process.h"
#include "toolchain/test_folder.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

using nlohmann::json;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using toolchain::ProcessResult;
using toolchain::TestFolder;

const std::string kMuscope = MUSCOPE_PROGRAM;
const std::string kBinaries = MUSCOPE_SOURCE_DIR "/tests/counters/binaries/";

/// PTX only, no cubin for an H200.
const std::string kPtxOnly = kBinaries + "vadd_ptx90";
/// With a cubin for it.
const std::string kWithCubin = kBinaries + "vadd_lineinfo";

// ---- with the service made here, so that its ptxas can be anything or nothing ----

class CountFrom : public testing::Test {
 protected:
  toolchain::Tool ptxas(const std::string& body) const {
    return {"ptxas", folder_.write_script("ptxas", body), {13, 0, 88}};
  }

  struct Outcome {
    cli::ChildResult child;
    std::vector<views::KernelInfo> kernels;
    double seconds = 0;
  };

  Outcome run(const std::vector<std::string>& argv, std::optional<toolchain::Tool> tool, bool service = true,
              double timeout = 0) const {
    Outcome out;
    cli::RunRequest request;
    cli::RunProgram program;
    cli::RunDirectory directory;
    cli::ChildCommand command;
    command.path = argv.front();
    command.argv = argv;
    command.environment = cli::program_environment(request, program, cli::library_folder(), directory.path());
    command.timeout_seconds = timeout;
    const auto begin = std::chrono::steady_clock::now();
    {
      std::optional<cli::AssemblyService> assembler;
      if (service) {
        assembler.emplace(directory.path() + '/' + runtime::kAssemblerName, std::move(tool),
                          toolchain::Cache(folder_.path("cache")));
        command.is_helper = [&assembler](pid_t pid) { return assembler->owns(pid); };
      }
      out.child = cli::run_child(command, directory, [] {});
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const cli::RunRecords records = cli::gather_records(directory.read(), request, 0, 0);
    for (const views::ProcessRecord& process : records.processes)
      out.kernels.insert(out.kernels.end(), process.kernels.begin(), process.kernels.end());
    return out;
  }

  TestFolder folder_;
};

TEST_F(CountFrom, WithoutPtxasThePtxIsTaken) {
  for (const bool service : {true, false}) {
    const Outcome out = run({kPtxOnly}, std::nullopt, service);
    EXPECT_EQ(out.child.exit_code, 0);
    ASSERT_THAT(out.kernels, SizeIs(1));
    EXPECT_EQ(out.kernels[0].machine_source, "");
    EXPECT_EQ(out.kernels[0].machine_problem, views::kNoPtxas);
    EXPECT_EQ(out.kernels[0].registers_source, "liveness estimate");
    EXPECT_THAT(out.kernels[0].sites, Each(testing::Field(&views::Site::pc, views::kNoPc)));
  }
}

TEST_F(CountFrom, WhatPtxasSaysIsTheReason) {
  const Outcome out = run({kPtxOnly}, ptxas("echo \"ptxas x/kernel.ptx, line 9; error   : No\" >&2; exit 255"));
  EXPECT_EQ(out.child.exit_code, 0);
  ASSERT_THAT(out.kernels, SizeIs(1));
  EXPECT_EQ(out.kernels[0].machine_problem, "ptxas 13.0.88: line 9; error   : No");
}

TEST_F(CountFrom, ACubinThatIsNoneIsTold) {
  const Outcome out =
      run({kPtxOnly}, ptxas("for word in \"$@\"; do case $word in *.cubin) echo junk > $word;; esac; done"));
  EXPECT_EQ(out.child.exit_code, 0);
  ASSERT_THAT(out.kernels, SizeIs(1));
  EXPECT_THAT(out.kernels[0].machine_problem, StartsWith("what ptxas 13.0.88 made cannot be read: "));
}

// The cubin in the place of what ptxas would make: of the same kernel, taken from the other program.
TEST_F(CountFrom, RegistersComeFromWhatPtxasMade) {
  const std::string other = MUSCOPE_SOURCE_DIR "/tests/counters/binaries/kernels_90.cubin";
  const Outcome out =
      run({kPtxOnly}, ptxas("for word in \"$@\"; do case $word in *.cubin) cp " + other + " $word;; esac; done"));
  EXPECT_EQ(out.child.exit_code, 0);
  ASSERT_THAT(out.kernels, SizeIs(1));
  // That cubin lacks the kernel, so the registers stay an estimate, and the PTX runs.
  EXPECT_EQ(out.kernels[0].machine_problem, "the machine code does not have this kernel");
  EXPECT_EQ(out.kernels[0].registers_source, "liveness estimate");
}

TEST_F(CountFrom, ProgramsThatCloseEverythingAndMoveAwayAreServed) {
  const toolchain::Tool tool = ptxas("echo asked >> \"$(dirname \"$0\")/log\"; exit 1");
  const Outcome out = run({"/bin/sh", "-c", "cd /; exec " + kPtxOnly + " <&- >&- 2>&-"}, tool);
  ASSERT_THAT(out.kernels, SizeIs(1));
  EXPECT_THAT(out.kernels[0].machine_problem, StartsWith("ptxas 13.0.88: "));
  EXPECT_EQ(folder_.read("log"), "asked\n");
}

TEST_F(CountFrom, ScriptsThatStartSeveralProgramsAreServed) {
  const Outcome out = run({"/bin/sh", "-c", kPtxOnly + " & " + kPtxOnly + " & " + kPtxOnly + "; wait"},
                          ptxas("sleep 0.1; echo \"error: no\" >&2; exit 1"));
  EXPECT_EQ(out.child.exit_code, 0);
  ASSERT_THAT(out.kernels, SizeIs(3));
  for (const views::KernelInfo& kernel : out.kernels) EXPECT_EQ(kernel.machine_problem, "ptxas 13.0.88: error: no");
}

TEST_F(CountFrom, ARunEndsWhilePtxasDoesNot) {
  const Outcome out = run({kPtxOnly}, ptxas("sleep 1000"), true, 0.5);
  EXPECT_TRUE(out.child.timed_out);
  EXPECT_THAT(out.child.still_running, IsEmpty());
  EXPECT_LT(out.seconds, 20);
}

TEST_F(CountFrom, ProcessesOfTheRunThatLiveOnAreToldFromPtxas) {
  // The program in the background waits for ptxas when the shell ends.
  const Outcome out = run({"/bin/sh", "-c", kPtxOnly + " & sleep 1"}, ptxas("sleep 1000"));
  EXPECT_EQ(out.child.exit_code, 0);
  EXPECT_THAT(out.child.still_running, SizeIs(1));
}

// ---- the whole of muscope ----

struct Report {
  ProcessResult result;
  json report;

  const json& launch() const { return report.at("launches").at(0); }
  std::string source() const { return launch().at("counted_from").at("source"); }
  std::string problem() const { return launch().at("counted_from").value("problem", ""); }
  std::string notes() const { return report.at("notes").dump(); }
};

Report muscope(const TestFolder& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {kMuscope, "run", "--json", folder.path("report.json")});
  toolchain::ProcessOptions options;
  // A toolkit of our own comes before the machine's.
  options.environment = {"CUDA_HOME=" + folder.path("cuda"), "XDG_CACHE_HOME=" + folder.path("cache")};
  Report run;
  run.result = toolchain::run_process(words, options);
  std::ifstream in(folder.path("report.json"));
  run.report = json::parse(in, nullptr, false);
  return run;
}

void fake_toolkit(const TestFolder& folder, const std::string& ptxas) {
  const std::string version = "Cuda compilation tools, release 13.0, V13.0.88";
  folder.write_script("cuda/bin/nvcc", "echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo '" + version + "'");
  folder.write_script("cuda/bin/ptxas",
                      "case \"$1\" in --version) echo 'ptxas: NVIDIA'; echo '" + version + "'; exit;; esac\n" + ptxas);
}

// True now and once the machine code of this kernel can be executed.
TEST(CountFromProgram, ACubinInTheProgramOrWhyNot) {
  const TestFolder folder;
  const Report free = muscope(folder, {kWithCubin});
  ASSERT_EQ(free.result.exit_code, 0) << free.result.err;
  const Report strict = muscope(folder, {"--count-from", "sass", kWithCubin});
  if (free.source() == "PTX stream") {
    EXPECT_NE(free.problem(), "");
    EXPECT_THAT(free.notes(), HasSubstr("Counted from PTX, not from machine code: "));
    EXPECT_EQ(free.launch().at("counted_from").at("grade"), "modelled");
    EXPECT_NE(strict.result.exit_code, 0);
    EXPECT_THAT(strict.result.out, HasSubstr("error D508: kernel "));
    EXPECT_THAT(strict.report.at("launches"), IsEmpty());
    const std::string found = strict.report.at("processes").at(0).at("diagnostics").dump();
    EXPECT_THAT(found, HasSubstr(json(free.problem()).dump().substr(1, 20)));
  } else {
    EXPECT_EQ(free.source(), "sm_90 machine code (cubin sm_90 in the program)");
    EXPECT_EQ(free.problem(), "");
    EXPECT_EQ(free.launch().at("counted_from").at("grade"), "counted");
    EXPECT_THAT(free.notes(), Not(HasSubstr("PTX stream")));
    EXPECT_EQ(strict.result.exit_code, 0) << strict.result.err;
    EXPECT_EQ(strict.report, free.report);
  }
  EXPECT_EQ(free.launch().at("registers").at("source"), "cubin sm_90 in the program");
}

TEST(CountFromProgram, PtxMeansPtx) {
  const TestFolder folder;
  fake_toolkit(folder, "echo asked > \"$(dirname \"$0\")/log\"; exit 1");
  for (const std::string& program : {kPtxOnly, kWithCubin}) {
    const Report run = muscope(folder, {"--count-from", "ptx", program});
    EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
    EXPECT_EQ(run.source(), "PTX stream");
    EXPECT_EQ(run.problem(), "");
    EXPECT_THAT(run.notes(), Not(HasSubstr("machine code")));
  }
  EXPECT_EQ(folder.read("cuda/bin/log"), "");
}

TEST(CountFromProgram, APtxasThatFailsIsSaidOnce) {
  const TestFolder folder;
  fake_toolkit(folder, "echo 'ptxas fatal   : out of order' >&2; exit 255");
  const Report run = muscope(folder, {"--", "/bin/sh", "-c", kPtxOnly + "; " + kPtxOnly});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_EQ(run.problem(), "ptxas 13.0.88: fatal   : out of order");
  EXPECT_THAT(run.report.at("launches"), SizeIs(2));
  const std::string reason = "fatal   : out of order";
  const std::string text = run.notes();
  EXPECT_NE(text.find(reason), text.npos);
  EXPECT_EQ(text.find(reason), text.rfind(reason));
}

TEST(CountFromProgram, SassNeedsAGpuWhoseCodeIsKnown) {
  const TestFolder folder;
  const Report run = muscope(folder, {"--gpu", "sm_75", "--count-from", "sass", kBinaries + "vadd_many"});
  EXPECT_NE(run.result.exit_code, 0);
  EXPECT_THAT(run.result.out, HasSubstr("muscope does not know the machine code of sm_75"));
  const Report free = muscope(folder, {"--gpu", "sm_75", kBinaries + "vadd_many"});
  EXPECT_EQ(free.result.exit_code, 0) << free.result.err;
  EXPECT_EQ(free.problem(), "") << "nothing to say where nothing was to be expected";
}

TEST(CountFromProgram, OtherWordsAreRefused) {
  const TestFolder folder;
  const Report run = muscope(folder, {"--count-from", "cubin", kPtxOnly});
  EXPECT_EQ(run.result.exit_code, 2);
  EXPECT_THAT(run.result.err, HasSubstr("D104"));
  EXPECT_THAT(run.result.err, HasSubstr("auto, ptx, sass"));
}

// Managed variables, function pointers, virtual calls: the program prints what an H200 would.
TEST(CountFromProgram, ResultsDoNotDependOnIt) {
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/programs/machine_cases.cu";
  const auto places = toolchain::SearchPlaces::from_environment();
  std::vector<std::string> compilers;
  if (toolchain::find_clang(places)) compilers.emplace_back("clang");
  if (toolchain::find_nvcc(places)) compilers.emplace_back("nvcc");
  if (compilers.empty()) GTEST_SKIP() << "needs clang 19 or newer, or nvcc";
  for (const std::string& compiler : compilers) {
    for (const char* from : {"auto", "ptx"}) {
      const ProcessResult run =
          toolchain::run_process({kMuscope, "run", "-q", "--toolchain", compiler, "--count-from", from, source});
      EXPECT_EQ(run.out, "133 311 127\n212 315\n35\n28035 33029 2739572357 no error\n")
          << compiler << " " << from << run.err;
    }
  }
  if (compilers.back() != "nvcc") return;
  // Several files, linked by nvcc: one of its kernels cannot be executed from machine code, or all can.
  const ProcessResult linked =
      toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "nvcc", "--compile-flags", "-rdc=true",
                              kBinaries + "src/rdc_main.cu", kBinaries + "src/rdc_part.cu"});
  EXPECT_EQ(linked.out, "rdc PASS\n") << linked.err;
}

// A cubin for 8.0, which 8.6 and 8.9 run too: other places of branches, constants and shared memory than 9.0 has.
TEST(CountFromProgram, MachineCodeBeforeHopper) {
  for (const char* gpu : {"a100", "rtx4090"}) {
    const ProcessResult run =
        toolchain::run_process({kMuscope, "run", "-q", "--gpu", gpu, "--count-from", "sass", kBinaries + "machine_80"});
    EXPECT_EQ(run.out, "133 311 127\n212 315\n35\n28035 33029 2739572357 no error\n") << gpu << run.err;
  }
  const TestFolder folder;
  const Report report = muscope(folder, {"--gpu", "a100", kBinaries + "machine_80"});
  const json& from = report.launch().at("counted_from");
  EXPECT_EQ(from.at("source"), "sm_80 machine code (cubin sm_80 in the program)");
  EXPECT_EQ(from.at("grade"), "modelled") << "compared with counters of 9.0 only";
}

// No linked cubin for the GPU: the PTX of each file is assembled, then linked.
TEST(CountFromProgram, PtxOfSeveralFilesIsLinked) {
  const auto places = toolchain::SearchPlaces::from_environment();
  const auto nvcc = toolchain::find_nvcc(places), ptxas = toolchain::find_ptxas(places);
  if (!nvcc || !ptxas || !toolchain::find_nvlink(*ptxas)) GTEST_SKIP() << "needs nvcc, ptxas and nvlink";
  const TestFolder folder;
  const std::string program = folder.path("linked");
  ASSERT_TRUE(toolchain::run_process({nvcc->path, "-rdc=true", "-cudart", "shared", "-arch=sm_80",
                                      kBinaries + "src/rdc_main.cu", kBinaries + "src/rdc_part.cu", "-o", program})
                  .ok());
  for (const char* gpu : {"h200", "a100"}) {
    const ProcessResult run =
        toolchain::run_process({kMuscope, "run", "-q", "--gpu", gpu, "--count-from", "sass", program});
    EXPECT_EQ(run.out, "rdc PASS\n") << gpu << run.err;
  }
  const Report report = muscope(folder, {"--gpu", "h200", program});
  EXPECT_THAT(report.launch().at("counted_from").at("source").get<std::string>(), HasSubstr(" and nvlink"));
}

// Registers and instructions as an H200 counted them, but for those of the driver's own functions, which are not known.
TEST(CountFromProgram, KernelsThatCallTheDriver) {
  const TestFolder folder;
  const Report run = muscope(folder, {"--gpu", "h200", "--count-from", "sass", kBinaries + "system_calls"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  std::ifstream measured(MUSCOPE_SOURCE_DIR "/tests/counters/experiments/system_calls.tsv");
  std::size_t n = 0, in_driver = 0;
  for (std::string line; std::getline(measured, line);) {
    const std::size_t first = line.find('\t'), second = line.rfind('\t');
    if (line.starts_with('#') || line.starts_with("kernel\t")) continue;
    ASSERT_LT(n, run.report.at("launches").size());
    const json& launch = run.report.at("launches").at(n++);
    const auto value = [&](const char* name) { return launch.at("metrics").at(name).at("value").get<std::uint64_t>(); };
    EXPECT_EQ(value("launch__registers_per_thread"), std::stoull(line.substr(first + 1))) << line;
    const std::uint64_t executed = std::stoull(line.substr(second + 1));
    const bool equal = value("smsp__inst_executed.sum") == executed;
    EXPECT_EQ(launch.at("counted_from").at("grade"), equal ? "counted" : "modelled") << line;
    EXPECT_TRUE(equal || executed > 500) << line;
    in_driver += equal ? 0 : 1;
  }
  EXPECT_EQ(n, 19u);
  EXPECT_EQ(in_driver, 5u);
  EXPECT_THAT(run.notes(), HasSubstr("printf, malloc, free or assert on the device"));
}

// The reader of a pipe may stop early: the files are whole.
TEST(CountFromProgram, AClosedPipeDoesNotCostTheReport) {
  const TestFolder folder;
  const std::string json_file = folder.path("report.json"), csv_file = folder.path("report.csv");
  toolchain::run_process(
      {"/bin/sh", "-c", kMuscope + " run --json " + json_file + " --csv " + csv_file + " " + kWithCubin + " | true"});
  EXPECT_FALSE(json::parse(folder.read("report.json"), nullptr, false).is_discarded());
  EXPECT_THAT(folder.read("report.csv"), HasSubstr("vadd"));
}

TEST(CountFromProgram, LinkedMachineCodeCallsAcrossSections) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/programs/linked_cases.cu";
  for (const char* flags : {"-rdc=true -arch=sm_90", "-rdc=false -arch=sm_90"}) {
    const ProcessResult run = toolchain::run_process(
        {kMuscope, "run", "-q", "--toolchain", "nvcc", "--compile-flags", flags, "--count-from", "sass", source});
    EXPECT_EQ(run.out, "698329760 698329760 no error\n") << flags << run.err;
  }
}

TEST(CountFromProgram, TheRealPtxasIsAsked) {
  const auto tool = toolchain::find_ptxas(toolchain::SearchPlaces::from_environment());
  if (!tool || tool->version < toolchain::Version{13, 0, 0}) GTEST_SKIP() << "needs ptxas 13.0 or newer";
  const TestFolder folder;
  const Report run = muscope(folder, {kPtxOnly});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  const json& registers = run.launch().at("registers");
  EXPECT_THAT(registers.at("source").get<std::string>(), StartsWith("ptxas " + tool->version.text()));
  const bool same_release = tool->version.major == 13 && tool->version.minor == 0;
  EXPECT_EQ(registers.at("grade"), same_release ? "counted" : "modelled");
  EXPECT_EQ(registers.at("value"), 12);
}

}  // namespace
}  // namespace muscope
