// May host memory be read or written? Asked of the kernel, so that a bad pointer becomes an error code and not a crash.
#pragma once

#include <cstddef>

namespace muscope::runtime {

/// True when the whole range is mapped and its first and last bytes can be read (written). Pages in between that are
/// mapped without access rights are not noticed; the crash handler tells those. Changes nothing, also under threads.
bool host_readable(const void* pointer, std::size_t bytes);
bool host_writable(const void* pointer, std::size_t bytes);

}  // namespace muscope::runtime
