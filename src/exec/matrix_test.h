// What the tests of matrix instructions share.
#pragma once

#include <string>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// "{%r1, %r2}" and how many registers were used so far.
inline std::string vector_text(char kind, unsigned& next, unsigned count) {
  std::string text = "{";
  for (unsigned n = 0; n < count; ++n) text += (n ? ", %" : "%") + std::string(1, kind) + std::to_string(next++);
  return text + "}";
}

}  // namespace muscope::exec::testing
