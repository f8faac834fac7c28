#include "toolchain/assemble.h"

#include <fmt/format.h>

#include <fstream>

#include "toolchain/make_code.h"

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

  return make_code("ptxas", key, cache, listed, [&](const ScratchFolder& scratch, const std::string& to) {
    std::ofstream(scratch.file("kernel.ptx"), std::ios::binary) << request.ptx;
    std::vector<std::string> command{ptxas.path};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {scratch.file("kernel.ptx"), "-o", to});
    return command;
  });
}

}  // namespace muscope::toolchain
