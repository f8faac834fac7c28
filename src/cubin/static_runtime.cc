#include "cubin/static_runtime.h"

#include <algorithm>
#include <cstring>

namespace muscope::cubin {
namespace {

struct Row {
  const char* name;
  std::uint32_t place, room, hashed;
  std::uint64_t digest;
};

#define MUSCOPE_STATIC_FUNCTION(name, place, room, hashed, digest) {#name, place, room, hashed, digest},
constexpr Row kRows[] = {
#include "cubin/static_layout_13_0.inc"
};
#undef MUSCOPE_STATIC_FUNCTION

constexpr std::uint64_t kStep = 16;    // functions begin at multiples of this
constexpr std::uint32_t kAnchor = 48;  // bytes of the function that is looked for

std::uint64_t digest(const std::uint8_t* bytes, std::uint32_t count) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (std::uint32_t at = 0; at < count; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    value = (value ^ word) * 0x9e3779b97f4a7c15;
    value ^= value >> 32;
  }
  return value;
}

// A function that begins like no other one.
const Row& anchor() {
  static const Row& found = *std::find_if(std::begin(kRows), std::end(kRows), [](const Row& row) {
    return row.hashed == kAnchor && std::count_if(std::begin(kRows), std::end(kRows),
                                                  [&](const Row& other) { return other.digest == row.digest; }) == 1;
  });
  return found;
}

bool all_there(std::span<const std::uint8_t> text, std::uint64_t start) {
  return std::all_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    const std::uint64_t at = start + row.place;
    return at <= text.size() && row.hashed <= text.size() - at && digest(text.data() + at, row.hashed) == row.digest;
  });
}

}  // namespace

std::vector<StrippedFunction> find_stripped_runtime(std::span<const std::uint8_t> text, std::uint64_t address) {
  std::vector<StrippedFunction> found;
  const Row& first = anchor();
  for (std::uint64_t at = first.place; at + kAnchor <= text.size(); at += kStep) {
    if (digest(text.data() + at, kAnchor) != first.digest) continue;
    const std::uint64_t start = at - first.place;
    if (!all_there(text, start)) continue;
    for (const Row& row : kRows) found.push_back({row.name, address + start + row.place, row.room});
    break;
  }
  return found;
}

std::vector<StrippedFunction> find_stripped_runtime(const ElfView& elf) {
  if (elf.find(".nv_fatbin") == nullptr) return {};
  const ElfSection* const text = elf.find(".text");
  // Functions lie at multiples of 16 of the section, which begins at one.
  return text == nullptr || text->address % kStep != 0 ? std::vector<StrippedFunction>{}
                                                       : find_stripped_runtime(text->bytes, text->address);
}

}  // namespace muscope::cubin
