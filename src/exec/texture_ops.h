// Texture and surface instructions on objects.
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// tex, tld4; TEX, TLD, TLD4, TXD.
const XOp* run_texture(Warp& w, const XOp* op);
/// txq and suq of sizes; TXQ.
const XOp* run_size_query(Warp& w, const XOp* op);
/// istypep.
const XOp* run_kind_test(Warp& w, const XOp* op);
/// suld, sust, sured; SULD, SUST, SURED.
const XOp* run_surface(Warp& w, const XOp* op);

/// What records of a fetch (k_tex) are: kLoad or kSample.
trace::Kind texture_kind(const code::Op& op);

/// The handle that lane `l` passes. Machine code has it in a uniform register: the low half is what hardware uses.
inline std::uint64_t object_handle(const Warp& w, const XOp* op, unsigned l) {
  if (op->a == kNoPlace) return 0;
  return op->sass ? w.src<std::uint32_t>(op->a)[0] : w.src<std::uint64_t>(op->a)[l];
}

}  // namespace muscope::exec
