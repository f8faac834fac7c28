#include "cli/run_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cubin/program.h"
#include "runtime/control.h"
#include "runtime/machine_targets.h"
#include "toolchain/compile.h"
#include "toolchain/process.h"

extern char** environ;

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;

RunProgram compile_program(const RunRequest& request, const arch::GpuSpec& gpu) {
  toolchain::CompileRequest compile;
  compile.sources = request.sources;
  compile.cc_major = gpu.cc_major;
  compile.cc_minor = gpu.cc_minor;
  if (gpu.cc_major == 0) compile.musa_architecture = gpu.cc_minor * 10;
  compile.toolchain = toolchain::preference_of(request.toolchain);
  compile.flags = toolchain::split_words(request.compile_flags);
  compile.quiet = request.quiet;
  const toolchain::Compiled built = toolchain::compile(compile);
  RunProgram program;
  program.path = built.program;
  // The program sees the name that it would have had as ./app.
  program.argv.push_back("./" + fs::path(request.sources.front()).stem().string());
  program.toolchain = built.toolchain;
  program.diagnostics = built.diagnostics;
  return program;
}

bool is_host_source(const std::string& path) {
  constexpr std::string_view kExtensions[] = {".c", ".cc", ".cpp", ".cxx", ".cuh", ".C"};
  return std::find(std::begin(kExtensions), std::end(kExtensions), fs::path(path).extension().string()) !=
         std::end(kExtensions);
}

RunProgram find_program_file(const RunRequest& request, const arch::GpuSpec& gpu) {
  RunProgram program;
  program.toolchain = "as built";
  const char* path_list = std::getenv("PATH");
  program.path = find_command(request.program, path_list != nullptr ? path_list : "/usr/local/bin:/usr/bin:/bin");
  if (is_host_source(request.program) && (program.path.empty() || ::access(program.path.c_str(), X_OK) != 0)) {
    fail("D120", fmt::format("'{}' is source code, and its name does not end in .cu", request.program),
         fmt::format("compile it first: muscope cc -x cu -o app {}", request.program));
  }
  if (program.path.empty()) {
    std::error_code error;
    const bool here = fs::is_regular_file(request.program, error);
    fail("D120", fmt::format("'{}' is not a command that PATH finds", request.program),
         here ? fmt::format("there is such a file in this folder: muscope run ./{}", request.program)
              : "give a path such as ./app, or a .cu file");
  }
  const cubin::ProgramInspection inspected = cubin::inspect_program(program.path);
  std::vector<Diagnostic> found = cubin::diagnose(
      inspected,
      {gpu.cc_major * 10 + gpu.cc_minor, request.count_from == "ptx" ? nullptr : runtime::machine_code_known});
  const bool stops =
      std::any_of(found.begin(), found.end(), [](const Diagnostic& d) { return d.severity == Severity::kError; });
  if (stops) throw Error(std::move(found));
  program.diagnostics = std::move(found);
  for (const std::string& library : inspected.needed) {
    if (library.starts_with("libasan.so") || library.starts_with("libtsan.so")) {
      program.preload_first += (program.preload_first.empty() ? "" : ":") + library;
    }
  }
  program.is_script = inspected.kind == cubin::ProgramKind::kScript;
  program.uses_cuda = inspected.runtime != cubin::RuntimeLink::kNone || inspected.driver_api || !inspected.code.empty();
  program.argv.push_back(request.program);
  return program;
}

std::vector<std::string> shared_objects(const fs::path& folder) {
  std::vector<std::string> shims, drivers, engines;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("libmuscope") && name.ends_with(".so")) engines.push_back(name);
    if (name.starts_with("libcudart.so.") || name.starts_with("libmusart.so.")) shims.push_back(name);
    if (name.starts_with("libcuda.so")) drivers.push_back(name);
  }
  std::sort(shims.rbegin(), shims.rend());  // the newest runtime first: it answers where a program does not ask for one
  std::sort(drivers.rbegin(), drivers.rend());
  std::sort(engines.begin(), engines.end());
  shims.insert(shims.end(), drivers.begin(), drivers.end());
  shims.insert(shims.end(), engines.begin(), engines.end());
  return shims;
}

bool speakable(const std::string& path) { return path.find_first_of(": \t\n") == path.npos; }

#ifdef MUSCOPE_SANITIZED
/// The path of a library that this very process has loaded.
std::string loaded_library(const std::string& stem) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash != line.npos && fs::path(line.substr(slash)).filename().string().starts_with(stem))
      return line.substr(slash);
  }
  return {};
}
#endif

std::string with_before(const std::string& ours, const std::string& theirs) {
  return theirs.empty() ? ours : ours + ':' + theirs;
}

}  // namespace

std::string find_command(const std::string& name, const std::string& path_list) {
  if (name.find('/') != name.npos) return name;
  for (std::size_t at = 0; at <= path_list.size();) {
    const std::size_t colon = std::min(path_list.find(':', at), path_list.size());
    const std::string folder = path_list.substr(at, colon - at);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = colon + 1;
  }
  return {};
}

RunProgram prepare_program(const RunRequest& request, const arch::GpuSpec& gpu) {
  RunProgram program = request.sources.empty() ? find_program_file(request, gpu) : compile_program(request, gpu);
  program.argv.insert(program.argv.end(), request.args.begin(), request.args.end());
  return program;
}

std::string library_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path here = self.parent_path();
  for (const fs::path& folder : {here / "lib/muscope", here.parent_path() / "lib/muscope"}) {
    const std::vector<std::string> found = shared_objects(folder);
    // Newest shim first: with none, programs would find NVIDIA's runtime, or nothing.
    if (!found.empty() && !found.front().starts_with("libmuscope")) return folder.string();
  }
  fail("D125",
       fmt::format("muscope's runtime library is not where it should be, in {} or {}", (here / "lib/muscope").string(),
                   (here.parent_path() / "lib/muscope").string()),
       "build the target `all`, or install muscope again");
}

std::vector<std::string> program_environment(const RunRequest& request, const RunProgram& program,
                                             const std::string& libraries, const std::string& run_folder) {
  std::map<std::string, std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::erase_if(variables, [](const auto& v) { return v.first.starts_with("MUSCOPE_"); });

  std::string folder = libraries;
  if (!speakable(folder)) {
    // LD_PRELOAD splits at blanks and colons and knows no escape.
    folder = run_folder + "/lib";
    std::error_code error;
    fs::create_directory_symlink(libraries, folder, error);
    if (error || !speakable(folder)) {
      fail("D125", fmt::format("the loader cannot take libraries from '{}': its path has a blank or colon", libraries),
           "install muscope elsewhere, or set TMPDIR to a path without them");
    }
  }
  std::string preload;
  for (const std::string& name : shared_objects(folder)) preload += (preload.empty() ? "" : ":") + folder + "/" + name;
#ifdef MUSCOPE_SANITIZED
  if (const std::string sanitizer = loaded_library("libasan.so"); !sanitizer.empty())
    preload = with_before(sanitizer, preload);
  variables["ASAN_OPTIONS"] =
      "detect_leaks=0:verify_asan_link_order=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_"
      "sigill=0:"
      "allow_user_segv_handler=1:use_sigaltstack=0" +
      (variables["ASAN_OPTIONS"].empty() ? std::string() : ':' + variables["ASAN_OPTIONS"]);
#endif
  if (!program.preload_first.empty()) preload = with_before(program.preload_first, preload);
  variables["LD_PRELOAD"] = with_before(preload, variables["LD_PRELOAD"]);

  variables[runtime::kEnvRunDir] = run_folder;
  std::error_code error;
  variables[runtime::kEnvGpu] =
      fs::is_regular_file(request.gpu, error) ? fs::absolute(request.gpu).string() : request.gpu;
  variables[runtime::kEnvDevices] = std::to_string(request.devices);
  if (request.count_from != "auto") variables[runtime::kEnvCountFrom] = request.count_from;
  if (request.threads != 0) variables[runtime::kEnvThreads] = std::to_string(request.threads);
  if (request.max_steps != 0) variables[runtime::kEnvMaxSteps] = std::to_string(request.max_steps);
  if (!request.kernel.empty()) variables[runtime::kEnvKernel] = request.kernel;
  if (!request.launches_text.empty()) variables[runtime::kEnvLaunches] = request.launches_text;
  if (request.profile_from_start == "off") variables[runtime::kEnvProfileFromStart] = request.profile_from_start;
  if (!request.nvtx_include.empty()) {
    variables[runtime::kEnvNvtx] = request.nvtx_include;
    variables["NVTX_INJECTION64_PATH"] = folder + "/libmuscope_engine.so";
  }
  if (!request.emit.empty()) {
    variables[runtime::kEnvEmit] = fmt::format("{}", fmt::join(request.emit, ","));
    variables[runtime::kEnvEmitDir] = request.emit_dir;
  }

  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + '=' + value);
  return environment;
}

}  // namespace muscope::cli
