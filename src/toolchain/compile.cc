#include "toolchain/compile.h"
#include "toolchain/musa_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "toolchain/build_steps.h"
#include "toolchain/cache.h"
#include "toolchain/flags.h"
#include "toolchain/layout.h"
#include "toolchain/musa_source.h"
#include "toolchain/nvcc.h"
#include "toolchain/read_file.h"
#include "toolchain/targets.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;
namespace {

/// Variables that change what a compiler reads or does, besides its command line.
constexpr const char* kCompilerVariables[] = {"CPATH",
                                              "C_INCLUDE_PATH",
                                              "CPLUS_INCLUDE_PATH",
                                              "LIBRARY_PATH",
                                              "NVCC_CCBIN",
                                              "NVCC_PREPEND_FLAGS",
                                              "NVCC_APPEND_FLAGS",
                                              "SOURCE_DATE_EPOCH",
                                              "CCC_OVERRIDE_OPTIONS"};

/// MUSA GPUs take their code as this architecture's PTX: what they offer is about what this one does.
constexpr int kTargetForMusa = 80;

/// One of the two compilers, ready to be called.
struct Chosen {
  std::optional<NvccSetup> nvcc;
  std::optional<ClangSetup> clang;

  const Tool& tool() const { return nvcc ? nvcc->nvcc : clang->clang; }
};

/// What keeps a file from being compiled to a program.
std::string no_language(const std::string& path) {
  if (language_of(path) == Language::kPtx) return "programs load PTX at run time, it is not linked into them";
  const std::string ending = fs::path(path).extension().string();
  return ending.empty() ? std::string("its name has no ending, which would tell the language")
                        : fmt::format("its ending {} names no language", ending);
}

std::vector<Input> inputs_of(const CompileRequest& request) {
  if (request.sources.empty()) fail("D405", "no source file was given");
  std::vector<Input> inputs;
  for (const std::string& source : request.sources) {
    if (const std::string why = why_unreadable(source); !why.empty())
      fail("D405", fmt::format("cannot read the source file '{}': {}", source, why));
    const Language language = language_of(source);
    if (language == Language::kUnknown || language == Language::kPtx) {
      fail("D405",
           fmt::format("'{}' is no source file that can be compiled to a program: {}", source, no_language(source)),
           "give .cu, .mu, .cpp, .cc, .cxx or .c files, objects (.o) or libraries (.a)");
    }
    const bool musa = source.ends_with(".mu") || (language == Language::kCuda && includes_musa(source));
    inputs.push_back({source, language, musa});
  }
  return inputs;
}

Chosen choose(const CompileRequest& request, const std::vector<Input>& inputs, const Flags& flags,
              const SearchPlaces& places) {
  const bool musa = std::any_of(inputs.begin(), inputs.end(), [](const Input& input) { return input.musa; });
  Chosen chosen;
  if (request.toolchain == Preference::kNvcc && musa) {
    fail("D402", "nvcc cannot compile MUSA sources", "leave out --toolchain nvcc: clang compiles them");
  }
  if (request.toolchain != Preference::kClang && !musa) {
    if (const std::optional<Tool> nvcc = find_nvcc(places)) {
      chosen.nvcc = NvccSetup{*nvcc, 0};
      return chosen;
    }
    if (request.toolchain == Preference::kNvcc) {
      fail("D402", "nvcc was not found",
           "set CUDA_HOME to the toolkit's folder, or leave out --toolchain nvcc to use clang");
    }
  }
  if (request.toolchain == Preference::kClang && !find_clang(places)) {
    fail("D402", fmt::format("clang {} or newer was not found", kOldestClang), clang_install_command());
  }
  chosen.clang = find_clang_setup(places, Layout::of_this_program(), flags);
  return chosen;
}

/// A CUDA_HOME that leads nowhere is set for a reason: say that another compiler was taken.
void note_cuda_home(const SearchPlaces& places, const Chosen& chosen, Compiled& compiled) {
  std::error_code error;
  if (places.cuda_home.empty() || fs::exists(places.cuda_home + "/bin/nvcc", error)) return;
  Diagnostic note;
  note.severity = Severity::kNote;
  note.code = "D415";
  note.text = fmt::format("CUDA_HOME is '{}', which has no bin/nvcc; compiled with {} ({})", places.cuda_home,
                          chosen.tool().text(), chosen.tool().path);
  note.hint = "set CUDA_HOME to the toolkit's folder, or unset it";
  compiled.diagnostics.push_back(std::move(note));
}

/// Settles the architecture, in the setup and in `compiled`, and notes where it is not the wanted one.
void settle_architecture(const CompileRequest& request, const Flags& flags, Chosen& chosen, Compiled& compiled) {
  const GpuTarget asked = newest_target(flags.targets);
  int wanted = asked.cc != 0 ? asked.cc : request.cc_major * 10 + request.cc_minor;
  if (request.musa_architecture != 0 && asked.cc == 0) wanted = kTargetForMusa;
  const int got = nearest_architecture(supported_architectures(chosen.tool()), wanted);
  if (chosen.nvcc) chosen.nvcc->architecture = got;
  if (chosen.clang) {
    chosen.clang->architecture = got;
    chosen.clang->suffix = got == wanted ? asked.suffix : '\0';
    if (request.musa_architecture != 0) chosen.clang->musa_architecture = request.musa_architecture;
  }
  compiled.cc_major = got / 10;
  compiled.cc_minor = got % 10;
  if (got == wanted || (chosen.nvcc && asked.cc != 0)) return;
  Diagnostic note;
  note.severity = Severity::kNote;
  note.code = "D410";
  note.text = fmt::format("{} cannot make code for sm_{}; compiled for sm_{}", chosen.tool().text(), wanted, got);
  note.hint = "muscope explain D410 says what that means for the numbers";
  compiled.diagnostics.push_back(std::move(note));
}

/// Every word of every command that would be run, with stand-ins for the names of intermediate files.
std::vector<std::string> all_commands(Chosen chosen, const Flags& flags, const std::vector<Input>& inputs) {
  if (chosen.clang) chosen.clang->colour = false;  // messages may look different, the program does not
  std::vector<std::string> words;
  const auto add = [&](const std::vector<std::string>& command) {
    words.insert(words.end(), command.begin(), command.end());
    words.emplace_back("\n");
  };
  for (const Input& input : inputs) {
    if (input.language == Language::kLinkInput) {
      words.push_back(input.path);
    } else if (chosen.nvcc) {
      add(nvcc_object_command(*chosen.nvcc, flags, input, "OBJECT", "DEPENDS"));
    } else {
      if (input.language == Language::kCuda) {
        add(device_command(*chosen.clang, flags, input, "IR", "DEPENDS"));
        add(back_end_command(*chosen.clang, flags, "IR", "PTX"));
      }
      add(host_command(*chosen.clang, flags, input, "PTX", "OBJECT"));
    }
  }
  add(chosen.nvcc ? nvcc_link_command(*chosen.nvcc, flags, {}, "PROGRAM")
                  : link_command(*chosen.clang, flags, {}, "PROGRAM"));
  return words;
}

std::string cache_key(const Chosen& chosen, const Flags& flags, const std::vector<Input>& inputs) {
  Hasher hasher;
  // To be raised when muscope's own steps between the commands change.
  hasher.add("program 2");
  hasher.add(chosen.tool().text());
  if (chosen.clang) hasher.add(chosen.clang->host.text());
  for (const std::string& word : all_commands(chosen, flags, inputs)) hasher.add(word);
  hasher.add(std::to_string(flags.max_registers));
  // Relative include folders and the names in line tables depend on it.
  std::error_code error;
  hasher.add(fs::current_path(error).string());
  for (const char* name : kCompilerVariables) {
    const char* value = std::getenv(name);
    hasher.add(value != nullptr ? value : "");
  }
  return hasher.hex();
}

/// Where the pieces of one compilation go: a folder that is removed again.
class WorkFolder {
 public:
  explicit WorkFolder(Cache& cache) : path_(cache.make_work_directory()) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code error;
    if (!kept_) fs::remove_all(path_, error);
  }
  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

std::string read_text(const std::string& path) { return read_file(path).value_or(""); }

/// Compiles and links into work.file("program"); returns every file that was read.
std::vector<std::string> build(const Chosen& chosen, const Flags& flags, const std::vector<Input>& inputs,
                               const WorkFolder& work, Steps& steps) {
  std::vector<std::string> read;
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    read.push_back(input.path);
    if (input.language == Language::kLinkInput) {
      objects.push_back(input.path);
      continue;
    }
    const std::string stem = fmt::format("{}.{}", fs::path(input.path).stem().string(), i);
    const std::string object = work.file(stem + ".o");
    const std::string depends = work.file(stem + ".d");
    if (chosen.nvcc) {
      steps.run(nvcc_object_command(*chosen.nvcc, flags, input, object, depends), "D403", input.path);
    } else {
      clang_object(*chosen.clang, flags, input, object, work.file(stem + ".ptx"), depends, {}, steps);
    }
    for (std::string& file : files_in_rule(read_text(depends))) read.push_back(std::move(file));
    objects.push_back(object);
  }
  const std::string program = work.file("program");
  const std::vector<std::string> link = chosen.nvcc ? nvcc_link_command(*chosen.nvcc, flags, objects, program)
                                                    : link_command(*chosen.clang, flags, objects, program);
  steps.run(link, "D404", "the program at its link");
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return read;
}

}  // namespace

Preference preference_of(std::string_view name) {
  if (name == "auto") return Preference::kAuto;
  if (name == "nvcc") return Preference::kNvcc;
  if (name == "clang") return Preference::kClang;
  fail("D408", fmt::format("unknown toolchain '{}'", name), "auto, nvcc or clang");
}

bool is_device_source(std::string_view path) { return path.ends_with(".cu") || path.ends_with(".mu"); }

Compiled compile(const CompileRequest& request) { return compile(request, SearchPlaces::from_environment()); }

Compiled compile(const CompileRequest& request, const SearchPlaces& places) {
  const std::vector<Input> inputs = inputs_of(request);
  const Flags flags = parse_flags(request.flags, FlagSource::kCompileFlags);
  Chosen chosen = choose(request, inputs, flags, places);
  if (chosen.clang) {
    chosen.clang->layout.require_toolkit();
    chosen.clang->layout.require_libraries();
  }
  Compiled compiled;
  compiled.toolchain = chosen.tool().text();
  note_cuda_home(places, chosen, compiled);
  settle_architecture(request, flags, chosen, compiled);
  if (chosen.clang) {
    for (Diagnostic& note : clang_notes(flags)) compiled.diagnostics.push_back(std::move(note));
  }

  std::optional<Cache> cache = Cache::of_user();
  if (!cache) fail("D412", "no folder for compiled programs can be written", "set XDG_CACHE_HOME to a folder of yours");
  const std::string key = cache_key(chosen, flags, inputs);
  if (request.use_cache) {
    if (const std::optional<CachedProgram> found = cache->find_program(key)) {
      compiled.program = found->program;
      compiled.from_cache = true;
      return compiled;
    }
  }
  WorkFolder work(*cache);
  Steps steps;
  const std::vector<std::string> read = build(chosen, flags, inputs, work, steps);
  if (!request.quiet) steps.flush();

  const std::string name = fs::path(request.sources.front()).stem().string();
  const std::string info = fmt::format("{}\nsm_{}{}\n", compiled.toolchain, compiled.cc_major, compiled.cc_minor);
  std::optional<CachedProgram> stored;
  if (request.use_cache) stored = cache->store_program(key, read, work.file("program"), name, info);
  if (stored) {
    compiled.program = stored->program;
  } else {
    // It stays in the work folder, which a later run clears away.
    work.keep();
    compiled.program = work.file("program");
  }
  return compiled;
}

}  // namespace muscope::toolchain
