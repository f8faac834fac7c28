// wmma.load and wmma.store of PTX: a fragment between registers and memory. What is reported is what ptxas 13.0 makes
// of them for sm_90: a load of 4 bytes per register where its elements lie side by side (8 or 16 bytes for two sums of
// 32 or 64 bits); for halves across the layout the same loads with the roles of rows and columns changed, and MOVM;
// else a load per element. Factors of 16 bits, and of 8 along the layout, in shared memory are LDSM.
#include <bit>

#include "exec/addresses.h"
#include "exec/matrix_layout.h"
#include "exec/op_table.h"
#include "exec/translate.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using code::FragmentForm;
using std::uint32_t;
using std::uint64_t;

/// Where the matrix lies: the address and leading dimension that the running lanes share (PTX ISA: they must).
struct Source {
  FragmentForm form;
  uint64_t address = 0;
  uint64_t stride = 0;  ///< elements
  trace::Space space = trace::Space::kGlobal;

  /// First byte of an element; those of less than a byte stand in words.
  uint64_t at(const MatrixPlace& p) const {
    const uint64_t index = form.by_columns ? p.column * stride + p.row : p.row * stride + p.column;
    return address + index * form.bits / 8;
  }
};

/// One access of the machine code: an address per lane.
struct Access {
  alignas(64) uint64_t each[kGroupLanes];
  std::uint8_t bytes = 4;
  GroupMask mask = kAllLanes;
  bool rows = false;  ///< LDSM
};

const XOp* stopped(Warp& w) {
  w.stop = Stop::kFault;
  return nullptr;
}

/// Host pointers of an access; false when the warp has faulted.
bool resolve(Warp& w, const XOp* op, const Source& source, const Access& access, uint64_t* host) {
  for (GroupMask left = w.active; left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const uint64_t at = source.space == trace::Space::kShared ? own_offset(*w.block, access.each[l]) : access.each[l];
    const char* name = source.space == trace::Space::kShared ? "shared" : "global";
    if (at % access.bytes != 0) {
      fault_misaligned(w, op, l, at, name);
      return false;
    }
    if (source.space == trace::Space::kShared) {
      if (at > w.block->shared_bytes || w.block->shared_bytes - at < access.bytes) {
        fault_outside(w, op, l, at, name, {});
        return false;
      }
      host[l] = reinterpret_cast<uint64_t>(w.block->shared) + at;
    }
  }
  return source.space == trace::Space::kShared || resolve_global(w, op, access.each, access.bytes, host);
}

void report(Warp& w, const XOp* op, const Source& source, const Access& access, bool store) {
  if (!w.worker->sink || op->site == 0xffffffffu) return;
  trace::WarpAccess a;
  a.site = op->site;
  a.space = source.space;
  a.kind = access.rows ? trace::Kind::kLoadMatrix : store ? trace::Kind::kStore : trace::Kind::kLoad;
  a.bytes = access.bytes;
  a.shape = trace::Shape::kScattered;
  a.generic = op->flags & 2;
  a.mask = access.rows ? access.mask : w.active;
  a.warp = w.index;
  a.block = w.block->index;
  a.issue = w.steps;
  a.addresses = access.each;
  w.worker->sink->access(a);
}

/// Whether the elements of a register lie side by side.
bool side_by_side(const FragmentForm& f) {
  if (f.bits >= 32) return true;
  const MatrixPlace first = place_in_fragment(f, 0, 0, 0), second = place_in_fragment(f, 0, 0, 1);
  return f.by_columns ? second.column == first.column : second.row == first.row;
}

/// LDSM reads up to four registers' matrices of 8 rows of 16 bytes.
void report_rows(Warp& w, const XOp* op, const Source& source, bool across) {
  const FragmentForm& f = source.form;
  for (unsigned first = 0; first < f.distinct(); first += 4) {
    const unsigned count = f.distinct() - first < 4 ? f.distinct() - first : 4;
    Access access;
    access.rows = true;
    access.bytes = 16;
    access.mask = count == 4 ? kAllLanes : (1u << (8 * count)) - 1;
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const unsigned n = l / 8 < count ? l / 8 : 0, row = l % 8;
      // Row `row` of the matrix begins with lane 4 row's first element; across the layout it is column `row`.
      const MatrixPlace p =
          across ? place_in_fragment(f, row / 2, first + n, row % 2) : place_in_fragment(f, 4 * row, first + n, 0);
      access.each[l] = source.at(p);
    }
    report(w, op, source, access, false);
  }
}

/// The data of one access, element by element: register `reg`, elements from `first` on.
template <bool kStore>
void move_elements(Warp& w, const XOp* op, const FragmentForm& f, unsigned reg, unsigned first, unsigned count,
                   const uint64_t* host) {
  const auto& list = op->source->list;
  const unsigned element_bytes = f.bits < 8 ? 4 : f.bits / 8;
  for (unsigned copy = reg; copy < f.registers; copy += f.distinct()) {
    if (!list[copy].exists()) continue;
    const unsigned lane_bytes = f.bits == 64 ? 8 : 4;
    for (GroupMask left = w.active; left; left &= left - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(left));
      auto* memory = reinterpret_cast<std::uint8_t*>(host[l]);
      if constexpr (kStore) {
        const auto* lane = w.src<std::uint8_t>(list[copy].bits) + l * lane_bytes;
        std::memcpy(memory, lane + first * element_bytes, count * element_bytes);
      } else {
        std::uint8_t* lane = w.dst<std::uint8_t>(list[copy].bits) + l * lane_bytes;
        std::memcpy(lane + first * element_bytes, memory, count * element_bytes);
      }
    }
  }
}

/// Every element by itself; what is reported is told apart from it.
template <bool kStore>
bool move_fragment(Warp& w, const XOp* op, const Source& source) {
  const FragmentForm& f = source.form;
  const bool whole = side_by_side(f);
  const unsigned elements = f.bits >= 32 || f.bits < 8 ? 1 : 32u / f.bits;
  const bool rows = !kStore && source.space == trace::Space::kShared && f.matrix != FragmentForm::kC &&
                    (f.bits == 16 || (f.bits == 8 && whole));
  const bool across = !whole && f.bits == 16;
  // Two sums of a row side by side are one access.
  const bool pairs = f.matrix == FragmentForm::kC && f.bits >= 32 && f.by_columns == f.transposed();
  if (rows) report_rows(w, op, source, across);
  uint64_t host[kGroupLanes];
  for (unsigned reg = 0; reg < f.distinct(); ++reg) {
    const unsigned pieces = whole ? 1 : elements;
    for (unsigned piece = 0; piece < pieces; ++piece) {
      Access access;
      access.bytes = static_cast<std::uint8_t>(f.bits == 64 ? 8 : whole ? 4 : f.bits / 8);
      for (unsigned l = 0; l < kGroupLanes; ++l) access.each[l] = source.at(place_in_fragment(f, l, reg, piece));
      if (!resolve(w, op, source, access, host)) return false;
      move_elements<kStore>(w, op, f, reg, piece, whole ? elements : 1, host);
      if (!rows && !across && !pairs) report(w, op, source, access, kStore);
      if (pairs && reg % 2 == 0) {
        access.bytes = static_cast<std::uint8_t>(2 * access.bytes);
        report(w, op, source, access, kStore);
      }
    }
    if (across && !rows) {
      // Lane 4 a + b reads what lies side by side in the layout: elements 2 b and 2 b + 1 across, a along.
      Access access;
      for (unsigned l = 0; l < kGroupLanes; ++l)
        access.each[l] = source.at(place_in_fragment(f, l % 4 * 8 + l / 8, reg, l / 4 % 2));
      report(w, op, source, access, kStore);
    }
  }
  return true;
}

const XOp* fragment_access(Warp& w, const XOp* op) {
  Source source;
  source.form = FragmentForm::unpack(op->source->matrix);
  const auto lane = static_cast<unsigned>(std::countr_zero(w.active));
  Addresses a;
  find_addresses(w, op, op->local_relative ? w.local_base : 0, a);
  spread(a);
  source.address = a.each[lane];
  source.stride = w.src<uint32_t>(op->b)[lane];
  source.space = op->source->space == ptx::Space::kShared ? trace::Space::kShared : trace::Space::kGlobal;
  if (op->source->space == ptx::Space::kGeneric && source.address - code::kSharedWindow < code::kWindowBytes) {
    source.address -= code::kSharedWindow;
    source.space = trace::Space::kShared;
  }
  const bool store = op->source->transposed;
  if (store) w.progress = true;
  if (!(store ? move_fragment<true>(w, op, source) : move_fragment<false>(w, op, source))) return stopped(w);
  return op + 1;
}

}  // namespace

Handler find_fragment_access() { return fragment_access; }

}  // namespace muscope::exec::MUSCOPE_ISA
