// Logic, shifts and bit manipulation, bit by bit as the PTX ISA's pseudo code has them.
#include <bit>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

template <typename T>
T shift_left(T a, u32 n) {
  T r = a;
  for (u32 k = 0; k < std::min<u32>(n, 64); ++k) r = static_cast<T>(static_cast<std::make_unsigned_t<T>>(r) * 2u);
  return r;
}
template <typename T>
T shift_right(T a, u32 n) {
  for (u32 k = 0; k < std::min<u32>(n, 64); ++k) a = static_cast<T>(a >> 1);
  return a;
}

/// PTX ISA, "bfe"; `mask` limits position and length (the 64-bit forms use all 32 bits on hardware).
template <typename T>
T bfe(T a, u32 pos, u32 len, u32 mask) {
  constexpr u32 kMsb = sizeof(T) * 8 - 1;
  pos &= mask, len &= mask;
  const auto bit = [&](u64 k) { return (static_cast<u64>(static_cast<std::make_unsigned_t<T>>(a)) >> k) & 1; };
  const u64 last = std::min<u64>(u64{pos} + len - 1, kMsb);
  const u64 sign = std::is_signed_v<T> && len != 0 ? bit(last) : 0;
  u64 d = 0;
  for (u32 i = 0; i <= kMsb; ++i) d |= (i < len && u64{pos} + i <= kMsb ? bit(pos + i) : sign) << i;
  return static_cast<T>(d);
}
template <typename T>
T bfi(T a, T b, u32 pos, u32 len, u32 mask) {
  constexpr u32 kMsb = sizeof(T) * 8 - 1;
  pos &= mask, len &= mask;
  for (u64 i = 0; i < len && pos + i <= kMsb; ++i) {
    const T at = static_cast<T>(T{1} << (pos + i));
    b = static_cast<T>((a >> i) & 1 ? b | at : b & static_cast<T>(~at));
  }
  return b;
}

u32 permute(u32 a, u32 b, u32 c, const char* mode) {
  const auto byte = [&](u32 k) { return (k < 4 ? a >> (8 * k) : b >> (8 * (k - 4))) & 0xff; };
  // PTX ISA, "prmt": selected bytes d.b3 .. d.b0 for selector 0 to 3.
  static const std::map<std::string, std::array<const char*, 4>> kTables = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  u32 d = 0;
  for (u32 k = 0; k < 4; ++k) {
    if (*mode) {
      d |= byte(static_cast<u32>(kTables.at(mode)[c & 3][3 - k] - '0')) << (8 * k);
      continue;
    }
    const u32 select = (c >> (4 * k)) & 15;
    u32 v = byte(select & 7);
    if (select & 8) v = v & 0x80 ? 0xff : 0;
    d |= v << (8 * k);
  }
  return d;
}

u32 find_nth(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return base < 32 && ((mask >> base) & 1) ? base : ~u32{0};
  s64 count = offset < 0 ? -s64{offset} : offset;
  for (s64 pos = base; pos >= 0 && pos < 32; pos += offset < 0 ? -1 : 1)
    if (((mask >> pos) & 1) && --count == 0) return static_cast<u32>(pos);
  return ~u32{0};
}

template <typename T>
void add_logic(std::vector<Row>& r, const std::string& t) {
  r.push_back(row("and." + t, [](T a, T b) -> T { return static_cast<T>(a & b); }));
  r.push_back(row("or." + t, [](T a, T b) -> T { return static_cast<T>(a | b); }));
  r.push_back(row("xor." + t, [](T a, T b) -> T { return static_cast<T>(a ^ b); }));
  r.push_back(row("not." + t, [](T a) -> T { return static_cast<T>(~a); }));
  r.push_back(row("cnot." + t, [](T a) -> T { return a == 0; }));
  r.push_back(row("shl." + t, [](T a, u32 n) -> T { return shift_left(a, n); }));
}
template <typename T>
void add_shift(std::vector<Row>& r, const std::string& t) {
  r.push_back(row("shr." + t, [](T a, u32 n) -> T { return shift_right(a, n); }));
}
template <typename T>
void add_find(std::vector<Row>& r, const std::string& t) {
  const auto find = [](T a) -> u32 {
    const T v = std::is_signed_v<T> && a < 0 ? static_cast<T>(~a) : a;
    for (int k = sizeof(T) * 8 - 1; k >= 0; --k)
      if ((static_cast<std::make_unsigned_t<T>>(v) >> k) & 1) return static_cast<u32>(k);
    return ~u32{0};
  };
  r.push_back(row("bfind." + t, find));
  r.push_back(row("bfind.shiftamt." + t, [find](T a) -> u32 {
    return find(a) == ~u32{0} ? ~u32{0} : static_cast<u32>(sizeof(T) * 8 - 1) - find(a);
  }));
}

std::vector<Row> rows() {
  std::vector<Row> r;
  add_logic<u16>(r, "b16");
  add_logic<u32>(r, "b32");
  add_logic<u64>(r, "b64");
  add_shift<u16>(r, "u16");
  add_shift<s16>(r, "s16");
  add_shift<u16>(r, "b16");
  add_shift<u32>(r, "u32");
  add_shift<s32>(r, "s32");
  add_shift<u32>(r, "b32");
  add_shift<u64>(r, "u64");
  add_shift<s64>(r, "s64");
  add_shift<u64>(r, "b64");
  add_find<u32>(r, "u32");
  add_find<s32>(r, "s32");
  add_find<u64>(r, "u64");
  add_find<s64>(r, "s64");
  r.push_back(row("and.pred", [](bool a, bool b) -> bool { return a && b; }));
  r.push_back(row("or.pred", [](bool a, bool b) -> bool { return a || b; }));
  r.push_back(row("xor.pred", [](bool a, bool b) -> bool { return a != b; }));
  r.push_back(row("not.pred", [](bool a) -> bool { return !a; }));
  r.push_back(row("and.pred %d, %a, !%b", [](bool a, bool b) -> bool { return a && !b; }));
  r.push_back(row("popc.b32", [](u32 a) -> u32 {
    u32 n = 0;
    for (; a; a >>= 1) n += a & 1;
    return n;
  }));
  r.push_back(row("popc.b64", [](u64 a) -> u32 {
    u32 n = 0;
    for (; a; a >>= 1) n += static_cast<u32>(a & 1);
    return n;
  }));
  r.push_back(row("clz.b32", [](u32 a) -> u32 {
    u32 n = 0;
    while (n < 32 && !((a << n) & 0x80000000u)) ++n;
    return n;
  }));
  r.push_back(row("clz.b64", [](u64 a) -> u32 {
    u32 n = 0;
    while (n < 64 && !((a << n) >> 63)) ++n;
    return n;
  }));
  r.push_back(row("brev.b32", [](u32 a) -> u32 {
    u32 d = 0;
    for (int k = 0; k < 32; ++k) d |= ((a >> k) & 1) << (31 - k);
    return d;
  }));
  r.push_back(row("brev.b64", [](u64 a) -> u64 {
    u64 d = 0;
    for (int k = 0; k < 64; ++k) d |= ((a >> k) & 1) << (63 - k);
    return d;
  }));
  r.push_back(row("bfe.u32", [](u32 a, u32 p, u32 n) -> u32 { return bfe<u32>(a, p, n, 0xff); }));
  r.push_back(row("bfe.s32", [](s32 a, u32 p, u32 n) -> s32 { return bfe<s32>(a, p, n, 0xff); }));
  r.push_back(row("bfe.u64", [](u64 a, u32 p, u32 n) -> u64 { return bfe<u64>(a, p, n, ~u32{0}); }));
  r.push_back(row("bfe.s64", [](s64 a, u32 p, u32 n) -> s64 { return bfe<s64>(a, p, n, ~u32{0}); }));
  r.push_back(row("bfi.b32", [](u32 a, u32 b, u32 p, u32 n) -> u32 { return bfi<u32>(a, b, p, n, 0xff); }));
  r.push_back(row("bfi.b64", [](u64 a, u64 b, u32 p, u32 n) -> u64 { return bfi<u64>(a, b, p, n, ~u32{0}); }));
  r.push_back(row("shf.l.wrap.b32",
                  [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>(((u64{b} << 32 | a) << (c & 31)) >> 32); }));
  r.push_back(row("shf.r.wrap.b32",
                  [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((u64{b} << 32 | a) >> (c & 31)); }));
  r.push_back(row("shf.l.clamp.b32", [](u32 a, u32 b, u32 c) -> u32 {
    return c >= 32 ? a : static_cast<u32>(((u64{b} << 32 | a) << c) >> 32);
  }));
  r.push_back(row("shf.r.clamp.b32",
                  [](u32 a, u32 b, u32 c) -> u32 { return c >= 32 ? b : static_cast<u32>((u64{b} << 32 | a) >> c); }));
  for (const char* mode : {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    r.push_back(row(std::string("prmt.b32") + (*mode ? "." : "") + mode,
                    [mode](u32 a, u32 b, u32 c) -> u32 { return permute(a, b, c, mode); }));
  r.push_back(row("prmt.b32 %d, %a, %b, 0x3250", [](u32 a, u32 b) -> u32 { return permute(a, b, 0x3250, ""); }));
  for (int table : {0x96, 0xe8, 0x80, 0xfe, 0x1b, 0xca})
    r.push_back(row("lop3.b32 %d, %a, %b, %c, " + std::to_string(table), [table](u32 a, u32 b, u32 c) -> u32 {
      u32 d = 0;
      for (int k = 0; k < 32; ++k)
        d |= static_cast<u32>((table >> (((a >> k) & 1) * 4 + ((b >> k) & 1) * 2 + ((c >> k) & 1))) & 1) << k;
      return d;
    }));
  r.push_back(row("bmsk.clamp.b32", [](u32 p, u32 n) -> u32 {
    u32 d = 0;
    for (u32 k = 0; k < 32; ++k) d |= u32{k >= p && k - p < n} << k;
    return d;
  }));
  r.push_back(row("bmsk.wrap.b32", [](u32 p, u32 n) -> u32 {
    p &= 31, n &= 31;
    u32 d = 0;
    for (u32 k = 0; k < 32; ++k) d |= u32{k >= p && k - p < n} << k;
    return d;
  }));
  r.push_back(row("szext.clamp.s32", [](s32 a, u32 n) -> s32 { return n >= 32 ? a : bfe<s32>(a, 0, n, 0xff); }));
  r.push_back(row("szext.wrap.s32", [](s32 a, u32 n) -> s32 { return bfe<s32>(a, 0, n & 31, 0xff); }));
  r.push_back(row("szext.clamp.u32", [](u32 a, u32 n) -> u32 { return n >= 32 ? a : bfe<u32>(a, 0, n, 0xff); }));
  r.push_back(row("fns.b32", [](u32 m, u32 base, s32 offset) -> u32 { return find_nth(m, base, offset); }));
  // Shifts by literals, those of the width and more among them.
  r.push_back(row("shl.b32 %d, %a, 31", [](u32 a) -> u32 { return a << 31; }));
  r.push_back(row("shl.b32 %d, %a, 32", [](u32) -> u32 { return 0; }));
  r.push_back(row("shr.s32 %d, %a, 40", [](s32 a) -> s32 { return a < 0 ? -1 : 0; }));
  r.push_back(row("shr.u64 %d, %a, 63", [](u64 a) -> u64 { return a >> 63; }));
  r.push_back(row("shl.b16 %d, %a, 16", [](u16) -> u16 { return 0; }));
  r.push_back(row("and.b32 %d, %a, -2", [](u32 a) -> u32 { return a & ~1u; }));
  r.push_back(row("xor.b64 %d, %a, -1", [](u64 a) -> u64 { return ~a; }));
  r.push_back(row("and.b16 %d, %a, 255", [](u16 a) -> u16 { return a & 255; }));
  return r;
}

MUSCOPE_OPCODE_ROWS(BitOps, rows());

}  // namespace
}  // namespace muscope::exec::testing
