#include "cli/lab_run.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "base/diagnostic.h"
#include "cli/port_write.h"
#include "cli/run_output.h"
#include "lab/counters.h"
#include "lab/raw.h"
#include "toolchain/cache.h"
#include "toolchain/layout.h"
#include "toolchain/process.h"
#include "toolchain/read_file.h"
#include "toolchain/tools.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;
using toolchain::ProcessResult;

constexpr const char* kNoGpuHint =
    "muscope lab measures on an NVIDIA GPU with its driver, by programs that nvcc compiles on the spot; muscope run "
    "counts "
    "memory traffic without a GPU, and muscope lab --from shows what was measured elsewhere";

struct Gpu {
  int major = 0, minor = 0;
  std::string name;
};

/// By the driver's own library, so that nothing of CUDA is linked.
Gpu find_gpu(const std::string& our_libraries) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) fail("D792", "no GPU: libcuda.so.1, the library of NVIDIA's driver, is not there", kNoGpuHint);
  const auto function = [&](const char* name) { return dlsym(driver, name); };
  const auto init = reinterpret_cast<int (*)(unsigned)>(function("cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(function("cuDeviceGetCount"));
  const auto get_name = reinterpret_cast<int (*)(char*, int, int)>(function("cuDeviceGetName"));
  const auto attribute = reinterpret_cast<int (*)(int*, int, int)>(function("cuDeviceGetAttribute"));
  Dl_info from{};
  if (init == nullptr || count == nullptr || get_name == nullptr || attribute == nullptr ||
      dladdr(reinterpret_cast<void*>(init), &from) == 0)
    fail("D792", "no GPU: libcuda.so.1 is not that of a driver", kNoGpuHint);
  std::error_code error;
  const fs::path where = fs::canonical(from.dli_fname, error);
  if (!error && where.string().starts_with(our_libraries + "/"))
    fail("D792", "no GPU: libcuda.so.1 is muscope's own stand-in here",
         "start muscope lab without muscope's libraries in LD_LIBRARY_PATH");
  int devices = 0;
  if (const int code = init(0); code != 0 || count(&devices) != 0 || devices == 0)
    fail("D792", fmt::format("no GPU: the driver finds none (cuInit gives {})", code), kNoGpuHint);
  Gpu gpu;
  char name[256] = {};
  if (get_name(name, sizeof name - 1, 0) == 0) gpu.name = name;
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of cuda.h
  if (attribute(&gpu.major, kMajor, 0) != 0 || attribute(&gpu.minor, kMinor, 0) != 0)
    fail("D792", "no GPU: the driver does not tell its compute capability", kNoGpuHint);
  return gpu;
}

/// The folder that holds lab/ and kernels/: share/muscope.
std::string sources_folder(const toolchain::Layout& layout) {
  const std::string folder = fs::path(layout.toolkit).parent_path().string();
  for (const char* part : {"/lab/lab.cuh", "/kernels/common.cuh"}) {
    std::error_code error;
    if (!fs::exists(folder + part, error))
      fail("D411", fmt::format("the lab's programs are missing: {}{}", folder, part), "build or install muscope again");
  }
  return folder;
}

/// Everything that a program may include; few files, so that which one includes which need not be known.
std::vector<std::string> headers_of(const std::string& folder, const std::string& source) {
  std::vector<std::string> files = {source};
  for (const char* part : {"/lab", "/kernels", "/kernels/ladder"}) {
    for (const auto& entry : fs::directory_iterator(folder + part)) {
      if (entry.path().extension() == ".cuh") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string compiled(const std::string& program, const std::string& folder, const toolchain::Tool& nvcc, const Gpu& gpu,
                     const std::string& scratch, std::optional<toolchain::Cache>& cache) {
  const std::string source = folder + "/" + lab::source_of(program);
  const std::vector<std::string> headers = headers_of(folder, source);
  toolchain::Hasher hasher;
  for (const std::string& part : {std::string("muscope lab 1"), nvcc.path, nvcc.version.text(), program,
                                  fmt::format("{}.{}", gpu.major, gpu.minor)})
    hasher.add(part);
  const std::string key = hasher.hex();
  if (cache) {
    if (const auto found = cache->find_program(key)) return found->program;
  }
  const std::string work = cache ? cache->make_work_directory() : scratch;
  const std::string out = work + "/" + program;
  const std::vector<std::string> command = {
      nvcc.path, "-std=c++17", "-O3", fmt::format("-arch=sm_{}{}", gpu.major, gpu.minor), "-lineinfo", "-o",
      out,       source,       "-ldl"};
  const ProcessResult result = toolchain::run_process(command);
  if (!result.ok()) {
    std::fputs(result.err.c_str(), stderr);
    fail("D794", fmt::format("{} does not compile: nvcc {}", lab::source_of(program), describe_end(result)),
         "nvcc 12.0 or newer and its host compiler are needed; the command was: " + toolchain::shell_text(command));
  }
  if (!cache) return out;
  const auto stored = cache->store_program(key, headers, out, program, "");
  return stored ? stored->program : out;
}

/// All programs, several at a time, before the first one runs: compiling beside a measurement would disturb it.
std::vector<std::string> compile_all(const LabRequest& request, const std::string& folder, const toolchain::Tool& nvcc,
                                     const Gpu& gpu) {
  std::fprintf(stderr, "muscope lab: compiling %zu programs for %s, unless they are cached\n", request.plans.size(),
               gpu.name.c_str());
  std::vector<std::string> paths(request.plans.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    std::optional<toolchain::Cache> cache = toolchain::Cache::of_user();
    for (std::size_t i = next++; i < paths.size(); i = next++)
      paths[i] = compiled(request.plans[i].program, folder, nvcc, gpu, request.folder, cache);
  };
  std::vector<std::future<void>> workers;
  const std::size_t most = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
  for (std::size_t i = 0; i < std::min(most, paths.size()); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.wait();
  for (std::future<void>& worker : workers) worker.get();  // throws what went wrong
  return paths;
}

std::string tail_of(const std::string& text) {
  const std::size_t from = text.size() > 500 ? text.size() - 500 : 0;
  return text.substr(from);
}

void run_or_fail(const std::string& program, const std::vector<std::string>& command) {
  const ProcessResult result = toolchain::run_process(command);
  // 1 with a file that has an end: rows gave wrong results, which the report tells.
  if (result.ok() || (result.exit_code == 1 && result.err.find("wrong results") != std::string::npos)) return;
  fail("D794", fmt::format("{} {}", program, describe_end(result)), tail_of(result.err));
}

/// Counts of the kernels under muscope. What cannot be counted is left out, and said.
void predict(const std::string& program, const std::string& path, const Gpu& gpu, const toolchain::Layout& layout,
             const std::vector<std::string>& only, const std::string& base) {
  const std::string rules =
      gpu.name.find("H200") != std::string::npos ? "h200" : fmt::format("sm_{}{}", gpu.major, gpu.minor);
  std::vector<std::string> command = {layout.program,        "run", "-q",     "--gpu", rules,   "--json",
                                      base + ".report.json", path,  "--mode", "count", "--out", base + ".count.jsonl"};
  command.insert(command.end(), only.begin(), only.end());
  const ProcessResult result = toolchain::run_process(command);
  if (result.ok()) return;
  std::error_code error;
  fs::remove(base + ".report.json", error);
  std::fprintf(stderr, "muscope lab: %s could not be counted by muscope run: %s\n", program.c_str(),
               tail_of(result.err.empty() ? describe_end(result) : result.err).c_str());
}

void count_on_gpu(const std::string& program, const std::string& path, const toolchain::Tool& nvcc,
                  const std::vector<std::string>& only, const std::string& base) {
  std::error_code error;
  const std::string beside = fs::path(nvcc.path).parent_path().string() + "/ncu";
  std::vector<std::string> command = {fs::exists(beside, error) ? beside : "ncu",
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--clock-control",
                                      "none",
                                      "--cache-control",
                                      "none",
                                      "--metrics",
                                      lab::counter_metrics(),
                                      path,
                                      "--mode",
                                      "count",
                                      "--out",
                                      base + ".count.jsonl"};
  command.insert(command.end(), only.begin(), only.end());
  const ProcessResult result = toolchain::run_process(command);
  if (result.ok()) return write_text_file(base + ".ncu.csv", result.out);
  std::fprintf(stderr, "muscope lab: Nsight Compute did not count %s: %s\n", program.c_str(),
               tail_of(result.out + result.err + describe_end(result)).c_str());
}

std::string text_of(const std::string& path) {
  constexpr std::uintmax_t kMost = std::uintmax_t{256} << 20;
  std::error_code error;
  keep_input(path);
  const std::uintmax_t size = fs::file_size(path, error);
  std::optional<std::string> text = error || size > kMost ? std::nullopt : toolchain::read_file(path);
  if (!text) fail("D791", "cannot be read, or is longer than 256 MiB", "measure again", {path, 0, 0});
  return *text;
}

}  // namespace

void measure(const LabRequest& request) {
  const toolchain::Layout layout = toolchain::Layout::of_this_program();
  const Gpu gpu = find_gpu(layout.libraries);
  const std::string folder = sources_folder(layout);
  const std::optional<toolchain::Tool> nvcc = toolchain::find_nvcc(toolchain::SearchPlaces::from_environment());
  if (!nvcc)
    fail("D793",
         fmt::format("no nvcc: the lab compiles its programs for this GPU ({}, compute capability {}.{})", gpu.name,
                     gpu.major, gpu.minor),
         "install NVIDIA's CUDA toolkit (https://developer.nvidia.com/cuda-downloads), then set CUDA_HOME or PATH");
  const std::vector<std::string> paths = compile_all(request, folder, *nvcc, gpu);
  // What an earlier run left of these programs is not this run's.
  for (const std::string& name : files_of(request.plans)) {
    std::error_code error;
    fs::remove(fs::path(request.folder) / name, error);
    if (error)
      fail("D731", fmt::format("cannot remove the old '{}/{}'", request.folder, name), "choose another folder");
  }
  for (std::size_t i = 0; i < request.plans.size(); ++i) {
    const lab::ProgramPlan& plan = request.plans[i];
    const std::string& path = paths[i];
    std::fprintf(stderr, "muscope lab: %s\n", plan.program.c_str());
    const std::string base = request.folder + "/" + plan.program;
    std::vector<std::string> only;
    if (!plan.only.empty()) only = {"--only", plan.only};
    std::vector<std::string> command = {path, "--mode", request.quick ? "quick" : "full", "--out", base + ".jsonl"};
    if (request.samples > 0) command.insert(command.end(), {"--samples", std::to_string(request.samples)});
    command.insert(command.end(), only.begin(), only.end());
    run_or_fail(plan.program, command);
    if (request.predict) predict(plan.program, path, gpu, layout, only, base);
    if (request.counters) count_on_gpu(plan.program, path, *nvcc, only, base);
  }
}

std::vector<std::string> files_of(const std::vector<lab::ProgramPlan>& plans) {
  std::vector<std::string> names;
  for (const lab::ProgramPlan& plan : plans)
    for (const char* end : {".jsonl", ".count.jsonl", ".report.json", ".ncu.csv"}) names.push_back(plan.program + end);
  return names;
}

std::vector<lab::ProgramResults> read_folder(const std::string& folder, const std::vector<lab::ProgramPlan>& plans) {
  std::vector<lab::ProgramResults> all;
  for (const lab::ProgramPlan& plan : plans) {
    const std::string base = folder + "/" + plan.program;
    std::error_code error;
    if (!fs::exists(base + ".jsonl", error)) continue;
    lab::ProgramResults results;
    results.run = lab::read_raw(text_of(base + ".jsonl"), base + ".jsonl");
    if (!results.run.ended)
      fail("D794", fmt::format("{} did not come to its end", plan.program), "measure again", {base + ".jsonl", 0, 0});
    if (fs::exists(base + ".count.jsonl", error)) {
      results.counted = lab::read_raw(text_of(base + ".count.jsonl"), base + ".count.jsonl");
      std::vector<int> launches;
      for (const lab::RawRow& row : results.counted.rows) launches.push_back(row.launches);
      if (const std::string file = base + ".report.json"; fs::exists(file, error))
        results.predicted = lab::counters_of_rows(lab::counters_of_report(text_of(file), file), launches);
      if (const std::string file = base + ".ncu.csv"; fs::exists(file, error))
        results.measured = lab::counters_of_rows(lab::counters_of_capture(text_of(file), file), launches);
    }
    all.push_back(std::move(results));
  }
  if (all.empty())
    fail("D794", fmt::format("'{}' holds nothing that the lab's programs wrote", folder),
         "a folder that muscope lab --keep wrote");
  return all;
}

}  // namespace muscope::cli
