// Handlers of what machine code does to control flow and warp state (code::OpKind::kMachine).
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// Null when the op is not of that kind.
Handler find_machine(const code::Op& op);

/// After lanes have exited or left a barrier: paths that waited for nobody else go on.
void release_converged(Warp& w);

/// An instruction of the uniform datapath: runs op->body for all lanes, whichever are on.
const XOp* run_uniform(Warp& w, const XOp* op);

/// dst = a and b, predicates with their inversions.
const XOp* run_predicate_and(Warp& w, const XOp* op);

/// QSPC: whether the generic address is in space imm8 (0 global, 1 local, 2 shared, 3 shared of another block).
const XOp* run_query_space(Warp& w, const XOp* op);

/// ATOMS.CAST.SPIN (cast_spin.cc).
const XOp* run_cast_spin(Warp& w, const XOp* op);

}  // namespace muscope::exec
