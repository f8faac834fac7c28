// Where executed accesses go.
#pragma once

#include "trace/access.h"

namespace muscope::trace {

/// One per worker; called from one thread, in the order in which that worker executes.
class AccessSink {
 public:
  virtual ~AccessSink() = default;
  virtual void access(const WarpAccess& access) = 0;
};

}  // namespace muscope::trace
