// What the tests of matrix instructions share.
#pragma once

#include <string>

#include "exec/test_kernel.h"
#include "exec/test_opcodes.h"

namespace muscope::exec::testing {

/// "{%r1, %r2}" and how many registers were used so far.
inline std::string vector_text(char kind, unsigned& next, unsigned count) {
  std::string text = "{";
  for (unsigned n = 0; n < count; ++n) text += (n ? ", %" : "%") + std::string(1, kind) + std::to_string(next++);
  return text + "}";
}

}  // namespace muscope::exec::testing
