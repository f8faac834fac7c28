#include "toolchain/link_code.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "toolchain/make_code.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;

std::optional<Tool> find_nvlink(const Tool& ptxas) {
  const std::string path = (fs::path(ptxas.path).parent_path() / "nvlink").string();
  if (::access(path.c_str(), X_OK) != 0) return std::nullopt;
  return Tool{"nvlink", path, ptxas.version};
}

Assembled assemble_and_link(const Tool& ptxas, const Tool& nvlink, std::vector<AssembleRequest> parts, Cache* cache,
                            RunningProcesses* listed) {
  if (parts.empty()) return {};
  std::string target = fmt::format("-arch=sm_{}", parts.front().architecture);
  if (parts.front().suffix != 0) target += parts.front().suffix;
  std::vector<std::string> cubins;
  Hasher hasher;
  hasher.add("linked 1");
  hasher.add(nvlink.path);
  hasher.add(nvlink.version.text());
  hasher.add(target);
  for (AssembleRequest& part : parts) {
    part.architecture = parts.front().architecture;
    part.suffix = parts.front().suffix;
    part.options.push_back("--compile-only");
    Assembled made = assemble(ptxas, part, cache, listed);
    if (!made.ok()) return made;
    hasher.add(made.cubin);
    cubins.push_back(std::move(made.cubin));
  }
  const std::string key = hasher.hex();
  return make_code("nvlink", key, cache, listed, [&](const ScratchFolder& scratch, const std::string& to) {
    std::vector<std::string> command{nvlink.path, target};
    for (std::size_t n = 0; n < cubins.size(); ++n) {
      command.push_back(scratch.file(fmt::format("part{}.cubin", n)));
      std::ofstream(command.back(), std::ios::binary) << cubins[n];
    }
    command.insert(command.end(), {"-o", to});
    return command;
  });
}

}  // namespace muscope::toolchain
