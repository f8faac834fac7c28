// Integer arithmetic against plain C++ with wider types.
#include <bit>
#include <limits>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

using s128 = __int128;
using u128 = unsigned __int128;

s32 clamp32(s64 v) {
  return static_cast<s32>(v < std::numeric_limits<s32>::min()   ? std::numeric_limits<s32>::min()
                          : v > std::numeric_limits<s32>::max() ? std::numeric_limits<s32>::max()
                                                                : v);
}

/// Rows of one type for the instructions that every integer type has.
template <typename T>
void add_common(std::vector<Row>& rows, const std::string& t) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  rows.push_back(row("add." + t, [](T a, T b) -> T {
    return static_cast<T>(static_cast<u128>(static_cast<U>(a)) + static_cast<U>(b));
  }));
  rows.push_back(row("sub." + t, [](T a, T b) -> T {
    return static_cast<T>(static_cast<u128>(static_cast<U>(a)) - static_cast<U>(b));
  }));
  rows.push_back(row("mul.lo." + t, [](T a, T b) -> T {
    return static_cast<T>(static_cast<u128>(static_cast<s128>(a)) * static_cast<u128>(static_cast<s128>(b)));
  }));
  rows.push_back(row("mul.hi." + t, [](T a, T b) -> T {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>((static_cast<s128>(a) * static_cast<s128>(b)) >> kBits);
    else
      return static_cast<T>((static_cast<u128>(a) * static_cast<u128>(b)) >> kBits);
  }));
  rows.push_back(row("mad.lo." + t, [](T a, T b, T c) -> T {
    return static_cast<T>(static_cast<u128>(static_cast<s128>(a)) * static_cast<u128>(static_cast<s128>(b)) +
                          static_cast<u128>(static_cast<s128>(c)));
  }));
  rows.push_back(row("mad.hi." + t, [](T a, T b, T c) -> T {
    const s128 high = std::is_signed_v<T> ? (static_cast<s128>(a) * static_cast<s128>(b)) >> kBits
                                          : static_cast<s128>((static_cast<u128>(a) * static_cast<u128>(b)) >> kBits);
    return static_cast<T>(static_cast<u128>(high) + static_cast<u128>(static_cast<s128>(c)));
  }));
  // Division by zero gives all ones, as remainder too (H200); the most negative number by -1 wraps.
  rows.push_back(row("div." + t, [](T a, T b) -> T {
    return b == 0 ? static_cast<T>(~U{0}) : static_cast<T>(static_cast<s128>(a) / static_cast<s128>(b));
  }));
  rows.push_back(row("rem." + t, [](T a, T b) -> T {
    return b == 0 ? static_cast<T>(~U{0}) : static_cast<T>(static_cast<s128>(a) % static_cast<s128>(b));
  }));
  rows.push_back(row("min." + t, [](T a, T b) -> T { return a < b ? a : b; }));
  rows.push_back(row("max." + t, [](T a, T b) -> T { return a > b ? a : b; }));
  rows.push_back(row("sad." + t, [](T a, T b, T c) -> T {
    const s128 d = static_cast<s128>(a) - static_cast<s128>(b);
    return static_cast<T>(static_cast<u128>(d < 0 ? -d : d) + static_cast<u128>(static_cast<s128>(c)));
  }));
  if constexpr (std::is_signed_v<T>) {
    rows.push_back(row("neg." + t, [](T a) -> T { return static_cast<T>(U{0} - static_cast<U>(a)); }));
    rows.push_back(
        row("abs." + t, [](T a) -> T { return static_cast<T>(a < 0 ? U{0} - static_cast<U>(a) : static_cast<U>(a)); }));
  }
}

template <typename T, typename W>
void add_wide(std::vector<Row>& rows, const std::string& t) {
  rows.push_back(
      row("mul.wide." + t, [](T a, T b) -> W { return static_cast<W>(static_cast<s128>(a) * static_cast<s128>(b)); }));
  rows.push_back(row("mad.wide." + t, [](T a, T b, W c) -> W {
    return static_cast<W>(static_cast<u128>(static_cast<s128>(a) * static_cast<s128>(b)) +
                          static_cast<u128>(static_cast<s128>(c)));
  }));
}

template <typename A, typename B>
u32 dot4(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 4; ++k)
    c += static_cast<u32>(static_cast<int>(static_cast<A>(a >> (8 * k))) *
                          static_cast<int>(static_cast<B>(b >> (8 * k))));
  return c;
}
template <typename A, typename B>
u32 dot2(u32 a, u32 b, u32 c, int byte) {
  for (int k = 0; k < 2; ++k)
    c += static_cast<u32>(static_cast<int>(static_cast<A>(a >> (16 * k))) *
                          static_cast<int>(static_cast<B>(b >> (8 * (k + byte)))));
  return c;
}

s32 low24(s32 v) { return static_cast<s32>(static_cast<u32>(v) << 8) >> 8; }

std::vector<Row> rows() {
  std::vector<Row> r;
  add_common<u16>(r, "u16");
  add_common<s16>(r, "s16");
  add_common<u32>(r, "u32");
  add_common<s32>(r, "s32");
  add_common<u64>(r, "u64");
  add_common<s64>(r, "s64");
  add_wide<u16, u32>(r, "u16");
  add_wide<s16, s32>(r, "s16");
  add_wide<u32, u64>(r, "u32");
  add_wide<s32, s64>(r, "s32");
  r.push_back(row("add.sat.s32", [](s32 a, s32 b) -> s32 { return clamp32(s64{a} + b); }));
  r.push_back(row("sub.sat.s32", [](s32 a, s32 b) -> s32 { return clamp32(s64{a} - b); }));
  r.push_back(row("mad.hi.sat.s32", [](s32 a, s32 b, s32 c) -> s32 { return clamp32(((s64{a} * b) >> 32) + c); }));
  r.push_back(
      row("mul24.lo.u32", [](u32 a, u32 b) -> u32 { return static_cast<u32>(u64{a & 0xffffff} * (b & 0xffffff)); }));
  r.push_back(row("mul24.hi.u32",
                  [](u32 a, u32 b) -> u32 { return static_cast<u32>((u64{a & 0xffffff} * (b & 0xffffff)) >> 16); }));
  r.push_back(row("mul24.lo.s32", [](s32 a, s32 b) -> s32 { return static_cast<s32>(s64{low24(a)} * low24(b)); }));
  r.push_back(
      row("mul24.hi.s32", [](s32 a, s32 b) -> s32 { return static_cast<s32>((s64{low24(a)} * low24(b)) >> 16); }));
  r.push_back(row("mad24.lo.s32", [](s32 a, s32 b, s32 c) -> s32 {
    return static_cast<s32>(static_cast<u32>(s64{low24(a)} * low24(b)) + static_cast<u32>(c));
  }));
  r.push_back(row("mad24.hi.u32", [](u32 a, u32 b, u32 c) -> u32 {
    return static_cast<u32>((u64{a & 0xffffff} * (b & 0xffffff)) >> 16) + c;
  }));
  r.push_back(row("dp4a.u32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<u8, u8>(a, b, c); }));
  r.push_back(row("dp4a.s32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<s8, s8>(a, b, c); }));
  r.push_back(row("dp4a.s32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<s8, u8>(a, b, c); }));
  r.push_back(row("dp4a.u32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<u8, s8>(a, b, c); }));
  r.push_back(row("dp2a.lo.s32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, s8>(a, b, c, 0); }));
  r.push_back(row("dp2a.hi.s32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, u8>(a, b, c, 2); }));
  r.push_back(row("dp2a.lo.u32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<u16, u8>(a, b, c, 0); }));
  // Extended precision: pairs of instructions, so that the carry is seen.
  r.push_back(row("add.cc.u32 %rx, %a, %b; addc.u32 %d, 0, 0",
                  [](u32 a, u32 b) -> u32 { return static_cast<u32>((u64{a} + b) >> 32); }));
  r.push_back(row("add.cc.u32 %rx, %a, %b; addc.u32 %d, %c, %a",
                  [](u32 a, u32 b, u32 c) -> u32 { return c + a + static_cast<u32>((u64{a} + b) >> 32); }));
  r.push_back(row("add.cc.u32 %rx, %a, %b; addc.cc.u32 %ry, %c, %a; addc.u32 %d, 0, 0", [](u32 a, u32 b, u32 c) -> u32 {
    return static_cast<u32>((u64{c} + a + ((u64{a} + b) >> 32)) >> 32);
  }));
  r.push_back(
      row("sub.cc.u32 %rx, %a, %b; subc.u32 %d, %c, %a", [](u32 a, u32 b, u32 c) -> u32 { return c - a - (a < b); }));
  r.push_back(row("sub.cc.s32 %rx, %a, %b; subc.cc.s32 %ry, %c, %a; subc.s32 %d, 0, 0",
                  [](u32 a, u32 b, u32 c) -> u32 { return u64{c} < u64{a} + (a < b) ? ~u32{0} : 0; }));
  r.push_back(row("add.cc.u64 %lx, %a, %b; addc.u64 %d, 0, 0",
                  [](u64 a, u64 b) -> u64 { return static_cast<u64>((u128{a} + b) >> 64); }));
  r.push_back(row("sub.cc.u64 %lx, %a, %b; subc.u64 %d, 7, 0", [](u64 a, u64 b) -> u64 { return 7 - (a < b); }));
  // Between additions and subtractions the flag is a carry, as nvcc's 128-bit division expects: x - y is x + ~y + 1.
  r.push_back(row("sub.cc.u32 %rx, %a, %b; addc.u32 %d, 0, 0", [](u32 a, u32 b) -> u32 { return a >= b; }));
  r.push_back(row("sub.cc.u32 %rx, %a, %b; subc.cc.u32 %ry, %c, %a; addc.u32 %d, 0, 0",
                  [](u32 a, u32 b, u32 c) -> u32 { return u64{c} >= u64{a} + (a < b); }));
  r.push_back(row("add.cc.u32 %rx, %a, %b; subc.u32 %d, %c, %a",
                  [](u32 a, u32 b, u32 c) -> u32 { return c + ~a + static_cast<u32>((u64{a} + b) >> 32); }));
  r.push_back(row("sub.cc.u64 %lx, %a, %b; addc.u64 %d, 0, 0", [](u64 a, u64 b) -> u64 { return a >= b; }));
  r.push_back(row("mad.lo.cc.u32 %rx, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0",
                  [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((u64{a} * b + c) >> 32); }));
  r.push_back(row("mad.hi.cc.u32 %rx, %a, %b, %c; addc.u32 %d, 0, 0",
                  [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((((u64{a} * b) >> 32) + c) >> 32); }));
  r.push_back(row("add.cc.u32 %rx, %a, %b; madc.lo.cc.u32 %d, %a, %b, %c",
                  [](u32 a, u32 b, u32 c) -> u32 { return a * b + c + static_cast<u32>((u64{a} + b) >> 32); }));
  // Immediates, in every position and with signs.
  r.push_back(row("add.s32 %d, %a, -17", [](s32 a) -> s32 { return static_cast<s32>(static_cast<u32>(a) - 17u); }));
  r.push_back(row("sub.s32 %d, 100, %a", [](s32 a) -> s32 { return static_cast<s32>(100u - static_cast<u32>(a)); }));
  r.push_back(row("mul.lo.s64 %d, %a, -3",
                  [](s64 a) -> s64 { return static_cast<s64>(static_cast<u64>(a) * static_cast<u64>(-3)); }));
  r.push_back(row("add.s64 %d, %a, 0x123456789", [](u64 a) -> u64 { return a + 0x123456789ull; }));
  r.push_back(row("mul.wide.s32 %d, %a, -8", [](s32 a) -> s64 { return s64{a} * -8; }));
  r.push_back(row("mul.wide.u16 %d, %a, -1", [](u16 a) -> u32 { return u32{a} * 0xffffu; }));
  r.push_back(row("add.s16 %d, %a, -5", [](s16 a) -> s16 { return static_cast<s16>(a - 5); }));
  r.push_back(row("min.s16 %d, %a, -5", [](s16 a) -> s16 { return a < -5 ? a : s16{-5}; }));
  r.push_back(row("div.s32 %d, %a, 7", [](s32 a) -> s32 { return a / 7; }));
  r.push_back(row("rem.s32 %d, %a, -7", [](s32 a) -> s32 { return a % -7; }));
  r.push_back(row("div.u32 %d, %a, 0", [](u32) -> u32 { return ~u32{0}; }));
  r.push_back(
      row("mad.lo.s32 %d, %a, 3, -1", [](s32 a) -> s32 { return static_cast<s32>(static_cast<u32>(a) * 3u - 1u); }));
  // The result may be one of the operands.
  r.push_back(row("mov.b32 %d, %a; mad.lo.u32 %d, %d, %d, %d", [](u32 a) -> u32 { return a * a + a; }));
  r.push_back(row("mov.b64 %d, %a; mul.hi.u64 %d, %d, %b",
                  [](u64 a, u64 b) -> u64 { return static_cast<u64>((u128{a} * b) >> 64); }));
  return r;
}

MUSCOPE_OPCODE_ROWS(IntegerOps, rows());

}  // namespace
}  // namespace muscope::exec::testing
