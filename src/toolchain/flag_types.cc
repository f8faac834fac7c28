// The small types of flags.h: languages and GPU targets.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/diagnostic.h"
#include "toolchain/flags.h"

namespace muscope::toolchain {

Language language_of(std::string_view path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".cu" || ending == ".mu") return Language::kCuda;
  if (ending == ".cpp" || ending == ".cc" || ending == ".cxx" || ending == ".c++" || ending == ".C") {
    return Language::kCxx;
  }
  if (ending == ".c") return Language::kC;
  if (ending == ".ptx") return Language::kPtx;
  if (ending == ".o" || ending == ".obj" || ending == ".a" || ending == ".so" ||
      path.find(".so.") != std::string_view::npos) {
    return Language::kLinkInput;
  }
  return Language::kUnknown;
}

std::string GpuTarget::text() const {
  std::string text = fmt::format("{}_{}", is_virtual ? "compute" : "sm", cc);
  if (suffix != 0) text += suffix;
  return text;
}

GpuTarget parse_target(std::string_view text, std::string_view option) {
  std::string_view digits = text;
  GpuTarget target;
  if (digits.starts_with("compute_")) {
    digits.remove_prefix(8);
  } else if (digits.starts_with("sm_")) {
    digits.remove_prefix(3);
    target.is_virtual = false;
  } else if (digits.starts_with("lto_")) {
    digits.remove_prefix(4);  // link-time code of that architecture: its PTX serves
  }
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    target.suffix = digits.back();
    digits.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), target.cc);
  if (error != std::errc() || end != digits.data() + digits.size() || target.cc < 10 || target.cc > 999) {
    fail("D408", fmt::format("option '{}': '{}' is no GPU architecture", option, text),
         "for example sm_90 or compute_80");
  }
  return target;
}

GpuTarget newest_target(std::span<const GpuTarget> targets) {
  GpuTarget newest;
  for (const bool is_virtual : {true, false}) {
    for (const GpuTarget& target : targets) {
      if (target.is_virtual == is_virtual && target.cc > newest.cc) newest = target;
    }
    if (newest.cc != 0) break;
  }
  newest.is_virtual = true;
  return newest;
}

bool wants_host_lines(const Flags& flags) {
  return !flags.debug && std::none_of(flags.host_options.begin(), flags.host_options.end(),
                                      [](const std::string& word) { return word.starts_with("-g") || word == "-s"; });
}

}  // namespace muscope::toolchain
