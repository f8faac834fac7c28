// For tests of opcode semantics: a row is a PTX form and a C++ function that computes what it must give. Each row runs
// over a product of corner cases and over random values, three times: for all lanes, under a guard that is false for
// some lanes, and in a divergent branch.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

/// Lanes whose bits are a format that C++ 20 lacks.
struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};
struct Half2 {
  u32 bits;
};
struct Brain2 {
  u32 bits;
};

/// How an operand or result travels and which values it is tried with.
enum class Pool { kInteger, kFloat, kDouble, kHalf, kBrain, kHalf2, kBrain2, kPredicate };
struct LaneType {
  char reg = 'r';      ///< p predicate, h 16 bits, r 32 bits, l 64 bits
  unsigned bytes = 4;  ///< of the value
  bool is_signed = false;
  Pool pool = Pool::kInteger;
};

template <typename T>
constexpr LaneType lane_type() {
  if constexpr (std::is_same_v<T, bool>)
    return {'p', 1, false, Pool::kPredicate};
  else if constexpr (std::is_same_v<T, float>)
    return {'r', 4, true, Pool::kFloat};
  else if constexpr (std::is_same_v<T, double>)
    return {'l', 8, true, Pool::kDouble};
  else if constexpr (std::is_same_v<T, Half>)
    return {'h', 2, false, Pool::kHalf};
  else if constexpr (std::is_same_v<T, Brain>)
    return {'h', 2, false, Pool::kBrain};
  else if constexpr (std::is_same_v<T, Half2>)
    return {'r', 4, false, Pool::kHalf2};
  else if constexpr (std::is_same_v<T, Brain2>)
    return {'r', 4, false, Pool::kBrain2};
  else
    return {sizeof(T) <= 2 ? 'h' : sizeof(T) == 4 ? 'r' : 'l', sizeof(T), std::is_signed_v<T>, Pool::kInteger};
}

template <typename T>
T from_bits(u64 bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}
template <typename T>
u64 to_bits(T value) {
  u64 bits = 0;
  if constexpr (std::is_same_v<T, bool>) {
    bits = value;
  } else if constexpr (std::is_integral_v<T>) {
    bits = static_cast<u64>(static_cast<std::make_unsigned_t<T>>(value));
  } else {
    std::memcpy(&bits, &value, sizeof value);
  }
  return bits;
}

struct Row {
  std::string text;  ///< "add.s32", or with operands: "shl.b32 %d, %a, 33"; %d %a %b %c %e are replaced
  LaneType result;
  std::vector<LaneType> operands;
  std::function<u64(const u64*)> expect;
  double relative = 0;  ///< of float and double results: allowed error relative to the expected value
  double absolute = 0;
};

namespace detail {
template <typename F>
struct Signature;
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) const> {
  template <typename F>
  static Row row(std::string text, F f) {
    Row r;
    r.text = std::move(text);
    r.result = lane_type<R>();
    r.operands = {lane_type<A>()...};
    r.expect = [f](const u64* in) { return call(f, in, std::index_sequence_for<A...>{}); };
    return r;
  }
  template <typename F, std::size_t... I>
  static u64 call(F f, const u64* in, std::index_sequence<I...>) {
    return to_bits<R>(f(from_bits<std::decay_t<A>>(in[I])...));
  }
};
}  // namespace detail

/// A row from a form and a lambda whose parameter and result types say which registers it works on.
template <typename F>
Row row(std::string text, F f) {
  return detail::Signature<decltype(&F::operator())>::row(std::move(text), f);
}
/// The same for approximate results.
template <typename F>
Row near(std::string text, double relative, double absolute, F f) {
  Row r = row(std::move(text), f);
  r.relative = relative;
  r.absolute = absolute;
  return r;
}

/// Corner cases of a type; 'many' for the only operand, fewer as there are more.
std::vector<u64> corner_cases(LaneType type, std::size_t operands);

/// Runs a row and compares. Failures name the form and the operands.
void check_row(const Row& row);

class OpcodeRows : public ::testing::TestWithParam<Row> {};
std::string row_name(const ::testing::TestParamInfo<Row>& info);
inline void PrintTo(const Row& r, std::ostream* out) { *out << r.text; }

/// What .ftz does to an input or a result.
inline float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }

enum class Round { kNearest, kZero, kDown, kUp };

/// The value of a bit pattern of a small float format, and the nearest patterns to a value. Slow and plain.
struct SmallFormat {
  int mantissa, exponent;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  double value(u16 bits) const {
    const int e = (bits >> mantissa) & ((1 << exponent) - 1), m = bits & ((1 << mantissa) - 1);
    const double v = e == (1 << exponent) - 1 ? (m ? std::nan("") : HUGE_VAL)
                     : e == 0                 ? std::ldexp(m, 1 - bias() - mantissa)
                                              : std::ldexp(m + (1 << mantissa), e - bias() - mantissa);
    return bits >> 15 ? -v : v;
  }
  u16 infinity() const { return static_cast<u16>(((1 << exponent) - 1) << mantissa); }
  /// long double holds every 64-bit integer and every double.
  u16 round(long double v, Round r) const {
    if (v != v) return 0x7fff;
    const bool negative = std::signbit(v);
    const long double m = std::fabs(v);
    // Largest pattern whose value is at most m: patterns of one sign are ordered.
    u16 low = 0, high = infinity();
    while (low < high) {
      const u16 middle = static_cast<u16>((low + high + 1) / 2);
      if (static_cast<long double>(value(middle)) <= m)
        low = middle;
      else
        high = static_cast<u16>(middle - 1);
    }
    if (static_cast<long double>(value(low)) != m) {
      // Above the largest number the next step is where it would be with one more exponent.
      const u16 up = static_cast<u16>(low + 1);
      const long double below = value(low),
                        above = up == infinity() ? std::ldexp(1.0L, bias() + 1) : static_cast<long double>(value(up));
      bool take_up = false;
      switch (r) {
        case Round::kNearest:
          take_up = m - below > above - m || (m - below == above - m && (low & 1));
          break;
        case Round::kZero:
          break;
        case Round::kDown:
          take_up = negative;
          break;
        case Round::kUp:
          take_up = !negative;
          break;
      }
      if (take_up) low = up;
    }
    return static_cast<u16>(low | (negative ? 0x8000 : 0));
  }
};
inline constexpr SmallFormat kHalf{10, 5}, kBrain{7, 8};

/// One test per row, named after its form.
#define MUSCOPE_OPCODE_ROWS(Name, rows)                           \
  class Name : public OpcodeRows {};                              \
  TEST_P(Name, GivesWhatTheManualSays) { check_row(GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(Ptx, Name, ::testing::ValuesIn(rows), row_name)

}  // namespace muscope::exec::testing
