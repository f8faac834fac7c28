// The machinery behind test_opcodes.h.
#include <algorithm>
#include <bit>
#include <cctype>

#include "exec/test_opcodes.h"

namespace muscope::exec::testing {
namespace {

constexpr u64 kSentinel = 0xa5a5a5a5a5a5a5a5ull;

struct Random {
  u64 state;
  u64 next() {
    state += 0x9e3779b97f4a7c15ull;
    u64 z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};

u64 mask_of(unsigned bytes) { return bytes >= 8 ? ~u64{0} : (u64{1} << (bytes * 8)) - 1; }

std::vector<u64> integers(unsigned bytes, bool few) {
  const u64 top = u64{1} << (bytes * 8 - 1);
  std::vector<u64> v = {0, 1, ~u64{0}, top, top - 1, 5, 31, 32, 0x123456789abcdef1ull, 0xfedcba9876543210ull};
  if (!few)
    for (u64 more : {u64{2},
                     u64{3},
                     u64{7},
                     u64{8},
                     u64{15},
                     u64{16},
                     u64{17},
                     u64{24},
                     u64{33},
                     u64{63},
                     u64{64},
                     u64{65},
                     u64{127},
                     u64{128},
                     u64{255},
                     u64{256},
                     u64{0x7fff},
                     u64{0x8000},
                     u64{0xffff},
                     u64{0x10000},
                     u64{0x7fffffff},
                     u64{0x80000000},
                     u64{0xffffffff},
                     u64{0x100000000},
                     ~u64{0} - 1,
                     ~u64{0} - 30,
                     top + 1,
                     top - 2,
                     u64{0xff00ff00ff00ff00},
                     u64{0x5555555555555555}})
      v.push_back(more);
  for (u64& x : v) x &= mask_of(bytes);
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
  return v;
}

std::vector<u64> floats(bool few) {
  std::vector<u32> v = {0,  0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x7fc00001u,
                        1u, 0x807fffffu, 0x00800000u, 0x7f7fffffu, 0x3f000000u, 0x3f800001u, 0xc0490fdbu};
  if (!few)
    for (u32 more : {0x3fc00000u, 0x40200000u, 0xbf000000u, 0xffc00000u, 0x00400000u, 0x80000001u, 0x80800000u,
                     0xff7fffffu, 0x4b000000u, 0x4b800001u, 0x4effffffu, 0x4f000000u, 0xcf000000u, 0x4f7fffffu,
                     0x4f800000u, 0x5f000000u, 0x5f800000u, 0x3effffffu, 0x7e800000u, 0x7e800001u, 0x7f000001u,
                     0x33800000u, 0x33800001u, 0x477fe000u, 0x477ff000u, 0x38800000u, 0x387fffffu, 0x33000000u,
                     0x3f7fffffu, 0x42c80000u, 0xc3160000u, 0x3f808000u, 0x3f818000u})
      v.push_back(more);
  return {v.begin(), v.end()};
}

std::vector<u64> doubles(bool few) {
  std::vector<double> v = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           HUGE_VAL,
                           -HUGE_VAL,
                           5e-324,
                           2.2250738585072014e-308,
                           -2.2250738585072009e-308,
                           1.7976931348623157e308,
                           0.5,
                           1.0000000000000002,
                           -3.141592653589793};
  std::vector<u64> bits = {0x7ff8000000000001ull};
  if (!few)
    for (double more : {1.5,
                        2.5,
                        -0.5,
                        -1.5,
                        0.49999999999999994,
                        4503599627370496.5,
                        9007199254740993.0,
                        2147483647.0,
                        2147483647.5,
                        2147483648.0,
                        -2147483648.5,
                        -2147483649.0,
                        4294967295.5,
                        4294967296.0,
                        9.223372036854775e18,
                        9.223372036854776e18,
                        -9.223372036854776e18,
                        -9.3e18,
                        1.8446744073709552e19,
                        1e300,
                        1e-300,
                        65504.0,
                        65519.99,
                        65520.0,
                        3.4028234663852886e38,
                        3.4028235677973366e38,
                        1.1754943508222875e-38,
                        1.401298464324817e-45,
                        7.006492321624085e-46,
                        7.1e-46,
                        0x1.fffffep-127,
                        0x1.ffffffp-127,
                        0x1.ffffff8p-127,
                        0.1,
                        255.5,
                        -129.0,
                        32768.0})
      v.push_back(more);
  for (double x : v) bits.push_back(std::bit_cast<u64>(x));
  return bits;
}

std::vector<u64> halves(bool few, bool brain) {
  std::vector<u16> v = brain ? std::vector<u16>{0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc1,
                                                1, 0x807f, 0x0080, 0x7f7f, 0x3f81, 0x3f00}
                             : std::vector<u16>{0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e01,
                                                1, 0x83ff, 0x0400, 0x7bff, 0x3c01, 0x3800};
  if (!few)
    for (u16 more : {u16{0x3e00}, u16{0x4100}, u16{0xc248}, u16{0x0200}, u16{0x8001}, u16{0xfbff}, u16{0x6400},
                     u16{0x6401}, u16{0x1400}, u16{0x4000}, u16{0xb800}, u16{0x0300}, u16{0x3555}, u16{0x7800},
                     u16{0x1234}, u16{0xf234}, u16{0x3bff}, u16{0x0401}, u16{0x3bfe}})
      v.push_back(more);
  return {v.begin(), v.end()};
}

/// Random bits; floating types get exponents near 1 half of the time.
u64 random_value(LaneType t, Random& random) {
  const u64 bits = random.next() & mask_of(t.bytes);
  switch (t.pool) {
    case Pool::kFloat:
      return random.next() & 1 ? bits : (bits & 0x83ffffffu) | 0x3c000000u;
    case Pool::kDouble:
      return random.next() & 1 ? bits : (bits & 0x807fffffffffffffull) | 0x3fc0000000000000ull;
    case Pool::kPredicate:
      return bits & 1;
    case Pool::kInteger:
      return random.next() & 1 ? bits : bits >> (random.next() % (t.bytes * 8));
    default:
      return bits;
  }
}

bool same(const Row& row, u64 got, u64 want) {
  if (got == want) return true;
  double g, w;
  if (row.result.pool == Pool::kFloat) {
    g = std::bit_cast<float>(static_cast<u32>(got)), w = std::bit_cast<float>(static_cast<u32>(want));
  } else if (row.result.pool == Pool::kDouble) {
    g = std::bit_cast<double>(got), w = std::bit_cast<double>(want);
  } else {
    // Any half-precision not-a-number is as good as another.
    const auto nan = [&](u64 v, int lane) {
      const u64 magnitude = (v >> (16 * lane)) & 0x7fff;
      return magnitude > (row.result.pool == Pool::kHalf || row.result.pool == Pool::kHalf2 ? 0x7c00u : 0x7f80u);
    };
    const bool packed = row.result.pool == Pool::kHalf2 || row.result.pool == Pool::kBrain2;
    if (row.result.pool != Pool::kHalf && row.result.pool != Pool::kBrain && !packed) return false;
    for (int lane = 0; lane < (packed ? 2 : 1); ++lane) {
      const u64 a = (got >> (16 * lane)) & 0xffff, b = (want >> (16 * lane)) & 0xffff;
      if (a != b && !(nan(got, lane) && nan(want, lane))) return false;
    }
    return true;
  }
  if (g != g || w != w) return g != g && w != w;
  if (row.relative == 0 && row.absolute == 0) return false;
  if (std::isinf(g) || std::isinf(w)) return false;
  return std::fabs(g - w) <= row.relative * std::fabs(w) + row.absolute;
}

/// Input tuples of a row.
std::vector<std::vector<u64>> tuples_of(const Row& row) {
  const std::size_t n = row.operands.size();
  std::vector<std::vector<u64>> pools, tuples{{}};
  for (const LaneType& t : row.operands) pools.push_back(corner_cases(t, n));
  for (const auto& pool : pools) {
    std::vector<std::vector<u64>> longer;
    for (const auto& t : tuples)
      for (u64 v : pool) {
        longer.push_back(t);
        longer.back().push_back(v);
      }
    tuples = std::move(longer);
  }
  Random random{0x5eed + n};
  for (int k = 0; k < 1000; ++k) {
    std::vector<u64> t;
    for (const LaneType& type : row.operands) t.push_back(random_value(type, random));
    tuples.push_back(std::move(t));
  }
  return tuples;
}

void replace_all(std::string& s, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = s.find(what, at)) != std::string::npos; at += with.size())
    s.replace(at, what.size(), with);
}

std::string reg(LaneType t, char name) {
  return std::string("%") + (t.reg == 'p' ? "q" : t.reg == 'h' ? "h" : t.reg == 'l' ? "l" : "r") + name;
}
unsigned reg_bits(LaneType t) { return t.reg == 'h' ? 16 : t.reg == 'r' ? 32 : 64; }

std::string kernel_of(const Row& row) {
  const std::string names = "abce";
  std::string body = R"(.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{ .reg .pred %p<9>, %qa, %qb, %qc, %qe, %qd, %qx; .reg .b16 %ha, %hb, %hc, %he, %hd, %hx; .reg .b32 %t<9>, %ra, %rb, %rc, %re, %rd, %rx, %ry; .reg .b64 %u<9>, %la, %lb, %lc, %le, %ld, %lx, %ly;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.s32 %t0, %t0, %t1, %t2;
  ld.param.u32 %t3, [n]; setp.ge.u32 %p0, %t0, %t3; @%p0 bra DONE;
  ld.param.u64 %u0, [in]; ld.param.u64 %u1, [out]; mul.wide.u32 %u2, %t0, 32; add.s64 %u0, %u0, %u2; mul.wide.u32 %u2, %t0, 24; add.s64 %u1, %u1, %u2;
)";
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    const LaneType& t = row.operands[k];
    const std::string at = "[%u0+" + std::to_string(8 * k) + "]";
    if (t.reg == 'p')
      body += "  ld.global.b32 %t4, " + at + "; setp.ne.s32 " + reg(t, names[k]) + ", %t4, 0;\n";
    else
      body += "  ld.global.b" + std::to_string(reg_bits(t)) + " " + reg(t, names[k]) + ", " + at + ";\n";
  }
  std::string text = row.text;
  if (text.find(' ') == std::string::npos) {
    text += " %d";
    for (std::size_t k = 0; k < row.operands.size(); ++k) text += std::string(", %") + names[k];
  }
  replace_all(text, "%d", reg(row.result, 'd'));
  for (std::size_t k = 0; k < row.operands.size(); ++k)
    replace_all(text, std::string("%") + names[k] + (names[k] == 'c' ? "" : ""), reg(row.operands[k], names[k]));
  const std::string d = reg(row.result, 'd');
  const std::string clear = row.result.reg == 'p'
                                ? "setp.eq.s32 " + d + ", 0, 0;"
                                : "mov.b" + std::to_string(reg_bits(row.result)) + " " + d + ", " +
                                      std::to_string(static_cast<s64>(reg_bits(row.result) == 64   ? -0x5a5a5a5a5a5a5a5b
                                                                      : reg_bits(row.result) == 32 ? 0xa5a5a5a5
                                                                                                   : 0xa5a5)) +
                                      ";";
  const std::string store = row.result.reg == 'p' ? "selp.u32 %t5, 1, 0, " + d + "; cvt.u64.u32 %u5, %t5;"
                            : reg_bits(row.result) == 64
                                ? "mov.b64 %u5, " + d + ";"
                                : "cvt.u64.u" + std::to_string(reg_bits(row.result)) + " %u5, " + d + ";";
  body += "  mul.lo.u32 %t6, %t0, 0x9e3779b1; setp.lt.s32 %p1, %t6, 0;\n";
  body += "  " + clear + "\n  " + text + ";\n  " + store + " st.global.u64 [%u1], %u5;\n";
  if (text.find(';') == std::string::npos)
    body += "  " + clear + "\n  @%p1 " + text + ";\n  " + store + " st.global.u64 [%u1+8], %u5;\n";
  body += "  " + clear + "\n  @!%p1 bra SKIP;\n  " + text + ";\nSKIP:\n  " + store +
          " st.global.u64 [%u1+16], %u5;\nDONE: ret; }\n";
  return body;
}

}  // namespace

std::vector<u64> corner_cases(LaneType type, std::size_t operands) {
  const bool few = operands > 2;
  switch (type.pool) {
    case Pool::kInteger:
      return integers(type.bytes, few);
    case Pool::kFloat:
      return floats(few);
    case Pool::kDouble:
      return doubles(few);
    case Pool::kHalf:
      return halves(few, false);
    case Pool::kBrain:
      return halves(few, true);
    case Pool::kPredicate:
      return {0, 1};
    case Pool::kHalf2:
    case Pool::kBrain2: {
      std::vector<u64> v = halves(few, type.pool == Pool::kBrain2), out;
      for (std::size_t k = 0; k < v.size(); ++k) out.push_back(v[k] | (v[(k * 5 + 3) % v.size()] << 16));
      return out;
    }
  }
  return {};
}

std::string row_name(const ::testing::TestParamInfo<Row>& info) {
  std::string name;
  for (char c : info.param.text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (name.empty() || name.back() != '_')
      name += '_';
  }
  return name.substr(0, 60) + "_" + std::to_string(info.index);
}

void check_row(const Row& row) {
  const auto tuples = tuples_of(row);
  std::vector<u64> in(tuples.size() * 4, 0);
  for (std::size_t i = 0; i < tuples.size(); ++i)
    std::copy(tuples[i].begin(), tuples[i].end(), in.begin() + static_cast<std::ptrdiff_t>(4 * i));
  Machine m;
  m.load(kernel_of(row));
  if (::testing::Test::HasFailure()) return;
  const u64 from = m.upload(in), to = m.zeros(tuples.size() * 24);
  const u32 count = static_cast<u32>(tuples.size());
  const LaunchResult r = m.run_ok("k", {(count + 127) / 128, 1, 1}, {128, 1, 1}, from, to, count);
  if (r.outcome != Outcome::kOk) return;
  const std::vector<u64> out = m.read<u64>(to, tuples.size() * 3);
  const bool guarded_too = row.text.find(';') == std::string::npos;
  const u64 width = row.result.reg == 'p' ? 1 : mask_of(reg_bits(row.result) / 8);
  int failures = 0;
  for (std::size_t i = 0; i < tuples.size() && failures < 5; ++i) {
    const u64 want = row.expect(tuples[i].data());
    const bool on = (static_cast<u32>(i) * 0x9e3779b1u) >> 31;
    for (unsigned variant = 0; variant < 3; ++variant) {
      if (variant == 1 && !guarded_too) continue;
      const u64 got = out[3 * i + variant];
      const bool runs = variant == 0 || on;
      // A result narrower than its register is extended by its sign.
      u64 wide = want;
      if (row.result.reg != 'p' && row.result.bytes * 8 < reg_bits(row.result) && row.result.is_signed)
        wide = static_cast<u64>(static_cast<s64>(want << (64 - row.result.bytes * 8)) >> (64 - row.result.bytes * 8));
      const bool good = runs ? same(row, got, wide & width) : got == (kSentinel & width);
      if (good) continue;
      ++failures;
      std::string operands;
      for (u64 v : tuples[i]) {
        char text[32];
        std::snprintf(text, sizeof text, " %#llx", static_cast<unsigned long long>(v));
        operands += text;
      }
      ADD_FAILURE() << row.text << operands
                    << (variant == 1   ? " guarded"
                        : variant == 2 ? " in a branch"
                                       : "")
                    << (runs ? "" : " (off)") << ": got " << std::hex << "0x" << got << ", want 0x"
                    << (runs ? wide & width : kSentinel & width);
      break;
    }
  }
}

}  // namespace muscope::exec::testing
