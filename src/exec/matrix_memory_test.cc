// wmma, ldmatrix, stmatrix and movmatrix: where elements go, and what the accesses count.
#include <bit>

#include "exec/half.h"
#include "exec/matrix_test.h"

namespace muscope::exec::testing {
namespace {

// ---- wmma

/// d = a b + c of rows x columns x k small whole numbers, all in global memory; and the sectors of each site.
struct Fragments {
  const char* shape;
  unsigned rows, columns, k;
  const char* factor;
  unsigned bits;  ///< of a factor
  const char* sum;
  unsigned sum_bits;
  unsigned a, b, c;  ///< registers
};

u64 number_bits(int v, unsigned bits, bool is_float) {
  if (!is_float) return static_cast<u64>(v) & (bits == 64 ? ~u64{0} : (u64{1} << bits) - 1);
  if (bits == 64) return std::bit_cast<u64>(static_cast<double>(v));
  return bits == 32 ? std::bit_cast<u32>(static_cast<float>(v)) : to_half(v);
}

void try_fragments(const Fragments& f, const std::string& a_layout, const std::string& b_layout,
                   const std::string& d_layout, const std::string& space) {
  SCOPED_TRACE(std::string(f.shape) + " " + f.factor + " " + a_layout + " " + b_layout + " " + d_layout + " " + space);
  const bool bfloat = std::string_view(f.factor) == "bf16", floats = f.bits >= 16;
  const auto value = [](unsigned n) { return static_cast<int>(n * 2654435761u >> 16) % 7 - 3; };
  std::vector<u8> memory(32768);
  // A at 0, B at 8192, C at 16384, D at 24576; rows or columns 8 elements longer than need be.
  const auto index = [](bool columns_first, unsigned row, unsigned column, unsigned rows, unsigned columns) {
    return columns_first ? column * (rows + 16) + row : row * (columns + 16) + column;
  };
  const auto put = [&](std::size_t base, std::size_t at, int v, unsigned bits, bool is_float, bool brain) {
    const u64 raw = brain ? std::bit_cast<u32>(static_cast<float>(v)) >> 16 : number_bits(v, bits, is_float);
    std::memcpy(memory.data() + base + at * bits / 8, &raw, bits / 8);
  };
  for (unsigned r = 0; r < f.rows; ++r)
    for (unsigned k = 0; k < f.k; ++k)
      put(0, index(a_layout == "col", r, k, f.rows, f.k), value(r * 64 + k), f.bits, floats, bfloat);
  for (unsigned k = 0; k < f.k; ++k)
    for (unsigned n = 0; n < f.columns; ++n)
      put(8192, index(b_layout == "col", k, n, f.k, f.columns), value(n * 64 + k + 7777), f.bits, floats, bfloat);
  for (unsigned r = 0; r < f.rows; ++r)
    for (unsigned n = 0; n < f.columns; ++n)
      put(16384, index(d_layout == "col", r, n, f.rows, f.columns), value(r * 64 + n + 99999), f.sum_bits,
          std::string_view(f.sum) != "s32", false);
  const auto stride = [](const std::string& layout, unsigned rows, unsigned columns) {
    return std::to_string((layout == "col" ? rows : columns) + 16);
  };
  const char kind = f.bits == 64 ? 'd' : 'r';
  unsigned next = 0;
  const std::string a = vector_text(kind, next, f.a), b = vector_text(kind, next, f.b),
                    c = vector_text(kind, next, f.c);
  const std::string shape = std::string(".sync.aligned."), type = std::string(".") + f.factor,
                    sum = std::string(".") + f.sum;
  const std::string typed = std::string_view(f.factor) == "f16" ? sum + sum : sum + type + type + sum;
  std::string body = R"(.visible .entry k(.param .u64 p)
{ .reg .b32 %r<64>; .reg .f64 %d<64>; .reg .b64 %p, %q; .reg .b32 %i, %s, %t; .shared .align 128 .b8 s[16384];
  ld.param.u64 %p, [p]; mov.u32 %i, %tid.x; mov.u32 %s, s;
  mov.u32 %t, 0;
)";
  if (space == "shared")
    body += R"({ .reg .pred %more; .reg .b32 %v, %w; .reg .b64 %o; mov.u32 %t, %i;
copy: mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %p; ld.global.u32 %v, [%o]; shl.b32 %w, %t, 2; add.u32 %w, %w, %s;
  st.shared.u32 [%w], %v; add.u32 %t, %t, 32; setp.lt.u32 %more, %t, 4096; @%more bra copy; })";
  const std::string from = space == "shared" ? "%s" : "%p", where = space.empty() ? "" : "." + space;
  body += "  wmma.load.a" + shape + a_layout + "." + f.shape + where + type + " " + a + ", [" + from + "], " +
          stride(a_layout, f.rows, f.k) + ";\n";
  body += "  wmma.load.b" + shape + b_layout + "." + f.shape + where + type + " " + b + ", [" + from + "+8192], " +
          stride(b_layout, f.k, f.columns) + ";\n";
  body += "  wmma.load.c" + shape + d_layout + "." + f.shape + ".global" + sum + " " + c + ", [%p+16384], " +
          stride(d_layout, f.rows, f.columns) + ";\n";
  body += "  wmma.mma" + shape + a_layout + "." + b_layout + "." + f.shape + typed + " " + c + ", " + a + ", " + b +
          ", " + c + ";\n";
  body += "  wmma.store.d" + shape + d_layout + "." + f.shape + ".global" + sum + " [%p+24576], " + c + ", " +
          stride(d_layout, f.rows, f.columns) + ";\n  ret;\n}\n";
  Machine m;
  m.load(body);
  const u64 p = m.upload(memory);
  m.run_ok("k", {1, 1, 1}, {32, 1, 1}, p);
  const auto got = m.read<u8>(p + 24576, 8192);
  for (unsigned r = 0; r < f.rows; ++r)
    for (unsigned n = 0; n < f.columns; ++n) {
      int want = value(r * 64 + n + 99999);
      for (unsigned k = 0; k < f.k; ++k) want += value(r * 64 + k) * value(n * 64 + k + 7777);
      u64 raw = 0;
      std::memcpy(&raw, got.data() + index(d_layout == "col", r, n, f.rows, f.columns) * f.sum_bits / 8,
                  f.sum_bits / 8);
      ASSERT_EQ(raw, number_bits(want, f.sum_bits, std::string_view(f.sum) != "s32")) << r << " " << n;
    }
}

TEST(Wmma, EveryShapeAndLayout) {
  const Fragments all[] = {{"m16n16k16", 16, 16, 16, "f16", 16, "f32", 32, 8, 8, 8},
                           {"m32n8k16", 32, 8, 16, "f16", 16, "f32", 32, 8, 8, 8},
                           {"m8n32k16", 8, 32, 16, "f16", 16, "f32", 32, 8, 8, 8},
                           {"m16n16k16", 16, 16, 16, "f16", 16, "f16", 16, 8, 8, 4},
                           {"m8n32k16", 8, 32, 16, "f16", 16, "f16", 16, 8, 8, 4},
                           {"m16n16k16", 16, 16, 16, "bf16", 16, "f32", 32, 4, 4, 8},
                           {"m32n8k16", 32, 8, 16, "bf16", 16, "f32", 32, 8, 2, 8},
                           {"m8n32k16", 8, 32, 16, "bf16", 16, "f32", 32, 2, 8, 8},
                           {"m16n16k16", 16, 16, 16, "s8", 8, "s32", 32, 2, 2, 8},
                           {"m32n8k16", 32, 8, 16, "s8", 8, "s32", 32, 4, 1, 8},
                           {"m8n32k16", 8, 32, 16, "s8", 8, "s32", 32, 1, 4, 8},
                           {"m16n16k8", 16, 16, 8, "tf32", 32, "f32", 32, 4, 4, 8},
                           {"m8n8k4", 8, 8, 4, "f64", 64, "f64", 64, 1, 1, 2}};
  for (const Fragments& f : all)
    for (const char* a : {"row", "col"})
      for (const char* b : {"row", "col"}) {
        try_fragments(f, a, b, "row", "global");
        try_fragments(f, a, b, "col", "");
        try_fragments(f, a, b, "row", "shared");
      }
}

// ---- loads and stores of matrices

/// Lane l's address is `expression` of %i; shared memory holds 16-bit numbers 0, 1, 2 ... Returns registers [n][lane].
struct Loaded {
  std::vector<u32> words;
  views::SiteCounts counts;
};
Loaded load_matrices(const std::string& form, unsigned count, const std::string& expression) {
  std::string body = R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %i, %a, %v, %r<4>; .reg .b64 %o; .reg .pred %p; .shared .align 128 .b8 s[16384];
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x;
  mov.u32 %a, 0;
fill:
  mad.lo.u32 %v, %a, 32, %i; mul.lo.u32 %v, %v, 0x00020002; add.u32 %v, %v, 0x00010000;
  mad.lo.u32 %r0, %a, 32, %i; shl.b32 %r0, %r0, 2; mov.u32 %r1, s; add.u32 %r0, %r0, %r1;
  st.shared.u32 [%r0], %v; add.u32 %a, %a, 1; setp.lt.u32 %p, %a, 128; @%p bra fill;
  mad.wide.u32 %o, %i, 4, %o;
)";
  body += expression + " mov.u32 %r1, s; add.u32 %a, %a, %r1;\n";
  unsigned next = 0;
  body += "  ldmatrix.sync.aligned.m8n8." + form + ".shared.b16 " + vector_text('r', next, count) + ", [%a];\n";
  for (unsigned n = 0; n < count; ++n)
    body += "  st.global.u32 [%o+" + std::to_string(128 * n) + "], %r" + std::to_string(n) + ";\n";
  Machine m;
  m.load(body + "  ret;\n}\n");
  const u64 out = m.zeros(512);
  LaunchResult r = m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
  Loaded loaded;
  loaded.words = m.read<u32>(out, 32 * count);
  for (const views::SiteCounts& s : r.record.sites)
    if (s.kind == trace::Kind::kLoadMatrix) loaded.counts = s;
  return loaded;
}

TEST(MatrixLoad, RowsComeFromLanes) {
  for (const unsigned count : {1u, 2u, 4u})
    for (const bool transposed : {false, true}) {
      // Row r of matrix n lies at 80 (8 n + r): 40 numbers apart.
      const auto got =
          load_matrices("x" + std::to_string(count) + (transposed ? ".trans" : ""), count, "  mul.lo.u32 %a, %i, 80;");
      for (unsigned n = 0; n < count; ++n)
        for (unsigned l = 0; l < 32; ++l) {
          const auto number = [&](unsigned row, unsigned column) { return 40 * (8 * n + row) + column; };
          const unsigned g = l / 4, t = l % 4;
          const u32 low = transposed ? number(2 * t, g) : number(g, 2 * t);
          const u32 high = transposed ? number(2 * t + 1, g) : number(g, 2 * t + 1);
          ASSERT_EQ(got.words[32 * n + l], low | high << 16) << count << transposed << " lane " << l;
        }
      EXPECT_EQ(got.counts.executed, 1u);
      EXPECT_EQ(got.counts.lanes, 8u * count);
      EXPECT_EQ(got.counts.bytes, 128u * count);
    }
}

TEST(MatrixLoad, WavefrontsPerMatrix) {
  const auto wavefronts = [](unsigned stride, unsigned count = 4) {
    return load_matrices("x" + std::to_string(count), count, "  mul.lo.u32 %a, %i, " + std::to_string(stride) + ";")
        .counts.wavefronts;
  };
  EXPECT_EQ(wavefronts(16), 4u);    // rows side by side
  EXPECT_EQ(wavefronts(144), 4u);   // padded rows of 128 bytes
  EXPECT_EQ(wavefronts(32), 8u);    // two rows in the same banks
  EXPECT_EQ(wavefronts(64), 16u);   // four
  EXPECT_EQ(wavefronts(128), 32u);  // eight
  EXPECT_EQ(wavefronts(128, 1), 8u);
  EXPECT_EQ(wavefronts(0), 4u);  // one row for all: each matrix reads it
}

TEST(MatrixStore, IsTheLoadsInverse) {
  for (const std::string trans : {"", ".trans"}) {
    Machine m;
    m.load(R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %i, %a, %r<8>; .reg .b64 %o; .shared .align 128 .b8 s[1024];
  ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %o, %i, 4, %o;
  mov.u32 %a, s; mad.lo.u32 %a, %i, 16, %a;
  mad.lo.u32 %r0, %i, 0x10001, 7; add.u32 %r1, %r0, 0x1000100; add.u32 %r2, %r0, 0x2000200; add.u32 %r3, %r0, 0x3000300;
  stmatrix.sync.aligned.m8n8.x4)" +
           trans + R"(.shared.b16 [%a], {%r0, %r1, %r2, %r3};
  ldmatrix.sync.aligned.m8n8.x4)" +
           trans + R"(.shared.b16 {%r4, %r5, %r6, %r7}, [%a];
  st.global.u32 [%o], %r4; st.global.u32 [%o+128], %r5; st.global.u32 [%o+256], %r6; st.global.u32 [%o+384], %r7;
  ld.shared.u32 %r5, [s+20]; st.global.u32 [%o+512], %r5;
  ret;
})");
    const u64 out = m.zeros(1024);
    const LaunchResult r = m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
    const auto got = m.read<u32>(out, 160);
    for (unsigned n = 0; n < 4; ++n)
      for (unsigned l = 0; l < 32; ++l) ASSERT_EQ(got[32 * n + l], l * 0x10001 + 7 + n * 0x1000100) << n << " " << l;
    // Row 1, columns 2 and 3 of matrix 0: lane 5 as it is; transposed the high halves of lanes 8 and 12, column 1's.
    EXPECT_EQ(got[128], trans.empty() ? 5 * 0x10001u + 7 : 8u | 12u << 16);
    for (const views::SiteCounts& s : r.record.sites)
      if (s.kind == trace::Kind::kStoreMatrix) {
        EXPECT_EQ(s.wavefronts, 4u);
      }
  }
}

TEST(MatrixLoad, FaultsWhereRowsAreNotAligned) {
  Machine m;
  m.load(R"(.visible .entry k()
{ .reg .b32 %i, %a, %r; .shared .align 128 .b8 s[1024];
  mov.u32 %i, %tid.x; mov.u32 %a, s; mad.lo.u32 %a, %i, 20, %a;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r}, [%a]; ret; })");
  EXPECT_EQ(m.run("k", {1, 1, 1}, {32, 1, 1}).record.fault.code, "D602");
}

TEST(MatrixMove, Transposes) {
  Machine m;
  m.load(
      per_thread_kernel("shl.b32 %x0, %i, 1; add.u32 %x1, %x0, 1; shl.b32 %x1, %x1, 16; or.b32 %x0, %x0, %x1;"
                        "movmatrix.sync.aligned.m8n8.trans.b16 %r, %x0;"));
  const u64 out = m.zeros(128);
  m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
  const auto got = m.read<u32>(out, 32);
  for (unsigned l = 0; l < 32; ++l) {
    const unsigned row = l / 4, column = l % 4 * 2;  // of the result; element (r, c) of the source is 8 r + c
    EXPECT_EQ(got[l], (8 * column + row) | (8 * (column + 1) + row) << 16) << l;
  }
}

}  // namespace
}  // namespace muscope::exec::testing
