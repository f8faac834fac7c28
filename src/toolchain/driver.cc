#include "toolchain/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "toolchain/build_steps.h"
#include "toolchain/mcc.h"
#include "toolchain/musa_source.h"
#include "toolchain/nvcc.h"
#include "toolchain/process.h"
#include "toolchain/read_file.h"
#include "toolchain/targets.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;
namespace {

/// The architecture taken when none is asked for: that of the GPU which `muscope run` takes by default.
constexpr int kDefaultArchitecture = 90;

/// A folder under $TMPDIR that is removed again.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = fs::temp_directory_path(error).string() + "/muscope-cc-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
      fail("D412", "no temporary folder can be made", "set TMPDIR to a folder of yours");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Steps::Show show_of(const Flags& flags) {
  if (flags.dry_run) return Steps::Show::kCommandsOnly;
  return flags.verbose ? Steps::Show::kCommands : Steps::Show::kNothing;
}

class Driver {
 public:
  Driver(Flags flags, ClangSetup setup) : flags_(std::move(flags)), setup_(std::move(setup)), steps_(show_of(flags_)) {}

  void run() {
    if (flags_.verbose || flags_.dry_run) print_variables();
    for (const Diagnostic& note : clang_notes(flags_)) std::fputs(to_text(note).c_str(), stderr);
    check_inputs();
    switch (flags_.output) {
      case Output::kObject:
        objects();
        break;
      case Output::kPtx:
        ptx();
        break;
      case Output::kPreprocessed:
        preprocess({"-E"});
        break;
      case Output::kDependencies:
        preprocess(dependency_step());
        break;
      case Output::kDeviceLink:
        device_link();
        break;
      case Output::kArchive:
        archive();
        break;
      default:
        link();
        break;
    }
    steps_.flush();
  }

 private:
  void print_variables() const;
  void check_inputs() const;

  std::string output_or(const std::string& otherwise) const {
    if (!flags_.output_file.empty()) return flags_.output_file;
    return flags_.output_directory.empty() ? otherwise : flags_.output_directory + "/" + otherwise;
  }

  static std::string stem(const Input& input) { return fs::path(input.path).stem().string(); }

  std::vector<std::string> dependency_step() const {
    std::vector<std::string> step{flags_.dependencies.skip_system ? "-MM" : "-M"};
    add_dependency_words(step, "");
    return step;
  }

  /// -MF, -MT, -MP; a target of its own keeps the temporary object's name out of the rule.
  void add_dependency_words(std::vector<std::string>& words, const std::string& target) const {
    const DependencyRules& rules = flags_.dependencies;
    if (!rules.file.empty()) words.insert(words.end(), {"-MF", rules.file});
    if (rules.phony) words.emplace_back("-MP");
    for (const std::string& name : rules.targets) words.insert(words.end(), {"-MT", name});
    if (rules.targets.empty() && !target.empty()) words.insert(words.end(), {"-MT", target});
  }

  /// What -MD and -MMD add to the host pass of a file.
  std::vector<std::string> dependency_words(const std::string& object) const {
    if (!flags_.dependencies.wanted) return {};
    std::vector<std::string> words{flags_.dependencies.skip_system ? "-MMD" : "-MD"};
    add_dependency_words(words, object);
    if (flags_.dependencies.file.empty()) {
      words.insert(words.end(), {"-MF", fs::path(object).replace_extension(".d").string()});
    }
    return words;
  }

  void object_of(const Input& input, const std::string& object, const std::string& named) {
    clang_object(setup_, flags_, input, object, scratch_.file(stem(input) + ".ptx"), "", dependency_words(named),
                 steps_);
  }

  void objects() {
    for (const Input& input : flags_.inputs) {
      const std::string object = output_or(stem(input) + ".o");
      object_of(input, object, object);
    }
  }

  void ptx() {
    for (const Input& input : flags_.inputs) {
      if (input.language == Language::kCuda)
        clang_ptx(setup_, flags_, input, output_or(stem(input) + ".ptx"), "", steps_);
    }
  }

  void preprocess(std::vector<std::string> step) {
    if (!flags_.output_file.empty()) step.insert(step.end(), {"-o", flags_.output_file});
    for (const Input& input : flags_.inputs) {
      const std::string out = steps_.run(preprocess_command(setup_, flags_, input, step), "D403", input.path);
      std::fwrite(out.data(), 1, out.size(), stdout);
    }
  }

  /// Objects of the sources among the inputs, made in the scratch folder.
  std::vector<std::string> scratch_objects() {
    std::vector<std::string> made;
    for (const Input& input : flags_.inputs) {
      if (input.language == Language::kLinkInput) continue;  // among link_options already
      const std::string name = fmt::format("{}.{}.o", stem(input), made.size());
      object_of(input, scratch_.file(name), stem(input) + ".o");
      made.push_back(scratch_.file(name));
    }
    return made;
  }

  void link() {
    const std::vector<std::string> made = scratch_objects();
    setup_.layout.require_libraries();
    steps_.run(link_command(setup_, flags_, made, output_or("a.out")), "D404", "the program at its link");
  }

  /// Device code is complete in each object, so there is nothing to link: an empty object takes the place.
  void device_link() {
    steps_.run({setup_.host.path, "-x", "c", "-fPIC", "-c", "/dev/null", "-o", output_or("a_dlink.o")}, "D404",
               "an empty object");
  }

  void archive() {
    std::vector<std::string> command{"ar", "rcs", output_or("a.a")};
    for (std::string& object : scratch_objects()) command.push_back(std::move(object));
    for (const Input& input : flags_.inputs) {
      if (input.language == Language::kLinkInput) command.push_back(input.path);
    }
    steps_.run(command, "D404", "the library");
  }

  Flags flags_;
  ClangSetup setup_;
  Steps steps_;
  TemporaryFolder scratch_;
};

/// The lines that CMake's CUDA detection reads from `nvcc -v` (Modules/CMakeDetermineCUDACompiler.cmake): where the
/// toolkit is, and which words of the link line belong to CUDA. The link line itself repeats LIBRARIES.
void Driver::print_variables() const {
  const std::string& root = setup_.layout.toolkit_root;
  const char* path = std::getenv("PATH");
  fmt::print(stderr, "#$ _HERE_={}/bin\n", root);
  fmt::print(stderr, "#$ TOP={}\n", root);
  fmt::print(stderr, "#$ NVVMIR_LIBRARY_DIR={}/nvvm/libdevice\n", root);
  fmt::print(stderr, "#$ PATH={}\n", path != nullptr ? path : "");
  fmt::print(stderr, "#$ INCLUDES=\"-I{}/include\"\n", root);
  fmt::print(stderr, "#$ LIBRARIES=-L{}/lib64\n", root);
  fmt::print(stderr, "#$ MUSCOPE_TARGET= -arch compute_{}\n", setup_.architecture);
}

void Driver::check_inputs() const {
  if (flags_.inputs.empty()) fail("D405", "no input file was given");
  for (const Input& input : flags_.inputs) {
    if (input.language == Language::kUnknown) {
      fail("D405", fmt::format("'{}': its ending names no language and no kind of object or library", input.path),
           "sources end in .cu, .mu, .cpp, .cc, .cxx or .c; -x cu takes any name");
    }
    if (input.language == Language::kPtx) {
      fail("D405", fmt::format("'{}': PTX files cannot be compiled to machine code here", input.path),
           "a program can load them at run time (cudaLibraryLoadFromFile)");
    }
    std::error_code error;
    if (const std::string why = why_unreadable(input.path); !why.empty() && !fs::is_character_file(input.path, error))
      fail("D405", fmt::format("cannot read '{}': {}", input.path, why));
  }
  const bool one_each = flags_.output == Output::kObject || flags_.output == Output::kPtx ||
                        flags_.output == Output::kPreprocessed || flags_.output == Output::kDependencies;
  if (one_each && flags_.inputs.size() > 1 && !flags_.output_file.empty()) {
    fail("D408", fmt::format("one output file ('{}') for {} inputs", flags_.output_file, flags_.inputs.size()),
         "leave out -o, or compile them one by one");
  }
  if (!flags_.output_file.empty()) {
    const fs::path folder = fs::path(flags_.output_file).parent_path();
    std::error_code error;
    if (!folder.empty() && !fs::is_directory(folder, error)) {
      fail("D405", fmt::format("the folder of the output file '{}' does not exist", flags_.output_file));
    }
  }
}

void settle_target(ClangSetup& setup, const Flags& flags) {
  const GpuTarget asked = newest_target(flags.targets);
  const int wanted = asked.cc != 0 ? asked.cc : kDefaultArchitecture;
  setup.architecture = nearest_architecture(supported_architectures(setup.clang), wanted);
  setup.suffix = setup.architecture == wanted ? asked.suffix : '\0';
  if (setup.architecture == wanted) return;
  Diagnostic note;
  note.severity = Severity::kNote;
  note.code = "D410";
  note.text =
      fmt::format("{} cannot make code for sm_{}; compiled for sm_{}", setup.clang.text(), wanted, setup.architecture);
  std::fputs(to_text(note).c_str(), stderr);
}

int run_nvcc(const std::vector<std::string>& args, const SearchPlaces& places) {
  const std::optional<Tool> nvcc = find_nvcc(places);
  if (!nvcc)
    fail("D402", "nvcc was not found", "set CUDA_HOME to the toolkit's folder, or use clang: --toolchain clang");
  const Flags flags = parse_flags(args, FlagSource::kCommandLine);
  ProcessOptions options;
  options.capture_out = false;
  options.capture_err = false;
  const ProcessResult result = run_process(nvcc_stand_in_command(*nvcc, args, flags), options);
  if (!result.start_error.empty() || result.signal != 0) fail("D414", "nvcc " + describe_end(result));
  return result.exit_code;
}

}  // namespace

std::string driver_version_text(const std::string& version, const std::string& compiler) {
  return fmt::format(
      "muscope cc {}: compiles CUDA programs with {} and needs no CUDA toolkit\n"
      "It answers where build scripts look for \"nvcc: NVIDIA (R) Cuda compiler driver\",\n"
      "and takes the command lines of Cuda compilation tools, release 13.0, V13.0.88\n",
      version, compiler);
}

int run_driver(const std::vector<std::string>& args, Preference toolchain, const std::string& version) {
  const SearchPlaces places = SearchPlaces::from_environment();
  if (toolchain == Preference::kNvcc) return run_nvcc(args, places);
  std::vector<std::string> left_out;
  const std::vector<std::string> words = is_for_mcc(args) ? from_mcc(args, left_out) : args;
  for (const std::string& word : left_out)
    std::fputs(to_text(Diagnostic{Severity::kNote,
                                  "D409",
                                  fmt::format("option '{}' was taken, but it is for mcc's code generator", word),
                                  {},
                                  {}})
                   .c_str(),
               stderr);
  Flags flags = parse_flags(words, FlagSource::kCommandLine);
  if (flags.output == Output::kVersion) {
    const std::optional<Tool> clang = find_clang(places);
    std::fputs(driver_version_text(version, clang ? clang->text() : "clang (not found)").c_str(), stdout);
    return 0;
  }
  ClangSetup setup = find_clang_setup(places, Layout::of_this_program(), flags);
  if (flags.output == Output::kListCode) {
    for (const int architecture : supported_architectures(setup.clang)) fmt::print("sm_{}\n", architecture);
    return 0;
  }
  setup.layout.require_toolkit();
  for (Input& input : flags.inputs)
    input.musa = input.musa || (input.language == Language::kCuda && includes_musa(input.path));
  settle_target(setup, flags);
  Driver(std::move(flags), std::move(setup)).run();
  return 0;
}

}  // namespace muscope::toolchain
