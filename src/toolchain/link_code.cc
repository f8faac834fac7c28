#include "toolchain/link_code.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "toolchain/read_file.h"
#include "toolchain/scratch_folder.h"

namespace muscope::toolchain {
namespace fs = std::filesystem;

std::optional<Tool> find_nvlink(const Tool& ptxas) {
  const std::string path = (fs::path(ptxas.path).parent_path() / "nvlink").string();
  if (::access(path.c_str(), X_OK) != 0) return std::nullopt;
  return Tool{"nvlink", path, ptxas.version};
}

Assembled assemble_and_link(const Tool& ptxas, const Tool& nvlink, std::vector<AssembleRequest> parts, Cache* cache,
                            RunningProcesses* listed) {
  Assembled result;
  if (parts.empty()) return result;
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
  if (cache != nullptr) {
    if (std::optional<std::string> found = cache->find_blob(key)) {
      result.cubin = std::move(*found);
      result.from_cache = true;
      return result;
    }
  }
  const ScratchFolder scratch;
  if (!scratch.good()) {
    result.messages = "no temporary folder can be made";
    return result;
  }
  std::vector<std::string> command{nvlink.path, target};
  for (std::size_t n = 0; n < cubins.size(); ++n) {
    command.push_back(scratch.file(fmt::format("part{}.cubin", n)));
    std::ofstream(command.back(), std::ios::binary) << cubins[n];
  }
  command.insert(command.end(), {"-o", scratch.file("linked.cubin")});
  ProcessOptions options;
  options.listed = listed;
  const ProcessResult run = run_process(command, options);
  result.messages = run.out + run.err;
  if (!run.ok()) {
    if (result.messages.empty()) result.messages = "nvlink " + describe_end(run);
    return result;
  }
  result.cubin = read_file(scratch.file("linked.cubin")).value_or("");
  if (result.cubin.empty())
    result.messages += "nvlink made no code\n";
  else if (cache != nullptr)
    cache->store_blob(key, result.cubin);
  return result;
}

}  // namespace muscope::toolchain
