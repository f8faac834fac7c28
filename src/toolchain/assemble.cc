#include "toolchain/assemble.h"

#include <fmt/format.h>

#include <fstream>

#include "toolchain/process.h"
#include "toolchain/read_file.h"
#include "toolchain/scratch_folder.h"

namespace muscope::toolchain {
namespace {

std::vector<std::string> options_of(const AssembleRequest& request) {
  std::string target = fmt::format("-arch=sm_{}", request.architecture);
  if (request.suffix != 0) target += request.suffix;
  std::vector<std::string> words{target, "-lineinfo"};
  if (request.max_registers > 0) words.push_back(fmt::format("-maxrregcount={}", request.max_registers));
  words.insert(words.end(), request.options.begin(), request.options.end());
  return words;
}

}  // namespace

Assembled assemble(const Tool& ptxas, const AssembleRequest& request, Cache* cache, RunningProcesses* listed) {
  const std::vector<std::string> options = options_of(request);
  Hasher hasher;
  hasher.add("cubin 1");
  hasher.add(ptxas.path);
  hasher.add(ptxas.version.text());
  for (const std::string& option : options) hasher.add(option);
  hasher.add(request.ptx);
  const std::string key = hasher.hex();

  Assembled result;
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
  std::ofstream(scratch.file("kernel.ptx"), std::ios::binary) << request.ptx;
  std::vector<std::string> command{ptxas.path};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {scratch.file("kernel.ptx"), "-o", scratch.file("kernel.cubin")});
  ProcessOptions options_of_process;
  options_of_process.listed = listed;
  const ProcessResult run = run_process(command, options_of_process);
  result.messages = run.out + run.err;
  if (!run.ok()) {
    if (result.messages.empty()) result.messages = "ptxas " + describe_end(run);
    return result;
  }
  result.cubin = read_file(scratch.file("kernel.cubin")).value_or("");
  if (result.cubin.empty()) {
    result.messages += "ptxas made no cubin\n";
  } else if (cache != nullptr) {
    cache->store_blob(key, result.cubin);
  }
  return result;
}

}  // namespace muscope::toolchain
