// `muscope run` of sources whose kernels launch kernels, choose what is counted, or are bound in registers.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "toolchain/process.h"
#include "toolchain/test_folder.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;

constexpr const char* kDeviceLaunches =
    "nested: no error 4 4 4 4 4 4 4 4 4 35 35 35 35 35\n"
    "several: no error 6 6 6 6 6 6 6 6 6 114 114 114 114 114\n"
    "ordered: no error 247 247 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "wrong: no error 0 0 9 0 9 9 9 9 1 0 0 0 0 0\n"
    "set: no error 0 0 0 0 0 0 0 0 0 0 100 109 0 0\n";

/// How many launches of each kernel a report has.
std::map<std::string, int> launches_by_kernel(const std::string& text) {
  const json report = json::parse(text, nullptr, false);
  std::map<std::string, int> counts;
  if (!report.is_discarded())
    for (const json& launch : report.at("launches")) ++counts[launch.at("kernel").get<std::string>()];
  return counts;
}

/// The program's output from PTX, from machine code of two GPUs, with and without PTX, and from PTX that ptxas and
/// nvlink make code of.
void expect_output_of_launches(const std::string& program, const std::string& lines) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/programs/" + program + ".cu";
  struct Way {
    const char *gpu, *from, *threads, *code;
  };
  for (const Way& way :
       {Way{"h200", "ptx", "1", "-arch=sm_90"}, Way{"h200", "sass", "3", "-arch=sm_90"},
        Way{"a100", "sass", "1", "-arch=sm_80"}, Way{"h200", "auto", "1", "-gencode arch=compute_90,code=sm_90"},
        Way{"h200", "auto", "3", "-gencode arch=compute_80,code=compute_80"}}) {
    const ProcessResult run = toolchain::run_process(
        {kMuscope, "run", "-q", "--toolchain", "nvcc", "--gpu", way.gpu, "--count-from", way.from, "--threads",
         way.threads, "--compile-flags", std::string("-std=c++17 -rdc=true -lcudadevrt ") + way.code, source});
    EXPECT_EQ(run.out, lines) << way.gpu << " " << way.from << " " << way.code << ": " << run.err;
  }
}

// The lines are an H200's.
TEST(RunSources, KernelsLaunchKernels) { expect_output_of_launches("device_launches", kDeviceLaunches); }

// Worked out by running the same steps on the host.
TEST(RunSources, KernelsSortByLaunchingThemselves) {
  expect_output_of_launches("device_sorts",
                            "sort: no error, 0 wrong, 433629, grids 298 141\n"
                            "launches: no error, 1011.5 1011.5, 0: 0 1 2 3 9 10 0\n");
}

// Each launch that a kernel makes is one of its kernel, and its counts are those of machine code.
TEST(RunSources, LaunchesOfKernelsAreCounted) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const ProcessResult run = toolchain::run_process(
      {kMuscope, "run", "-q", "--toolchain", "nvcc", "--count-from", "sass", "--json", "-", "--compile-flags",
       "-std=c++17 -rdc=true -lcudadevrt -arch=sm_90", MUSCOPE_SOURCE_DIR "/tests/programs/device_sorts.cu"});
  using testing::Pair;
  EXPECT_THAT(launches_by_kernel(run.out),
              testing::UnorderedElementsAre(Pair("sort(int*, int, int*)", 1), Pair("sort_part(Part)", 298),
                                            Pair("sort_few(Part)", 141), Pair("is_sorted(int const*, int, int*)", 1),
                                            Pair("launches(float*)", 1), Pair("event(int)", 6),
                                            Pair("sum(char, Mixed, unsigned long long, float*)", 1)))
      << run.err;
  const json report = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  for (const json& launch : report.at("launches"))
    EXPECT_EQ(launch.at("counted_from").at("source"), "sm_90 machine code (cubin sm_90 in the program)");
}

// Each of its kernels is too short to notice that it should stop.
TEST(RunSources, AnEndlessChainOfLaunchesIsStoppedAndNamed) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const ProcessResult run = toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "nvcc", "--timeout", "2",
                                                    "--compile-flags", "-std=c++17 -rdc=true -lcudadevrt -arch=sm_90",
                                                    MUSCOPE_SOURCE_DIR "/tests/programs/endless_launches.cu"});
  EXPECT_EQ(run.out, "cudaErrorLaunchTimeout\n");
  EXPECT_THAT(run.err,
              testing::ContainsRegex("D734: the program did not end within 2 s; kernel again\\(unsigned int ?\\*\\) "
                                     "\\(launch [0-9]+\\) was running"));
  EXPECT_THAT(run.err, testing::HasSubstr("error D604: stopped before its first block"));
}

// What each kernel writes follows from its text alone.
TEST(RunSources, NobodyWaitsForEver) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  std::string lines;
  const auto twice = [&](const std::string& line) { lines += line + "\n" + line + "\n"; };
  twice("shared flag: no error 0 3 93");
  twice("turns: no error 300 0 0");
  twice("counter: no error 224 224 224");
  twice("votes: no error 11 11 11");
  twice("global flag: no error 8 0 0");
  twice("atomic flag: no error 7 0 0");
  twice("acquired flag: no error 9 0 0");
  twice("look-back: no error 496 2016 0");
  twice("both: no error 1 1 0");
  twice("lock: no error 128 0 0");
  twice("lanes: no error 5 5 0");
  for (const char* from : {"ptx", "sass"})
    for (const char* threads : {"1", "3"}) {
      const ProcessResult run = toolchain::run_process(
          {kMuscope, "run", "-q", "--toolchain", "nvcc", "--count-from", from, "--threads", threads, "--compile-flags",
           "-std=c++17 -arch=sm_90", MUSCOPE_SOURCE_DIR "/tests/programs/spins.cu"});
      EXPECT_EQ(run.out, lines) << from << " " << threads << ": " << run.err;
    }
}

// Four slots of 16 threads: t + 4 k; two of 32; 64 halves of 1 and 2.
TEST(RunSources, AtomicsOnVectors) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  for (const char* from : {"ptx", "sass"}) {
    const ProcessResult run =
        toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "nvcc", "--count-from", from, "--compile-flags",
                                "-std=c++17 -arch=sm_90", MUSCOPE_SOURCE_DIR "/tests/programs/vector_atomics.cu"});
    EXPECT_EQ(run.out,
              "f32: 480 16 -480 32 496 16 -496 32 512 16 -512 32 528 16 -528 32 992 96 1024 96 64 2016\n"
              "found: 120 120 120 120\n"
              "halves: 58005400 54005800 0 0 43004280 42804300 43004280 42804300 0 0\n"
              "no error\n")
        << from << run.err;
  }
}

// The instructions that ptxas 13.0 writes for it compute the same.
TEST(RunSources, CachePoliciesHaveTheBitsOfMachineCode) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const auto out = [](const char* from) {
    return toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "nvcc", "--count-from", from,
                                   "--compile-flags", "-std=c++17 -arch=sm_90",
                                   MUSCOPE_SOURCE_DIR "/tests/programs/cache_policies.cu"})
        .out;
  };
  const std::string machine = out("sass");
  EXPECT_THAT(machine,
              HasSubstr("65536 of 1048576: 1c13312000000000 1f13312000000000 1a13304000000000, b853eadbb4776cc2\n"));
  EXPECT_EQ(out("ptx"), machine);
}

TEST(RunSources, VeryManyLaunchesOfOneGridAreTold) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const toolchain::TestFolder folder;
  std::ofstream(folder.path("many.cu")) << R"(
#include <cstdio>
#include <cstdlib>
__global__ void count(int* n) { ++*n; }
__global__ void many(int* n, int launches) { for (int i = 0; i < launches; ++i) count<<<1, 1>>>(n); }
int main(int, char** words) {
  int *n, h = 0;
  cudaMalloc(&n, 4);
  cudaMemset(n, 0, 4);
  if (words[2]) cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, std::atoi(words[2]));
  many<<<1, 1>>>(n, std::atoi(words[1]));
  cudaMemcpy(&h, n, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\n", h);
})";
  const auto run = [&](std::vector<std::string> arguments) {
    std::vector<std::string> words{kMuscope,
                                   "run",
                                   "-q",
                                   "--toolchain",
                                   "nvcc",
                                   "--compile-flags",
                                   "-rdc=true -lcudadevrt -arch=sm_90",
                                   folder.path("many.cu")};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return toolchain::run_process(words);
  };
  EXPECT_THAT(run({"2049"}).err,
              HasSubstr("D517: one grid of many(int*, int) launched more kernels than the 2048 that a GPU keeps room"));
  EXPECT_THAT(run({"2048"}).err, testing::Not(HasSubstr("D517")));
  const ProcessResult raised = run({"2049", "4096"});
  EXPECT_EQ(raised.out, "2049\n");
  EXPECT_THAT(raised.err, testing::Not(HasSubstr("D517")));
}

/// What the program prints, and then what it prints for each of the cases that end in an error.
std::string lines_of(const std::string& program, const char* count_from, const char* threads, int cases) {
  std::string lines;
  for (int n = -1; n < cases; ++n) {
    std::vector<std::string> words{
        kMuscope,          "run",         "-q",
        "--toolchain",     "nvcc",        "--count-from",
        count_from,        "--threads",   threads,
        "--compile-flags", "-arch=sm_90", MUSCOPE_SOURCE_DIR "/tests/programs/" + program + ".cu"};
    if (n >= 0) words.push_back(std::to_string(n));
    lines += toolchain::run_process(words).out;
  }
  return lines;
}

std::string file_text(const std::string& name) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/programs/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines are an H200's.
TEST(RunSources, ClustersOfBlocks) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  EXPECT_EQ(lines_of("clusters", "ptx", "1", 8), file_text("clusters_h200.txt"));
  EXPECT_EQ(lines_of("clusters", "sass", "3", 8), file_text("clusters_h200.txt"));
}

// Each line is an answer of an H200.
TEST(RunSources, OccupancyOfClusters) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  EXPECT_EQ(lines_of("cluster_occupancy", "sass", "1", 0), file_text("cluster_occupancy_h200.txt"));
}

TEST(RunSources, TensorMaps) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  EXPECT_EQ(lines_of("tensor_maps", "ptx", "1", 10), file_text("tensor_maps_h200.txt"));
  EXPECT_EQ(lines_of("tensor_maps", "sass", "3", 10), file_text("tensor_maps_h200.txt"));
}

TEST(RunSources, ProfilerCallsAndRangesSelectLaunches) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/programs/selected_launches.cu";
  const auto kernels = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{kMuscope, "run", "--toolchain", "nvcc", "--json", "-"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(source);
    std::string names;
    const ProcessResult run = toolchain::run_process(words);
    const json report = json::parse(run.out, nullptr, false);
    if (report.is_discarded()) return run.out + run.err;
    for (const json& launch : report.at("launches")) names += launch.at("kernel").get<std::string>();
    return names;
  };
  // As Nsight Compute on an H200 takes the calls.
  EXPECT_EQ(kernels({}), "a()c()e()");
  EXPECT_EQ(kernels({"--profile-from-start", "off"}), "c()e()");
  EXPECT_EQ(kernels({"--nvtx-include", "outer"}), "c()");
  EXPECT_EQ(kernels({"--nvtx-include", "outer/"}), "c()");
  EXPECT_EQ(kernels({"--nvtx-include", "solver@step,phase"}), "c()");
  EXPECT_EQ(kernels({"--nvtx-include", "ph\xc3\xa4se\\, two"}), "e()");
}

// The lines are an H200's.
TEST(RunSources, ManagedVariablesHaveOneAddress) {
  const auto places = toolchain::SearchPlaces::from_environment();
  std::vector<std::vector<std::string>> ways;
  if (toolchain::find_clang(places)) ways.push_back({"--toolchain", "clang"});
  if (toolchain::find_nvcc(places)) ways.push_back({"--toolchain", "nvcc"});
  if (ways.empty()) GTEST_SKIP() << "needs a compiler";
  for (const auto& way : ways)
    for (const char* devices : {"1", "2"}) {
      std::vector<std::string> words{kMuscope, "run", "-q", "--devices", devices};
      words.insert(words.end(), way.begin(), way.end());
      words.emplace_back(MUSCOPE_SOURCE_DIR "/tests/programs/managed_variables.cu");
      const ProcessResult run = toolchain::run_process(words);
      EXPECT_EQ(run.out,
                "plain: cudaSuccess 16\n"
                "int: cudaSuccess, same 1, value 9\n"
                "double: cudaSuccess, same 1, value 9\n"
                "through: cudaSuccess 3\n"
                "attributes: cudaSuccess type 3, one address 1\n"
                "symbol: cudaSuccess same 1\n"
                "size: cudaSuccess 16\n"
                "to symbol: cudaSuccess 1 12 3\n"
                "another device: 26\n")
          << way[1] << ", " << devices << ": " << run.err;
    }
}

// The lines are an H200's; for code of 8.0 only what the groups compute.
TEST(RunSources, GroupsOfSeveralWarpsMeetInReservedSharedMemory) {
  if (!toolchain::find_nvcc(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs nvcc";
  const std::string tiles = "tiles: cudaSuccess 8128 5 0 1 24512 133 1 0\n";
  const std::string others =
      "others: cudaSuccess 7165 176 155 165 176 107155 165 176 155 165 207176 155 165 176 155 307165 176 155 165 176 "
      "407155 165 176 155 165 507176 155 165 176 155 607165 176\n";
  const auto out = [](const char* gpu, const char* architecture, const char* from) {
    return toolchain::run_process({kMuscope, "run", "-q", "--toolchain", "nvcc", "--gpu", gpu, "--count-from", from,
                                   "--compile-flags", std::string("-std=c++17 -arch=") + architecture,
                                   MUSCOPE_SOURCE_DIR "/tests/programs/reserved_shared.cu"})
        .out;
  };
  for (const char* from : {"ptx", "sass"}) {
    EXPECT_EQ(out("h200", "sm_90", from), "places: cudaSuccess 0 288 1024 0 0 384 1344 1024\n" + tiles + others)
        << from;
    EXPECT_THAT(out("a100", "sm_80", from), HasSubstr(tiles)) << from;
  }
}

// Addresses of lanes stand in the report.
TEST(RunSources, MemoryOfTheHostIsAtTheSameAddressesInEveryRun) {
  const toolchain::TestFolder folder;
  const auto places = toolchain::SearchPlaces::from_environment();
  if (!toolchain::find_clang(places) && !toolchain::find_nvcc(places)) GTEST_SKIP() << "needs a compiler";
  std::ofstream(folder.path("host_memory.cu")) << R"(
__global__ void add(int* a, const int* b) { a[threadIdx.x] += b[threadIdx.x]; }
int main() {
  int *managed, *pinned;
  cudaMallocManaged(&managed, 4096);
  cudaMallocHost(&pinned, 4096);
  add<<<1, 32>>>(managed, pinned);
  return cudaDeviceSynchronize();
})";
  const auto report = [&] {
    return toolchain::run_process({kMuscope, "run", "--json", "-", folder.path("host_memory.cu")}).out;
  };
  const std::string first = report();
  EXPECT_THAT(first, testing::HasSubstr("\"addresses\""));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(report(), first);
}

// What ptxas gives: the 65,536 registers of a multiprocessor for one block of 1,024 threads, or for two.
TEST(RunSources, EstimatesOfRegistersKeepToLaunchBounds) {
  const toolchain::TestFolder folder;
  const auto places = toolchain::SearchPlaces::from_environment();
  if (!toolchain::find_clang(places) && !toolchain::find_nvcc(places)) GTEST_SKIP() << "needs a compiler";
  std::ofstream(folder.path("bounds.cu")) << R"(
template <int kBlocks> __global__ void __launch_bounds__(1024, kBlocks) many(const float* in, float* out) {
  float v[90];
  for (int i = 0; i < 90; ++i) v[i] = in[threadIdx.x + i];
  __syncthreads();
  float s = 0;
  for (int i = 0; i < 90; ++i) s = s * v[i] + v[(i * 7 + 3) % 90];
  out[threadIdx.x] = s;
}
int main() {
  float* p;
  cudaMalloc(&p, 1 << 16);
  many<1><<<1, 1024>>>(p, p + 4096);
  many<2><<<1, 1024>>>(p, p + 4096);
  return cudaDeviceSynchronize();
})";
  const ProcessResult run =
      toolchain::run_process({kMuscope, "run", "--count-from", "ptx", "--view", "kernels", "--launches", "1", "--json",
                              folder.path("report.json"), folder.path("bounds.cu")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::ifstream in(folder.path("report.json"));
  const json report = json::parse(in, nullptr, false);
  ASSERT_EQ(report.at("launches").size(), 1u);
  EXPECT_EQ(report.at("launches").at(0).at("registers").at("value"), 32);
  EXPECT_THAT(run.out, HasSubstr("many<2>(float const*, float*)")) << "the table, also of one launch";
}

}  // namespace
}  // namespace muscope
