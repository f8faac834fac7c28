// Rounding, remainders, parts of a number: operations whose result is exact or correctly rounded.
#ifndef MUSCOPE_MATH_REST_H
#define MUSCOPE_MATH_REST_H

#include "base.h"

#include "begin.h"

namespace muscope_math {

/// Half away from zero.
template <class T>
MUSCOPE_MATH T round(T x) {
  const T t = trunc(x);
  return with_sign(abs(x - t) >= (T)0.5 ? abs(t) + (T)1 : abs(t), x);
}

/// |x| = mantissa * 2^exponent with the mantissa's top bit set; x finite and not zero.
struct Parts {
  u64 mantissa;
  int exponent;
};
MUSCOPE_MATH Parts parts(float x) {
  const u32 u = bits(x) & 0x7fffffffu;
  if (u < 0x800000u) {
    const int shift = __builtin_clz(u) - 8;
    return {(u64)u << shift, -149 - shift};
  }
  return {(u & 0x7fffffu) | 0x800000u, (int)(u >> 23) - 150};
}
MUSCOPE_MATH Parts parts(double x) {
  const u64 u = bits(x) & 0x7fffffffffffffffull;
  if (u < 0x10000000000000ull) {
    const int shift = __builtin_clzll(u) - 11;
    return {u << shift, -1074 - shift};
  }
  return {(u & 0xfffffffffffffull) | 0x10000000000000ull, (int)(u >> 52) - 1075};
}

/// x * 2^n, rounded once.
MUSCOPE_MATH double ldexp(double x, int n) {
  if (n > 1023) {
    x *= 0x1p1023;
    n -= 1023;
    if (n > 1023) {
      x *= 0x1p1023;
      n -= 1023;
      if (n > 1023) n = 1023;
    }
  } else if (n < -1022) {  // steps of 2^-969 leave 53 bits: only the last product can round
    x *= 0x1p-969;
    n += 969;
    if (n < -1022) {
      x *= 0x1p-969;
      n += 969;
      if (n < -1022) n = -1022;
    }
  }
  return x * power_of_two(n);
}
MUSCOPE_MATH float ldexp(float x, int n) {
  if (n > 127) {
    x *= 0x1p127f;
    n -= 127;
    if (n > 127) {
      x *= 0x1p127f;
      n -= 127;
      if (n > 127) n = 127;
    }
  } else if (n < -126) {
    x *= 0x1p-102f;
    n += 102;
    if (n < -126) {
      x *= 0x1p-102f;
      n += 102;
      if (n < -126) n = -126;
    }
  }
  return x * power_of_two_f(n);
}

/// |x| modulo |y| and the low bits of the quotient; both finite, y not zero.
template <class T>
struct Remainder {
  T value;
  u32 quotient;
};
template <class T>
MUSCOPE_MATH Remainder<T> remainder_steps(T x, T y) {
  const T ax = abs(x), ay = abs(y);
  if (ax < ay) return {ax, 0};
  const Parts a = parts(ax), b = parts(ay);
  const int chunk = sizeof(T) == 4 ? 40 : 11;  // so many zeros fit behind a mantissa in 64 bits
  u64 rest = a.mantissa;
  u32 quotient = 0;
  int left = a.exponent - b.exponent;
  quotient = rest >= b.mantissa;
  if (quotient) rest -= b.mantissa;
  while (left > 0) {
    const int step = left < chunk ? left : chunk;
    rest <<= step;
    const u64 q = rest / b.mantissa;
    rest -= q * b.mantissa;
    quotient = (step < 32 ? quotient << step : 0u) + (u32)q;
    left -= step;
  }
  return {ldexp((T)rest, b.exponent), quotient};
}
template <class T>
MUSCOPE_MATH bool remainder_undefined(T x, T y) {
  return is_nan(x) || is_nan(y) || y == (T)0 || abs(x) == (T)MUSCOPE_INF_F;
}
template <class T>
MUSCOPE_MATH T fmod(T x, T y) {
  if (remainder_undefined(x, y)) return (T)MUSCOPE_NAN_F;
  if (abs(y) == (T)MUSCOPE_INF_F) return x;
  return with_sign(remainder_steps(x, y).value, x);
}
template <class T>
MUSCOPE_MATH T remquo(T x, T y, int* quotient) {
  *quotient = 0;
  if (remainder_undefined(x, y)) return (T)MUSCOPE_NAN_F;
  if (abs(y) == (T)MUSCOPE_INF_F) return x;
  Remainder<T> r = remainder_steps(x, y);
  const T ay = abs(y), twice = r.value + r.value;
  bool flip = false;
  if (twice > ay || (twice == ay && (r.quotient & 1))) {
    r.value = ay - r.value;
    r.quotient += 1;
    flip = true;
  }
  const int q = (int)(r.quotient & 0x7fffffffu);
  *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -q : q;
  const T sign = flip ? -x : x;
  return with_sign(r.value, r.value == (T)0 ? x : sign);
}
template <class T>
MUSCOPE_MATH T remainder(T x, T y) {
  int quotient;
  return remquo(x, y, &quotient);
}

template <class T>
MUSCOPE_MATH T frexp(T x, int* exponent) {
  *exponent = 0;
  if (x == (T)0 || x - x != (T)0) return x;
  const Parts p = parts(x);
  const int digits = sizeof(T) == 4 ? 24 : 53;
  *exponent = p.exponent + digits;
  return with_sign(ldexp((T)p.mantissa, -digits), x);
}
template <class T>
MUSCOPE_MATH T modf(T x, T* whole) {
  const T t = trunc(x);
  *whole = t;
  return with_sign(abs(x) == (T)MUSCOPE_INF_F ? (T)0 : x - t, x);
}
template <class T>
MUSCOPE_MATH int ilogb(T x) {
  if (x == (T)0 || is_nan(x)) return -2147483647 - 1;
  if (abs(x) == (T)MUSCOPE_INF_F) return 2147483647;
  return parts(x).exponent + (sizeof(T) == 4 ? 23 : 52);
}
template <class T>
MUSCOPE_MATH T logb(T x) {
  if (x == (T)0) return -(T)MUSCOPE_INF_F;
  if (is_nan(x) || abs(x) == (T)MUSCOPE_INF_F) return abs(x);
  return (T)ilogb(x);
}
MUSCOPE_MATH float nextafter(float x, float y) {
  if (is_nan(x) || is_nan(y)) return x + y;
  if (x == y) return y;
  if (x == 0.f) return with_sign(from_bits(1u), y);
  return from_bits((x < y) == (x > 0.f) ? bits(x) + 1 : bits(x) - 1);
}
MUSCOPE_MATH double nextafter(double x, double y) {
  if (is_nan(x) || is_nan(y)) return x + y;
  if (x == y) return y;
  if (x == 0.0) return with_sign(from_bits(1ull), y);
  return from_bits((x < y) == (x > 0.0) ? bits(x) + 1 : bits(x) - 1);
}
template <class T>
MUSCOPE_MATH T fdim(T x, T y) {
  return is_nan(x) || is_nan(y) ? x + y : x > y ? x - y : (T)0;
}

}  // namespace muscope_math

#include "end.h"

#endif
