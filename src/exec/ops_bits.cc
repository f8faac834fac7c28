// Logic, shifts and bit manipulation (PTX ISA, "Logic and Shift Instructions" and the bit-counting integer
// instructions).
#include <bit>

#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

template <typename T>
struct And {
  static T apply(T a, T b) { return a & b; }
};
template <typename T>
struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <typename T>
struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <typename T>
struct Not {
  static T apply(T a) { return static_cast<T>(~a); }
};
template <typename T>
struct Cnot {
  static T apply(T a) { return a == 0 ? 1 : 0; }
};
// The amount is 32 bits whatever the type; amounts of the width or more give 0, or the sign.
template <typename T>
struct Shl {
  static T apply(T a, std::uint32_t b) {
    return b >= sizeof(T) * 8 ? T{0}
                              : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << (b & (sizeof(T) * 8 - 1)));
  }
};
template <typename T>
struct Shr {
  static T apply(T a, std::uint32_t b) {
    constexpr std::uint32_t kBits = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (b >= kBits ? kBits - 1 : b));
    else
      return b >= kBits ? T{0} : static_cast<T>(a >> (b & (kBits - 1)));
  }
};
template <bool kLeft, bool kWrap>
struct Funnel {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t n = kWrap ? c & 31 : (c > 32 ? 32 : c);
    const std::uint64_t pair = (std::uint64_t{b} << 32) | a;
    return static_cast<std::uint32_t>(kLeft ? (pair << n) >> 32 : pair >> n);
  }
};
template <typename T>
struct Popc {
  static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::popcount(a)); }
};
template <typename T>
struct Clz {
  static std::uint32_t apply(T a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
};
template <typename T, bool kShift>
struct Bfind {
  static std::uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U v = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (v == 0) return 0xffffffffu;
    const auto top = static_cast<std::uint32_t>(sizeof(T) * 8 - 1) - static_cast<std::uint32_t>(std::countl_zero(v));
    return kShift ? static_cast<std::uint32_t>(sizeof(T) * 8 - 1) - top : top;
  }
};
template <typename T>
struct Brev {
  static T apply(T a) {
    T r = 0;
    for (unsigned k = 0; k < sizeof(T) * 8; ++k) r = static_cast<T>((r << 1) | ((a >> k) & 1));
    return r;
  }
};
// 32-bit forms take the low 8 bits of position and length; 64-bit ones all 32 bits, unlike the manual says (seen on
// hardware).
template <typename T>
std::uint32_t field(std::uint32_t v) {
  return sizeof(T) == 4 ? v & 0xff : v;
}
template <typename T>
struct Bfe {
  static T apply(T a, std::uint32_t b, std::uint32_t c) {
    constexpr std::uint32_t kBits = sizeof(T) * 8;
    using U = std::make_unsigned_t<T>;
    const std::uint32_t pos = field<T>(b), len = field<T>(c);
    if (len == 0) return 0;
    const std::uint64_t end = std::uint64_t{pos} + len - 1;
    const bool sign = std::is_signed_v<T> &&
                      ((static_cast<U>(a) >> (end < kBits - 1 ? static_cast<std::uint32_t>(end) : kBits - 1)) & 1);
    U r = pos >= kBits ? U{0} : static_cast<U>(a) >> pos;
    const std::uint32_t have = pos >= kBits ? 0 : (len < kBits - pos ? len : kBits - pos);
    const U keep = have >= kBits ? static_cast<U>(-1) : static_cast<U>((U{1} << have) - 1);
    r &= keep;
    return static_cast<T>(sign ? r | static_cast<U>(~keep) : r);
  }
};
template <typename T>
struct BfiRun {
  static const XOp* run(Warp& w, const XOp* op) {
    constexpr std::uint32_t kBits = sizeof(T) * 8;
    const T* a = w.src<T>(op->a);
    const T* b = w.src<T>(op->b);
    const std::uint32_t* c = w.src<std::uint32_t>(op->c);
    const std::uint32_t* d = w.src<std::uint32_t>(op->d);
    for_lanes(w, w.dst<T>(op->dst), [=](unsigned l) -> T {
      const std::uint32_t pos = field<T>(c[l]), len = field<T>(d[l]);
      if (len == 0 || pos >= kBits) return b[l];
      const std::uint32_t n = len < kBits - pos ? len : kBits - pos;
      const T keep = static_cast<T>((n >= kBits ? static_cast<T>(-1) : static_cast<T>((T{1} << n) - 1)) << pos);
      return static_cast<T>((b[l] & static_cast<T>(~keep)) | ((a[l] << pos) & keep));
    });
    return op + 1;
  }
};
template <bool kWrap>
struct Bmsk {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t pos = kWrap ? a & 31 : a, width = kWrap ? b & 31 : b;
    if (pos >= 32) return 0;
    const std::uint64_t mask = width >= 32 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    return static_cast<std::uint32_t>(mask << pos);
  }
};
template <typename T, bool kWrap>
struct Szext {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t n = kWrap ? b & 31 : b;
    if (n == 0) return 0;
    if (n >= 32) return a;
    const std::uint32_t shifted = a << (32 - n);
    return std::is_signed_v<T> ? static_cast<std::uint32_t>(static_cast<std::int32_t>(shifted) >> (32 - n))
                               : shifted >> (32 - n);
  }
};
struct Fns {
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::uint32_t offset_bits) {
    const auto offset = static_cast<std::int32_t>(offset_bits);
    if (offset == 0) return base < 32 && ((mask >> base) & 1) ? base : 0xffffffffu;
    std::int32_t left = offset > 0 ? offset - 1 : offset + 1;
    const int step = offset > 0 ? 1 : -1;
    for (std::int64_t pos = base; pos >= 0 && pos < 32; pos += step)
      if ((mask >> pos) & 1) {
        if (left == 0) return static_cast<std::uint32_t>(pos);
        left -= step;
      }
    return 0xffffffffu;
  }
};

const XOp* lop3(Warp& w, const XOp* op) {
  const std::uint32_t *a = w.src<std::uint32_t>(op->a), *b = w.src<std::uint32_t>(op->b),
                      *c = w.src<std::uint32_t>(op->c);
  const unsigned table = op->imm8;
  const auto result = [=](unsigned l) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const std::uint32_t term = (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
      r |= (table >> k) & 1 ? term : 0;
    }
    return r;
  };
  if (op->has_dst2) {  // whether the result is not 0, combined with predicate q
    GroupMask p = mask_of([=](unsigned l) { return result(l) != 0; });
    if (op->d != kNoPlace) {
      const GroupMask q = read_predicate(w, op->d, op->c_negated);
      p = op->flags == static_cast<std::uint8_t>(code::Logic::kAnd) ? p & q : p | q;
    }
    if (op->dst != kNoPlace) for_lanes(w, w.dst<std::uint32_t>(op->dst), result);
    write_predicate(w, op->dst2, p);
    return op + 1;
  }
  for_lanes(w, w.dst<std::uint32_t>(op->dst), result);
  return op + 1;
}

enum PrmtMode : std::uint8_t { kPrmtPlain, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
const XOp* prmt(Warp& w, const XOp* op) {
  const std::uint32_t *a = w.src<std::uint32_t>(op->a), *b = w.src<std::uint32_t>(op->b),
                      *c = w.src<std::uint32_t>(op->c);
  const std::uint8_t mode = op->imm8;
  for_lanes(w, w.dst<std::uint32_t>(op->dst), [=](unsigned l) {
    const std::uint64_t bytes = (std::uint64_t{b[l]} << 32) | a[l];
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t s = c[l] & 3;
      std::uint32_t pick;
      bool replicate = false;
      switch (mode) {
        case kF4e:
          pick = s + k;
          break;
        case kB4e:
          pick = (s - k) & 7;
          break;
        case kRc8:
          pick = s;
          break;
        case kEcl:
          pick = k > s ? k : s;
          break;
        case kEcr:
          pick = k < s ? k : s;
          break;
        case kRc16:
          pick = (s & 1) * 2 + (k & 1);
          break;
        default:
          pick = (c[l] >> (4 * k)) & 7, replicate = (c[l] >> (4 * k)) & 8;
      }
      std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * pick)) & 0xff;
      if (replicate) byte = byte & 0x80 ? 0xff : 0;
      r |= byte << (8 * k);
    }
    return r;
  });
  return op + 1;
}

/// and, or, xor, not on predicates.
template <int kOp>
const XOp* predicate_logic(Warp& w, const XOp* op) {
  const GroupMask a = read_predicate(w, op->a, op->a_negated);
  const GroupMask b = kOp == 3 ? 0 : read_predicate(w, op->b, op->b_negated);
  write_predicate(w, op->dst, kOp == 0 ? a & b : kOp == 1 ? a | b : kOp == 2 ? a ^ b : ~a);
  return op + 1;
}

template <template <typename> class F>
Handler binary_bits(Type type) {
  switch (ptx::size_of(type)) {
    case 2:
      return Binary<std::uint16_t, std::uint16_t, std::uint16_t, F<std::uint16_t>>::run;
    case 4:
      return Binary<std::uint32_t, std::uint32_t, std::uint32_t, F<std::uint32_t>>::run;
    case 8:
      return Binary<std::uint64_t, std::uint64_t, std::uint64_t, F<std::uint64_t>>::run;
    default:
      return nullptr;
  }
}
template <template <typename> class F>
Handler unary_bits(Type type) {
  switch (ptx::size_of(type)) {
    case 2:
      return Unary<std::uint16_t, std::uint16_t, F<std::uint16_t>>::run;
    case 4:
      return Unary<std::uint32_t, std::uint32_t, F<std::uint32_t>>::run;
    case 8:
      return Unary<std::uint64_t, std::uint64_t, F<std::uint64_t>>::run;
    default:
      return nullptr;
  }
}

Handler shift_right(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return Binary<std::uint16_t, std::uint16_t, std::uint32_t, Shr<std::uint16_t>>::run;
    case Type::kS16:
      return Binary<std::int16_t, std::int16_t, std::uint32_t, Shr<std::int16_t>>::run;
    case Type::kB32:
    case Type::kU32:
      return Binary<std::uint32_t, std::uint32_t, std::uint32_t, Shr<std::uint32_t>>::run;
    case Type::kS32:
      return Binary<std::int32_t, std::int32_t, std::uint32_t, Shr<std::int32_t>>::run;
    case Type::kB64:
    case Type::kU64:
      return Binary<std::uint64_t, std::uint64_t, std::uint32_t, Shr<std::uint64_t>>::run;
    case Type::kS64:
      return Binary<std::int64_t, std::int64_t, std::uint32_t, Shr<std::int64_t>>::run;
    default:
      return nullptr;
  }
}
Handler shift_left(Type type) {
  switch (ptx::size_of(type)) {
    case 2:
      return Binary<std::uint16_t, std::uint16_t, std::uint32_t, Shl<std::uint16_t>>::run;
    case 4:
      return Binary<std::uint32_t, std::uint32_t, std::uint32_t, Shl<std::uint32_t>>::run;
    case 8:
      return Binary<std::uint64_t, std::uint64_t, std::uint32_t, Shl<std::uint64_t>>::run;
    default:
      return nullptr;
  }
}

template <typename T>
Handler find_top(bool shift) {
  return shift ? Unary<std::uint32_t, T, Bfind<T, true>>::run : Unary<std::uint32_t, T, Bfind<T, false>>::run;
}

Handler extract(Type type) {
  switch (type) {
    case Type::kU32:
      return Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Bfe<std::uint32_t>>::run;
    case Type::kS32:
      return Ternary<std::int32_t, std::int32_t, std::uint32_t, std::uint32_t, Bfe<std::int32_t>>::run;
    case Type::kU64:
      return Ternary<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, Bfe<std::uint64_t>>::run;
    case Type::kS64:
      return Ternary<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t, Bfe<std::int64_t>>::run;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_bits(const code::Op& op) {
  const bool predicate = op.type == Type::kPred;
  const ptx::Instruction* const i = op.source;  // none: of machine code
  switch (op.opcode) {
    case Opcode::k_and:
      return predicate ? predicate_logic<0> : binary_bits<And>(op.type);
    case Opcode::k_or:
      return predicate ? predicate_logic<1> : binary_bits<Or>(op.type);
    case Opcode::k_xor:
      return predicate ? predicate_logic<2> : binary_bits<Xor>(op.type);
    case Opcode::k_not:
      return predicate ? predicate_logic<3> : unary_bits<Not>(op.type);
    case Opcode::k_cnot:
      return unary_bits<Cnot>(op.type);
    case Opcode::k_lop3:
      return lop3;
    case Opcode::k_shl:
      return shift_left(op.type);
    case Opcode::k_shr:
      return shift_right(op.type);
    case Opcode::k_shf: {
      const bool left = i->has(Mod::k_l), wrap = i->has(Mod::k_wrap);
      using U = std::uint32_t;
      return left
                 ? (wrap ? Ternary<U, U, U, U, Funnel<true, true>>::run : Ternary<U, U, U, U, Funnel<true, false>>::run)
                 : (wrap ? Ternary<U, U, U, U, Funnel<false, true>>::run
                         : Ternary<U, U, U, U, Funnel<false, false>>::run);
    }
    case Opcode::k_prmt:
      return prmt;
    case Opcode::k_popc:
      return ptx::size_of(op.type) == 8 ? Unary<std::uint32_t, std::uint64_t, Popc<std::uint64_t>>::run
                                        : Unary<std::uint32_t, std::uint32_t, Popc<std::uint32_t>>::run;
    case Opcode::k_clz:
      return ptx::size_of(op.type) == 8 ? Unary<std::uint32_t, std::uint64_t, Clz<std::uint64_t>>::run
                                        : Unary<std::uint32_t, std::uint32_t, Clz<std::uint32_t>>::run;
    case Opcode::k_bfind: {
      const bool shift = i->has(Mod::k_shiftamt);
      switch (op.type) {
        case Type::kU32:
          return find_top<std::uint32_t>(shift);
        case Type::kS32:
          return find_top<std::int32_t>(shift);
        case Type::kU64:
          return find_top<std::uint64_t>(shift);
        case Type::kS64:
          return find_top<std::int64_t>(shift);
        default:
          return nullptr;
      }
    }
    case Opcode::k_brev:
      return unary_bits<Brev>(op.type);
    case Opcode::k_bfe:
      return extract(op.type);
    case Opcode::k_bfi:
      return ptx::size_of(op.type) == 8 ? BfiRun<std::uint64_t>::run : BfiRun<std::uint32_t>::run;
    case Opcode::k_bmsk:
      return i->has(Mod::k_wrap) ? Binary<std::uint32_t, std::uint32_t, std::uint32_t, Bmsk<true>>::run
                                 : Binary<std::uint32_t, std::uint32_t, std::uint32_t, Bmsk<false>>::run;
    case Opcode::k_szext: {
      const bool wrap = i->has(Mod::k_wrap);
      using U = std::uint32_t;
      if (op.type == Type::kS32)
        return wrap ? Binary<U, U, U, Szext<std::int32_t, true>>::run
                    : Binary<U, U, U, Szext<std::int32_t, false>>::run;
      return wrap ? Binary<U, U, U, Szext<U, true>>::run : Binary<U, U, U, Szext<U, false>>::run;
    }
    case Opcode::k_fns:
      return Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Fns>::run;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
