// What ptxas and nvlink have in common: a command that makes a cubin, whose result is cached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "toolchain/assemble.h"
#include "toolchain/scratch_folder.h"

namespace muscope::toolchain {

/// The words of the command that makes the cubin `to`, with its inputs written to the folder.
using MakeCommand = std::function<std::vector<std::string>(const ScratchFolder& scratch, const std::string& to)>;

/// What the cache has under `key`, or what the command makes. `tool` is its name in messages. Never throws for what the
/// tool says. Thread-safe.
Assembled make_code(const std::string& tool, const std::string& key, Cache* cache, RunningProcesses* listed,
                    const MakeCommand& command);

}  // namespace muscope::toolchain
