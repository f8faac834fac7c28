// Divergence: the paths of a warp, which one runs, where they merge. See docs/architecture.md, "Divergence".
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// Sets aside the running lanes at op index `op`.
void save_path(Warp& w, std::uint32_t op, PathState state, std::uint32_t barrier = 0, GroupMask members = 0);

/// Loads the best path that can run and returns its op. When none can: null, with Warp::stop kExited (no lanes left) or
/// kBlocked (all wait).
const XOp* next_path(Warp& w);

/// At the start of a basic block (op index `op`): merges waiting paths that stand here, and gives way to one that
/// stands earlier. Returns the op to go on with: `op` itself, or another path's.
const XOp* meet(Warp& w, std::uint32_t op);

/// Waits until every live lane of `members` has come to this instruction. True when the op may run now (w.active then
/// holds the lanes that came). False: w is on another path now, `next` is its op, or null.
bool rendezvous(Warp& w, const XOp* op, GroupMask members, const XOp** next);

/// Frees paths that wait at barrier `id`: they go on after it.
void release_barrier(Warp& w, std::uint32_t id);

/// Whether two activations are the same call chain.
bool same_stack(const Warp& w, const Path& path);

}  // namespace muscope::exec
