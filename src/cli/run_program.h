// Which program a run starts: compiled first, looked up on PATH, and looked at before it is started. Where muscope's
// own libraries are, and the environment that brings them into every process of the run.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "cli/run_request.h"

namespace muscope::cli {

struct RunProgram {
  std::string path;
  std::vector<std::string> argv;
  std::string toolchain;                ///< "nvcc 13.0.88", "as built"
  std::vector<Diagnostic> diagnostics;  ///< warnings and notes about it
  std::string preload_first;            ///< colon-separated: sanitizer runtimes, which insist on being first
  bool is_script = false;
  bool uses_cuda = true;  ///< false: a program without any sign of CUDA (it may start others)
};

/// Compiles the sources or finds the program. Throws Error: D120 not found, D2xx a program that muscope cannot run,
/// D4xx from the compilation.
RunProgram prepare_program(const RunRequest& request, const arch::GpuSpec& gpu);

/// As a shell looks a command up: a name with a slash is a path, others are searched in `path_list` (colon-separated,
/// an empty entry is the current folder). Empty when there is none.
std::string find_command(const std::string& name, const std::string& path_list);

/// The folder with libcudart.so.* and the engine: <folder of muscope>/lib/muscope (build tree) or
/// <prefix>/lib/muscope (installed). Throws Error D125.
std::string library_folder();

/// The environment of the program: the caller's, with our libraries before its own LD_PRELOAD. `run_folder` may get
/// links to libraries whose paths LD_PRELOAD cannot express. Sanitizer builds put the sanitizer's runtime first.
std::vector<std::string> program_environment(const RunRequest& request, const RunProgram& program,
                                             const std::string& libraries, const std::string& run_folder);

}  // namespace muscope::cli
