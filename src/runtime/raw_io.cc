#include "runtime/raw_io.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/environment.h"

namespace muscope::runtime {

std::string raw_read_file(const char* path, std::size_t limit) {
  const KeepErrno keep;
  std::string content;
  const long fd = raw_open(path, O_RDONLY);
  if (fd < 0) return content;
  while (content.size() < limit) {
    char chunk[4096];
    const long got = raw_result(::syscall(SYS_read, fd, chunk, std::min(sizeof chunk, limit - content.size())));
    if (got == -EINTR) continue;
    if (got <= 0) break;
    content.append(chunk, static_cast<std::size_t>(got));
  }
  raw_close(fd);
  return content;
}

std::string environment_value(const char* name) {
  if (const char* value = std::getenv(name)) return value;
  constexpr std::size_t kLimit = std::size_t{4} << 20;  // execve allows 6 MiB of arguments and environment at most
  const std::string initial = raw_read_file("/proc/self/environ", kLimit);
  const std::string prefix = std::string(name) + '=';
  for (std::size_t at = 0; at < initial.size();) {
    const std::size_t end = std::min(initial.find('\0', at), initial.size());
    if (initial.compare(at, prefix.size(), prefix) == 0)
      return initial.substr(at + prefix.size(), end - at - prefix.size());
    at = end + 1;
  }
  return {};
}

}  // namespace muscope::runtime
