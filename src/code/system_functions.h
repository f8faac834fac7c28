// Functions that no cubin holds because the driver supplies them: vprintf, malloc, and those through which the device
// runtime (libcudadevrt) asks for launches, streams and events. How machine code passes their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace muscope::code {

/// Where a function of the driver finds its arguments and leaves its result: parameters from R4 on, values of 8 bytes
/// in even pairs, a dim3 in three registers after one another; the result in R4 (and R5). Seen in what nvcc 13.0 makes
/// of calls for sm_80 and sm_90.
struct SystemFunction {
  struct Argument {
    std::uint8_t first = 0;  ///< register
    std::uint8_t words = 1;  ///< of 32 bits
  };
  std::string_view name;  ///< "vprintf"
  std::vector<Argument> arguments;
  std::uint8_t result_words = 0;
};

std::span<const SystemFunction> system_functions();

/// Before the names of functions of the driver that only libcudadevrt calls.
inline constexpr std::string_view kSystemCall = "__cuda_syscall_";

}  // namespace muscope::code
