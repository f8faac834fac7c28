// Text of device printf: the format string against the packed argument block that the compiler builds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace muscope::exec {

/// How the formatter reaches device memory.
struct FormatReader {
  std::function<bool(std::uint64_t offset, void* out, std::size_t bytes)>
      argument;                                              ///< bytes at `offset` of the argument block
  std::function<std::string(std::uint64_t address)> string;  ///< NUL-terminated device string
};

/// Arguments are aligned to their own size: int 4, double and pointers 8 (CUDA C++ Programming Guide, "Formatted
/// Output"). Conversions are those of C's printf but for n; unknown ones are copied. `count` is what printf returns:
/// the number of arguments.
std::string format_device_text(const std::string& format, const FormatReader& reader, int& count);

}  // namespace muscope::exec
