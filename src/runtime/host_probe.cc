#include "runtime/host_probe.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace muscope::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint32_t* word_of(std::uint64_t address) { return reinterpret_cast<std::uint32_t*>(address & ~std::uint64_t{3}); }

// FUTEX_WAIT reads the word before it does anything else; the timeout of zero ends it if the word has that value.
bool can_read(std::uint64_t address) {
  const timespec now{};
  return syscall(SYS_futex, word_of(address), FUTEX_WAIT_PRIVATE, 0, &now, nullptr, 0) == 0 || errno != EFAULT;
}

// FUTEX_WAKE_OP adds 0 to its second word, atomically, which needs write access. Nobody is woken: both counts are 0.
bool can_write(std::uint64_t address) {
  std::uint32_t unused = 0;
  const int add_zero = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 1);
  return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word_of(address), add_zero) >= 0 ||
         errno != EFAULT;
}

// msync without work to do says ENOMEM when some page of the range is not mapped, in time that does not grow with it.
bool all_mapped(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t start = first / kPage * kPage;
  return msync(reinterpret_cast<void*>(start), last - start + 1, MS_ASYNC) == 0 || errno != ENOMEM;
}

bool probe(const void* pointer, std::size_t bytes, bool (*can)(std::uint64_t)) {
  const auto first = reinterpret_cast<std::uint64_t>(pointer);
  if (bytes == 0) return true;
  const std::uint64_t last = first + bytes - 1;
  if (first < kPage || last < first || last >= (std::uint64_t{1} << 47)) return false;
  const int error = errno;  // the program's
  const bool good = can(first) && (last / kPage == first / kPage || (can(last) && all_mapped(first, last)));
  errno = error;
  return good;
}

}  // namespace

bool host_readable(const void* pointer, std::size_t bytes) { return probe(pointer, bytes, can_read); }

bool host_writable(const void* pointer, std::size_t bytes) { return probe(pointer, bytes, can_write); }

}  // namespace muscope::runtime
