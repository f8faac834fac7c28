#include "toolchain/mcc.h"

#include <algorithm>
#include <string_view>

namespace muscope::toolchain {
namespace {

constexpr std::string_view kOffload = "--offload-arch=";
constexpr std::string_view kCudaArch = "--cuda-gpu-arch=";

/// An option of clang that has the same meaning for the host compiler.
bool is_host_option(std::string_view word) {
  if (word == "-pthread" || word == "-pipe" || word == "-w" || word == "-pedantic") return word != "-w";
  if (word == "-mtgpu") return false;
  return word.starts_with("-f") || word.starts_with("-m") || (word.starts_with("-W") && !word.starts_with("-Wl,"));
}

/// What clang calls by other names than nvcc, for device and host.
std::string translated(std::string_view word) {
  if (word == "-ffast-math") return "-use_fast_math";
  if (word == "-ffp-contract=off") return "-fmad=false";
  if (word == "-ffp-contract=fast" || word == "-ffp-contract=on") return "-fmad=true";
  if (word == "-fmusa-flush-denormals-to-zero" || word == "-fgpu-flush-denormals-to-zero") return "-ftz=true";
  if (word == "-fgpu-rdc") return "-rdc=true";
  if (word == "-fno-gpu-rdc") return "-rdc=false";
  return {};
}

bool is_for_code_generator(std::string_view word) {
  return word.starts_with("-Od") || word.starts_with("-mathx-") || word == "-U__CUDA__" || word.starts_with("-fmusa-");
}

}  // namespace

bool is_for_mcc(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-mtgpu" || word == "-xmusa" || (word == "musa" && i > 0 && words[i - 1] == "-x")) return true;
    if (!word.starts_with('-') && word.ends_with(".mu")) return true;
    if (word.starts_with("--offload-arch=mp_") || word.starts_with("--cuda-gpu-arch=mp_")) return true;
  }
  return false;
}

std::vector<std::string> from_mcc(const std::vector<std::string>& words, std::vector<std::string>& left_out) {
  // Behind these stands a value, whatever it looks like.
  constexpr std::string_view kTakesValue[] = {"-o",  "-I",         "-D",       "-U",       "-L",
                                              "-l",  "-x",         "-isystem", "-include", "-MF",
                                              "-MT", "-Xcompiler", "-Xlinker", "-std",     "--std"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::find(std::begin(kTakesValue), std::end(kTakesValue), word) != std::end(kTakesValue)) {
      out.push_back(word);
      if (i + 1 < words.size()) out.push_back(words[++i]);
    } else if (word == "-mllvm") {
      left_out.push_back(i + 1 < words.size() ? "-mllvm " + words[i + 1] : word);
      ++i;
    } else if (word == "-xmusa") {
      out.insert(out.end(), {"-x", "musa"});
    } else if (word.starts_with(kCudaArch)) {
      out.push_back(std::string(kOffload) + word.substr(kCudaArch.size()));
    } else if (const std::string same = translated(word); !same.empty()) {
      out.push_back(same);
    } else if (is_for_code_generator(word)) {
      left_out.push_back(word);
    } else if (word.starts_with("-Wl,")) {
      out.push_back("-Xlinker=" + word.substr(4));
    } else if (is_host_option(word)) {
      out.push_back("-Xcompiler=" + word);
    } else {
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace muscope::toolchain
