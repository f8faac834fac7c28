#include "runtime/host_probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace muscope::runtime {
namespace {

constexpr std::size_t kPage = 4096;

TEST(HostProbe, KnowsWhatMayBeReadAndWritten) {
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 3, 4 * kPage);
  EXPECT_TRUE(host_readable(pages, 4 * kPage));
  EXPECT_TRUE(host_writable(pages, 4 * kPage));
  ASSERT_EQ(mprotect(pages, kPage, PROT_READ), 0);
  EXPECT_TRUE(host_readable(pages, 4 * kPage));
  EXPECT_FALSE(host_writable(pages, 1));
  EXPECT_TRUE(host_writable(pages + kPage, kPage));
  ASSERT_EQ(mprotect(pages, kPage, PROT_NONE), 0);
  EXPECT_FALSE(host_readable(pages + kPage - 1, 2));
  ASSERT_EQ(munmap(pages + 2 * kPage, kPage), 0);
  EXPECT_FALSE(host_readable(pages + kPage, 3 * kPage));  // a hole in the middle
  EXPECT_FALSE(host_writable(pages + 2 * kPage, 1));
  EXPECT_TRUE(host_readable(pages + 3 * kPage + 1, kPage - 1));
  for (std::size_t i = kPage; i < 2 * kPage; ++i) ASSERT_EQ(pages[i], 3) << "probing changed a byte";
  munmap(pages, 4 * kPage);
}

TEST(HostProbe, RefusesNonsense) {
  int on_stack = 0;
  EXPECT_TRUE(host_writable(&on_stack, sizeof on_stack));
  EXPECT_TRUE(host_readable(nullptr, 0));
  EXPECT_FALSE(host_readable(nullptr, 1));
  EXPECT_FALSE(host_readable(reinterpret_cast<void*>(16), 4));
  EXPECT_FALSE(host_readable(&on_stack, ~std::size_t{0}));
  EXPECT_FALSE(host_readable(reinterpret_cast<void*>(0x8000'0000'0000), 4));
  EXPECT_FALSE(host_writable("a constant", 3));
  EXPECT_TRUE(host_readable("a constant", 3));
}

TEST(HostProbe, LeavesErrnoAlone) {
  errno = 42;
  host_readable(reinterpret_cast<void*>(16), 4);
  EXPECT_EQ(errno, 42);
}

}  // namespace
}  // namespace muscope::runtime
