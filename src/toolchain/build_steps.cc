#include "toolchain/build_steps.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/diagnostic.h"
#include "base/musa_names.h"
#include "toolchain/process.h"
#include "toolchain/read_file.h"
#include "toolchain/widen_copies.h"

namespace muscope::toolchain {
namespace {

std::string read_text(const std::string& path) {
  std::optional<std::string> text = read_file(path);
  if (!text) fail("D403", fmt::format("the compiler made no file {}", path));
  return std::move(*text);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.fail()) fail("D405", fmt::format("cannot write {}: {}", path, std::strerror(errno)), "is the disk full?");
}

/// An intermediate file.
class RemovedAtEnd {
 public:
  explicit RemovedAtEnd(std::string path) : path_(std::move(path)) {}
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;
  ~RemovedAtEnd() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }

 private:
  std::string path_;
};

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string Steps::run(const std::vector<std::string>& command, const std::string& code, const std::string& what) {
  if (show_ != Show::kNothing) fmt::print(stderr, "#$ {}\n", shell_text(command));
  if (dry()) return {};
  ProcessResult result = run_process(command);
  messages_ += musa_ ? messages_with_musa_names(result.err) : result.err;
  if (result.ok()) return std::move(result.out);
  flush();
  const std::string tool = std::filesystem::path(command.front()).filename().string();
  if (!result.start_error.empty() || result.signal != 0) {
    fail("D414", fmt::format("{} {}", tool, describe_end(result)), "the command was: " + shell_text(command));
  }
  fail(code, fmt::format("{} rejected {} ({})", tool, what, describe_end(result)), "its messages stand above");
}

void Steps::flush() {
  std::fputs(messages_.c_str(), stderr);
  messages_.clear();
}

void clang_ptx(const ClangSetup& setup, const Flags& flags, const Input& input, const std::string& ptx,
               const std::string& depends, Steps& steps) {
  const std::string ir = ptx + ".ll";
  const RemovedAtEnd remove_ir(ir);
  steps.run(device_command(setup, flags, input, ir, depends), "D403", input.path);
  if (!steps.dry()) write_text(ir, widen_copies(read_text(ir)));
  steps.run(back_end_command(setup, flags, ir, ptx), "D403", input.path);
  if (steps.dry() || (!flags.relocatable && flags.max_registers == 0)) return;
  const std::string text = read_text(ptx);
  if (flags.relocatable) {
    if (const std::vector<std::string> missing = unresolved_symbols(text); !missing.empty()) {
      steps.flush();
      fail("D413", fmt::format("{}: device code uses what another file defines: {}", input.path, join(missing)),
           "put the device code that a kernel uses into the same file (or a header), or compile with --toolchain nvcc");
    }
  }
  if (flags.max_registers > 0) write_text(ptx, with_register_limit(text, flags.max_registers));
}

void clang_object(const ClangSetup& setup, const Flags& flags, const Input& input, const std::string& object,
                  const std::string& ptx, const std::string& depends, const std::vector<std::string>& host_extra,
                  Steps& steps) {
  std::vector<std::string> extra = host_extra;
  steps.speak_musa(input.musa);
  if (input.language == Language::kCuda) {
    clang_ptx(setup, flags, input, ptx, depends, steps);
  } else if (!depends.empty()) {
    extra.insert(extra.end(), {"-MD", "-MF", depends});
  }
  std::vector<std::string> command = host_command(setup, flags, input, ptx, object);
  command.insert(command.end(), extra.begin(), extra.end());
  steps.run(command, "D403", input.path);
}

std::vector<std::string> files_in_rule(const std::string& rule) {
  std::vector<std::string> files;
  std::string file;
  // The target ends at the first colon that a blank follows.
  std::size_t at = rule.find(": ");
  at = at == std::string::npos ? rule.size() : at + 2;
  for (; at < rule.size(); ++at) {
    const char c = rule[at];
    const char following = at + 1 < rule.size() ? rule[at + 1] : '\0';
    if (c == '\\' && (following == '\n' || following == '\r')) continue;
    if ((c == '\\' && (following == ' ' || following == '#' || following == '\\')) || (c == '$' && following == '$')) {
      file += following;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (!file.empty()) files.push_back(std::move(file));
      file.clear();
      // A further rule (of -MP) has no files of interest.
      if (c == '\n' && rule[at - 1] != '\\') break;
    } else {
      file += c;
    }
  }
  if (!file.empty()) files.push_back(std::move(file));
  return files;
}

void fail_without_compiler(const SearchPlaces& places) {
  const std::optional<Tool> old = find_old_clang(places);
  const std::string found = old ? fmt::format("; {} at {} is too old", old->text(), old->path) : std::string();
  fail("D401",
       "no compiler for CUDA was found (neither nvcc nor clang " + std::to_string(kOldestClang) + " or newer" + found +
           ")",
       clang_install_command() + " (muscope doctor shows where was looked)");
}

ClangSetup find_clang_setup(const SearchPlaces& places, const Layout& layout, const Flags& flags) {
  const std::optional<Tool> clang = find_clang(places);
  if (!clang) fail_without_compiler(places);
  ClangSetup setup;
  setup.clang = *clang;
  setup.host = find_host_compiler(places).value_or(*clang);
  if (!flags.host_compiler.empty()) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(flags.host_compiler, error);
    setup.host = Tool{"c++", flags.host_compiler + (folder ? "/g++" : ""), {}};
  }
  setup.layout = layout;
  const char* no_color = std::getenv("NO_COLOR");
  setup.colour = ::isatty(STDERR_FILENO) == 1 && (no_color == nullptr || no_color[0] == '\0');
  return setup;
}

}  // namespace muscope::toolchain
