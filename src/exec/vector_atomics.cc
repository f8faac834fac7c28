// atom and red on vectors of f32, halves and bfloat16 in global memory (PTX ISA 8.1, sm_90): F32x4, F16x8 ... of
// machine code.
#include "exec/atomic_access.h"
#include "exec/atomics.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

/// Reports the request: one, as wide as the vector.
void report(Warp& w, const XOp* op, const std::uint64_t* address) {
  if (!w.worker->sink) return;
  const memory::Kind kind = w.worker->records[op->site].kind;
  trace::WarpAccess access;
  access.site = op->site;
  access.space = trace::Space::kGlobal;
  access.kind = op->source->result_used ? trace::Kind::kAtom : trace::Kind::kRed;
  access.bytes = op->bytes;
  access.shape = shape_of(address, w.active, access.stride);
  access.base = address[access.shape == trace::Shape::kAffine ? 0 : std::countr_zero(w.active)];
  access.addresses = address;
  access.host_memory = kind == memory::Kind::kPinned || kind == memory::Kind::kRegistered;
  access.generic = op->source->space == ptx::Space::kGeneric;
  access.mask = w.active;
  access.warp = w.index;
  access.block = w.block->index;
  access.issue = w.steps;
  w.worker->sink->access(access);
}

/// op->source->list: a place per element for what was there, then those of the operands.
const XOp* run_vector(Warp& w, const XOp* op) {
  alignas(64) std::uint64_t address[kGroupLanes] = {}, host[kGroupLanes] = {};
  atomic_addresses(w, op, address);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    if (address[l] % op->bytes != 0) {
      fault_misaligned(w, op, l, address[l], "global");
      return nullptr;
    }
  }
  if (!resolve_global(w, op, address, op->bytes, host)) return nullptr;
  report(w, op, address);
  const code::Op& source = *op->source;
  const unsigned size = op->bytes / op->vector;
  bool changed = false;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    std::uint32_t operands[8] = {};  // all are read before a result may take the place of one
    for (unsigned e = 0; e < op->vector; ++e) {
      const std::uint32_t from = source.list[op->vector + e].bits;
      operands[e] = size == 2 ? w.src<std::uint16_t>(from)[l] : w.src<std::uint32_t>(from)[l];
    }
    for (unsigned e = 0; e < op->vector; ++e) {
      auto* const at = reinterpret_cast<std::uint8_t*>(host[l]) + std::size_t{size} * e;
      const std::uint32_t old = add_element(source.type, at, operands[e], changed);
      const code::Place to = source.list[e];
      if (!to.exists()) continue;
      if (size == 2)
        w.dst<std::uint16_t>(to.bits)[l] = static_cast<std::uint16_t>(old);
      else
        w.dst<std::uint32_t>(to.bits)[l] = old;
    }
  }
  if (changed)
    w.progress = true;
  else if (op->polls)
    ++w.polls;
  return op + 1;
}

}  // namespace

Handler find_vector_atomic(const code::Op& op) {
  constexpr unsigned kMostElements = 8;
  return op.list.size() == 2u * op.vector && op.vector <= kMostElements && can_add_elements(op.type) ? run_vector
                                                                                                     : nullptr;
}

}  // namespace muscope::exec
