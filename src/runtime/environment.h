// Variables of the environment that the process was started with.
#pragma once

#include <string>

namespace muscope::runtime {

/// The value of `name`, empty when unset. Looks at the environment as it is now, then as it was when the process
/// started (/proc/self/environ): programs may clear it before their first CUDA call.
std::string environment_value(const char* name);

}  // namespace muscope::runtime
