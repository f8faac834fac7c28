// How much memory this process may fill before the machine, or its control group, would kill it.
#pragma once

#include <cstdint>
#include <string>

namespace muscope::memory {

/// Bytes that can be given to emulated devices now: what /proc/meminfo calls available, or what the process's control
/// group (version 2 or 1, and its ancestors) still allows, whichever is smaller, less a reserve for the program itself.
std::uint64_t machine_limit();

/// The same for files under other roots, for tests: `proc` stands for /proc, `cgroup` for /sys/fs/cgroup.
std::uint64_t machine_limit(const std::string& proc, const std::string& cgroup);

}  // namespace muscope::memory
