#include "toolchain/targets.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "toolchain/probe.h"

namespace muscope::toolchain {

std::vector<int> architectures_in(std::string_view listing) {
  std::vector<int> found;
  for (std::size_t at = listing.find("sm_"); at != std::string_view::npos; at = listing.find("sm_", at)) {
    at += 3;
    int value = 0;
    std::size_t digits = 0;
    while (at < listing.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(listing[at])) != 0) {
      value = value * 10 + (listing[at] - '0');
      ++at;
      ++digits;
    }
    const bool suffixed = at < listing.size() && std::isalpha(static_cast<unsigned char>(listing[at])) != 0;
    if (digits > 0 && !suffixed) found.push_back(value);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<int> supported_architectures(const Tool& compiler) {
  using Words = std::vector<std::string>;
  const Words question = compiler.name == "nvcc" ? Words{"--list-gpu-code"}
                                                 : Words{"--target=nvptx64-nvidia-cuda", "-print-supported-cpus"};
  std::vector<int> found = architectures_in(ask_tool(compiler.path, question));
  // clang still lists GPUs without shuffles (cc 2.x); muscope's device headers begin here.
  if (compiler.name == "clang") std::erase_if(found, [](int architecture) { return architecture < kOldestTarget; });
  return found;
}

int nearest_architecture(const std::vector<int>& supported, int wanted) {
  if (supported.empty()) return wanted;
  const auto above = std::upper_bound(supported.begin(), supported.end(), wanted);
  return above == supported.begin() ? supported.front() : *std::prev(above);
}

}  // namespace muscope::toolchain
