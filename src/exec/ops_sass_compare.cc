// Comparisons and minima of machine code: ISETP, IMNMX, VIMNMX, VIADDMNMX, VIMNMX3.
#include <algorithm>

#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Combine;
using sass::Compare;
using sass::Instruction;
using sass::Opcode;
using std::int32_t;
using std::uint32_t;

template <typename T, Compare kCompare>
[[gnu::always_inline]] inline bool holds(T a, T b) {
  switch (kCompare) {
    case Compare::kLt:
      return a < b;
    case Compare::kEq:
      return a == b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kNe:
      return a != b;
    case Compare::kGe:
      return a >= b;
    case Compare::kT:
      return true;
    default:
      return false;
  }
}

[[gnu::always_inline]] inline GroupMask combined(Combine how, GroupMask a, GroupMask b) {
  switch (how) {
    case Combine::kAnd:
      return a & b;
    case Combine::kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

/// kExtended: upper words of a comparison; where they are equal, what the lower words gave (p1) decides.
template <typename T, Compare kCompare, bool kExtended>
const XOp* compare(Warp& w, const XOp* op) {
  const Instruction& i = *op->sass;
  const T *a = w.src<T>(op->a), *b = w.src<T>(op->b);
  GroupMask result = mask_of([=](unsigned l) { return holds<T, kCompare>(a[l], b[l]); });
  if constexpr (kExtended) {
    const GroupMask equal = mask_of([=](unsigned l) { return a[l] == b[l]; });
    result = (result & ~equal) | (read_predicate(w, op->e, i.p1.invert) & equal);
  }
  const GroupMask other = read_predicate(w, op->d, i.p0.invert);
  write_predicate(w, op->dst2, combined(i.integer.combine, result, other));
  write_predicate(w, op->dst3, combined(i.integer.combine, ~result, other));
  return op + 1;
}

template <typename T, bool kExtended>
Handler compare_handler(Compare compare_by) {
  switch (compare_by) {
    case Compare::kF:
      return compare<T, Compare::kF, false>;
    case Compare::kLt:
      return compare<T, Compare::kLt, kExtended>;
    case Compare::kEq:
      return compare<T, Compare::kEq, kExtended>;
    case Compare::kLe:
      return compare<T, Compare::kLe, kExtended>;
    case Compare::kGt:
      return compare<T, Compare::kGt, kExtended>;
    case Compare::kNe:
      return compare<T, Compare::kNe, kExtended>;
    case Compare::kGe:
      return compare<T, Compare::kGe, kExtended>;
    case Compare::kT:
      return compare<T, Compare::kT, false>;
    default:
      return nullptr;
  }
}

/// VIMNMX with predicates: whether the result is a.
template <typename T, bool kRelu>
const XOp* minimum_with_origin(Warp& w, const XOp* op) {
  const T *a = w.src<T>(op->a), *b = w.src<T>(op->b);
  const LaneBits smaller{read_predicate(w, op->d, op->sass->p0.invert)};
  const auto result = [=](unsigned l) {
    const T r = smaller(l) != 0 ? std::min(a[l], b[l]) : std::max(a[l], b[l]);
    return kRelu ? std::max(r, T{0}) : r;
  };
  const GroupMask from_a = mask_of([=](unsigned l) { return result(l) == a[l]; });
  for_lanes(w, w.dst<T>(op->dst), result);
  write_predicate(w, op->dst2, from_a);
  write_predicate(w, op->dst3, from_a);
  return op + 1;
}

Handler origin_handler(const Instruction& i) {
  if (i.integer.packed || !written(i.pdst0)) return nullptr;
  if (i.integer.is_unsigned) return i.integer.relu ? nullptr : minimum_with_origin<uint32_t, false>;
  return i.integer.relu ? minimum_with_origin<int32_t, true> : minimum_with_origin<int32_t, false>;
}

/// What a minimum is taken of.
enum class Sources : std::uint8_t { kTwo, kSumAndThird, kThree };

template <typename T>
[[gnu::always_inline]] inline T chosen(bool smaller, T a, T b) {
  return smaller ? std::min(a, b) : std::max(a, b);
}

template <typename T, Sources kSources, bool kRelu>
const XOp* minimum(Warp& w, const XOp* op) {
  const T *a = w.src<T>(op->a), *b = w.src<T>(op->b), *c = w.src<T>(op->c);
  const LaneBits smaller{read_predicate(w, op->d, op->sass->p0.invert)};
  const IntegerSign sign(op->sass->b);
  for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) {
    const bool low = smaller(l) != 0;
    T r;
    if constexpr (kSources == Sources::kTwo)
      r = chosen(low, a[l], b[l]);
    else if constexpr (kSources == Sources::kThree)
      r = chosen(low, chosen(low, a[l], b[l]), c[l]);
    else
      r = chosen(low, static_cast<T>(static_cast<uint32_t>(a[l]) + sign(static_cast<uint32_t>(b[l]))), c[l]);
    if constexpr (kRelu) r = std::max(r, T{0});
    return r;
  });
  return op + 1;
}

template <Sources kSources>
Handler minimum_handler(const Instruction& i) {
  if (i.integer.packed) return nullptr;
  if (i.integer.is_unsigned) return i.integer.relu ? nullptr : minimum<uint32_t, kSources, false>;
  return i.integer.relu ? minimum<int32_t, kSources, true> : minimum<int32_t, kSources, false>;
}

}  // namespace

Handler find_sass_compare(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  switch (i.opcode) {
    case Opcode::kISETP:
    case Opcode::kUISETP:
      if (form.is_unsigned)
        return form.extended ? compare_handler<uint32_t, true>(form.compare)
                             : compare_handler<uint32_t, false>(form.compare);
      return form.extended ? compare_handler<int32_t, true>(form.compare)
                           : compare_handler<int32_t, false>(form.compare);
    case Opcode::kVIMNMX:
      if (written(i.pdst0) || written(i.pdst1)) return origin_handler(i);
      [[fallthrough]];
    case Opcode::kIMNMX:
      return minimum_handler<Sources::kTwo>(i);
    case Opcode::kVIADDMNMX:
      return minimum_handler<Sources::kSumAndThird>(i);
    case Opcode::kVIMNMX3:
      return minimum_handler<Sources::kThree>(i);
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
