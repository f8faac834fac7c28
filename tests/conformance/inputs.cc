// What each form is tried with: products of corner cases, and pseudo-random values that come near rounding boundaries,
// cancel each other or divide exactly.
#include <algorithm>
#include <bit>
#include <cmath>

#include "forms.h"

namespace muscope::conformance {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Random {
  u64 state;
  u64 next() {  // splitmix64
    state += 0x9e3779b97f4a7c15ull;
    u64 z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  u64 below(u64 bound) { return next() % bound; }
};

u64 mask_of(unsigned bytes) { return bytes >= 8 ? ~u64{0} : (u64{1} << (bytes * 8)) - 1; }

/// A binary floating-point format; lanes of 16 bits are packed.
struct Format {
  int mantissa = 0, exponent = 0, lanes = 1;
  int width() const { return 1 + mantissa + exponent; }
};

Format format_of(const std::string& type) {
  if (type == "f32" || type == "tf32") return {23, 8};
  if (type == "f64") return {52, 11};
  if (type == "f16") return {10, 5};
  if (type == "bf16") return {7, 8};
  if (type == "f16x2") return {10, 5, 2};
  if (type == "bf16x2") return {7, 8, 2};
  return {};
}

/// In order of importance: a product of many operands takes the first ones.
std::vector<u64> floats(const Format& f) {
  const u64 sign = u64{1} << (f.width() - 1), infinity = ((u64{1} << f.exponent) - 1) << f.mantissa,
            bias = (u64{1} << (f.exponent - 1)) - 1, one = bias << f.mantissa, quiet = u64{1} << (f.mantissa - 1),
            least = u64{1} << f.mantissa;
  std::vector<u64> v = {0,
                        one,
                        infinity,
                        infinity | quiet | 5,
                        sign | 1,
                        infinity - 1,
                        sign | (one + 1),
                        sign,
                        least,
                        sign | infinity,
                        least - 1,
                        sign | one,
                        sign | infinity | 1,
                        one + least + quiet,
                        infinity | (quiet - 1),
                        sign | infinity | quiet,
                        sign | (infinity - 1),
                        sign | least,
                        one - 1,
                        one - least,
                        sign | (one - least),
                        one + quiet,
                        sign | (least - 1),
                        1,
                        sign | infinity | (least - 1)};
  // Ends of the integer types and of smaller formats, and halves beside them.
  for (const double edge : {2.0,
                            3.0,
                            2.5,
                            0.75,
                            127.0,
                            127.5,
                            128.0,
                            255.0,
                            255.5,
                            256.0,
                            448.0,
                            464.0,
                            57344.0,
                            61440.0,
                            32767.0,
                            32767.5,
                            32768.0,
                            65504.0,
                            65520.0,
                            65535.0,
                            65535.5,
                            65536.0,
                            2147483647.0,
                            2147483647.5,
                            2147483648.0,
                            4294967295.0,
                            4294967295.5,
                            4294967296.0,
                            9223372036854775807.0,
                            9223372036854774784.0,
                            18446744073709549568.0,
                            18446744073709551616.0,
                            0x1p-14,
                            0x1p-24,
                            0x1p-25,
                            0x1.8p-25,
                            0x1p-126,
                            0x1p-133,
                            0x1p-134,
                            0x1p-149,
                            0x1p-150,
                            0x1.fffffep127,
                            0x1.ffffffp127,
                            0x1p128,
                            0x1.fep127,
                            0x1.ffp127,
                            1e300,
                            3.141592653589793}) {
    const u64 bits = std::bit_cast<u64>(edge);
    const int e = static_cast<int>(bits >> 52) - 1023 + static_cast<int>(bias);
    if (e <= 0 || e >= (1 << f.exponent) - 1) continue;
    // Cut, not rounded: neighbours follow.
    const u64 cut = static_cast<u64>(e) << f.mantissa | (bits & ((u64{1} << 52) - 1)) >> (52 - f.mantissa);
    for (const u64 x : {cut, cut | sign, cut + 1}) v.push_back(x);
  }
  return v;
}

std::vector<u64> integers(unsigned bytes) {
  const u64 top = u64{1} << (bytes * 8 - 1), ones = mask_of(bytes);
  std::vector<u64> v = {0, 1,  ones, top, top - 1, 0x8765432112345678ull & ones, 31, 2, 32, ones - 1, 33, top + 1, 255,
                        5, 16, 15,   7,   3};
  for (const u64 x : {u64{8},
                      u64{63},
                      u64{64},
                      u64{127},
                      u64{128},
                      u64{256},
                      u64{0x7fff},
                      u64{0x8000},
                      u64{0xffff},
                      u64{0x10000},
                      u64{0xff80},
                      u64{0xffff8000},
                      u64{0x7fffffff},
                      u64{0x80000000},
                      u64{0xffffffff},
                      u64{0x100000000},
                      ~u64{0} - 30,
                      ~u64{0} << 31,
                      ~u64{0} << 32,
                      u64{0xaaaaaaaaaaaaaaaa},
                      u64{0x5555555555555555},
                      u64{0x00ff00ff00ff00ff},
                      u64{0x7f807f807f807f80},
                      u64{0x0000ffff0000ffff},
                      top >> 1,
                      ones >> 1,
                      ones - 127,
                      u64{0x01000001},
                      u64{0x800000},
                      u64{0x7fffffbfffffffff},
                      u64{0x20000000000001}})
    v.push_back(x & ones);
  return v;
}

std::vector<u64> corner_cases(const std::string& type) {
  if (type == "pred") return {0, 1};
  if (type == "amount")
    return {0,  1,  31, 32,  33,  255, 16,  63,         64,         8,          15,         17,      24, 7,  30, 47,
            48, 62, 65, 127, 128, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffe1, 0x10001, 9,  23, 3,  5};
  if (type == "few" || type == "few64") return {0, 1, 0xffffffff};
  if (type == "lane") return {0, 1, 2, 4, 8, 15, 16, 30, 31, 32, 33, 63, 0xffffffff};
  if (type == "clamp") return {0x1f, 0, 0x1f1f, 0x181f, 0x1807, 0x1003, 0x0f0f, 0x1c00, 0x1e01};
  if (type == "select") return {0x3210, 0x0123, 0x7654, 0xfedc, 0x4321, 0x8888, 0x5140, 0, 1, 2, 3, 0xffff3210};
  const Format f = format_of(type);
  std::vector<u64> v = f.mantissa ? floats(f) : integers(bytes_of(type));
  if (f.lanes == 2)  // the second lane walks through the list at another pace
    for (std::size_t i = v.size(); i-- > 0;) v[i] |= v[(i * 7 + 3) % v.size()] << 16 & 0xffff0000u;
  return v;
}

u64 random_float(const Format& f, Random& random) {
  const u64 fraction = (u64{1} << f.mantissa) - 1, sign = (random.next() & 1) << (f.width() - 1);
  const u64 bias = (u64{1} << (f.exponent - 1)) - 1, largest = (u64{1} << f.exponent) - 1;
  u64 m = random.next() & fraction, e = random.below(largest);
  switch (random.below(4)) {
    case 0:  // anything
      break;
    case 1:  // near one, few digits
      e = bias - 4 + random.below(9);
      m &= ~(fraction >> random.below(static_cast<u64>(f.mantissa)));
      break;
    case 2: {  // a tie of a shorter format, or beside one
      if (random.next() & 1) e = bias - 30 + random.below(70);
      const u64 half = u64{1} << random.below(static_cast<u64>(f.mantissa));
      m = (m & ~(2 * half - 1)) | half;
      m = (m + random.below(3) - 1) & fraction;
      break;
    }
    default:  // of the size of integers
      e = std::min(bias - 2 + random.below(68), largest - 1);
  }
  if (random.below(32) == 0) e = random.next() & 1 ? 0 : largest;
  return sign | std::min(e, largest) << f.mantissa | m;
}

u64 random_value(const std::string& type, Random& random) {
  const Format f = format_of(type);
  if (f.mantissa) {
    const u64 low = random_float(f, random);
    return f.lanes == 2 ? low | random_float(f, random) << 16 : low;
  }
  const unsigned bytes = bytes_of(type);
  const u64 any = random.next();
  if (type == "pred") return any & 1;
  if (type == "amount") return random.below(4) ? random.below(70) : any & 0xffffffff;
  if (type == "few" || type == "few64") return random.below(3);
  if (type == "lane") return random.below(34);
  if (type == "clamp") return (random.below(32) << 8) | random.below(32);
  if (type == "select") return any & 0xffff;
  u64 v = any & mask_of(bytes);
  switch (random.below(4)) {
    case 0:
      break;
    case 1:
      v >>= random.below(bytes * 8);
      break;
    case 2: {  // ties of conversions to floating point
      const u64 half = u64{1} << random.below(bytes * 8 - 1);
      v = ((v & ~(2 * half - 1)) | half) + random.below(3) - 1;
      break;
    }
    default:
      v = u64{0} - (v >> random.below(bytes * 8));
  }
  return v & mask_of(bytes);
}

template <typename T, typename Bits>
void relate(u64* v, std::size_t operands, Random& random) {
  const T a = std::bit_cast<T>(static_cast<Bits>(v[0])), b = std::bit_cast<T>(static_cast<Bits>(v[1]));
  const auto put = [&](std::size_t i, T x) {
    if (x == x) v[i] = std::bit_cast<Bits>(x);
  };
  switch (random.below(4)) {
    case 0:
      put(1, -a);
      break;
    case 1:  // beside it
      v[1] = (v[0] ^ (random.next() & 1) << (sizeof(T) * 8 - 1)) + random.below(5) - 2;
      v[1] &= mask_of(sizeof(T));
      break;
    case 2:  // an exact or nearly exact quotient
      put(0, a * b);
      break;
    default:  // cancels
      put(operands - 1, operands > 2 ? -(a * b) : a * b);
  }
}

/// Operands that have to do with each other, in one tuple of four.
void relate(const Form& form, u64* v, Random& random) {
  const std::size_t n = form.operands.size();
  if (n < 2 || form.operands[0] != form.operands[1] || random.below(4)) return;
  const std::string& type = form.operands[0];
  if (type == "f32" && form.operands[n - 1] == type) return relate<float, u32>(v, n, random);
  if (type == "f64" && form.operands[n - 1] == type) return relate<double, u64>(v, n, random);
  const unsigned bytes = bytes_of(type);
  v[1] = (random.next() & 1 ? v[0] : ~v[0]) + random.below(5) - 2;
  if (type == "f16" || type == "bf16") v[1] = v[0] ^ (random.next() & 1) << 15;
  if (type == "f16x2" || type == "bf16x2") v[1] = v[0] ^ (random.next() & 0x80008000u);
  if (type == "pred" || type == "few") v[1] = v[0];
  v[1] &= mask_of(bytes);
}

}  // namespace

std::size_t tuples(const Form& form) {
  if (form.operands.size() == 1) return bytes_of(form.operands[0]) == 2 ? 4096 : 2048;
  return form.operands.empty() ? kBlock : 4096;
}

std::vector<u64> inputs(const Form& form) {
  const std::size_t n = form.operands.size(), count = tuples(form);
  std::vector<std::vector<u64>> corners;
  std::size_t product = 1;
  for (const std::string& type : form.operands) {
    std::vector<u64> v = corner_cases(type);
    const std::size_t most = n == 1 ? 1000 : n == 2 ? 48 : n == 3 ? 13 : n == 4 ? 7 : 3;
    if (v.size() > most) v.resize(most);
    product *= v.size();
    corners.push_back(std::move(v));
  }
  std::vector<u64> values(count * n);
  u64 seed = 0x6d7573636f7065;
  for (const std::string& type : form.operands)
    for (const char c : type) seed = seed * 131 + static_cast<unsigned char>(c);
  Random random{seed};
  for (std::size_t t = 0; t < count && n > 0; ++t) {
    u64* v = &values[t * n];
    if (t < product && t < count * 3 / 4) {
      std::size_t rest = t;
      for (std::size_t i = 0; i < n; ++i) {
        v[i] = corners[i][rest % corners[i].size()];
        rest /= corners[i].size();
      }
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) v[i] = random_value(form.operands[i], random);
    if (n == 1 && bytes_of(form.operands[0]) == 2) v[0] = t * 40503 & 0xffff;  // all different
    relate(form, v, random);
  }
  return values;
}

}  // namespace muscope::conformance
