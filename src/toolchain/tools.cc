#include "toolchain/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "toolchain/probe.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;
namespace {

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// Names in a directory that start with `prefix`; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& directory, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  return names;
}

/// bin directories of CUDA toolkits, best first.
std::vector<std::string> cuda_directories(const SearchPlaces& places) {
  std::vector<std::string> directories;
  if (!places.cuda_home.empty()) directories.push_back(places.cuda_home + "/bin");
  directories.insert(directories.end(), places.path.begin(), places.path.end());
  directories.push_back(places.cuda_prefix + "/cuda/bin");
  std::vector<std::string> versioned = names_in(places.cuda_prefix, "cuda-");
  std::sort(versioned.begin(), versioned.end(),
            [](const std::string& a, const std::string& b) { return version_in(a) > version_in(b); });
  for (const std::string& name : versioned) directories.push_back(fmt::format("{}/{}/bin", places.cuda_prefix, name));
  return directories;
}

std::string version_output(const std::string& path) { return ask_tool(path, {"--version"}); }

/// "release 13.0, V13.0.88": the version of NVIDIA's tools.
Version cuda_version(const std::string& output) {
  const std::size_t at = output.find(", V");
  return at == std::string::npos ? Version{} : version_in(output, at + 3);
}

/// Calls use(path) for each existing program of that name until it returns a tool.
template <typename Use>
std::optional<Tool> first_of(const std::vector<std::string>& directories, std::string_view name, Use use) {
  for (const std::string& directory : directories) {
    if (directory.empty()) continue;
    std::string path = directory + "/" + std::string(name);
    if (!is_program(path)) continue;
    if (std::optional<Tool> tool = use(path)) return tool;
  }
  return std::nullopt;
}

/// The newest clang++ for which accept(major) holds.
template <typename Accept>
std::optional<Tool> newest_clang(const SearchPlaces& places, Accept accept) {
  // The version in the name only orders the candidates; what counts is what the program says.
  struct Candidate {
    int order;
    std::size_t place;  ///< keeps the order of PATH among equals
    std::string path;
  };
  std::vector<Candidate> candidates;
  const auto add = [&](int order, std::string path) {
    if (is_program(path)) candidates.push_back({order, candidates.size(), std::move(path)});
  };
  for (const std::string& directory : places.path) {
    for (const std::string& name : names_in(directory, "clang++")) {
      if (name == "clang++") add(0, fmt::format("{}/{}", directory, name));
      if (name.starts_with("clang++-")) add(std::atoi(name.c_str() + 8), fmt::format("{}/{}", directory, name));
    }
  }
  for (const std::string& name : names_in(places.llvm_prefix, "llvm-")) {
    add(std::atoi(name.c_str() + 5), fmt::format("{}/{}/bin/clang++", places.llvm_prefix, name));
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.order != b.order ? a.order > b.order : a.place < b.place;
  });
  std::optional<Tool> best;
  for (const auto& [order, place, path] : candidates) {
    // Names carry the version, so a candidate named older than the best cannot win.
    if (best && order != 0 && order <= best->version.major) continue;
    const std::string output = version_output(path);
    const std::size_t at = output.find("clang version ");
    if (at == std::string::npos) continue;
    const Version version = version_in(output, at);
    if (accept(version.major) && (!best || version > best->version)) best = Tool{"clang", path, version};
  }
  return best;
}

}  // namespace

std::string Version::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

std::string Tool::text() const { return name + " " + version.text(); }

SearchPlaces SearchPlaces::from_environment() {
  SearchPlaces places;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string directory = rest.substr(0, colon);
    if (!directory.empty()) places.path.push_back(std::move(directory));
    rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    if (places.cuda_home.empty() && value != nullptr) places.cuda_home = value;
  }
  return places;
}

std::optional<Tool> find_nvcc(const SearchPlaces& places) {
  return first_of(cuda_directories(places), "nvcc", [](const std::string& path) -> std::optional<Tool> {
    const std::string output = version_output(path);
    // Only NVIDIA's own begins like this; muscope-nvcc answers with another first word.
    if (!output.starts_with("nvcc: NVIDIA")) return std::nullopt;
    return Tool{"nvcc", path, cuda_version(output)};
  });
}

std::optional<Tool> find_clang(const SearchPlaces& places) {
  return newest_clang(places, [](int major) { return major >= kOldestClang; });
}

std::optional<Tool> find_old_clang(const SearchPlaces& places) {
  return newest_clang(places, [](int major) { return major < kOldestClang; });
}

std::optional<Tool> find_ptxas(const SearchPlaces& places) {
  const auto accept = [](const std::string& path) -> std::optional<Tool> {
    const std::string output = version_output(path);
    if (output.find("ptx") == std::string::npos) return std::nullopt;
    return Tool{"ptxas", path, cuda_version(output)};
  };
  if (const std::optional<Tool> nvcc = find_nvcc(places)) {
    const std::string directory = fs::path(nvcc->path).parent_path().string();
    if (std::optional<Tool> beside = first_of({directory}, "ptxas", accept)) return beside;
  }
  return first_of(cuda_directories(places), "ptxas", accept);
}

std::optional<Tool> find_host_compiler(const SearchPlaces& places) {
  for (const std::string_view name : {"g++", "c++"}) {
    const auto found = first_of(places.path, name, [&](const std::string& path) -> std::optional<Tool> {
      const std::string output = version_output(path);
      if (output.empty()) return std::nullopt;
      // "g++ (Debian 12.2.0-14) 12.2.0": the version stands after the vendor's remark.
      const std::size_t remark = output.find(") ");
      return Tool{std::string(name), path, version_in(output, remark == std::string::npos ? 0 : remark)};
    });
    if (found) return found;
  }
  return find_clang(places);
}

std::optional<Tool> find_addr2line(const SearchPlaces& places) {
  return first_of(places.path, "addr2line", [](const std::string& path) -> std::optional<Tool> {
    const std::string output = version_output(path);
    const std::size_t remark = output.find(") ");
    return Tool{"addr2line", path, version_in(output, remark == std::string::npos ? 0 : remark)};
  });
}

std::string clang_install_command() { return fmt::format("apt-get install clang-{}", kOldestClang); }

Version version_in(std::string_view text, std::size_t from) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!digit(i)) continue;
    std::array<int, 3> parts{};
    std::size_t count = 0;
    std::size_t at = i;
    while (count < parts.size() && digit(at)) {
      int value = 0;
      while (digit(at)) value = std::min(value * 10 + (text[at++] - '0'), 1'000'000);
      parts[count++] = value;
      if (at + 1 >= text.size() || text[at] != '.' || !digit(at + 1)) break;
      ++at;
    }
    if (count >= 2) return Version{parts[0], parts[1], parts[2]};
    i = at;
  }
  return {};
}

}  // namespace muscope::toolchain
