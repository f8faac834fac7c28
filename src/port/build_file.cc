#include "port/build_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace muscope::port {
namespace {

/// What ends a word in both languages, beside blanks and quotes.
bool ends_word(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '"' || c == '\'' || c == ')' || c == '(' || c == ';' ||
         c == '`';
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool names_cuda(std::string_view text) {
  return text.find("CUDA") != std::string_view::npos || text.find("cuda") != std::string_view::npos ||
         text.find("nvcc") != std::string_view::npos || text.find("NVCC") != std::string_view::npos;
}

/// One file, by physical lines; a line that a backslash continues shares its head's context.
class BuildPorter {
 public:
  BuildPorter(std::string_view text, const std::string& path, BuildKind kind, const Rules& rules,
              const Project& project, const Options& options)
      : text_(text),
        path_(path),
        kind_(kind),
        rules_(rules),
        project_(project),
        options_(options),
        to_musa_(options.target.direction == Direction::kToMusa) {}

  FileResult run() {
    bool continued = false;
    for (std::size_t start = 0; start < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      std::string_view line = text_.substr(start, end - start);
      if (!continued) nvcc_ = false;
      nvcc_ |= line.find("nvcc") != std::string_view::npos || line.find("NVCC") != std::string_view::npos ||
               line.find("CUDA_FLAGS") != std::string_view::npos || line.find("CUFLAGS") != std::string_view::npos ||
               line.find("GENCODE") != std::string_view::npos || line.find("mcc") != std::string_view::npos;
      const std::size_t comment = comment_start(line);
      words(start, start + std::min(comment, line.size()));
      continued = line.ends_with('\\') || line.ends_with("\\\r") || parentheses_ > 0;
      start = end + 1;
    }
    std::stable_sort(result_.edits.begin(), result_.edits.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    return std::move(result_);
  }

 private:
  static std::size_t comment_start(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i)
      if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return i;
    return line.size();
  }

  void find(std::string_view code, std::size_t begin, std::size_t end, std::string name, std::string text) {
    Finding finding;
    finding.code = code;
    finding.severity = rules_.code(code).severity;
    finding.name = std::move(name);
    finding.text = std::move(text);
    finding.library = "build";
    finding.begin = begin;
    finding.end = end;
    result_.findings.push_back(std::move(finding));
  }

  void change(std::size_t begin, std::size_t end, std::string to) {
    const std::string from(text_.substr(begin, end - begin));
    // What is taken away takes a blank with it.
    if (to.empty() && end < text_.size() && text_[end] == ' ') ++end;
    NameUse& use = result_.names[from];
    use.to = to;
    use.library = "build";
    use.seen = true;
    ++use.count;
    result_.edits.push_back({begin, end, std::move(to), EditKind::kBuild});
  }

  void words(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      const char c = text_[i];
      if (c == '(') ++parentheses_;
      if (c == ')') parentheses_ = std::max(0, parentheses_ - 1);
      if (ends_word(c)) {
        if (c == ')' && parentheses_ == 0) command_.clear();
        ++i;
        continue;
      }
      if (const std::size_t past = spaced_file(i, end); past != i) {
        i = past;
        continue;
      }
      std::size_t stop = i;
      int braces = 0;
      while (stop < end && (braces > 0 || !ends_word(text_[stop]))) {
        if (text_[stop] == '$' && stop + 1 < end && (text_[stop + 1] == '{' || text_[stop + 1] == '('))
          ++braces, ++stop;
        else if (braces > 0 && (text_[stop] == '}' || text_[stop] == ')'))
          --braces;
        ++stop;
      }
      if (kind_ == BuildKind::kCMake && text_[std::min(stop, text_.size() - 1)] == '(' && parentheses_ == 0) {
        command_ = std::string(text_.substr(i, stop - i));
        command_at_ = i;
      }
      word(i, stop);
      i = stop;
    }
  }

  void word(std::size_t begin, std::size_t end) {
    if (to_musa_ && flag(begin, end)) return;
    if (!to_musa_ && flag_back(begin, end)) return;
    if (file_name(begin, end)) return;
    if (language(begin, end)) return;
    parts(begin, end);
  }

  /// CUDA as a language of CMake, which MUSA is none of.
  bool language(std::size_t begin, std::size_t end) {
    if (kind_ != BuildKind::kCMake || !to_musa_) return false;
    const std::string_view word = text_.substr(begin, end - begin);
    std::string command = command_;
    std::transform(command.begin(), command.end(), command.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (word == "CUDA" && (command == "project" || command == "enable_language")) {
      find("P031", begin, end, "CUDA",
           "CMake knows no language MUSA: take CUDA out here, and build .mu files with musa_add_executable or "
           "musa_add_library");
      return true;
    }
    if (word.starts_with("CMAKE_CUDA_") || word.find("{CMAKE_CUDA_") != std::string_view::npos ||
        word == "CUDA_ARCHITECTURES" || word.starts_with("CUDA_SEPARABLE_") || word.starts_with("CUDA_STANDARD") ||
        word.find("COMPILE_LANGUAGE:CUDA") != std::string_view::npos ||
        word.find("COMPILE_LANG_AND_ID:CUDA") != std::string_view::npos || word == "CUDA_RESOLVE_DEVICE_SYMBOLS" ||
        word == "CUDA_RUNTIME_LIBRARY") {
      find("P031", begin, end, std::string(word),
           fmt::format("'{}' is for CMake's language CUDA: the way of MUSA is MUSA_MCC_FLAGS with --offload-arch=mp_22",
                       word.substr(0, 60)));
      return true;
    }
    return false;
  }

  /// A source with blanks in its path that gets another name: "b c.cu", b\\ c.cu, [[b c.cu]] of CMake, or one of a list
  /// "a.cu;b c.cu". Where it ends; `begin` when none begins there.
  std::size_t spaced_file(std::size_t begin, std::size_t end) {
    if (!project_.renamed_file) return begin;
    const char before = begin > 0 ? text_[begin - 1] : '\n';
    std::size_t start = begin, stop = begin;
    std::string path;
    if (kind_ == BuildKind::kCMake && text_[begin] == '[') {
      start = text_.find_first_not_of('=', begin + 1);
      if (start >= end || text_[start] != '[') return begin;
      stop = std::min(text_.find(']', ++start), end);
      path = text_.substr(start, stop - start);
    } else if (before == '"' || before == '\'' || before == ';') {
      stop = std::min(text_.find_first_of(before == ';' ? "\"';" : before == '"' ? "\";" : "';", begin), end);
      path = text_.substr(begin, stop - begin);
    } else {
      for (; stop < end && !ends_word(text_[stop]); ++stop) {
        if (text_[stop] == '\\' && stop + 1 < end && text_[stop + 1] == ' ') ++stop;
        path += text_[stop];
      }
    }
    const std::string old_end = to_musa_ ? ".cu" : ".mu";
    const bool header = path.ends_with(old_end + "h");
    if (path.find(' ') == std::string::npos || !(header || path.ends_with(old_end))) return begin;
    // What variables stand for is not known: the file's own name tells.
    if (path.find('$') != std::string::npos) path.erase(0, path.rfind('/') + 1);
    if (project_.renamed_file(path_, path).empty()) return begin;
    // Only the ending changes, which has no blanks.
    const std::size_t letter = stop - (header ? 3 : 2);
    if (text_[letter] != old_end[1]) return begin;
    change(start, stop,
           std::string(text_.substr(start, letter - start)) + (to_musa_ ? 'm' : 'c') +
               std::string(text_.substr(letter + 1, stop - letter - 1)));
    musa_command();
    return stop;
  }

  /// A source that gets another name.
  bool file_name(std::size_t begin, std::size_t end) {
    const std::string_view word = text_.substr(begin, end - begin);
    const std::string_view old_end = to_musa_ ? ".cu" : ".mu";
    if (!project_.renamed_file) return false;
    for (const std::string_view ending : {std::string(old_end), std::string(old_end) + "h"}) {
      if (!word.ends_with(ending)) continue;
      std::string to;
      if (word.find('*') != std::string_view::npos || word.find('%') != std::string_view::npos || word == ending ||
          word.find('$') != std::string_view::npos) {
        // A pattern, or a path with variables: the project's device files have other names now.
        to = std::string(word.substr(0, word.size() - ending.size())) + (to_musa_ ? ".m" : ".c") +
             std::string(ending.substr(2));
        if (word.find("cub/") != std::string_view::npos) return false;
      } else {
        to = project_.renamed_file(path_, std::string(word));
      }
      if (to.empty()) return false;
      change(begin, end, to);
      musa_command();
      return true;
    }
    return false;
  }

  /// CMake knows no language MUSA: a target with .mu files is added by the module's own command.
  void musa_command() {
    if (!to_musa_ || kind_ != BuildKind::kCMake || command_at_ == std::string_view::npos) return;
    if (command_ != "add_executable" && command_ != "add_library") return;
    const std::size_t end = command_at_ + command_.size();
    change(command_at_, end, "musa_" + command_);
    find("P030", command_at_, end, command_,
         fmt::format("'{0}' becomes 'musa_{0}', of MUSA's module for CMake", command_));
    command_at_ = std::string_view::npos;
  }

  /// "-Xcompiler \"-fPIC,-Wall\"" was one argument; without the option its parts are arguments of their own.
  void divide_quoted(std::size_t at) {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    const std::size_t close = text_.find(text_[at], at + 1);
    if (close == std::string_view::npos || text_.substr(at, close - at).find('\n') != std::string_view::npos) return;
    result_.edits.push_back({at, at + 1, "", EditKind::kBuild});
    for (std::size_t i = at + 1; i < close; ++i)
      if (text_[i] == ',') result_.edits.push_back({i, i + 1, " ", EditKind::kBuild});
    result_.edits.push_back({close, close + 1, "", EditKind::kBuild});
  }

  bool flag(std::size_t begin, std::size_t end) {
    // What closes a generator expression is no part of the option.
    if (kind_ == BuildKind::kCMake) {
      const std::string_view all = text_.substr(begin, end - begin);
      auto open = std::count(all.begin(), all.end(), '<'), close = std::count(all.begin(), all.end(), '>');
      for (; end > begin && text_[end - 1] == '>' && close > open; --close) --end;
    }
    const std::string_view word = text_.substr(begin, end - begin);
    if (!word.starts_with('-') && !word.starts_with("arch=")) return false;
    if (const int arch = musa_arch_of_option(word, rules_); arch != 0) return architecture(begin, end, arch);
    for (const Flag& flag : rules_.flags()) {
      if (flag.where == "nvcc" && !nvcc_) continue;
      const bool prefix = flag.from.ends_with('*');
      const std::string_view from = prefix ? std::string_view(flag.from).substr(0, flag.from.size() - 1) : flag.from;
      if (prefix ? !word.starts_with(from) : word != from) continue;
      std::string to = flag.to;
      if (prefix && to.ends_with('*')) {
        to.pop_back();
        std::string rest(word.substr(from.size()));
        // "-Xcompiler=-fPIC,-Wall": a list.
        if (to.empty()) std::replace(rest.begin(), rest.end(), ',', ' ');
        to += rest;
      }
      if (to == word) {
        if (!flag.text.empty()) find("P029", begin, end, std::string(word), fmt::format("'{}': {}", word, flag.text));
      } else {
        change(begin, end, to);
        if (word == "-Xcompiler" || word == "--compiler-options") divide_quoted(end);
        if (!flag.text.empty())
          find(to.empty() ? "P029" : "P030", begin, end, std::string(word),
               to.empty() ? fmt::format("'{}' is taken away: {}", word, flag.text)
                          : fmt::format("'{}' becomes '{}': {}", word, to, flag.text));
      }
      return true;
    }
    return false;
  }

  bool architecture(std::size_t begin, std::size_t end, int arch) {
    const std::string_view word = text_.substr(begin, end - begin);
    const std::string to = fmt::format("--offload-arch=mp_{}", arch);
    std::size_t from = begin;
    // "-gencode arch=..." are two words.
    if (word.starts_with("arch=")) {
      const std::size_t before = text_.rfind("-gencode", begin);
      const std::size_t longer = text_.rfind("--generate-code", begin);
      if (before != std::string_view::npos && text_.find_first_not_of(" \t\"'", before + 8) == begin)
        from = before;
      else if (longer != std::string_view::npos && text_.find_first_not_of(" \t", longer + 15) == begin)
        from = longer;
      if (from != begin && from > 0 && text_[from - 1] == '-') --from;
      while (!result_.edits.empty() && result_.edits.back().begin >= from) result_.edits.pop_back();
    }
    change(from, end, to);
    find("P030", from, end, std::string(word),
         fmt::format("'{}' becomes '{}': name the cards that you build for", text_.substr(from, end - from), to));
    return true;
  }

  bool flag_back(std::size_t begin, std::size_t end) {
    const std::string_view word = text_.substr(begin, end - begin);
    if (!word.starts_with('-')) return false;
    constexpr std::string_view kArch = "--offload-arch=mp_";
    if (word.starts_with(kArch)) {
      int value = 0;
      const std::string_view number = word.substr(kArch.size());
      std::from_chars(number.data(), number.data() + number.size(), value);
      const int cuda = rules_.arch_value(value * 10, Direction::kToCuda) / 10;
      if (value > 99 || cuda == 0) return false;
      change(begin, end, fmt::format("-gencode arch=compute_{0},code=sm_{0}", cuda));
      return true;
    }
    for (const Flag& flag : rules_.flags()) {
      if (flag.to.empty() || flag.to.ends_with('*') || flag.from.ends_with('*') || word != flag.to ||
          flag.from == flag.to)
        continue;
      change(begin, end, flag.from);
      return true;
    }
    return false;
  }

  /// Whether what the rules call a name is one there: "CUDA" only as a package, "cufft" not as a folder.
  bool fits(std::string_view word, std::size_t begin, std::size_t end) const {
    const std::string_view name = word.substr(begin, end - begin);
    if (name == "CUDA" || name == "MUSA") return command_ == "find_package" || command_ == "FIND_PACKAGE";
    const bool lower = std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (!lower) return true;
    const bool folder = (begin > 0 && word[begin - 1] == '/') || (end < word.size() && word[end] == '/');
    return !folder || ((name == "nvcc" || name == "mcc") && end == word.size());
  }

  /// Names within a word: variables, targets, paths.
  void parts(std::size_t begin, std::size_t end) {
    const std::string_view word = text_.substr(begin, end - begin);
    bool any = false;
    if (word.size() > 4096) {
      find("P028", begin, begin + 80, "", "a word of more than 4096 bytes: it was not looked into");
      return;
    }
    for (std::size_t i = 0; i < word.size();) {
      // The longest known piece that starts here: paths and targets hold names.
      std::size_t taken = 0;
      if (i == 0 || !is_name_byte(word[i - 1]) || !is_name_byte(word[i])) {
        for (std::size_t stop = word.size(); stop > i && taken == 0; --stop) {
          if (stop - i > 64) continue;
          if (stop < word.size() && is_name_byte(word[stop]) && is_name_byte(word[stop - 1])) continue;
          const std::string to = rules_.word(word.substr(i, stop - i), options_.target.direction);
          if (to.empty() || !fits(word, i, stop)) continue;
          change(begin + i, begin + stop, to);
          taken = stop - i;
          any = true;
        }
      }
      if (taken != 0) {
        i += taken;
      } else {
        ++i;
        while (i < word.size() && is_name_byte(word[i]) && is_name_byte(word[i - 1])) ++i;
      }
    }
    if (!any && to_musa_ && names_cuda(word) && word.find('/') == std::string_view::npos)
      find("P044", begin, end, std::string(word.substr(0, 80)),
           fmt::format("'{}' has CUDA in it, and is no name that is known: it is left as it is", word.substr(0, 80)));
  }

  std::string_view text_;
  const std::string& path_;
  BuildKind kind_;
  const Rules& rules_;
  const Project& project_;
  const Options& options_;
  bool to_musa_;
  bool nvcc_ = false;
  int parentheses_ = 0;
  std::string command_;  ///< of CMake, until its last parenthesis
  std::size_t command_at_ = std::string_view::npos;
  FileResult result_;
};

}  // namespace

int musa_arch_of_option(std::string_view word, const Rules& rules) {
  if (!word.starts_with("-arch") && !word.starts_with("--gpu-arch") && !word.starts_with("-gencode") &&
      !word.starts_with("--generate-code") && !word.starts_with("arch=") && !word.starts_with("-code=") &&
      !word.starts_with("--offload-arch=sm_"))
    return 0;
  std::size_t at = word.find("sm_");
  std::size_t skip = 3;
  if (at == std::string_view::npos) {
    at = word.find("compute_");
    skip = 8;
  }
  if (at == std::string_view::npos) return 0;
  int value = 0;
  const std::string_view number = word.substr(at + skip);
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc() || value <= 0 ||
      value > 999)
    return 0;
  const int musa = rules.arch_value(value * 10, Direction::kToMusa);
  return musa == 0 ? 31 : std::max(musa, 210) / 10;
}

FileResult port_build_file(std::string_view text, const std::string& path, BuildKind kind, const Rules& rules,
                           const Project& project, const Options& options) {
  return BuildPorter(text, path, kind, rules, project, options).run();
}

}  // namespace muscope::port
