// ldmatrix and stmatrix, LDSM and STSM: one, two or four matrices of 8 rows of 16 bytes in shared memory. Lanes 8 n to
// 8 n + 7 give the addresses of the rows of matrix n; the addresses of other lanes are not looked at (PTX ISA).
#include <bit>

#include "exec/addresses.h"
#include "exec/matrix_layout.h"
#include "exec/op_table.h"
#include "exec/translate.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using std::uint32_t;

constexpr unsigned kMatrixRows = 8, kRowBytes = 16;

void report_rows(Warp& w, const XOp* op, const Addresses& a, bool store) {
  if (!w.worker->sink || op->site == 0xffffffffu) return;
  trace::WarpAccess access;
  access.site = op->site;
  access.space = trace::Space::kShared;
  access.kind = store ? trace::Kind::kStoreMatrix : trace::Kind::kLoadMatrix;
  access.bytes = kRowBytes;
  access.shape = a.shape;
  access.generic = op->flags & 2;
  access.mask = w.active;
  access.warp = w.index;
  access.block = w.block->index;
  access.issue = w.steps;
  access.base = a.base;
  access.stride = a.stride;
  access.addresses = a.each;
  w.worker->sink->access(access);
}

/// Checks the rows of the lanes set in w.active; false when the warp has faulted.
bool check_rows(Warp& w, const XOp* op, const Addresses& a) {
  for (GroupMask left = w.active; left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t at = a.each[l];
    if (at % kRowBytes != 0)
      fault_misaligned(w, op, l, at, "shared");
    else if (at > w.block->shared_bytes || w.block->shared_bytes - at < kRowBytes)
      fault_outside(w, op, l, at, "shared", {});
    else
      continue;
    return false;
  }
  return true;
}

using Rows = std::uint8_t[kGroupLanes][kRowBytes];

void load_rows(Warp& w, const XOp* op, const Rows& rows) {
  const auto& list = op->source->list;
  const bool transposed = op->source->transposed;
  for (unsigned n = 0; n < op->vector; ++n) {
    if (!list[n].exists()) continue;
    for_lanes(w, w.dst<uint32_t>(list[n].bits), [&](unsigned l) {
      const MatrixPlace p = place_in_half_c(l, 0, 0);
      const auto half = [&](unsigned row, unsigned column) {
        std::uint16_t v;
        std::memcpy(&v, rows[kMatrixRows * n + row] + 2 * column, 2);
        return uint32_t{v};
      };
      return transposed ? half(p.column, p.row) | half(p.column + 1, p.row) << 16
                        : half(p.row, p.column) | half(p.row, p.column + 1) << 16;
    });
  }
}

void fill_rows(const Warp& w, const XOp* op, Rows& rows) {
  const auto& list = op->source->list;
  const bool transposed = op->source->transposed;
  for (unsigned n = 0; n < op->vector; ++n) {
    const uint32_t* s = w.src<uint32_t>(list[n].bits);
    for (unsigned l = 0; l < kGroupLanes; ++l)
      for (unsigned i = 0; i < 2; ++i) {
        const MatrixPlace p = place_in_half_c(l, 0, i);
        const auto v = static_cast<std::uint16_t>(s[l] >> (16 * i));
        const unsigned row = transposed ? p.column : p.row, column = transposed ? p.row : p.column;
        std::memcpy(rows[kMatrixRows * n + row] + 2 * column, &v, 2);
      }
  }
}

template <bool kStore>
const XOp* matrix_access(Warp& w, const XOp* op) {
  const GroupMask running = w.active;
  const unsigned lanes = kMatrixRows * op->vector;
  set_active(w, lanes == kGroupLanes ? kAllLanes : (1u << lanes) - 1);
  Addresses a;
  find_addresses(w, op, 0, a);
  spread(a);
  if (op->flags & 2) {  // a generic address: that of shared memory, or outside of it
    a.base -= code::kSharedWindow;
    for (unsigned l = 0; l < kGroupLanes; ++l) a.each[l] -= code::kSharedWindow;
  }
  if (w.block->rank != 0) {
    a.base = own_offset(*w.block, a.base);
    for (unsigned l = 0; l < kGroupLanes; ++l) a.each[l] = own_offset(*w.block, a.each[l]);
  }
  if (!check_rows(w, op, a)) {
    w.stop = Stop::kFault;
    return nullptr;
  }
  report_rows(w, op, a, kStore);
  alignas(16) Rows rows;
  std::uint8_t* shared = w.block->shared;
  if constexpr (kStore) {
    fill_rows(w, op, rows);
    for (unsigned l = 0; l < lanes; ++l) std::memcpy(shared + a.each[l], rows[l], kRowBytes);
    w.progress = true;
  } else {
    for (unsigned l = 0; l < lanes; ++l) std::memcpy(rows[l], shared + a.each[l], kRowBytes);
  }
  set_active(w, running);
  if constexpr (!kStore) load_rows(w, op, rows);
  return op + 1;
}

}  // namespace

Handler find_fragment_access();  // ops_matrix_fragments.cc

Handler find_matrix_memory(const code::Op& op) {
  if (op.opcode == ptx::Opcode::k_wmma) return find_fragment_access();
  return op.opcode == ptx::Opcode::k_stmatrix ? matrix_access<true> : matrix_access<false>;
}

}  // namespace muscope::exec::MUSCOPE_ISA
