// From CUDA or MUSA source to a program that `muscope run` can execute: with nvcc where there is one, otherwise with
// clang and muscope's own device headers. Results are cached by content.
//
//   CompileRequest request;
//   request.sources = {"transpose.cu"};
//   const Compiled built = compile(request);   // built.program: an executable with PTX, linked to libcudart.so.13
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {

enum class Preference { kAuto, kNvcc, kClang };

/// "auto", "nvcc" or "clang"; throws Error D408 for anything else.
Preference preference_of(std::string_view name);

/// What to compile and how.
struct CompileRequest {
  std::vector<std::string> sources;  ///< .cu, .mu, .cpp, .cc, .cxx, .c files, .o and .a; at least one
  int cc_major = 9;                  ///< compute capability of the GPU that the program is to run on
  int cc_minor = 0;
  int musa_architecture = 0;  ///< 210, 220, 310: the GPU is Moore Threads' mp_21, ...; cc is then ignored
  Preference toolchain = Preference::kAuto;
  std::vector<std::string> flags;  ///< the user's flags in nvcc's spelling, one word each (process.h: split_words)
  bool use_cache = true;
  bool quiet = false;  ///< true: the compiler's warnings are not shown (its errors always are)
};

/// The result of a compilation.
struct Compiled {
  std::string program;    ///< path of the executable, in the cache; do not modify it
  std::string toolchain;  ///< "nvcc 13.0.88" or "clang 22.1.8"
  int cc_major = 0;       ///< target of the PTX inside
  int cc_minor = 0;
  bool from_cache = false;
  std::vector<Diagnostic> diagnostics;  ///< notes and warnings, for example D410: another target had to be taken
};

/// True when the file name is a source that compile() takes (".cu", ".mu"): told apart from a finished program.
bool is_device_source(std::string_view path);

/// Compiles and links. The compiler's own messages go to stderr as it printed them. Throws Error: D401 no compiler,
/// D402 the wanted one is missing, D403 it rejected the source, D404 the linker failed, D405 a file that cannot be
/// used, D406 to D408 about flags, D411 an incomplete muscope installation.
Compiled compile(const CompileRequest& request);

/// The same with compilers looked for in these places only.
Compiled compile(const CompileRequest& request, const SearchPlaces& places);

}  // namespace muscope::toolchain
