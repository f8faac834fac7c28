// tex: values measured on an H200, the third dimension, layers, integer coordinates, formats, bad handles.
#include "exec/texture.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "exec/half.h"
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The coordinates of tests/counters/textures_h200.txt.
const float kCoordinates[] = {
    -2.5f, -1.3f,    -1.0f,     -0.51f, -0.5f,    -0.25f,        -0.001f,     0.f,          0.001f,      0.1f,    0.25f,
    0.3f,  0.49f,    0.5f,      0.51f,  0.6f,     0.75f,         0.9f,        0.999f,       1.0f,        1.1f,    1.25f,
    1.5f,  1.75f,    1.999f,    2.0f,   2.3f,     2.5f,          2.75f,       3.0f,         3.3f,        3.5f,    3.9f,
    4.0f,  4.2f,     4.5f,      5.0f,   5.5f,     6.1f,          7.9f,        8.0f,         9.5f,        100.25f, 1e9f,
    -1e9f, INFINITY, -INFINITY, NAN,    0.12345f, 0.0019531250f, 0.00390625f, 2.001953125f, 2.00390625f, 2.0058f};
constexpr u32 kCount = std::size(kCoordinates);

/// Runs `body` for each index; four results per thread.
constexpr const char* kKernel =
    R"(.visible .entry k(.param .u64 out, .param .u64 handle, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{ .reg .b32 %t, %r<16>; .reg .b64 %l<16>; .reg .f32 %f<16>; .reg .pred %p<2>;
  mov.u32 %t, %tid.x; ld.param.u32 %r1, [n]; setp.ge.u32 %p1, %t, %r1; @%p1 ret; mul.wide.u32 %l1, %t, 4; ld.param.u64 %l2, [x]; add.u64 %l2, %l2, %l1; ld.global.f32 %f1, [%l2]; ld.global.s32 %r2, [%l2]; ld.param.u64 %l3, [y]; add.u64 %l3, %l3, %l1; ld.global.f32 %f2, [%l3]; ld.global.s32 %r3, [%l3];
  ld.param.u64 %l4, [z]; add.u64 %l4, %l4, %l1; ld.global.f32 %f3, [%l4]; ld.global.u32 %r4, [%l4]; ld.param.u64 %l5, [handle]; ld.param.u64 %l6, [out]; mul.wide.u32 %l7, %t, 16; add.u64 %l6, %l6, %l7;
  )";
std::vector<u32> run(const std::string& tex, u64 handle, const std::vector<u32>& x, const std::vector<u32>& y,
                     const std::vector<u32>& z, LaunchResult* result = nullptr) {
  Machine m;
  m.load(kKernel + tex + " st.global.v4.u32 [%l6], {%r5, %r6, %r7, %r8}; ret; }");
  const u32 n = static_cast<u32>(x.size());
  const u64 out = m.zeros(16 * n);
  const LaunchResult r =
      m.run("k", {1, 1, 1}, {(n + 31) / 32 * 32, 1, 1}, out, handle, m.upload(x), m.upload(y), m.upload(z), n);
  if (result)
    *result = r;
  else
    EXPECT_EQ(r.outcome, Outcome::kOk) << r.record.fault.text;
  return m.read<u32>(out, 4 * n);
}

struct Data {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096);
  template <typename T>
  void set(std::size_t i, T v) {
    std::memcpy(&bytes[i * sizeof(T)], &v, sizeof v);
  }
};

Texture describe(const std::string& format, Data& data) {
  Texture t;
  const auto channel = [&](ChannelKind kind, std::uint8_t bits, std::uint8_t channels) {
    t.channel_kind = kind;
    t.channel_bits = {};
    for (std::uint8_t c = 0; c < channels; ++c) t.channel_bits[c] = bits;
    return bits / 8 * channels;
  };
  u64 texel = 4;
  if (format == "float") texel = static_cast<u64>(channel(ChannelKind::kFloat, 32, 1));
  if (format == "half") texel = static_cast<u64>(channel(ChannelKind::kFloat, 16, 1));
  if (format == "uchar") texel = static_cast<u64>(channel(ChannelKind::kUnsigned, 8, 1));
  if (format == "char4") texel = static_cast<u64>(channel(ChannelKind::kSigned, 8, 4));
  if (format == "short2") texel = static_cast<u64>(channel(ChannelKind::kSigned, 16, 2));
  if (format == "int") texel = static_cast<u64>(channel(ChannelKind::kSigned, 32, 1));
  for (int i = 0; i < 64; ++i) {
    const auto at = static_cast<std::size_t>(i);
    volatile float product = static_cast<float>(i) * 0.7f;
    if (format == "float") data.set(at, product - 3.1f);
    volatile float small = static_cast<float>(i) * 0.3f;
    if (format == "half") data.set(at, to_half(static_cast<double>(small - 2)));
    if (format == "uchar") data.set(at, static_cast<std::uint8_t>(i * 37));
    if (format == "char4")
      data.set(at, static_cast<std::uint8_t>(i * 37) | static_cast<u32>(static_cast<std::uint8_t>(i * 11)) << 8);
    if (format == "short2")
      data.set(at, static_cast<std::uint16_t>(i * 1037) | static_cast<u32>(static_cast<std::uint16_t>(-i * 511)) << 16);
    if (format == "int") data.set(at, static_cast<u32>(i) * 123456789u);
  }
  t.texels = data.bytes.data();
  t.width = 4;
  t.pitch = 4 * texel;
  t.slice = 16 * texel;
  t.border = {0.625f, 2, -1.5f, 3};
  return t;
}

TEST(Texture, SamplesAreThoseOfAnH200) {
  std::ifstream file(MUSCOPE_SOURCE_DIR "/tests/counters/textures_h200.txt");
  std::vector<u32> x, y;
  for (u32 k = 0; k < kCount; ++k) {
    x.push_back(std::bit_cast<u32>(kCoordinates[k]));
    y.push_back(std::bit_cast<u32>(kCoordinates[(7 * k + 3) % kCount]));
  }
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string format;
    int dimensions, linear, normalized, mode, normalized_float;
    in >> format >> dimensions >> linear >> normalized >> mode >> normalized_float;
    std::vector<u32> want(kCount);
    in >> std::hex;
    for (u32& v : want) in >> v;
    ASSERT_TRUE(in) << line;
    Data data;
    auto t = std::make_shared<Texture>(describe(format, data));
    t->dimensions = dimensions;
    t->height = dimensions == 2 ? 4 : 1;
    t->linear_filter = linear;
    t->normalized_coordinates = normalized;
    t->normalized_float = normalized_float;
    t->address.fill(static_cast<AddressMode>(mode));
    const u64 handle = register_texture(t);
    const auto out = run(dimensions == 1 ? "tex.1d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%l5, {%f1}];"
                                         : "tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%l5, {%f1, %f2}];",
                         handle, x, y, y);
    drop_texture(handle);
    // Eight signed bits: the last of the result's 15 bits differs in 2 of 100 samples.
    const float tolerance = format == "char4" ? 1.01f / 32767 : 0;
    for (u32 k = 0; k < kCount; ++k) {
      if (std::fabs(std::bit_cast<float>(out[4 * k]) - std::bit_cast<float>(want[k])) <= tolerance) continue;
      ASSERT_EQ(out[4 * k], want[k]) << line.substr(0, 20) << " at " << kCoordinates[k] << ", "
                                     << kCoordinates[(7 * k + 3) % kCount];
    }
    ++lines;
  }
  EXPECT_GT(lines, 60);
}

TEST(Texture, ThreeDimensions) {
  Data data;
  auto t = std::make_shared<Texture>(describe("float", data));
  t->dimensions = 3;
  t->height = t->depth = 4;
  t->address.fill(AddressMode::kClamp);
  std::vector<u32> x, y, z;
  for (u32 k = 0; k < 64; ++k) {
    x.push_back(std::bit_cast<u32>(static_cast<float>(k % 4) + 0.5f));
    y.push_back(std::bit_cast<u32>(static_cast<float>(k / 4 % 4) + 0.5f));
    z.push_back(std::bit_cast<u32>(static_cast<float>(k / 16) + 0.5f));
  }
  const char* tex = "tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%l5, {%f1, %f2, %f3, %f3}]; mov.b32 %r5, %f5;";
  const auto texel = [&](u32 k) { return std::bit_cast<float>(*reinterpret_cast<const u32*>(&data.bytes[4 * k])); };
  for (const bool linear : {false, true}) {
    t->linear_filter = linear;
    const u64 handle = register_texture(std::make_shared<Texture>(*t));
    const auto out = run(tex, handle, x, y, z);
    for (u32 k = 0; k < 64; ++k) EXPECT_EQ(std::bit_cast<float>(out[4 * k]), texel(k)) << "at texel centres";
    drop_texture(handle);
  }
  // Between eight texels.
  t->linear_filter = true;
  const u64 handle = register_texture(t);
  const auto out =
      run(tex, handle, {std::bit_cast<u32>(1.25f)}, {std::bit_cast<u32>(2.75f)}, {std::bit_cast<u32>(1.0f)});
  double want = 0;
  for (u32 corner = 0; corner < 8; ++corner)
    want += (corner & 1 ? 0.75 : 0.25) * (corner & 2 ? 0.25 : 0.75) * 0.5 *
            texel((corner & 1) + 4 * (2 + (corner >> 1 & 1)) + 16 * (corner >> 2));
  EXPECT_NEAR(std::bit_cast<float>(out[0]), want, 1e-5);
  drop_texture(handle);
}

TEST(Texture, Layers) {
  Data data;
  auto t = std::make_shared<Texture>(describe("float", data));
  t->dimensions = 2;
  t->height = t->depth = 4;
  t->layered = true;
  const u64 handle = register_texture(t);
  std::vector<u32> x, y, layer;
  for (u32 k = 0; k < 6; ++k)
    x.push_back(std::bit_cast<u32>(1.5f)), y.push_back(std::bit_cast<u32>(2.5f)), layer.push_back(k);
  const auto out = run("tex.a2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%l5, {%r4, %f1, %f2, %f2}]; mov.b32 %r5, %f5;",
                       handle, x, y, layer);
  for (u32 k = 0; k < 6; ++k)
    EXPECT_EQ(out[4 * k], *reinterpret_cast<const u32*>(&data.bytes[4 * (16 * std::min(k, 3u) + 9)]))
        << "layer " << k << " of 4";
  drop_texture(handle);
}

TEST(Texture, IntegerCoordinatesReadZerosOutside) {
  Data data;
  auto t = std::make_shared<Texture>(describe("int", data));
  t->width = 40;
  t->dimensions = 1;
  const u64 handle = register_texture(t);
  std::vector<u32> x;
  for (int i = -4; i < 50; ++i) x.push_back(static_cast<u32>(i));
  LaunchResult result;
  const auto out = run("tex.1d.v4.s32.s32 {%r5, %r6, %r7, %r8}, [%l5, {%r2}];", handle, x, x, x, &result);
  for (int i = -4; i < 50; ++i)
    EXPECT_EQ(out[static_cast<std::size_t>(i + 4) * 4], i < 0 || i >= 40 ? 0u : static_cast<u32>(i) * 123456789u) << i;
  // 54 lanes in two warps: 8 quads, and 6 of which one is in part.
  const auto site = std::find_if(result.record.sites.begin(), result.record.sites.end(),
                                 [](const auto& s) { return s.space == trace::Space::kTexture; });
  ASSERT_NE(site, result.record.sites.end());
  EXPECT_EQ(site->requests, 14u);
  EXPECT_EQ(site->lanes, 54u);
  EXPECT_EQ(site->kind, trace::Kind::kLoad);
  // From linear memory a request takes eight lanes: 4 groups, and 3 of which one is in part.
  auto memory = std::make_shared<Texture>(*t);
  memory->linear_array = true;
  const u64 linear = register_texture(memory);
  run("tex.1d.v4.s32.s32 {%r5, %r6, %r7, %r8}, [%l5, {%r2}];", linear, x, x, x, &result);
  const auto wide = std::find_if(result.record.sites.begin(), result.record.sites.end(),
                                 [](const auto& s) { return s.space == trace::Space::kTexture; });
  ASSERT_NE(wide, result.record.sites.end());
  EXPECT_EQ(wide->requests, 7u);
  drop_texture(linear);
  drop_texture(handle);
}

TEST(Texture, SurfaceAccessesAreCounted) {
  Data data;
  auto s = std::make_shared<Surface>();
  s->bytes = reinterpret_cast<std::uint8_t*>(data.bytes.data());
  s->width = 40;
  s->pitch = s->slice = 160;
  s->dimensions = 1;
  s->channel_kind = ChannelKind::kUnsigned;
  const u64 handle = register_surface(s);
  std::vector<u32> x;
  for (u32 i = 0; i < 54; ++i) x.push_back(4 * i);
  LaunchResult result;
  run("suld.b.1d.b32.zero %r5, [%l5, {%r2}]; setp.ne.u32 %p1, %r2, %r2; @%p1 sust.b.1d.b32.zero [%l5, {%r2}], %r5;",
      handle, x, x, x, &result);
  std::vector<views::SiteCounts> found;
  for (const auto& site : result.record.sites)
    if (site.space == trace::Space::kSurface) found.push_back(site);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, trace::Kind::kLoad);
  EXPECT_EQ(found[0].executed, 2u);
  EXPECT_EQ(found[0].requests, 7u);
  EXPECT_EQ(found[0].sectors, 10u) << "160 bytes; lanes outside touch none";
  EXPECT_EQ(found[1].kind, trace::Kind::kStore);
  EXPECT_EQ(found[1].executed, 2u) << "issued, by no lane";
  EXPECT_EQ(found[1].requests, 0u);
  drop_surface(handle);
}

TEST(Texture, ChannelsOfIntegersKeepTheirSign) {
  Data data;
  auto t = std::make_shared<Texture>(describe("char4", data));
  t->dimensions = 2;
  t->height = 4;
  const u64 handle = register_texture(t);
  const auto out = run("tex.2d.v4.s32.f32 {%r5, %r6, %r7, %r8}, [%l5, {%f1, %f2}];", handle, {std::bit_cast<u32>(1.5f)},
                       {std::bit_cast<u32>(1.5f)}, {0});
  EXPECT_EQ(out[0], static_cast<u32>(static_cast<std::int8_t>(5 * 37)));
  EXPECT_EQ(out[1], 55u);
  EXPECT_EQ(out[2], 0u);
  drop_texture(handle);
}

TEST(Texture, LanesMayUseDifferentTextures) {
  Data a, b;
  auto ta = std::make_shared<Texture>(describe("int", a)), tb = std::make_shared<Texture>(describe("uchar", b));
  const u64 ha = register_texture(ta), hb = register_texture(tb);
  EXPECT_NE(ha, hb);
  std::vector<u32> x{0, 1, 2, 3};
  const auto out = run("and.b32 %r9, %t, 1; setp.eq.u32 %p1, %r9, 1; mov.u64 %l8, " + std::to_string(hb) +
                           "; selp.u64 %l9, %l8, %l5, %p1; tex.1d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%l9, {%r2}];",
                       ha, x, x, x);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[4], 37u);
  EXPECT_EQ(out[8], 2u * 123456789u);
  EXPECT_EQ(out[12], 111u);
  drop_texture(ha);
  EXPECT_TRUE(drop_texture(hb));
  EXPECT_FALSE(drop_texture(hb));
  EXPECT_EQ(find_texture(hb), nullptr);
}

TEST(Texture, BadHandleIsAFault) {
  LaunchResult result;
  run("tex.1d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%l5, {%f1}]; mov.b32 %r5, %f5;", 0x123456789, {0}, {0}, {0}, &result);
  EXPECT_EQ(result.outcome, Outcome::kIllegalAddress);
  EXPECT_EQ(result.record.fault.code, "D615");
}

}  // namespace
}  // namespace muscope::exec::testing
