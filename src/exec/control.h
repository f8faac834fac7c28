// Handlers of control flow: block entry, branches, exits, calls. Baseline code, no vector work.
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

const XOp* run_enter(Warp& w, const XOp* op);
const XOp* run_enter_loop(Warp& w, const XOp* op);
/// The same for machine code, where paths meet only where an instruction says so.
const XOp* run_enter_machine(Warp& w, const XOp* op);
const XOp* run_enter_machine_loop(Warp& w, const XOp* op);
const XOp* run_jump(Warp& w, const XOp* op);
const XOp* run_branch(Warp& w, const XOp* op);
/// The active lanes `taken` go on at the branch's target, the others at its second one, one of the two at once.
const XOp* part(Warp& w, const XOp* op, GroupMask taken);
const XOp* run_switch(Warp& w, const XOp* op);
const XOp* run_exit(Warp& w, const XOp* op);
const XOp* run_return(Warp& w, const XOp* op);
const XOp* run_call(Warp& w, const XOp* op);
const XOp* run_trap(Warp& w, const XOp* op);
const XOp* run_create_policy(Warp& w, const XOp* op);  // createpolicy.range
const XOp* run_nanosleep(Warp& w, const XOp* op);
const XOp* run_nothing(Warp& w, const XOp* op);
const XOp* run_unsupported(Warp& w, const XOp* op);
/// Runs op->inner for the lanes where the guard holds; a memory op with none still counts as executed.
const XOp* run_guarded(Warp& w, const XOp* op);

/// Instructions of a warp between looks at the launch's stop flag: some of them, such as those of tensor cores on a
/// busy machine, take tens of microseconds, and a run that is stopped waits for 2 seconds only.
inline constexpr std::uint64_t kLook = 1 << 13;

/// Whether the launch is to stop: then with a fault at `op`.
bool stopped_at(Warp& w, const XOp* op, const char* where);

/// Adds what `w` has executed to the launch's total and starts a new slice. False, with a fault at `op`, when the
/// launch's budget is used up.
bool charge_steps(Warp& w, const XOp* op);

/// Functions that the engine supplies to device code: vprintf, malloc, free, __assertfail. Returns the next op.
const XOp* run_builtin(Warp& w, const XOp* op);
/// The device runtime's functions for launches from the device; null when `name` is none of them.
Handler find_device_launch(const std::string& name);
/// Whether run_builtin knows it.
bool is_builtin(const std::string& name);

/// Bytes of the running lanes' call parameters.
std::uint8_t* local_bytes(Warp& w, unsigned lane, std::uint32_t offset);

}  // namespace muscope::exec
