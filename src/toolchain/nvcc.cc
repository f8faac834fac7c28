#include "toolchain/nvcc.h"

#include <fmt/format.h>

#include <algorithm>

namespace muscope::toolchain {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

/// Words of the user that nvcc gets as they are: all but those about -cudart, which muscope decides.
std::vector<std::string> user_words(const Flags& flags) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < flags.words.size(); ++i) {
    const std::string& word = flags.words[i];
    if (word == "-cudart" || word == "--cudart") {
      ++i;
      continue;
    }
    if (word.starts_with("-cudart=") || word.starts_with("--cudart=")) continue;
    words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<std::string> nvcc_targets(const NvccSetup& setup, const Flags& flags) {
  if (flags.targets.empty()) {
    const int arch = setup.architecture;
    return {"-gencode", fmt::format("arch=compute_{0},code=[compute_{0},sm_{0}]", arch)};
  }
  const bool has_ptx =
      std::any_of(flags.targets.begin(), flags.targets.end(), [](const GpuTarget& t) { return t.is_virtual; });
  if (has_ptx) return {};
  // "-gencode arch=compute_90,code=sm_90" alone leaves no PTX, and PTX is what runs here.
  const GpuTarget newest = newest_target(flags.targets);
  return {"-gencode", fmt::format("arch={0},code={0}", newest.text())};
}

std::vector<std::string> nvcc_object_command(const NvccSetup& setup, const Flags& flags, const Input& input,
                                             const std::string& object, const std::string& dependency_file) {
  std::vector<std::string> words{setup.nvcc.path, "-lineinfo"};
  // -G holds line information already and nvcc warns about both.
  if (flags.device_debug || flags.line_info) words.pop_back();
  append(words, nvcc_targets(setup, flags));
  append(words, user_words(flags));
  // Host code is optimised unless the user says otherwise: programs check their results on the host.
  if (flags.optimize.empty() && !flags.debug) words.emplace_back("-O2");
  if (wants_host_lines(flags)) append(words, {"-Xcompiler", "-g1"});
  if (!dependency_file.empty()) append(words, {"-MD", "-MF", dependency_file});
  append(words, {"-c", "-o", object, input.path});
  return words;
}

std::vector<std::string> nvcc_link_command(const NvccSetup& setup, const Flags& flags,
                                           const std::vector<std::string>& files, const std::string& output) {
  std::vector<std::string> words{setup.nvcc.path, "-cudart", "shared"};
  append(words, nvcc_targets(setup, flags));
  append(words, user_words(flags));
  append(words, files);
  append(words, {"-o", output});
  return words;
}

std::vector<std::string> nvcc_stand_in_command(const Tool& nvcc, const std::vector<std::string>& args,
                                               const Flags& flags) {
  std::vector<std::string> words{nvcc.path};
  append(words, args);
  if (!flags.device_debug && !flags.line_info) words.emplace_back("-lineinfo");
  if (wants_host_lines(flags)) append(words, {"-Xcompiler", "-g1"});
  const bool chose_runtime = std::any_of(
      args.begin(), args.end(), [](const std::string& word) { return word.find("cudart") != std::string::npos; });
  if (!chose_runtime) append(words, {"-cudart", "shared"});
  return words;
}

}  // namespace muscope::toolchain
