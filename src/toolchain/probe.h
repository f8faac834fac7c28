// Asking a tool about itself (--version and the like), once: its answer is kept as long as its file does not change.
#pragma once

#include <string>
#include <vector>

namespace muscope::toolchain {

/// What `path` prints to stdout and then stderr when called with these arguments; empty when it fails. The answer is
/// kept in the user's cache under the file's path, size and time of change.
std::string ask_tool(const std::string& path, const std::vector<std::string>& arguments);

}  // namespace muscope::toolchain
