#include "cubin/image_parts.h"

#include <charconv>

#include "base/diagnostic.h"

namespace muscope::cubin {
namespace {

// Attribute of .nv.compat, from sm_90 on.
constexpr std::uint8_t kArchitectureSpecific = 0x09;

}  // namespace

void corrupt_cubin(const std::string& why) {
  fail("D207", "corrupt cubin: " + why,
       "rebuild the program; if it was built with a newer CUDA toolkit, please report it");
}

int constant_bank(std::string_view section, std::string_view& rest) {
  constexpr std::string_view kPrefix = ".nv.constant";
  if (!section.starts_with(kPrefix)) return -1;
  section.remove_prefix(kPrefix.size());
  int bank = -1;
  const auto [end, error] = std::from_chars(section.data(), section.data() + section.size(), bank);
  if (error != std::errc{} || bank < 0) return -1;
  rest = section.substr(static_cast<std::size_t>(end - section.data()));
  return bank;
}

// OS/ABI 0x41, version 8 (CUDA 13): bits 8 to 15. Version 7 (CUDA 12 and before): bits 0 to 7, 'a' in bit 11.
SmTarget cubin_target(const ElfView& elf, std::span<const std::uint8_t> compat) {
  SmTarget target;
  if (elf.abi_version() >= 8) {
    target.sm = static_cast<int>((elf.flags() >> 8) & 0xff);
    if ((elf.flags() & 0x8) != 0) target.variant = 'a';
  } else {
    target.sm = static_cast<int>(elf.flags() & 0xff);
    if ((elf.flags() & 0x800) != 0) target.variant = 'a';
  }
  for_each_attribute(compat, [&](std::uint8_t attribute, std::span<const std::uint8_t> payload) {
    if (attribute == kArchitectureSpecific && !payload.empty() && payload[0] == 1) target.variant = 'a';
  });
  return target;
}

}  // namespace muscope::cubin
