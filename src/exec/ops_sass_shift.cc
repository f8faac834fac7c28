// Shifts of machine code: SHF shifts the pair (c, a) by b and gives its upper (.HI) or lower word.
#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::int32_t;
using std::uint32_t;
using std::uint64_t;

/// Amounts beyond the width count as the width; with .W they are taken modulo it.
template <bool kWrap, unsigned kBits>
[[gnu::always_inline]] inline uint32_t amount(uint32_t b) {
  if constexpr (kWrap) return b & (kBits - 1);
  return b > kBits ? kBits : b;
}

template <bool kRight, bool kHigh, bool kSigned, bool kWrap, unsigned kBits>
const XOp* funnel(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint64_t pair = uint64_t{c[l]} << 32 | a[l];
    const uint32_t n = amount<kWrap, kBits>(b[l]);
    // In two steps, for an amount of 64.
    const uint32_t half = n >> 1, rest = n - half;
    uint64_t r;
    if constexpr (!kRight)
      r = pair << half << rest;
    else if constexpr (kSigned)
      r = static_cast<uint64_t>(static_cast<std::int64_t>(pair) >> half >> rest);
    else
      r = pair >> half >> rest;
    return static_cast<uint32_t>(kHigh ? r >> 32 : r);
  });
  return op + 1;
}

// The forms that shift one word, which are most of them.
const XOp* left_word(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return b[l] > 31 ? 0u : a[l] << (b[l] & 31); });
  return op + 1;
}
const XOp* right_word(Warp& w, const XOp* op) {
  const uint32_t *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return b[l] > 31 ? 0u : c[l] >> (b[l] & 31); });
  return op + 1;
}
const XOp* right_signed_word(Warp& w, const XOp* op) {
  const uint32_t* b = w.src<uint32_t>(op->b);
  const int32_t* c = w.src<int32_t>(op->c);
  for_lanes(w, w.dst<int32_t>(op->dst), [=](unsigned l) { return c[l] >> (b[l] > 31 ? 31 : b[l]); });
  return op + 1;
}

template <bool kRight, bool kHigh, bool kSigned, bool kWrap>
Handler by_width(unsigned bits) {
  return bits == 64 ? funnel<kRight, kHigh, kSigned, kWrap, 64> : funnel<kRight, kHigh, kSigned, kWrap, 32>;
}
template <bool kRight, bool kHigh, bool kSigned>
Handler by_wrap(const sass::IntegerForm& form) {
  return form.wrap ? by_width<kRight, kHigh, kSigned, true>(form.source_bits)
                   : by_width<kRight, kHigh, kSigned, false>(form.source_bits);
}
template <bool kHigh>
Handler by_direction(const sass::IntegerForm& form) {
  if (!form.right) return by_wrap<false, kHigh, false>(form);
  return form.source_signed ? by_wrap<true, kHigh, true>(form) : by_wrap<true, kHigh, false>(form);
}

}  // namespace

Handler find_sass_shift(const Instruction& i) {
  if (i.opcode != Opcode::kSHF && i.opcode != Opcode::kUSHF) return nullptr;
  const sass::IntegerForm& form = i.integer;
  if (!form.wrap && form.source_bits == 32) {
    if (!form.right && !form.high) return left_word;
    if (form.right && form.high) return form.source_signed ? right_signed_word : right_word;
  }
  return form.high ? by_direction<true>(form) : by_direction<false>(form);
}

}  // namespace muscope::exec::MUSCOPE_ISA
