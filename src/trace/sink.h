// Where executed accesses go.
#pragma once

#include "trace/access.h"

namespace muscope::trace {

/// One per worker; called from one thread, in the order in which that worker executes.
class AccessSink {
 public:
  virtual ~AccessSink() = default;
  virtual void access(const WarpAccess& access) = 0;
  /// All threads of a block that live have come to a barrier and go on: instruction `op` of the kernel. Not `plain`: a
  /// barrier for some threads, one that reduces, one that warps came to by several instructions.
  virtual void barrier(std::uint64_t /*block*/, std::uint32_t /*op*/, bool /*plain*/) {}
};

}  // namespace muscope::trace
