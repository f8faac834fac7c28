// tex on texture objects: 1D, 2D, 3D and layered, point and linear.
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

const XOp* run_texture(Warp& w, const XOp* op);

}  // namespace muscope::exec
