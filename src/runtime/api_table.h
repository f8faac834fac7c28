// The runtime's functions by CUDA's names, for redirecting a runtime that was linked statically into the program.
#pragma once

#include <string_view>

namespace muscope::runtime {

/// The function behind `name` as a program built for CUDA `major` (12 or 13) means it; null when the runtime of that
/// version exports no such function.
void* api_function(std::string_view name, int major);

}  // namespace muscope::runtime
