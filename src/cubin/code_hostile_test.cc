// Machine code and line tables that are damaged: cut off, changed at random, or made to ask for more than they hold.
// Nothing may crash or grow; what is read must be in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "base/diagnostic.h"
#include "cubin/code_image_check.h"
#include "cubin/code_test_files.h"
#include "cubin/elf_view.h"

namespace muscope::cubin {
namespace {

using Bytes = std::vector<std::uint8_t>;

void read_and_use(const Bytes& bytes) {
  try {
    CodeImage image = read_code_image(bytes);
    EXPECT_EQ(first_disorder(image), "");
    apply_everywhere(image);
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "D207");
  }
}

std::vector<Bytes> samples() {
  std::vector<Bytes> all;
  for (const char* name : {"code_90.cubin", "code_90_linked.cubin", "code_80_rdc.cubin", "kernels_75.cubin"})
    all.push_back(read_test_binary(name));
  return all;
}

// Where a section's bytes are in the file.
std::pair<std::size_t, std::size_t> extent(const Bytes& bytes, std::string_view name) {
  std::string why;
  const auto elf = ElfView::parse(bytes, why);
  const ElfSection* section = elf->find(name);
  EXPECT_NE(section, nullptr) << name;
  return {section->offset, section->size};
}

TEST(HostileCode, CutOff) {
  for (const Bytes& whole : samples()) {
    for (std::size_t length = 0; length < whole.size(); length += 61 + length / 32)
      read_and_use({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
  }
}

TEST(HostileCode, ChangedBytes) {
  std::mt19937 random(20250301);
  for (const Bytes& whole : samples()) {
    for (int round = 0; round < 300; ++round) {
      Bytes bytes = whole;
      for (unsigned i = 0; i < 1 + random() % 8; ++i)
        bytes[random() % bytes.size()] = random() % 2 == 0 ? 0xff : static_cast<std::uint8_t>(random());
      read_and_use(bytes);
    }
  }
}

TEST(HostileCode, ChangedTables) {
  std::mt19937 random(20250302);
  const Bytes whole = read_test_binary("code_90_linked.cubin");
  for (const char* name : {".debug_line", ".nv_debug_line_sass", ".rela.debug_line", ".rela.text.calls", ".symtab",
                           ".nv.info.switches", ".nv.info", ".debug_str"}) {
    const auto [offset, size] = extent(whole, name);
    ASSERT_GT(size, 0u) << name;
    for (int round = 0; round < 200; ++round) {
      Bytes bytes = whole;
      for (unsigned i = 0; i < 1 + random() % 4; ++i)
        bytes[offset + random() % size] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xff : random());
      read_and_use(bytes);
    }
  }
}

// An inlining record whose call site is a row of itself or later: no chain, not an endless one.
TEST(HostileCode, CallSitesThatComeLater) {
  const Bytes whole = read_test_binary("code_90.cubin");
  const auto [offset, size] = extent(whole, ".debug_line");
  std::size_t changed = 0;
  for (std::size_t at = offset; at + 4 < offset + size; ++at) {
    if (whole[at] != 0 || whole[at + 1] != 3 || whole[at + 2] != 0x90 || whole[at + 3] == 0) continue;
    for (int context = 1; context < 128; ++context) {
      Bytes bytes = whole;
      bytes[at + 3] = static_cast<std::uint8_t>(context);
      read_and_use(bytes);
    }
    ++changed;
  }
  EXPECT_EQ(changed, 5u);
}

// All section headers state the same large section: the copies would take 60,000 times the file.
TEST(HostileCode, OverlappingSectionsAreRefused) {
  Bytes bytes = read_test_binary("code_90.cubin");
  const std::size_t padding = 4 << 20;
  const auto table = read_at<std::uint64_t>(bytes, 40);
  const auto count = read_at<std::uint16_t>(bytes, 60);
  std::string why;
  std::size_t code = 0;
  const auto elf = ElfView::parse(bytes, why);
  while (!elf->sections().at(code).name.starts_with(".text.")) ++code;
  const Bytes header(bytes.begin() + static_cast<std::ptrdiff_t>(table + code * 64),
                     bytes.begin() + static_cast<std::ptrdiff_t>(table + code * 64 + 64));
  const Bytes headers(bytes.begin() + static_cast<std::ptrdiff_t>(table),
                      bytes.begin() + static_cast<std::ptrdiff_t>(table + count * 64));
  bytes.resize(bytes.size() + padding);
  const std::uint64_t moved = bytes.size();
  bytes.insert(bytes.end(), headers.begin(), headers.end());
  constexpr std::uint16_t kMany = 60000;
  for (std::size_t i = count; i < kMany; ++i) {
    bytes.insert(bytes.end(), header.begin(), header.end());
    const std::uint64_t zero = 0, large = padding;
    std::memcpy(&bytes[bytes.size() - 64 + 24], &zero, 8);
    std::memcpy(&bytes[bytes.size() - 64 + 32], &large, 8);
  }
  std::memcpy(&bytes[40], &moved, 8);
  std::memcpy(&bytes[60], &kMany, 2);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(read_code_image(bytes), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace muscope::cubin
