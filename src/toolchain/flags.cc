#include "toolchain/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "toolchain/option_lists.h"
#include "toolchain/option_table.h"

namespace muscope::toolchain {
namespace {

/// MUSA's runtime and driver are CUDA's under another name here.
std::string library_name(const std::string& name) {
  if (name == "musart" || name == "musart_static") return "cudart";
  return name == "musa" ? "cuda" : name;
}

/// How alike two option names are: the length of their common beginning.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::string nearest_option(std::string_view word) {
  std::string_view best;
  std::size_t best_length = 3;  // fewer common letters say nothing
  for (const OptionRow& row : option_table()) {
    for (const std::string_view name : {row.long_name, row.short_name}) {
      const std::size_t length = common_prefix(word, name);
      if (length > best_length) {
        best = name;
        best_length = length;
      }
    }
  }
  return std::string(best);
}

class FlagParser {
 public:
  FlagParser(std::span<const std::string> words, FlagSource source)
      : pending_(words.rbegin(), words.rend()), source_(source) {
    // Where it stands does not matter to nvcc, so it is looked up first.
    forward_unknown_ = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word.ends_with("-forward-unknown-to-host-compiler") || word.ends_with("-forward-unknown-opts");
    });
  }

  Flags parse() {
    while (!pending_.empty()) {
      const std::string word = next();
      if (word.size() > 1 && word[0] == '-') {
        option(word);
      } else if (word.size() > 1 && word[0] == '@') {
        include_options(word.substr(1));
      } else {
        input(word);
      }
    }
    finish();
    return std::move(flags_);
  }

  /// The row of an option, and its value when that is written into the same word.
  static const OptionRow* find(std::string_view word, std::string& value, bool& has_value) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const OptionRow* joined = nullptr;
    for (const OptionRow& row : option_table()) {
      // nvcc takes long names with one dash as well ("-std", "-generate-line-info").
      const bool exact = [&](std::string_view given) {
        return given == row.long_name || given == row.short_name || given == row.long_name.substr(1);
      }(row.arity == Arity::kNone ? word : name);
      if (exact) {
        has_value = equals != std::string_view::npos && row.arity != Arity::kNone;
        if (has_value) value = std::string(word.substr(equals + 1));
        return &row;
      }
      if (row.arity == Arity::kJoined && word.size() > 2 && word.starts_with(row.short_name)) joined = &row;
    }
    if (joined != nullptr) {
      has_value = true;
      value = std::string(word.substr(2));
    }
    return joined;
  }

 private:
  std::string next() {
    std::string word = std::move(pending_.back());
    pending_.pop_back();
    return word;
  }

  void include_options(const std::string& path) {
    if (++depth_ > 20) fail("D405", fmt::format("options files include each other without end, at '{}'", path));
    const std::vector<std::string> words = read_options_file(path);
    pending_.insert(pending_.end(), words.rbegin(), words.rend());
  }

  void input(const std::string& word) {
    if (source_ == FlagSource::kCompileFlags) {
      fail("D407", fmt::format("'{}' is not an option", word),
           "--compile-flags takes options only; name the files as arguments of muscope");
    }
    const Language language = forced_language_ != Language::kUnknown ? forced_language_ : language_of(word);
    // Objects and libraries keep their place among -l and -L: the linker reads them in order.
    if (language == Language::kLinkInput) flags_.link_options.push_back(word);
    flags_.inputs.push_back(
        {word, language, musa_ || (forced_language_ == Language::kUnknown && word.ends_with(".mu"))});
  }

  void option(const std::string& word) {
    std::string value;
    bool has_value = false;
    const OptionRow* row = find(word, value, has_value);
    if (row == nullptr) return unknown(word);
    std::string spelled = word;
    if (row->arity != Arity::kNone && !has_value) {
      if (pending_.empty()) fail("D408", fmt::format("option '{}' needs a value", word));
      value = next();
      spelled = word + '\0' + value;  // two words, taken apart again in keep()
    }
    if (row->action == Action::kRefuse) {
      fail("D407", fmt::format("option '{}' cannot be honoured", word), std::string(row->text));
    }
    if (row->action == Action::kAcceptNote) note(word, row->text);
    if (keeps(row->action)) keep(spelled);
    apply(*row, word, value);
  }

  void unknown(const std::string& word) {
    if (forward_unknown_) {
      keep(word);
      flags_.host_options.push_back(word);
      return;
    }
    const std::string nearest = nearest_option(word);
    fail("D406", fmt::format("unknown option '{}'", word),
         nearest.empty() ? fmt::format("options of the host compiler go behind -Xcompiler: -Xcompiler={}", word)
                         : fmt::format("did you mean {}? Options of the host compiler go behind -Xcompiler", nearest));
  }

  void note(const std::string& word, std::string_view text) {
    flags_.notes.push_back({Severity::kNote, "D409", fmt::format("option '{}' was taken, but {}", word, text), {}, {}});
  }

  /// Options of the step and the output are muscope's to add when nvcc is called.
  static bool keeps(Action action) { return action > Action::kOptionsFile; }

  void keep(const std::string& spelled) {
    const std::size_t cut = spelled.find('\0');
    flags_.words.push_back(spelled.substr(0, cut));
    if (cut != std::string::npos) flags_.words.push_back(spelled.substr(cut + 1));
  }

  bool truth(const std::string& word, const std::string& value) const {
    if (value == "true" || value == "1") return true;
    if (value == "false" || value == "0") return false;
    fail("D408", fmt::format("option '{}' takes true or false, not '{}'", word, value));
  }

  void target(const GpuTarget& wanted) {
    if (std::find(flags_.targets.begin(), flags_.targets.end(), wanted) == flags_.targets.end()) {
      flags_.targets.push_back(wanted);
    }
  }

  void architecture(const std::string& word, const std::string& value) {
    // These name no target of their own: the default one is taken.
    if (value == "native" || value == "all" || value == "all-major") return;
    const GpuTarget wanted = parse_target(value, word);
    target(wanted);
    // -arch=sm_90 stands for machine code and the PTX of that architecture (nvcc --help, --gpu-architecture).
    if (!wanted.is_virtual) target({wanted.cc, wanted.suffix, true});
  }

  void generate_code(const std::string& word, const std::string& value) {
    // arch=compute_90,code=[sm_90,compute_90], code="sm_90,compute_90", or without code=.
    const std::size_t code = value.find("code=");
    std::string arch = value.substr(0, code);
    if (!arch.starts_with("arch=")) {
      fail("D408", fmt::format("option '{}' takes arch=compute_NN,code=sm_NN, not '{}'", word, value));
    }
    arch = arch.substr(5);
    while (arch.ends_with(',') || arch.ends_with(' ')) arch.pop_back();
    const GpuTarget virtual_target = parse_target(arch, word);
    if (code == std::string::npos) return target(virtual_target);
    code_list(word, value.substr(code + 5));
  }

  void code_list(const std::string& word, std::string list) {
    std::erase_if(list, [](char c) { return c == '[' || c == ']' || c == '"' || c == '\'' || c == ' '; });
    for (const std::string& one : split_list(list)) target(parse_target(one, word));
  }

  void set_output(Output output, const std::string& word) {
    if (source_ == FlagSource::kCompileFlags) {
      fail("D407", fmt::format("option '{}' has no place in --compile-flags", word),
           "muscope compiles to a program and keeps it in its cache; use muscope cc to make files");
    }
    flags_.output = output;
  }

  void apply(const OptionRow& row, const std::string& word, const std::string& value);
  void apply_language(const OptionRow& row, const std::string& word, const std::string& value);
  void apply_code(const OptionRow& row, const std::string& word, const std::string& value);
  void apply_link(const OptionRow& row, const std::string& word, const std::string& value);

  void finish() {
    if (flags_.output == Output::kDependencies) flags_.dependencies.wanted = true;
  }

  std::vector<std::string> pending_;  ///< words still to read, the next one last
  FlagSource source_;
  bool forward_unknown_ = false;
  Language forced_language_ = Language::kUnknown;
  bool musa_ = false;  ///< -x musa
  int depth_ = 0;
  Flags flags_;
};

void FlagParser::apply(const OptionRow& row, const std::string& word, const std::string& value) {
  switch (row.action) {
    case Action::kStepObject:
      return set_output(Output::kObject, word);
    case Action::kStepRelocatableObject:
      flags_.relocatable = true;
      return set_output(Output::kObject, word);
    case Action::kStepPreprocess:
      return set_output(Output::kPreprocessed, word);
    case Action::kStepPtx:
      return set_output(Output::kPtx, word);
    case Action::kStepDeviceLink:
      return set_output(Output::kDeviceLink, word);
    case Action::kStepArchive:
      return set_output(Output::kArchive, word);
    case Action::kStepShared:
      // "-shared -dlink" is how CMake spells a device link.
      return set_output(flags_.output == Output::kDeviceLink ? Output::kDeviceLink : Output::kShared, word);
    case Action::kStepLink:
      return set_output(Output::kProgram, word);
    case Action::kVersion:
      return set_output(Output::kVersion, word);
    case Action::kHelp:
      return set_output(Output::kHelp, word);
    case Action::kListCode:
      return set_output(Output::kListCode, word);
    case Action::kDependenciesOnly:
      return set_output(Output::kDependencies, word);
    case Action::kUserDependenciesOnly:
      flags_.dependencies.skip_system = true;
      return set_output(Output::kDependencies, word);
    case Action::kOutputFile:
      set_output(flags_.output, word);
      flags_.output_file = value;
      return;
    case Action::kOutputDirectory:
      set_output(flags_.output, word);
      flags_.output_directory = value;
      return;
    case Action::kOptionsFile:
      for (const std::string& path : split_list(value)) include_options(path);
      return;
    case Action::kVerbose:
      flags_.verbose = true;
      return;
    case Action::kDryRun:
      flags_.dry_run = true;
      return;
    case Action::kNoWarnings:
      flags_.no_warnings = true;
      return;
    case Action::kWarningsAsErrors:
      // -Werror all-warnings; the other kinds name warnings that only nvcc has.
      if (value.find("all-warnings") != std::string::npos) flags_.warnings_are_errors = true;
      return;
    default:
      return apply_language(row, word, value);
  }
}

void FlagParser::apply_language(const OptionRow& row, const std::string& word, const std::string& value) {
  const auto paths = [&](const char* spelled) {
    for (const std::string& path : split_list(value)) {
      flags_.preprocess.emplace_back(spelled);
      flags_.preprocess.push_back(path);
    }
  };
  switch (row.action) {
    case Action::kLanguage:
      musa_ = value == "musa";
      if (value == "cu" || musa_) {
        forced_language_ = Language::kCuda;
      } else if (value == "c++") {
        forced_language_ = Language::kCxx;
      } else if (value == "c") {
        forced_language_ = Language::kC;
      } else {
        fail("D408", fmt::format("option '{}' takes cu, c++, c or musa, not '{}'", word, value));
      }
      return;
    case Action::kInclude:
      return paths("-I");
    case Action::kSystemInclude:
      return paths("-isystem");
    case Action::kPreInclude:
      return paths("-include");
    case Action::kDefine:
      flags_.preprocess.push_back("-D" + value);
      return;
    case Action::kUndefine:
      flags_.preprocess.push_back("-U" + value);
      return;
    case Action::kStandard: {
      constexpr std::string_view kKnown[] = {"03", "11", "14", "17", "20", "23"};
      const std::size_t plus = value.find("++");
      const bool named = plus != std::string::npos && (value.substr(0, plus) == "c" || value.substr(0, plus) == "gnu");
      if (!named || std::find(std::begin(kKnown), std::end(kKnown), value.substr(plus + 2)) == std::end(kKnown)) {
        fail("D408", fmt::format("option '{}' takes c++03 to c++23, not '{}'", word, value));
      }
      flags_.standard = value;
      return;
    }
    case Action::kDependencies:
      flags_.dependencies.wanted = true;
      return;
    case Action::kUserDependencies:
      flags_.dependencies.wanted = true;
      flags_.dependencies.skip_system = true;
      return;
    case Action::kDependencyFile:
      flags_.dependencies.file = value;
      return;
    case Action::kDependencyTarget:
      flags_.dependencies.targets.push_back(value);
      return;
    case Action::kDependencyPhony:
      flags_.dependencies.phony = true;
      return;
    default:
      return apply_code(row, word, value);
  }
}

void FlagParser::apply_code(const OptionRow& row, const std::string& word, const std::string& value) {
  switch (row.action) {
    case Action::kOptimize: {
      constexpr std::string_view kLevels[] = {"0", "1", "2", "3", "s", "fast"};
      if (std::find(std::begin(kLevels), std::end(kLevels), value) == std::end(kLevels)) {
        fail("D408", fmt::format("option '-O' takes 0 to 3, not '{}'", value));
      }
      flags_.optimize = value;
      return;
    }
    case Action::kDebug:
      flags_.debug = true;
      return;
    case Action::kDeviceDebug:
      flags_.device_debug = true;
      return;
    case Action::kLineInfo:
      flags_.line_info = true;
      return;
    case Action::kArchitecture:
      return architecture(word, value);
    case Action::kCode:
      return code_list(word, value);
    case Action::kGencode:
      return generate_code(word, value);
    case Action::kMusaArchitecture: {
      // mp_22 is __MUSA_ARCH__ 220; further ones (a comma list) do not matter: one PTX is made.
      int number = 0;
      const char* digits = value.data() + 3;
      if (!value.starts_with("mp_") || std::from_chars(digits, value.data() + value.size(), number).ec != std::errc() ||
          number < 10 || number > 99) {
        fail("D408", fmt::format("option '{}' takes mp_21, mp_22 or mp_31, not '{}'", word, value));
      }
      flags_.musa_architecture = number * 10;
      return;
    }
    case Action::kMaxRegisters: {
      int registers = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), registers);
      if (error != std::errc() || end != value.data() + value.size() || registers < 0 || registers > 255) {
        fail("D408", fmt::format("option '{}' takes 0 to 255 registers, not '{}'", word, value));
      }
      flags_.max_registers = registers;
      return;
    }
    case Action::kFastMath:
      // nvcc --help: implies -ftz=true -prec-div=false -prec-sqrt=false -fmad=true.
      flags_.floats = {true, false, false, true, true};
      return;
    case Action::kFlushDenormals:
      flags_.floats.flush_denormals = truth(word, value);
      return;
    case Action::kPreciseDivision:
      flags_.floats.precise_division = truth(word, value);
      return;
    case Action::kPreciseSqrt:
      flags_.floats.precise_sqrt = truth(word, value);
      return;
    case Action::kContract:
      flags_.floats.contract = truth(word, value);
      return;
    case Action::kRelocatable:
      flags_.relocatable = truth(word, value);
      return;
    case Action::kRestrict:
      flags_.restrict_pointers = true;
      return;
    case Action::kDefaultStream:
      if (value != "legacy" && value != "null" && value != "per-thread") {
        fail("D408", fmt::format("option '{}' takes legacy, null or per-thread, not '{}'", word, value));
      }
      flags_.per_thread_stream = value == "per-thread";
      return;
    default:
      return apply_link(row, word, value);
  }
}

void FlagParser::apply_link(const OptionRow& row, const std::string& word, const std::string& value) {
  switch (row.action) {
    case Action::kHostOptions:
      for (std::string& option : split_list_words(value)) flags_.host_options.push_back(std::move(option));
      return;
    case Action::kLinkerOptions:
      for (std::string& option : split_list_words(value)) {
        flags_.link_options.emplace_back("-Xlinker");
        flags_.link_options.push_back(std::move(option));
      }
      return;
    case Action::kPtxasOptions:
      for (std::string& option : split_list_words(value)) flags_.ptxas_options.push_back(std::move(option));
      return;
    case Action::kLibrary:
      for (const std::string& name : split_list(value)) flags_.link_options.push_back("-l" + library_name(name));
      return;
    case Action::kLibraryPath:
      for (const std::string& path : split_list(value)) flags_.link_options.push_back("-L" + path);
      return;
    case Action::kHostCompiler:
      flags_.host_compiler = value;
      return;
    case Action::kRuntime:
      if (value != "none" && value != "shared" && value != "static") {
        fail("D408", fmt::format("option '{}' takes none, shared or static, not '{}'", word, value));
      }
      flags_.link_runtime = value != "none";
      return;
    default:
      return;  // kAccept and the like: nothing to note down
  }
}

}  // namespace

Flags parse_flags(std::span<const std::string> words, FlagSource source) { return FlagParser(words, source).parse(); }

bool is_option(std::string_view word) {
  std::string value;
  bool has_value = false;
  return FlagParser::find(word, value, has_value) != nullptr;
}

}  // namespace muscope::toolchain
