// setp, set, selp and slct.
#include <cmath>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

template <typename T, typename V>
void add_ordered(std::vector<Row>& r, const std::string& suffix, V value) {
  r.push_back(row("setp.eq." + suffix, [=](T a, T b) -> bool { return value(a) == value(b); }));
  r.push_back(row("setp.ne." + suffix, [=](T a, T b) -> bool { return value(a) < value(b) || value(a) > value(b); }));
  r.push_back(row("setp.lt." + suffix, [=](T a, T b) -> bool { return value(a) < value(b); }));
  r.push_back(row("setp.le." + suffix, [=](T a, T b) -> bool { return value(a) <= value(b); }));
  r.push_back(row("setp.gt." + suffix, [=](T a, T b) -> bool { return value(a) > value(b); }));
  r.push_back(row("setp.ge." + suffix, [=](T a, T b) -> bool { return value(a) >= value(b); }));
}
template <typename T, typename V>
void add_unordered(std::vector<Row>& r, const std::string& suffix, V value) {
  const auto nan = [=](T a, T b) { return std::isnan(value(a)) || std::isnan(value(b)); };
  r.push_back(row("setp.equ." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) == value(b); }));
  r.push_back(row("setp.neu." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) != value(b); }));
  r.push_back(row("setp.ltu." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) < value(b); }));
  r.push_back(row("setp.leu." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) <= value(b); }));
  r.push_back(row("setp.gtu." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) > value(b); }));
  r.push_back(row("setp.geu." + suffix, [=](T a, T b) -> bool { return nan(a, b) || value(a) >= value(b); }));
  r.push_back(row("setp.num." + suffix, [=](T a, T b) -> bool { return !nan(a, b); }));
  r.push_back(row("setp.nan." + suffix, [=](T a, T b) -> bool { return nan(a, b); }));
}

std::vector<Row> setp_rows() {
  std::vector<Row> r;
  const auto same = [](auto v) { return v; };
  add_ordered<u16>(r, "u16", same);
  add_ordered<s16>(r, "s16", same);
  add_ordered<u32>(r, "u32", same);
  add_ordered<s32>(r, "s32", same);
  add_ordered<u64>(r, "u64", same);
  add_ordered<s64>(r, "s64", same);
  add_ordered<float>(r, "f32", same);
  add_ordered<double>(r, "f64", same);
  add_unordered<float>(r, "f32", same);
  add_unordered<double>(r, "f64", same);
  add_ordered<float>(r, "ftz.f32", [](float v) { return flushed(v); });
  add_unordered<float>(r, "ftz.f32", [](float v) { return flushed(v); });
  add_ordered<Half>(r, "f16", [](Half v) { return kHalf.value(v.bits); });
  add_unordered<Half>(r, "f16", [](Half v) { return kHalf.value(v.bits); });
  add_ordered<Half>(r, "ftz.f16", [](Half v) { return (v.bits & 0x7fff) < 0x0400 ? 0 : kHalf.value(v.bits); });
  add_ordered<Brain>(r, "bf16", [](Brain v) { return kBrain.value(v.bits); });
  for (const char* t : {"b16", "b32", "b64"}) {
    const std::string eq = std::string("setp.eq.") + t, ne = std::string("setp.ne.") + t;
    if (t[1] == '1')
      r.push_back(row(eq, [](u16 a, u16 b) -> bool { return a == b; })),
          r.push_back(row(ne, [](u16 a, u16 b) -> bool { return a != b; }));
    else if (t[1] == '3')
      r.push_back(row(eq, [](u32 a, u32 b) -> bool { return a == b; })),
          r.push_back(row(ne, [](u32 a, u32 b) -> bool { return a != b; }));
    else
      r.push_back(row(eq, [](u64 a, u64 b) -> bool { return a == b; })),
          r.push_back(row(ne, [](u64 a, u64 b) -> bool { return a != b; }));
  }
  r.push_back(row("setp.lo.u32", [](u32 a, u32 b) -> bool { return a < b; }));
  r.push_back(row("setp.ls.u64", [](u64 a, u64 b) -> bool { return a <= b; }));
  r.push_back(row("setp.hi.u16", [](u16 a, u16 b) -> bool { return a > b; }));
  r.push_back(row("setp.hs.u32", [](u32 a, u32 b) -> bool { return a >= b; }));
  // Two results, and a third operand.
  r.push_back(row("setp.lt.s32 %qx|%d, %a, %b", [](s32 a, s32 b) -> bool { return !(a < b); }));
  r.push_back(row("setp.lt.f32 %qx|%d, %a, %b", [](float a, float b) -> bool { return !(a < b); }));
  r.push_back(row("setp.lt.and.s32 %d, %a, %b, %c", [](s32 a, s32 b, bool c) -> bool { return a < b && c; }));
  r.push_back(row("setp.ge.or.u32 %d, %a, %b, !%c", [](u32 a, u32 b, bool c) -> bool { return a >= b || !c; }));
  r.push_back(row("setp.eq.xor.b64 %d, %a, %b, %c", [](u64 a, u64 b, bool c) -> bool { return (a == b) != c; }));
  r.push_back(
      row("setp.lt.and.f32 %qx|%d, %a, %b, %c", [](float a, float b, bool c) -> bool { return !(a < b) && c; }));
  r.push_back(row("setp.gt.s32 %d, %a, -1", [](s32 a) -> bool { return a > -1; }));
  r.push_back(row("setp.lt.u16 %d, %a, -1", [](u16 a) -> bool { return a < 0xffff; }));
  r.push_back(row("setp.gt.f32 %d, %a, 0f00000000", [](float a) -> bool { return a > 0; }));
  return r;
}

std::vector<Row> select_rows() {
  std::vector<Row> r;
  for (const char* t : {"b16", "u16", "s16"})
    r.push_back(row(std::string("selp.") + t, [](u16 a, u16 b, bool c) -> u16 { return c ? a : b; }));
  for (const char* t : {"b32", "u32", "s32", "f32"})
    r.push_back(row(std::string("selp.") + t, [](u32 a, u32 b, bool c) -> u32 { return c ? a : b; }));
  for (const char* t : {"b64", "u64", "s64", "f64"})
    r.push_back(row(std::string("selp.") + t, [](u64 a, u64 b, bool c) -> u64 { return c ? a : b; }));
  r.push_back(row("selp.u32 %d, 1, 0, %a", [](bool a) -> u32 { return a; }));
  r.push_back(row("selp.s16 %d, -1, %b, %a", [](bool a, s16 b) -> s16 { return a ? s16{-1} : b; }));
  r.push_back(row("slct.b32.s32", [](u32 a, u32 b, s32 c) -> u32 { return c >= 0 ? a : b; }));
  r.push_back(row("slct.u64.s32", [](u64 a, u64 b, s32 c) -> u64 { return c >= 0 ? a : b; }));
  // A not-a-number selects b, -0 selects a.
  r.push_back(row("slct.f32.f32", [](u32 a, u32 b, float c) -> u32 { return c >= 0 ? a : b; }));
  r.push_back(row("slct.ftz.f32.f32", [](u32 a, u32 b, float c) -> u32 { return flushed(c) >= 0 ? a : b; }));
  r.push_back(row("slct.u16.f32", [](u16 a, u16 b, float c) -> u16 { return c >= 0 ? a : b; }));
  r.push_back(row("set.lt.u32.s32", [](s32 a, s32 b) -> u32 { return a < b ? ~u32{0} : 0; }));
  r.push_back(row("set.lt.s32.f32", [](float a, float b) -> u32 { return a < b ? ~u32{0} : 0; }));
  r.push_back(row("set.geu.f32.f64", [](double a, double b) -> float { return !(a < b) ? 1.0f : 0.0f; }));
  r.push_back(row("set.eq.f32.u64", [](u64 a, u64 b) -> float { return a == b ? 1.0f : 0.0f; }));
  r.push_back(
      row("set.lt.and.u32.s16 %d, %a, %b, %c", [](s16 a, s16 b, bool c) -> u32 { return a < b && c ? ~u32{0} : 0; }));
  r.push_back(row("set.lt.ftz.u32.f32", [](float a, float b) -> u32 { return flushed(a) < flushed(b) ? ~u32{0} : 0; }));
  r.push_back(row("set.gt.f16.f16", [](Half a, Half b) -> u16 {
    return kHalf.value(a.bits) > kHalf.value(b.bits) ? u16{0x3c00} : u16{0};
  }));
  r.push_back(row("set.gt.u32.f16",
                  [](Half a, Half b) -> u32 { return kHalf.value(a.bits) > kHalf.value(b.bits) ? ~u32{0} : 0; }));
  const auto pairs = [](u32 a, u32 b, const SmallFormat& format, u32 one) {
    const auto greater = [&](int k) {
      return format.value(static_cast<u16>(a >> (16 * k))) > format.value(static_cast<u16>(b >> (16 * k)));
    };
    return (greater(0) ? one : 0) | (greater(1) ? one << 16 : 0);
  };
  r.push_back(
      row("set.gt.f16x2.f16x2", [pairs](Half2 a, Half2 b) -> u32 { return pairs(a.bits, b.bits, kHalf, 0x3c00); }));
  r.push_back(row("set.gt.bf16x2.bf16x2",
                  [pairs](Brain2 a, Brain2 b) -> u32 { return pairs(a.bits, b.bits, kBrain, 0x3f80); }));
  r.push_back(row("setp.gt.f16x2 %d|%qx, %a, %b",
                  [pairs](Half2 a, Half2 b) -> bool { return pairs(a.bits, b.bits, kHalf, 1) & 1; }));
  r.push_back(row("setp.gt.f16x2 %qx|%d, %a, %b",
                  [pairs](Half2 a, Half2 b) -> bool { return pairs(a.bits, b.bits, kHalf, 1) >> 16; }));
  // .ftz takes denormal halves of either lane for zero.
  r.push_back(row("setp.eq.ftz.f16x2 %qx|%d, %a, %b", [](Half2 a, Half2 b) -> bool {
    const auto value = [](u32 bits) {
      const double v = kHalf.value(static_cast<u16>(bits >> 16));
      return std::fabs(v) < 0x1p-14 ? 0 : v;
    };
    return value(a.bits) == value(b.bits);
  }));
  return r;
}

MUSCOPE_OPCODE_ROWS(CompareOps, setp_rows());
MUSCOPE_OPCODE_ROWS(SelectOps, select_rows());

}  // namespace
}  // namespace muscope::exec::testing
