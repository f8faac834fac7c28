// Little-endian numbers out of bytes that may end too early.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace muscope::cubin {

static_assert(std::endian::native == std::endian::little);

/// True when [offset, offset + size) lies inside `total` bytes; no overflow whatever the numbers are.
constexpr bool inside(std::uint64_t total, std::uint64_t offset, std::uint64_t size) {
  return offset <= total && size <= total - offset;
}

/// The number at `offset`, or 0 when it does not lie inside. For fields whose place was not checked before.
template <typename T>
T read_at(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  if (inside(bytes.size(), offset, sizeof(T))) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace muscope::cubin
