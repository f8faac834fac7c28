#include "toolchain/make_code.h"

#include "toolchain/process.h"
#include "toolchain/read_file.h"

namespace muscope::toolchain {

Assembled make_code(const std::string& tool, const std::string& key, Cache* cache, RunningProcesses* listed,
                    const MakeCommand& command) {
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
  const std::string to = scratch.file("code.cubin");
  ProcessOptions options;
  options.listed = listed;
  const ProcessResult run = run_process(command(scratch, to), options);
  result.messages = run.out + run.err;
  if (!run.ok()) {
    if (result.messages.empty()) result.messages = tool + ' ' + describe_end(run);
    return result;
  }
  result.cubin = read_file(to).value_or("");
  if (result.cubin.empty()) {
    result.messages += tool + " made no cubin\n";
  } else if (cache != nullptr) {
    cache->store_blob(key, result.cubin);
  }
  return result;
}

}  // namespace muscope::toolchain
