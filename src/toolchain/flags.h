// nvcc's command line, understood once for all who need it: `--compile-flags` of run and check, `muscope cc`, and both
// compilers behind them. Every option of nvcc 13.0 (nvcc --help) is honoured, accepted without effect, or refused by
// name; option_table.cc lists which.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace muscope::toolchain {

/// What a command line asks for.
enum class Output {
  kProgram,
  kShared,        ///< -shared
  kObject,        ///< -c, -dc
  kPreprocessed,  ///< -E
  kDependencies,  ///< -M, -MM
  kPtx,           ///< -ptx
  kDeviceLink,    ///< -dlink
  kArchive,       ///< -lib
  kVersion,       ///< --version
  kHelp,
  kListCode,  ///< --list-gpu-code, --list-gpu-arch
};

/// How an input file is treated; by its ending, or by -x.
enum class Language { kCuda, kCxx, kC, kPtx, kLinkInput, kUnknown };

Language language_of(std::string_view path);

struct Input {
  std::string path;
  Language language = Language::kUnknown;
  bool musa = false;  ///< CUDA under MUSA's names: .mu, or -x musa
};

/// One target of -arch, -code or -gencode: "compute_90", "sm_90a".
struct GpuTarget {
  int cc = 0;              ///< 90
  char suffix = 0;         ///< 'a' or 'f', 0 for none
  bool is_virtual = true;  ///< compute_NN (PTX) rather than sm_NN (machine code)

  bool operator==(const GpuTarget&) const = default;
  std::string text() const;
};

/// Rules of floating-point arithmetic in device code (nvcc's defaults).
struct FloatRules {
  bool flush_denormals = false;  ///< -ftz
  bool precise_division = true;  ///< -prec-div
  bool precise_sqrt = true;      ///< -prec-sqrt
  bool contract = true;          ///< -fmad
  bool fast_functions = false;   ///< -use_fast_math: __sinf and the like
};

/// -M, -MM, -MD, -MMD and their companions.
struct DependencyRules {
  bool wanted = false;
  bool skip_system = false;          ///< -MM, -MMD
  bool phony = false;                ///< -MP
  std::string file;                  ///< -MF
  std::vector<std::string> targets;  ///< -MT
};

/// A command line, understood.
struct Flags {
  Output output = Output::kProgram;
  std::string output_file;
  std::string output_directory;
  std::vector<Input> inputs;
  std::vector<std::string> preprocess;    ///< -I, -isystem, -D, -U, -include as gcc and clang spell them
  std::string standard;                   ///< "c++17"; empty: the compiler's default
  std::string optimize;                   ///< "0".."3", "s", "fast"; empty: not given
  bool debug = false;                     ///< -g
  bool device_debug = false;              ///< -G
  bool line_info = false;                 ///< -lineinfo
  std::vector<GpuTarget> targets;         ///< as given, without repeats; empty: not given
  std::vector<std::string> host_options;  ///< -Xcompiler, and unknown options where those go to the host compiler
  std::vector<std::string> link_options;  ///< -l, -L, -Xlinker in the order given, as a compiler driver spells them
  std::vector<std::string> ptxas_options;
  std::string host_compiler;  ///< -ccbin: a program or its folder; empty: not given
  int musa_architecture = 0;  ///< --offload-arch=mp_22: 220; 0: not given
  int max_registers = 0;      ///< -maxrregcount; 0: no limit
  FloatRules floats;
  DependencyRules dependencies;
  bool relocatable = false;        ///< -rdc=true, -dc
  bool per_thread_stream = false;  ///< -default-stream per-thread
  bool restrict_pointers = false;
  bool no_warnings = false;
  bool warnings_are_errors = false;
  bool link_runtime = true;  ///< false with -cudart none
  bool verbose = false;      ///< -v
  bool dry_run = false;
  std::vector<std::string> words;  ///< all options as given (without inputs, -o and the step), for nvcc itself
  std::vector<Diagnostic> notes;   ///< D409: accepted without effect, and why
};

/// Where the words come from: decides what is allowed.
enum class FlagSource {
  kCompileFlags,  ///< `--compile-flags`: muscope itself chooses step, output and inputs
  kCommandLine,   ///< `muscope cc`
};

/// Reads the words. Throws Error D405 (unreadable options file), D406 (unknown option), D407 (known but not possible;
/// says what to do), D408 (bad or missing value).
Flags parse_flags(std::span<const std::string> words, FlagSource source);

/// True for an option of nvcc's, with or without its value in the same word ("-O2", "-arch=sm_80"); also when it cannot
/// be honoured.
bool is_option(std::string_view word);

/// "sm_90a" or "compute_90" or "90"; throws Error D408. `option` is named in the message.
GpuTarget parse_target(std::string_view text, std::string_view option);

/// The virtual target that a program for these targets should hold: the newest PTX asked for, else that of the newest
/// machine code; all zero when none is given.
GpuTarget newest_target(std::span<const GpuTarget> targets);

/// Host code gets line tables (gcc's and clang's -g1), so that a report can name the lines that copy: unless the user
/// decided about debug information.
bool wants_host_lines(const Flags& flags);

}  // namespace muscope::toolchain
