// Copies by tensor maps. The hashes are those of tests/programs/tensor_maps.cu on an H200: a tile of 16 KiB that held
// 0xdeadbeef everywhere, after the load.
#include "exec/tensor_map.h"
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Where = std::array<std::int32_t, 5>;

constexpr std::size_t kTileWords = 4096, kTensorWords = 1 << 18;

TensorMap plain_map() {
  TensorMap map;
  map.type = 2;  // UINT32
  map.rank = 2;
  map.dims = {64, 32, 4, 4, 4};
  map.strides = {256, 8192, 32768, 131072};
  map.box = {16, 8, 1, 1, 1};
  map.steps = {1, 1, 1, 1, 1};
  return map;
}

std::vector<u32> tensor_words() {
  std::vector<u32> words(kTensorWords);
  for (u64 i = 0; i < kTensorWords; ++i) words[i] = static_cast<u32>(i * 2654435761u >> 7);
  return words;
}

u32 hash_of(const std::vector<u32>& words) {
  u32 hash = 2166136261u;
  for (const u32 w : words) hash = (hash ^ w) * 16777619u;
  return hash;
}

/// k(map, out, bytes, x0 ... x4): loads a tile, or stores one that holds 1000, 1001 ..., by `instruction`.
std::string kernel_text(std::string_view instruction, bool load) {
  std::string text = R"(.shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 bytes, .param .u32 x0, .param .u32 x1,
                  .param .u32 x2, .param .u32 x3, .param .u32 x4) {
  .reg .b32 %r<16>; .reg .b64 %l<8>; .reg .pred %p, %q;
  ld.param.u64 %l0, [out]; ld.param.u32 %r0, [bytes]; ld.param.u32 %r10, [x0]; ld.param.u32 %r11, [x1];
  ld.param.u32 %r12, [x2]; ld.param.u32 %r13, [x3]; ld.param.u32 %r14, [x4];
  mov.b64 %l1, map; cvta.param.u64 %l1, %l1; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r3, 0;
fill: add.u32 %r4, %r1, %r3; )";
  text += load ? "mov.u32 %r5, 0xdeadbeef;" : "shr.u32 %r5, %r3, 2; add.u32 %r5, %r5, 1000;";
  text += R"( st.shared.u32 [%r4], %r5; add.u32 %r3, %r3, 4; setp.lt.u32 %p, %r3, 16384; @%p bra fill;
  mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r0;
)" + std::string(instruction);
  if (load)
    text += R"(
again: mbarrier.try_wait.parity.shared::cta.b64 %q, [%r2], 0; @!%q bra again;
  mov.u32 %r3, 0;
read: add.u32 %r4, %r1, %r3; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %l2, %r3; add.u64 %l2, %l0, %l2;
  st.global.u32 [%l2], %r5; add.u32 %r3, %r3, 4; setp.lt.u32 %p, %r3, 16384; @%p bra read; ret; })";
  else
    text += " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }";
  return text;
}

std::string load_text(unsigned rank) {
  static const char* const kCoordinates[] = {"%r10", "%r10, %r11", "%r10, %r11, %r12", "%r10, %r11, %r12, %r13",
                                             "%r10, %r11, %r12, %r13, %r14"};
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%l1, {" + kCoordinates[rank - 1] +
         "}], [%r2];";
}

u32 tile_bytes(const TensorMap& map) {
  u32 bytes = map.row_bytes();
  for (unsigned d = 1; d < map.rank; ++d) bytes *= map.extent(d);
  return bytes;
}

struct Loaded {
  LaunchResult result;
  std::vector<u32> tile;
};

Loaded load(TensorMap map, const Where& w, unsigned rank = 0) {
  Machine m;
  m.load(kernel_text(load_text(rank == 0 ? map.rank : rank), true));
  map.address = m.upload(tensor_words());
  const auto out = m.zeros(4 * kTileWords);
  Loaded loaded;
  loaded.result = m.run("k", {1, 1, 1}, {1, 1, 1}, map.encode(), out, tile_bytes(map), w[0], w[1], w[2], w[3], w[4]);
  loaded.tile = m.read<u32>(out, kTileWords);
  return loaded;
}

u32 hash(const TensorMap& map, const Where& w) {
  const Loaded loaded = load(map, w);
  EXPECT_EQ(loaded.result.outcome, Outcome::kOk) << loaded.result.record.fault.text;
  return hash_of(loaded.tile);
}

TEST(TensorCopy, TwoDimensionsAndTheirEdges) {
  const TensorMap map = plain_map();
  EXPECT_EQ(hash(map, {16, 8}), 0xdd90d3ddu);
  EXPECT_EQ(hash(map, {0, 0}), 0xdf604a35u);
  EXPECT_EQ(hash(map, {8, 3}), 0x17f79bcdu);
  EXPECT_EQ(hash(map, {56, 8}), 0xb49555d5u);
  EXPECT_EQ(hash(map, {16, 28}), 0x58dee849u);
  EXPECT_EQ(hash(map, {-4, -3}), 0x518a17fdu);
  EXPECT_EQ(hash(map, {1000, 1000}), 0x1855fa45u);
  EXPECT_EQ(hash(map, {-2147483644, 2147483647}), 0x1855fa45u);
  TensorMap odd = map;
  odd.strides[0] = 272, odd.dims[0] = 61, odd.dims[1] = 29;
  EXPECT_EQ(hash(odd, {52, 25}), 0xa1da5488u);
}

TEST(TensorCopy, OneToFiveDimensions) {
  TensorMap map = plain_map();
  map.rank = 1, map.dims[0] = 1000, map.box[0] = 256;
  EXPECT_EQ(hash(map, {100}), 0xa9521635u);
  EXPECT_EQ(hash(map, {900}), 0x5b577cf7u);
  map.box[0] = 8;
  EXPECT_EQ(hash(map, {-4}), 0xf3260e8cu);
  map.rank = 3, map.box = {8, 4, 3, 1, 1}, map.dims[0] = 64;
  EXPECT_EQ(hash(map, {4, 5, 1}), 0xf15e63edu);
  EXPECT_EQ(hash(map, {60, 30, 2}), 0xdca054adu);
  map.rank = 4, map.box[3] = 2;
  EXPECT_EQ(hash(map, {4, 5, 1, 3}), 0xa37f674du);
  map.rank = 5, map.box[4] = 3, map.dims[4] = 2;
  EXPECT_EQ(hash(map, {60, 5, 1, 3, -1}), 0x90802815u);
  map.steps[1] = map.steps[3] = 2;
  EXPECT_EQ(hash(map, {8, 6, 1, 0, 0}), 0x81fee7fdu);
}

TEST(TensorCopy, Steps) {
  TensorMap map = plain_map();
  map.steps[1] = 3, map.box[1] = 9;
  EXPECT_EQ(hash(map, {16, 5}), 0x8b6eb961u);
  EXPECT_EQ(hash(map, {16, 27}), 0x5be883b9u);
  EXPECT_EQ(hash(map, {16, -4}), 0x2f6208f5u);
  map.box[1] = 8;
  EXPECT_EQ(hash(map, {16, 5}), 0x8b6eb961u);
  map.steps[0] = 2;  // of the first dimension: none
  EXPECT_EQ(hash(map, {16, 5}), 0x8b6eb961u);
}

TEST(TensorCopy, Swizzles) {
  const u32 whole[] = {0x71a72c25u, 0x959550a5u, 0x8f666f25u}, edge[] = {0x4421e9edu, 0x45dc250du, 0x0455daedu};
  const u32 narrow[] = {0xd6812075u, 0xa874cc55u, 0x7d9e9ab5u}, cube[] = {0x2466ab26u, 0x90960532u, 0xda30e2d7u};
  for (unsigned s = 1; s <= 3; ++s) {
    TensorMap map = plain_map();
    map.swizzle = static_cast<TensorMap::Swizzle>(s);
    map.box[0] = static_cast<std::uint16_t>(4u << s), map.box[1] = 32;
    EXPECT_EQ(hash(map, {8, 0}), whole[s - 1]);
    EXPECT_EQ(hash(map, {60, 20}), edge[s - 1]);
    map.box[0] = 4;
    EXPECT_EQ(hash(map, {8, 0}), narrow[s - 1]);
    map.box[0] = static_cast<std::uint16_t>(4u << s), map.rank = 3, map.box[1] = 5, map.box[2] = 3;
    EXPECT_EQ(hash(map, {8, 1, 1}), cube[s - 1]);
  }
}

TEST(TensorCopy, ElementTypesOutOfBounds) {
  // Integers of every width: zeros. Floats may ask for NaN, of the same bytes in all types.
  for (const int type : {0, 1, 2, 3, 4, 5, 8}) {
    TensorMap map = plain_map();
    map.type = static_cast<std::uint8_t>(type);
    map.dims[0] = 256 / map.element_bytes(), map.box[0] = static_cast<std::uint16_t>(64 / map.element_bytes());
    const auto x = static_cast<std::int32_t>((256 - 32) / map.element_bytes());
    EXPECT_EQ(hash(map, {x, 30}), 0xb901cdd9u) << type;
    map.nan_fill = true;
    if (type == 8) {
      EXPECT_EQ(hash(map, {x, 30}), 0xfb976bf9u);
    }
  }
}

TEST(TensorCopy, WhatHardwareRefuses) {
  const auto refused = [](const Loaded& loaded) {
    return loaded.result.outcome == Outcome::kIllegalInstruction && loaded.result.record.fault.code == "D623";
  };
  EXPECT_TRUE(refused(load(plain_map(), {5, 0})));
  EXPECT_TRUE(refused(load(plain_map(), {-3, 0})));
  EXPECT_TRUE(refused(load(plain_map(), {0, 0, 0}, 3)));
  EXPECT_TRUE(refused(load(plain_map(), {0}, 1)));
  TensorMap pairs = plain_map();
  pairs.type = 4, pairs.box[0] = 2;
  EXPECT_TRUE(refused(load(pairs, {3, 0})));
  Machine m;
  m.load(kernel_text(load_text(2), true));
  const auto r = m.run("k", {1, 1, 1}, {1, 1, 1}, TensorMap::Bytes{}, u64{0}, u32{0}, 0, 0, 0, 0, 0);
  EXPECT_EQ(r.outcome, Outcome::kIllegalInstruction);
}

struct Stored {
  LaunchResult result;
  std::vector<u32> words;
};

Stored store(TensorMap map, const Where& w, std::string_view operation = "") {
  Machine m;
  const std::string what = operation.empty() ? "cp.async" : "cp.reduce.async";
  m.load(kernel_text(what + ".bulk.tensor." + (map.rank == 3 ? "3d" : "2d") + ".global.shared::cta" +
                         std::string(operation) + ".tile.bulk_group [%l1, {" +
                         (map.rank == 3 ? "%r10, %r11, %r12" : "%r10, %r11") + "}], [%r1];",
                     false));
  map.address = m.upload(tensor_words());
  Stored stored;
  stored.result = m.run("k", {1, 1, 1}, {1, 1, 1}, map.encode(), u64{0}, u32{0}, w[0], w[1], w[2], w[3], w[4]);
  stored.words = m.read<u32>(map.address, kTensorWords);
  return stored;
}

TEST(TensorCopy, StoresKeepToTheBounds) {
  EXPECT_EQ(hash_of(store(plain_map(), {16, 8}).words), 0xa1f468adu);
  EXPECT_EQ(hash_of(store(plain_map(), {56, 8}).words), 0x68e8d2bdu);
  EXPECT_EQ(hash_of(store(plain_map(), {16, 28}).words), 0x48fe7209u);
  const u32 swizzles[] = {0x65c5e072u, 0x5a27731eu, 0x34a49dc3u};
  for (unsigned s = 1; s <= 3; ++s) {
    TensorMap map = plain_map();
    map.swizzle = static_cast<TensorMap::Swizzle>(s);
    map.rank = 3, map.box = {static_cast<std::uint16_t>(4u << s), 5, 3, 1, 1};
    EXPECT_EQ(hash_of(store(map, {8, 1, 1}).words), swizzles[s - 1]);
  }
  EXPECT_EQ(store(plain_map(), {-4, -3}).result.outcome, Outcome::kIllegalInstruction);
}

TEST(TensorCopy, Reductions) {
  const auto before = tensor_words();
  const auto added = store(plain_map(), {16, 8}, ".add").words, lower = store(plain_map(), {16, 8}, ".min").words;
  for (u32 y = 0; y < 8; ++y)
    for (u32 x = 0; x < 16; ++x) {
      const u32 at = (8 + y) * 64 + 16 + x, value = 1000 + 16 * y + x;
      ASSERT_EQ(added[at], before[at] + value);
      ASSERT_EQ(lower[at], std::min(before[at], value));
    }
  EXPECT_EQ(added[8 * 64 + 15], before[8 * 64 + 15]);
}

TEST(TensorMapBytes, GoBackAndForth) {
  TensorMap map = plain_map();
  map.swizzle = TensorMap::Swizzle::k64, map.nan_fill = true, map.address = 0x7f0012340000;
  const auto back = TensorMap::decode(map.encode());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->address, map.address);
  EXPECT_EQ(back->dims, map.dims);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->swizzle, map.swizzle);
  EXPECT_TRUE(back->nan_fill);
  EXPECT_FALSE(TensorMap::decode(TensorMap::Bytes{}));
  for (std::size_t n = 0; n < TensorMap::kBytes; ++n) {  // any bytes: nothing, or a map that can be used
    auto bytes = map.encode();
    bytes[n] = 0xff;
    if (const auto any = TensorMap::decode(bytes)) {
      EXPECT_LE(any->rank, 5);
    }
  }
}

}  // namespace
}  // namespace muscope::exec::testing
