// System calls without libc around them: no cancellation points, no interposed wrappers, errno left as it was. The
// program under test must not notice that its spool is written.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace muscope::runtime {

/// Result of a system call: at least 0, or -errno.
inline long raw_result(long result) { return result == -1 ? -static_cast<long>(errno) : result; }

class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

inline long raw_open(const char* path, int flags, int mode = 0) {
  const KeepErrno keep;
  long fd = 0;
  do {
    fd = raw_result(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
  } while (fd == -EINTR);
  return fd;
}

inline void raw_close(long fd) {
  const KeepErrno keep;
  ::syscall(SYS_close, fd);
}

inline long raw_pwrite(long fd, const void* data, std::size_t size, std::uint64_t offset) {
  const KeepErrno keep;
  return raw_result(::syscall(SYS_pwrite64, fd, data, size, offset));
}

inline long raw_truncate(long fd, std::uint64_t size) {
  const KeepErrno keep;
  return raw_result(::syscall(SYS_ftruncate, fd, size));
}

inline void raw_stderr(const char* text, std::size_t size) {
  const KeepErrno keep;
  [[maybe_unused]] const long written = ::syscall(SYS_write, 2, text, size);
}

/// A whole small file, such as those of /proc; empty when it cannot be read.
std::string raw_read_file(const char* path, std::size_t limit);

}  // namespace muscope::runtime
