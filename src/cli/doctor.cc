// muscope doctor: which tools of others are found, what each absence costs, and what adds it.
//
//   nvcc        13.0.88   /usr/local/cuda/bin/nvcc
//   clang       19.1.7    /usr/bin/clang++-19
//   ptxas       not found
//     costs: registers, spills and the exact requests of machine code are then modelled from PTX
//     add:   install NVIDIA's CUDA toolkit (...)
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "toolchain/cache.h"
#include "toolchain/layout.h"
#include "toolchain/tools.h"

namespace muscope::cli {
namespace {

using toolchain::SearchPlaces;
using toolchain::Tool;

constexpr const char* kCudaToolkit =
    "NVIDIA's CUDA toolkit (https://developer.nvidia.com/cuda-downloads), then set CUDA_HOME";

/// One line of the examination.
struct Finding {
  std::string name;
  std::optional<Tool> tool;
  std::string cost;  ///< what does not work, or works less well, without it
  std::string add;   ///< the command that adds it
};

std::vector<Finding> examine(const SearchPlaces& places) {
  const std::optional<Tool> nvcc = toolchain::find_nvcc(places);
  const std::optional<Tool> clang = toolchain::find_clang(places);
  std::string clang_cost =
      nvcc ? "muscope cc and --toolchain clang do not work, nor do .mu files; nvcc compiles the rest"
           : "muscope run app.cu and muscope cc do not work; finished programs still run";
  if (const std::optional<Tool> old = toolchain::find_old_clang(places); old && !clang) {
    clang_cost += fmt::format(" ({} at {} is too old)", old->text(), old->path);
  }
  return {
      {"nvcc", nvcc,
       clang ? "nothing that is needed: clang compiles; programs that use CUDA's own libraries (cuBLAS, Thrust) need it"
             : "programs that use CUDA's own libraries (cuBLAS, Thrust) cannot be compiled",
       kCudaToolkit},
      {"clang", clang, clang_cost, toolchain::clang_install_command()},
      {"ptxas", toolchain::find_ptxas(places),
       "registers, spills and merged accesses are modelled from PTX and graded so, not read from machine code",
       kCudaToolkit},
      {"g++", toolchain::find_host_compiler(places), "programs cannot be linked; clang++ is taken where it is found",
       "apt-get install g++"},
      {"addr2line", toolchain::find_addr2line(places), "host call stacks in findings show addresses instead of lines",
       "apt-get install binutils"},
  };
}

/// muscope's own files beside the program.
struct OwnFile {
  std::string name;
  std::string path;
  bool found = false;
  std::string cost;
};

std::vector<OwnFile> examine_own_files() {
  const toolchain::Layout layout = toolchain::Layout::of_this_program();
  std::vector<OwnFile> files{
      {"runtime", layout.libraries + "/libcudart.so.13", false, "no program can be run"},
      {"headers", layout.toolkit + "/cuda_runtime.h", false, "clang cannot compile CUDA"},
      {"toolkit", layout.toolkit_root + "/bin/nvcc", false, "CUDA_HOME and CMake cannot be pointed at muscope"},
  };
  for (OwnFile& file : files) {
    std::error_code error;
    file.found = std::filesystem::exists(file.path, error);
  }
  return files;
}

void print_text(const std::vector<Finding>& findings, const std::vector<OwnFile>& files, const std::string& cache) {
  fmt::print("Tools of others\n");
  for (const Finding& finding : findings) {
    if (finding.tool) {
      fmt::print("  {:<10} {:<9} {}\n", finding.name, finding.tool->version.text(), finding.tool->path);
      continue;
    }
    fmt::print("  {:<10} not found\n", finding.name);
    fmt::print("    costs: {}\n    add:   {}\n", finding.cost, finding.add);
  }
  fmt::print("\nmuscope's own files\n");
  for (const OwnFile& file : files) {
    fmt::print("  {:<10} {:<9} {}\n", file.name, file.found ? "found" : "missing", file.path);
    if (!file.found) fmt::print("    costs: {}\n    add:   build or install muscope again\n", file.cost);
  }
  fmt::print("  {:<10} {:<9} {}\n", "cache", cache.empty() ? "missing" : "found",
             cache.empty() ? "no folder can be written: set XDG_CACHE_HOME" : cache);
}

void print_json(const std::vector<Finding>& findings, const std::vector<OwnFile>& files, const std::string& cache) {
  nlohmann::ordered_json out;
  out["schema"] = "muscope.doctor/1";
  for (const Finding& finding : findings) {
    nlohmann::ordered_json& tool = out["tools"][finding.name];
    tool["found"] = finding.tool.has_value();
    if (finding.tool) {
      tool["version"] = finding.tool->version.text();
      tool["path"] = finding.tool->path;
    } else {
      tool["costs"] = finding.cost;
      tool["add"] = finding.add;
    }
  }
  for (const OwnFile& file : files) out["files"][file.name] = {{"found", file.found}, {"path", file.path}};
  out["cache"] = cache;
  fmt::print("{}\n", out.dump(2));
}

}  // namespace

int doctor_command(const Arguments& args) {
  CLI::App app("Which compilers and tools are found, what each absence costs, how to add it.", "muscope doctor");
  bool json = false;
  app.add_flag("--json", json, "print JSON (muscope.doctor/1)");
  parse(app, args, "  muscope doctor\n  muscope doctor --json\n");
  const std::vector<Finding> findings = examine(SearchPlaces::from_environment());
  const std::vector<OwnFile> files = examine_own_files();
  const std::optional<toolchain::Cache> cache = toolchain::Cache::of_user();
  const std::string folder = cache ? cache->directory() : std::string();
  if (json) {
    print_json(findings, files, folder);
  } else {
    print_text(findings, files, folder);
  }
  return kOk;
}

}  // namespace muscope::cli
