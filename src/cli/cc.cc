// muscope cc: a CUDA compiler for build systems. The work is done in toolchain/driver.cc.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "toolchain/driver.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kHelp =
    R"(Compile CUDA with no CUDA toolkit: takes nvcc's command lines, compiles with clang, makes programs for muscope run.

Usage: muscope cc [--toolchain auto|clang|nvcc] NVCC-OPTIONS FILE...

  --toolchain clang   clang and muscope's own headers (what auto takes)
  --toolchain nvcc    call nvcc itself, adding what muscope needs (-lineinfo, host lines, -cudart shared)

Options are nvcc's: -c -o -I -D -std -O -g -G -lineinfo -arch -gencode -Xcompiler -Xlinker -l -L -MD -MF -MT -E -ptx
-shared -use_fast_math -maxrregcount and the rest of nvcc 13.0's list; each is honoured, taken without effect (it says
so) or refused by name. Without -arch the code is made for sm_90.

muscope-nvcc, beside muscope, is the same as one program for build systems.

Examples:
  muscope cc -O2 -o app app.cu
  muscope cc -c -o kernels.o kernels.cu && g++ -o app main.o kernels.o -L<...>/share/muscope/cuda/lib64 -lcudart
  cmake -DCMAKE_CUDA_COMPILER=muscope-nvcc ..
  make NVCC=muscope-nvcc
)";

}  // namespace

int cc_command(const Arguments& args) {
  using toolchain::Preference;
  Preference toolchain = Preference::kClang;
  Arguments rest = args;
  // nvcc has no such option, so that it may stand anywhere among nvcc's. The last one counts.
  for (auto word = rest.begin(); word != rest.end();) {
    if (word->starts_with("--toolchain=")) {
      toolchain = toolchain::preference_of(std::string_view(*word).substr(12));
      word = rest.erase(word);
    } else if (*word == "--toolchain") {
      if (word + 1 == rest.end()) fail("D408", "--toolchain needs a value", "auto, nvcc or clang");
      toolchain = toolchain::preference_of(*(word + 1));
      word = rest.erase(word, word + 2);
    } else {
      ++word;
    }
  }
  if (rest.empty() || rest.front() == "--help" || rest.front() == "-h") {
    std::fwrite(kHelp.data(), 1, kHelp.size(), rest.empty() ? stderr : stdout);
    return rest.empty() ? kUsage : kOk;
  }
  return toolchain::run_driver(rest, toolchain, MUSCOPE_VERSION);
}

}  // namespace muscope::cli
