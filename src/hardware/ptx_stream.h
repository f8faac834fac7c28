// The hardware's view of a program whose SASS is not known: every executed PTX access is taken to be one request.
// ptxas may merge, widen, drop or repeat accesses; numbers that rest on this view are graded modelled.
#pragma once

#include "trace/sink.h"

namespace muscope::hardware {

/// Passes executed accesses on as they are.
class PtxStream final : public trace::AccessSink {
 public:
  explicit PtxStream(trace::AccessSink& next) : next_(next) {}
  void access(const trace::WarpAccess& access) override { next_.access(access); }

 private:
  trace::AccessSink& next_;
};

}  // namespace muscope::hardware
