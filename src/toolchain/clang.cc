#include "toolchain/clang.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/diagnostic.h"

namespace muscope::toolchain {
namespace {

// clang knows CUDA releases up to these (clang/lib/Basic/Cuda.cpp of each release) and PTX versions up to these.
constexpr std::array<ClangRow, 3> kRows{{
    {19, "+ptx85", "12.5"},
    {20, "+ptx86", "12.8"},
    {22, "+ptx88", "12.9"},
}};

// Functions that the driver supplies to device code (CUDA programming guide: printf, assert, dynamic allocation).
constexpr std::string_view kDriverFunctions[] = {"vprintf", "malloc", "free", "__assertfail", "__assert_fail"};

void append(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

std::string architecture_text(const ClangSetup& setup) {
  std::string text = fmt::format("sm_{}", setup.architecture);
  if (setup.suffix != 0) text += setup.suffix;
  return text;
}

/// What both passes over a CUDA file share.
std::vector<std::string> shared_words(const ClangSetup& setup, const Flags& flags, const Input& input) {
  const ClangRow& row = clang_row(setup.clang.version);
  std::vector<std::string> words{setup.clang.path,
                                 "--cuda-path=/nonexistent",
                                 "-nocudainc",
                                 "-nocudalib",
                                 "-Xclang",
                                 fmt::format("-target-sdk-version={}", row.sdk_version),
                                 "--cuda-gpu-arch=" + architecture_text(setup),
                                 "-isystem",
                                 setup.layout.toolkit,
                                 "-include",
                                 setup.layout.toolkit + "/muscope/prelude.h",
                                 "-D__NVCC__=1",
                                 "-Wno-register",
                                 "-Qunused-arguments",
                                 setup.colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics"};
  if (input.musa) append(words, {"-include", setup.layout.toolkit + "/musa_runtime.h"});
  append(words, flags.preprocess);
  words.push_back("-std=" + (flags.standard.empty() ? std::string("c++17") : flags.standard));
  if (flags.per_thread_stream) words.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  if (flags.relocatable) words.emplace_back("-D__CUDACC_RDC__=1");
  return words;
}

/// nvcc optimises device code fully unless -G is given, whatever -O says about the host.
const char* device_level(const Flags& flags) { return flags.device_debug ? "-O0" : "-O3"; }

std::vector<std::string> host_words(const Flags& flags) {
  std::vector<std::string> words;
  // Unlike nvcc, host code is optimised by default: programs check their results on the host. -g alone means debugging.
  const char* otherwise = flags.debug ? "0" : "2";
  words.push_back("-O" + (flags.optimize.empty() ? std::string(otherwise) : flags.optimize));
  if (flags.debug) words.emplace_back("-g");
  if (wants_host_lines(flags)) words.emplace_back("-g1");
  if (flags.no_warnings) words.emplace_back("-w");
  if (flags.warnings_are_errors) words.emplace_back("-Werror");
  return words;
}

/// A C or C++ file: the host compiler alone, with our headers where nvcc gives its own.
std::vector<std::string> plain_command(const ClangSetup& setup, const Flags& flags, const Input& input) {
  std::vector<std::string> words{setup.host.path, "-x", input.language == Language::kC ? "c" : "c++"};
  append(words, flags.preprocess);
  append(words, {"-isystem", setup.layout.toolkit});
  if (!flags.standard.empty() && input.language != Language::kC) words.push_back("-std=" + flags.standard);
  if (flags.per_thread_stream) words.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  append(words, host_words(flags));
  append(words, flags.host_options);
  return words;
}

/// The host pass over a CUDA file up to its step.
std::vector<std::string> host_pass(const ClangSetup& setup, const Flags& flags, const Input& input) {
  std::vector<std::string> words = shared_words(setup, flags, input);
  append(words, {"-x", "cuda", "--cuda-host-only"});
  if (flags.per_thread_stream) words.emplace_back("-fgpu-default-stream=per-thread");
  append(words, host_words(flags));
  // Programs were tried with nvcc's host compiler, g++, under which generators that overflow an int happen to work.
  words.emplace_back("-fwrapv");
  append(words, flags.host_options);
  // Options for g++ that clang does not know must not fail the build.
  words.emplace_back("-Wno-unknown-warning-option");
  return words;
}

/// Is one of the words of `text` that begin at `at` preceded only by blanks on its line?
bool starts_line(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

/// The symbol that an .extern declaration names: what stands before its parameters, brackets or semicolon.
std::string declared_name(std::string_view declaration) {
  // ".extern .func (.param .b32 func_retval0) name (...)": a return value comes first.
  std::size_t at = declaration.find(".func");
  if (at != std::string_view::npos) {
    at += 5;
    while (at < declaration.size() && (declaration[at] == ' ' || declaration[at] == '\t' || declaration[at] == '\n'))
      ++at;
    if (at < declaration.size() && declaration[at] == '(') at = declaration.find(')', at) + 1;
    while (at < declaration.size() && !is_name_char(declaration[at])) ++at;
    std::size_t end = at;
    while (end < declaration.size() && is_name_char(declaration[end])) ++end;
    return std::string(declaration.substr(at, end - at));
  }
  std::size_t end = declaration.find_first_of("[;=");
  if (end == std::string_view::npos) end = declaration.size();
  while (end > 0 && !is_name_char(declaration[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_name_char(declaration[begin - 1])) --begin;
  return std::string(declaration.substr(begin, end - begin));
}

}  // namespace

const ClangRow& clang_row(const Version& version) {
  if (version.major < kOldestClang) {
    fail("D402",
         fmt::format("clang {} is too old to compile CUDA here: {} or newer is needed", version.text(), kOldestClang),
         clang_install_command());
  }
  const ClangRow* best = &kRows.front();
  for (const ClangRow& row : kRows) {
    if (row.major <= version.major) best = &row;
  }
  return *best;
}

std::vector<std::string> device_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                        const std::string& ir, const std::string& dependency_file) {
  std::vector<std::string> words = shared_words(setup, flags, input);
  append(words, {"-x", "cuda", "--cuda-device-only",
                 fmt::format("--cuda-feature={}", clang_row(setup.clang.version).ptx_feature)});
  if (input.musa) {
    const int musa = flags.musa_architecture != 0 ? flags.musa_architecture : setup.musa_architecture;
    words.push_back(fmt::format("-D__MUSA_ARCH__={}", musa));
  }
  words.emplace_back(device_level(flags));
  append(words, {"-gline-tables-only", "-w"});
  // nvcc unrolls more than LLVM does by itself. With these, two of 71 kernels of the examples execute 1 and 12 % more
  // instructions than nvcc's build instead of 38 and 32 %, and none gets farther away (docs/toolchains.md).
  if (!flags.device_debug)
    append(words, {"-mllvm", "-unroll-threshold=1000", "-mllvm", "-unroll-partial-threshold=150"});
  const FloatRules& floats = flags.floats;
  if (floats.contract) {
    words.emplace_back("-ffp-contract=fast-honor-pragmas");
  } else {
    append(words, {"-ffp-contract=off", "-DMUSCOPE_NO_FMAD=1"});
  }
  if (floats.flush_denormals) words.emplace_back("-fgpu-flush-denormals-to-zero");
  if (floats.fast_functions) words.emplace_back("-fgpu-approx-transcendentals");
  if (!dependency_file.empty()) append(words, {"-MD", "-MF", dependency_file});
  append(words, {"-emit-llvm", "-S", "-o", ir, input.path});
  return words;
}

std::vector<std::string> back_end_command(const ClangSetup& setup, const Flags& flags, const std::string& ir,
                                          const std::string& ptx) {
  std::vector<std::string> words{setup.clang.path, "-x", "ir", "--target=nvptx64-nvidia-cuda", "-nocudalib",
                                 "-Qunused-arguments", "-Xclang", "-target-cpu", "-Xclang", architecture_text(setup),
                                 "-Xclang", "-target-feature", "-Xclang", clang_row(setup.clang.version).ptx_feature,
                                 // The optimiser has run already.
                                 "-Xclang", "-disable-llvm-passes"};
  words.emplace_back(device_level(flags));
  const FloatRules& floats = flags.floats;
  words.emplace_back(floats.contract ? "-ffp-contract=on" : "-ffp-contract=off");
  // LLVM's NVPTX back end: 0 is div.approx (what -use_fast_math makes), 1 is div.full (-prec-div=false), 2 rounds
  // right.
  if (!floats.precise_division) {
    append(words, {"-mllvm", fmt::format("-nvptx-prec-divf32={}", floats.fast_functions ? 0 : 1)});
  }
  if (!floats.precise_sqrt) append(words, {"-mllvm", "-nvptx-prec-sqrtf32=0"});
  append(words, {"-S", "-o", ptx, ir});
  return words;
}

std::vector<std::string> host_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                      const std::string& ptx, const std::string& object) {
  if (input.language != Language::kCuda) {
    std::vector<std::string> words = plain_command(setup, flags, input);
    append(words, {"-c", "-o", object, input.path});
    return words;
  }
  std::vector<std::string> words = host_pass(setup, flags, input);
  append(words, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", ptx, "-c", "-o", object, input.path});
  return words;
}

std::vector<std::string> preprocess_command(const ClangSetup& setup, const Flags& flags, const Input& input,
                                            const std::vector<std::string>& step) {
  std::vector<std::string> words =
      input.language == Language::kCuda ? host_pass(setup, flags, input) : plain_command(setup, flags, input);
  append(words, step);
  words.push_back(input.path);
  return words;
}

std::vector<std::string> link_command(const ClangSetup& setup, const Flags& flags,
                                      const std::vector<std::string>& files, const std::string& output) {
  std::vector<std::string> words{setup.host.path};
  if (flags.output == Output::kShared) words.emplace_back("-shared");
  if (flags.debug) words.emplace_back("-g");
  append(words, flags.host_options);
  // In one group, as nvcc does it: the order of objects and libraries does not matter.
  words.emplace_back("-Wl,--start-group");
  append(words, files);
  append(words, flags.link_options);
  // lib64 holds the names that build files ask for (libcudart.so, libcudart_static.a, libcudadevrt.a).
  words.push_back("-L" + setup.layout.toolkit_root + "/lib64");
  if (flags.link_runtime) words.emplace_back("-lcudart");
  words.emplace_back("-Wl,--end-group");
  // So that the program also starts without muscope run (it then runs, and reports nothing).
  append(words, {"-Xlinker", "--enable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", setup.layout.libraries});
  append(words, {"-o", output});
  return words;
}

std::vector<Diagnostic> clang_notes(const Flags& flags) {
  std::vector<Diagnostic> notes = flags.notes;
  for (const std::string& option : flags.ptxas_options) {
    const bool only_messages = option == "-v" || option == "--verbose" || option == "-w" || option.starts_with("-O") ||
                               option.starts_with("-warn") || option.starts_with("--warn");
    if (only_messages) continue;
    Diagnostic note;
    note.severity = Severity::kNote;
    note.code = "D409";
    note.text =
        fmt::format("option '-Xptxas {}' was taken, but it has no effect: clang makes PTX, not machine code", option);
    note.hint = "the nvcc path hands it to ptxas: --toolchain nvcc";
    notes.push_back(std::move(note));
  }
  return notes;
}

std::string with_register_limit(const std::string& ptx, int registers) {
  constexpr std::string_view kEntry = ".entry";
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + kEntry.size())) {
    const std::size_t line = ptx.rfind('\n', at) == std::string::npos ? 0 : ptx.rfind('\n', at) + 1;
    const std::string_view before(ptx.data() + line, at - line);
    const std::size_t body = ptx.find('{', at);
    if (before.find("//") != std::string_view::npos || body == std::string::npos) continue;
    const std::string_view head(ptx.data() + at, body - at);
    // PTX ISA, .maxnreg: it cannot be combined with .minnctapersm or .maxnctapersm.
    if (head.find(".maxnreg") != std::string_view::npos || head.find("nctapersm") != std::string_view::npos) continue;
    out.append(ptx, copied, body - copied);
    out += fmt::format(".maxnreg {}\n", registers);
    copied = body;
  }
  out.append(ptx, copied);
  return out;
}

std::vector<std::string> unresolved_symbols(const std::string& ptx) {
  constexpr std::string_view kExtern = ".extern";
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(kExtern); at != std::string::npos; at = ptx.find(kExtern, at + 1)) {
    if (!starts_line(ptx, at)) continue;
    const std::size_t end = std::min(ptx.find(';', at), ptx.size());
    const std::string_view declaration(ptx.data() + at, end - at);
    // Dynamic shared memory is declared .extern .shared and belongs to the launch.
    if (declaration.find(".shared") != std::string_view::npos) continue;
    std::string name = declared_name(declaration);
    const bool from_driver =
        std::find(std::begin(kDriverFunctions), std::end(kDriverFunctions), name) != std::end(kDriverFunctions);
    if (!from_driver && !name.empty()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace muscope::toolchain
