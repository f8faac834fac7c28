// Bits and bytes of machine code: PRMT, POPC, FLO, BREV, SGXT, BMSK.
#include <bit>

#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::int32_t;
using std::uint32_t;
using std::uint64_t;

/// Bytes of the pair (c, a) by the four low nibbles of b; bit 3 of one takes the byte's sign.
const XOp* permute(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    // In steps of 32 bits, which the vector units do for eight or more lanes at once.
    const uint32_t low = a[l], high = c[l], picks = b[l];
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const uint32_t pick = picks >> (4 * k);
      const uint32_t word = (pick & 4) != 0 ? high : low;
      const uint32_t byte = (word >> (8 * (pick & 3))) & 0xff;
      const uint32_t sign = (0u - (byte >> 7)) & 0xff;
      r |= ((pick & 8) != 0 ? sign : byte) << (8 * k);
    }
    return r;
  });
  return op + 1;
}

enum PermuteMode : std::uint8_t { kIndex, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
/// The modes that take the same low two bits of b for all bytes (PTX ISA, "prmt").
template <PermuteMode kMode>
const XOp* permute_by_mode(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint64_t bytes = uint64_t{c[l]} << 32 | a[l];
    const uint32_t s = b[l] & 3;
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint32_t pick = s;
      if constexpr (kMode == kF4e) pick = s + k;
      if constexpr (kMode == kB4e) pick = (s - k) & 7;
      if constexpr (kMode == kEcl) pick = k > s ? k : s;
      if constexpr (kMode == kEcr) pick = k < s ? k : s;
      if constexpr (kMode == kRc16) pick = (s & 1) * 2 + (k & 1);
      r |= (static_cast<uint32_t>(bytes >> (8 * pick)) & 0xff) << (8 * k);
    }
    return r;
  });
  return op + 1;
}

Handler permute_handler(std::uint8_t mode) {
  switch (mode) {
    case kIndex:
      return permute;
    case kF4e:
      return permute_by_mode<kF4e>;
    case kB4e:
      return permute_by_mode<kB4e>;
    case kRc8:
      return permute_by_mode<kRc8>;
    case kEcl:
      return permute_by_mode<kEcl>;
    case kEcr:
      return permute_by_mode<kEcr>;
    case kRc16:
      return permute_by_mode<kRc16>;
    default:
      return nullptr;
  }
}

/// d = F(a), a inverted where the instruction says ~.
template <uint32_t (*kFunction)(uint32_t)>
const XOp* of_one(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const uint32_t flip = op->sass->a.invert ? 0xffffffffu : 0;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return kFunction(a[l] ^ flip); });
  return op + 1;
}

uint32_t population(uint32_t v) { return static_cast<uint32_t>(std::popcount(v)); }

uint32_t reversed(uint32_t v) {
  v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
  v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(v);
}

/// Highest bit that is set, of negative numbers the highest one that is clear; all ones when there is none.
/// kFromTop: its distance from bit 31.
template <bool kSigned, bool kFromTop>
uint32_t highest(uint32_t v) {
  if (kSigned && v >> 31) v = ~v;
  if (v == 0) return 0xffffffffu;
  const auto zeros = static_cast<uint32_t>(std::countl_zero(v));
  return kFromTop ? zeros : 31 - zeros;
}

Handler highest_handler(const Instruction& i) {
  if (written(i.pdst0)) return nullptr;  // whether there is such a bit; ptxas does not ask
  if (i.integer.is_unsigned) return i.integer.mode != 0 ? of_one<highest<false, true>> : of_one<highest<false, false>>;
  return i.integer.mode != 0 ? of_one<highest<true, true>> : of_one<highest<true, false>>;
}

/// The low b bits of a, with the sign of the highest of them or without.
template <bool kSigned, bool kWrap>
const XOp* extend(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t n = kWrap ? b[l] & 31 : b[l];
    if (n == 0) return 0u;
    if (n >= 32) return a[l];
    const uint32_t shifted = a[l] << (32 - n);
    return kSigned ? static_cast<uint32_t>(static_cast<int32_t>(shifted) >> (32 - n)) : shifted >> (32 - n);
  });
  return op + 1;
}

/// b bits from bit a on.
template <bool kWrap>
const XOp* bit_mask(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t first = kWrap ? a[l] & 31 : a[l], width = kWrap ? b[l] & 31 : b[l];
    if (first >= 32) return 0u;
    const uint64_t mask = width >= 32 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    return static_cast<uint32_t>(mask << first);
  });
  return op + 1;
}

}  // namespace

Handler find_sass_bits(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  switch (i.opcode) {
    case Opcode::kPRMT:
    case Opcode::kUPRMT:
      return permute_handler(form.mode);
    case Opcode::kPOPC:
    case Opcode::kUPOPC:
      return of_one<population>;
    case Opcode::kBREV:
    case Opcode::kUBREV:
      return of_one<reversed>;
    case Opcode::kFLO:
    case Opcode::kUFLO:
      return highest_handler(i);
    case Opcode::kSGXT:
    case Opcode::kUSGXT:
      if (form.wrap) return form.is_unsigned ? extend<false, true> : extend<true, true>;
      return form.is_unsigned ? extend<false, false> : extend<true, false>;
    case Opcode::kBMSK:
    case Opcode::kUBMSK:
      return form.wrap ? bit_mask<true> : bit_mask<false>;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
