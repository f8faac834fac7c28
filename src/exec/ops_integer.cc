// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Arithmetic").
#include <algorithm>

#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_video(const code::Op& op);

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// Twice as wide as T.
template <typename T>
struct Wide;
template <>
struct Wide<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct Wide<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct Wide<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct Wide<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct Wide<std::uint64_t> {
  using type = unsigned __int128;
};
template <>
struct Wide<std::int64_t> {
  using type = __int128;
};
template <typename T>
using WideOf = typename Wide<T>::type;

template <typename T>
struct Add {
  static T apply(T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b)); }
};
template <typename T>
struct Sub {
  static T apply(T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)); }
};
template <typename T>
struct MulLo {
  static T apply(T a, T b) { return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)); }
};
template <typename T>
struct MulHi {
  static T apply(T a, T b) {
    return static_cast<T>((static_cast<WideOf<T>>(a) * static_cast<WideOf<T>>(b)) >> (sizeof(T) * 8));
  }
};
template <typename T>
struct MulWide {
  static WideOf<T> apply(T a, T b) {
    return static_cast<WideOf<T>>(static_cast<WideOf<T>>(a) * static_cast<WideOf<T>>(b));
  }
};
template <typename T>
struct MadLo {
  static T apply(T a, T b, T c) { return Add<T>::apply(MulLo<T>::apply(a, b), c); }
};
template <typename T>
struct MadHi {
  static T apply(T a, T b, T c) { return Add<T>::apply(MulHi<T>::apply(a, b), c); }
};
template <typename T>
struct MadWide {
  static WideOf<T> apply(T a, T b, WideOf<T> c) { return Add<WideOf<T>>::apply(MulWide<T>::apply(a, b), c); }
};
// Hardware: all ones as quotient and as remainder when the divisor is zero (H200), no trap at the most negative number.
template <typename T>
struct Div {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub<T>::apply(0, a);
    return static_cast<T>(a / b);
  }
};
template <typename T>
struct Rem {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
template <typename T>
struct Min {
  static T apply(T a, T b) { return b < a ? b : a; }
};
template <typename T>
struct Max {
  static T apply(T a, T b) { return a < b ? b : a; }
};
template <typename T>
struct Abs {
  static T apply(T a) { return a < 0 ? Sub<T>::apply(0, a) : a; }
};
template <typename T>
struct Neg {
  static T apply(T a) { return Sub<T>::apply(0, a); }
};
template <typename T>
struct Sad {
  static T apply(T a, T b, T c) { return Add<T>::apply(c, a < b ? Sub<T>::apply(b, a) : Sub<T>::apply(a, b)); }
};
std::int32_t clamp32(std::int64_t v) {
  return static_cast<std::int32_t>(
      v > std::numeric_limits<std::int32_t>::max()   ? std::numeric_limits<std::int32_t>::max()
      : v < std::numeric_limits<std::int32_t>::min() ? std::numeric_limits<std::int32_t>::min()
                                                     : v);
}
struct AddSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} + b); }
};
struct SubSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} - b); }
};
struct MadHiSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamp32(((std::int64_t{a} * b) >> 32) + c);
  }
};

template <typename T>
T low24(T v) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << 8) >> 8);
  else
    return v & 0xffffff;
}
template <typename T>
struct Mul24Lo {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<std::int64_t>(low24(a)) * static_cast<std::int64_t>(low24(b)));
  }
};
template <typename T>
struct Mul24Hi {
  static T apply(T a, T b) {
    return static_cast<T>((static_cast<std::int64_t>(low24(a)) * static_cast<std::int64_t>(low24(b))) >> 16);
  }
};
template <typename T>
struct Mad24Lo {
  static T apply(T a, T b, T c) { return Add<T>::apply(Mul24Lo<T>::apply(a, b), c); }
};
template <typename T>
struct Mad24Hi {
  static T apply(T a, T b, T c) { return Add<T>::apply(Mul24Hi<T>::apply(a, b), c); }
};

struct Mad24HiSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamp32(std::int64_t{Mul24Hi<std::int32_t>::apply(a, b)} + c);
  }
};

/// F of the two halves of a register.
template <typename F, typename T>
struct Halves {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const auto low = static_cast<std::uint16_t>(F::apply(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<std::uint16_t>(F::apply(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | std::uint32_t{high} << 16;
  }
};
/// .relu: negative results are 0.
template <typename F>
struct Relu {
  template <typename T>
  static T apply(T a, T b) {
    return std::max<T>(F::apply(a, b), 0);
  }
};

template <bool kSignedA, bool kSignedB>
struct Dp4a {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int k = 0; k < 4; ++k) {
      const int x = kSignedA ? static_cast<std::int8_t>(a >> (8 * k)) : static_cast<std::uint8_t>(a >> (8 * k));
      const int y = kSignedB ? static_cast<std::int8_t>(b >> (8 * k)) : static_cast<std::uint8_t>(b >> (8 * k));
      c += static_cast<std::uint32_t>(x * y);
    }
    return c;
  }
};
template <bool kSignedA, bool kSignedB, int kByte>
struct Dp2a {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int k = 0; k < 2; ++k) {
      const int x = kSignedA ? static_cast<std::int16_t>(a >> (16 * k)) : static_cast<std::uint16_t>(a >> (16 * k));
      const int y = kSignedB ? static_cast<std::int8_t>(b >> (8 * (k + kByte)))
                             : static_cast<std::uint8_t>(b >> (8 * (k + kByte)));
      c += static_cast<std::uint32_t>(x * y);
    }
    return c;
  }
};

/// add.cc, addc, sub.cc, subc, mad.cc, madc: the carry of each lane in Warp::carry. A subtraction is x + ~y + carry, so
/// that its flag is set when nothing was borrowed. PTX calls the flag a borrow, which is the same thing as long as only
/// subc reads it; nvcc's division of 128-bit integers reads it with addc, and counts on the carry (seen on an H200).
enum CarryOp : std::uint8_t { kCarryIn = 1, kCarryOut = 2, kSubtract = 4, kMulLo = 8, kMulHi = 16 };
template <typename T>
struct Carry {
  static const XOp* run(Warp& w, const XOp* op) {
    using U = Unsigned<T>;
    const U* a = w.src<U>(op->a);
    const U* b = w.src<U>(op->b);
    const U* c = op->flags & (kMulLo | kMulHi) ? w.src<U>(op->c) : nullptr;
    U* d = w.dst<U>(op->dst);
    GroupMask carry = w.carry;
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      if (!((w.active >> l) & 1)) continue;
      U x = a[l], y = b[l];
      if (c) {
        const auto product = static_cast<WideOf<T>>(static_cast<T>(x)) * static_cast<WideOf<T>>(static_cast<T>(y));
        x = static_cast<U>(op->flags & kMulHi ? product >> (sizeof(T) * 8) : product);
        y = c[l];
      }
      const U in = op->flags & kCarryIn ? (w.carry >> l) & 1u : 0;
      U sum;
      bool out;
      if (op->flags & kSubtract) {
        const U borrow = op->flags & kCarryIn ? 1 - in : 0;
        sum = static_cast<U>(x - y - borrow);
        out = !(x < y || (x == y && borrow));
      } else {
        sum = static_cast<U>(x + y + in);
        out = sum < x || (sum == x && in && y == static_cast<U>(-1));
      }
      d[l] = sum;
      if (op->flags & kCarryOut) carry = (carry & ~(1u << l)) | (static_cast<GroupMask>(out) << l);
    }
    w.carry = carry;
    return op + 1;
  }
};

template <template <typename> class F, bool kUnary>
Handler by_type(Type type) {
#define MUSCOPE_CASE(P, T)           \
  case Type::P:                      \
    if constexpr (kUnary)            \
      return Unary<T, T, F<T>>::run; \
    else                             \
      return Binary<T, T, T, F<T>>::run;
  using U = std::uint32_t;
  if constexpr (!kUnary) {
    if (type == Type::kU16x2) return Binary<U, U, U, Halves<F<std::uint16_t>, std::uint16_t>>::run;
    if (type == Type::kS16x2) return Binary<U, U, U, Halves<F<std::int16_t>, std::int16_t>>::run;
  }
  switch (type) {
    MUSCOPE_CASE(kB16, std::uint16_t)
    MUSCOPE_CASE(kU16, std::uint16_t)
    MUSCOPE_CASE(kS16, std::int16_t)
    MUSCOPE_CASE(kB32, std::uint32_t)
    MUSCOPE_CASE(kU32, std::uint32_t)
    MUSCOPE_CASE(kS32, std::int32_t)
    MUSCOPE_CASE(kB64, std::uint64_t)
    MUSCOPE_CASE(kU64, std::uint64_t)
    MUSCOPE_CASE(kS64, std::int64_t)
    default:
      return nullptr;
  }
#undef MUSCOPE_CASE
}

template <template <typename> class F>
Handler ternary_by_type(Type type) {
#define MUSCOPE_CASE(P, T) \
  case Type::P:            \
    return Ternary<T, T, T, T, F<T>>::run;
  switch (type) {
    MUSCOPE_CASE(kU16, std::uint16_t)
    MUSCOPE_CASE(kS16, std::int16_t)
    MUSCOPE_CASE(kU32, std::uint32_t)
    MUSCOPE_CASE(kS32, std::int32_t)
    MUSCOPE_CASE(kU64, std::uint64_t)
    MUSCOPE_CASE(kS64, std::int64_t)
    default:
      return nullptr;
  }
#undef MUSCOPE_CASE
}

Handler carry_handler(Type type) {
  switch (type) {
    case Type::kU32:
      return Carry<std::uint32_t>::run;
    case Type::kS32:
      return Carry<std::int32_t>::run;
    case Type::kU64:
      return Carry<std::uint64_t>::run;
    case Type::kS64:
      return Carry<std::int64_t>::run;
    default:
      return nullptr;
  }
}

Handler multiply(const code::Op& op) {
  if (op.source->has(Mod::k_wide)) switch (op.type) {
      case Type::kU16:
        return Binary<std::uint32_t, std::uint16_t, std::uint16_t, MulWide<std::uint16_t>>::run;
      case Type::kS16:
        return Binary<std::int32_t, std::int16_t, std::int16_t, MulWide<std::int16_t>>::run;
      case Type::kU32:
        return Binary<std::uint64_t, std::uint32_t, std::uint32_t, MulWide<std::uint32_t>>::run;
      case Type::kS32:
        return Binary<std::int64_t, std::int32_t, std::int32_t, MulWide<std::int32_t>>::run;
      default:
        return nullptr;
    }
  return op.source->has(Mod::k_hi) ? by_type<MulHi, false>(op.type) : by_type<MulLo, false>(op.type);
}

Handler multiply_add(const code::Op& op) {
  if (op.source->has(Mod::k_cc)) return carry_handler(op.type);
  if (op.source->has(Mod::k_wide)) switch (op.type) {
      case Type::kU16:
        return Ternary<std::uint32_t, std::uint16_t, std::uint16_t, std::uint32_t, MadWide<std::uint16_t>>::run;
      case Type::kS16:
        return Ternary<std::int32_t, std::int16_t, std::int16_t, std::int32_t, MadWide<std::int16_t>>::run;
      case Type::kU32:
        return Ternary<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, MadWide<std::uint32_t>>::run;
      case Type::kS32:
        return Ternary<std::int64_t, std::int32_t, std::int32_t, std::int64_t, MadWide<std::int32_t>>::run;
      default:
        return nullptr;
    }
  if (op.sat) return Ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t, MadHiSat>::run;
  return op.source->has(Mod::k_hi) ? ternary_by_type<MadHi>(op.type) : ternary_by_type<MadLo>(op.type);
}

/// min.relu, max.relu.
template <template <typename> class F>
Handler relu_handler(Type type) {
  using S = std::int32_t;
  using U = std::uint32_t;
  if (type == Type::kS32) return Binary<S, S, S, Relu<F<S>>>::run;
  if (type == Type::kS16x2) return Binary<U, U, U, Halves<Relu<F<std::int16_t>>, std::int16_t>>::run;
  return nullptr;
}

Handler dot_product(const code::Op& op) {
  const bool sa = ptx::is_signed(op.type), sb = ptx::is_signed(op.type2);
#define MUSCOPE_DOT(F)                                                                                        \
  return sa ? (sb ? Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, F(true, true)>::run   \
                  : Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, F(true, false)>::run) \
            : (sb ? Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, F(false, true)>::run  \
                  : Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, F(false, false)>::run)
#define MUSCOPE_DP4A(x, y) Dp4a<x, y>
#define MUSCOPE_DP2A_LO(x, y) Dp2a<x, y, 0>
#define MUSCOPE_DP2A_HI(x, y) Dp2a<x, y, 2>
  if (op.opcode == Opcode::k_dp4a) MUSCOPE_DOT(MUSCOPE_DP4A);
  if (op.source->has(Mod::k_hi)) MUSCOPE_DOT(MUSCOPE_DP2A_HI);
  MUSCOPE_DOT(MUSCOPE_DP2A_LO);
#undef MUSCOPE_DOT
}

}  // namespace

Handler find_integer(const code::Op& op) {
  if (ptx::is_float(op.type)) return nullptr;
  switch (op.opcode) {
    case Opcode::k_add:
      if (op.source->has(Mod::k_cc)) return carry_handler(op.type);
      return op.sat ? Binary<std::int32_t, std::int32_t, std::int32_t, AddSat>::run : by_type<Add, false>(op.type);
    case Opcode::k_sub:
      if (op.source->has(Mod::k_cc)) return carry_handler(op.type);
      return op.sat ? Binary<std::int32_t, std::int32_t, std::int32_t, SubSat>::run : by_type<Sub, false>(op.type);
    case Opcode::k_addc:
    case Opcode::k_subc:
    case Opcode::k_madc:
      return carry_handler(op.type);
    case Opcode::k_mul:
      return multiply(op);
    case Opcode::k_mad:
      return multiply_add(op);
    case Opcode::k_mul24:
      if (ptx::is_signed(op.type))
        return op.source->has(Mod::k_hi) ? Binary<std::int32_t, std::int32_t, std::int32_t, Mul24Hi<std::int32_t>>::run
                                         : Binary<std::int32_t, std::int32_t, std::int32_t, Mul24Lo<std::int32_t>>::run;
      return op.source->has(Mod::k_hi)
                 ? Binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24Hi<std::uint32_t>>::run
                 : Binary<std::uint32_t, std::uint32_t, std::uint32_t, Mul24Lo<std::uint32_t>>::run;
    case Opcode::k_mad24:
      if (op.sat) return Ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t, Mad24HiSat>::run;
      if (ptx::is_signed(op.type))
        return op.source->has(Mod::k_hi)
                   ? Ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t, Mad24Hi<std::int32_t>>::run
                   : Ternary<std::int32_t, std::int32_t, std::int32_t, std::int32_t, Mad24Lo<std::int32_t>>::run;
      return op.source->has(Mod::k_hi)
                 ? Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Mad24Hi<std::uint32_t>>::run
                 : Ternary<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Mad24Lo<std::uint32_t>>::run;
    case Opcode::k_sad:
      return ternary_by_type<Sad>(op.type);
    case Opcode::k_div:
      return by_type<Div, false>(op.type);
    case Opcode::k_rem:
      return by_type<Rem, false>(op.type);
    case Opcode::k_min:
      if (op.source->has(Mod::k_relu)) return relu_handler<Min>(op.type);
      return by_type<Min, false>(op.type);
    case Opcode::k_max:
      if (op.source->has(Mod::k_relu)) return relu_handler<Max>(op.type);
      return by_type<Max, false>(op.type);
    case Opcode::k_abs:
      return by_type<Abs, true>(op.type);
    case Opcode::k_neg:
      return by_type<Neg, true>(op.type);
    case Opcode::k_dp4a:
    case Opcode::k_dp2a:
      return dot_product(op);
    default:
      return find_video(op);
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
