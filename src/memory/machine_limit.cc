#include "memory/machine_limit.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace muscope::memory {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  std::string text;
  if (!file) return text;
  char buffer[4096];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) text.append(buffer, got);
  return text;
}

// A number in the file, kUnlimited where it says "max", is absent, or is the huge value that stands for no limit in v1.
std::uint64_t number_in(const std::string& path) {
  const std::string text = read_file(path);
  if (text.empty() || text[0] < '0' || text[0] > '9') return kUnlimited;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::uint64_t field(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

// What one group and its ancestors still allow. Page cache that can be dropped does not count as used.
std::uint64_t group_allows(const std::string& root, std::string path, const char* limit, const char* usage) {
  std::uint64_t allowed = kUnlimited;
  for (;;) {
    const std::string folder = root + path;
    const std::uint64_t most = number_in(folder + "/" + limit);
    if (most < (std::uint64_t{1} << 60)) {
      const std::uint64_t used = number_in(folder + "/" + usage);
      const std::uint64_t droppable = field(read_file(folder + "/memory.stat"), "inactive_file ");
      const std::uint64_t held = used == kUnlimited ? 0 : used - std::min(used, droppable);
      allowed = std::min(allowed, most - std::min(most, held));
    }
    if (path.empty()) return allowed;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

std::uint64_t machine_limit(const std::string& proc, const std::string& cgroup) {
  std::uint64_t allowed = kUnlimited;
  const std::string meminfo = read_file(proc + "/meminfo");
  if (const std::uint64_t available = field(meminfo, "MemAvailable:")) allowed = available * 1024;
  const std::string groups = read_file(proc + "/self/cgroup");
  std::size_t at = 0;
  while (at < groups.size()) {
    const std::size_t end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      allowed = std::min(allowed, group_allows(cgroup, path, "memory.max", "memory.current"));
    } else if (controllers.find("memory") != std::string::npos) {
      allowed =
          std::min(allowed, group_allows(cgroup + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  if (allowed == kUnlimited) return allowed;
  // The program's own heap, the engine's working set and page tables need room too.
  const std::uint64_t reserve = std::max<std::uint64_t>(allowed / 16, std::uint64_t{128} << 20);
  return allowed - std::min(allowed, reserve);
}

std::uint64_t machine_limit() { return machine_limit("/proc", "/sys/fs/cgroup"); }

}  // namespace muscope::memory
