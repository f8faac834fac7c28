// MUFU: the special functions of machine code; f32 as special_unit.h has them. SIN and COS take revolutions: ptxas
// multiplies by 1 / (2 pi) before.
#include "exec/half_special.h"
#include "exec/op_table.h"
#include "exec/sass_float.h"
#include "exec/special_unit.h"
#include "exec/upper_word.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::FloatFormat;
using sass::Instruction;
using std::uint32_t;

enum Function : std::uint8_t { kCos, kSin, kEx2, kLg2, kRcp, kRsq, kRcp64h, kRsq64h, kSqrt, kTanh };

template <typename F, bool kSigned>
const XOp* single(Warp& w, const XOp* op) {
  const float* a = w.src<float>(op->a);
  const FloatSign sign(op->sass->a);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return F::apply(kSigned ? with_sign(sign, a[l]) : a[l]); });
  return op + 1;
}

template <uint32_t (*kFunction)(uint32_t)>
Handler single_handler(const Instruction& i) {
  using F = special::Unit<kFunction>;
  return has_sign(i.a) ? single<F, true> : single<F, false>;
}

/// RCP64H, RSQ64H (upper_word.h).
template <bool kRoot>
const XOp* upper_word(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const FloatSign sign(op->sass->a);
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return kRoot ? upper_reciprocal_root(sign(a[l])) : upper_reciprocal(sign(a[l])); });
  return op + 1;
}

/// Of halves: .F16 and .BF16. The result is in the lower half of the register.
template <typename F, Function kFunction>
const XOp* half(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const sass::Operand& operand = op->sass->a;
  const unsigned shift = operand.half == 3 ? 16 : 0;
  const uint32_t keep = operand.absolute ? 0x7fffu : 0xffffu, flip = operand.negate ? 0x8000u : 0;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const float v = F::in(static_cast<std::uint16_t>((((a[l] >> shift) & keep) ^ flip)));
    return kFunction == kEx2 ? half_special<F, special::power_of_two>(v) : half_special<F, special::tangent>(v);
  });
  return op + 1;
}

template <typename F>
Handler half_handler(const Instruction& i) {
  switch (i.floating.function) {
    case kEx2:
      return half<F, kEx2>;
    case kTanh:
      return half<F, kTanh>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_sass_special(const Instruction& i) {
  if (i.opcode != sass::Opcode::kMUFU) return nullptr;
  if (i.floating.from == FloatFormat::kF16) return half_handler<F16>(i);
  if (i.floating.from == FloatFormat::kBf16) return half_handler<BF16>(i);
  switch (i.floating.function) {
    case kCos:
      return single_handler<special::sine<true>>(i);
    case kSin:
      return single_handler<special::sine<false>>(i);
    case kEx2:
      return single_handler<special::power_of_two>(i);
    case kLg2:
      return single_handler<special::logarithm>(i);
    case kRcp:
      return single_handler<special::reciprocal>(i);
    case kRsq:
      return single_handler<special::reciprocal_root>(i);
    case kRcp64h:
      return upper_word<false>;
    case kRsq64h:
      return upper_word<true>;
    case kSqrt:
      return single_handler<special::root>(i);
    case kTanh:
      return single_handler<special::tangent>(i);
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
