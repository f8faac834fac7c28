// Instructions by which the lanes of a warp exchange values: shfl, vote, match, redux, activemask, bar.warp, elect.
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// The handler of a warp-wide instruction, or null.
Handler find_warp(const code::Op& op);

}  // namespace muscope::exec
