// The rules on patterns whose right answer was worked out by hand or reported by others, and the fast paths against a
// plain reading of the rules on random accesses.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "arch/gpu_spec.h"
#include "model/banks.h"
#include "model/constant.h"
#include "model/generations.h"
#include "model/local.h"
#include "model/sectors.h"

namespace muscope::model {
namespace {

using Index = std::function<std::uint64_t(unsigned)>;

struct Access {
  std::vector<std::uint64_t> addresses;
  WarpMask mask;
  std::uint32_t bytes;
  operator LaneAddresses() const { return {addresses, mask, bytes}; }
};

Access warp(std::uint32_t bytes, const Index& address, GroupMask mask = kAllLanes) {
  Access a{std::vector<std::uint64_t>(32), WarpMask::of(mask), bytes};
  for (unsigned lane = 0; lane < 32; ++lane) a.addresses[lane] = address(lane);
  return a;
}

std::uint32_t loads(std::uint32_t bytes, const Index& address, GroupMask mask = kAllLanes) {
  return count_banks(warp(bytes, address, mask), SharedOp::kLoad).wavefronts;
}
std::uint32_t stores(std::uint32_t bytes, const Index& address, GroupMask mask = kAllLanes) {
  return count_banks(warp(bytes, address, mask), SharedOp::kStore).wavefronts;
}
SectorCounts global(std::uint32_t bytes, const Index& address, GroupMask mask = kAllLanes) {
  return count_sectors(warp(bytes, address, mask));
}

// --- global
// -----------------------------------------------------------------------------------------------------------

TEST(GlobalCases, SameTileFourTimesTheLines) {
  EXPECT_EQ(global(16, [](unsigned l) { return 16 * l; }), (SectorCounts{16, 4, 16}));
  EXPECT_EQ(global(4, [](unsigned l) { return 16 * l; }), (SectorCounts{16, 4, 4}));
}

TEST(GlobalCases, Strides) {
  for (const auto& [stride, sectors] : std::map<unsigned, unsigned>{{0, 1}, {1, 4}, {2, 8}, {32, 32}})
    EXPECT_EQ(global(4, [s = stride](unsigned l) { return 4 * s * l; }).sectors, sectors) << stride;
}

TEST(GlobalCases, ShiftedCopy) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    const SectorCounts c = global(4, [shift](unsigned l) { return 4096 + 4 * (l + shift); });
    EXPECT_EQ(c.sectors, shift % 8 == 0 ? 4u : 5u) << shift;
    EXPECT_EQ(c.lines, shift % 32 == 0 ? 1u : 2u) << shift;
    EXPECT_EQ(c.ideal, 4u);
  }
}

TEST(GlobalCases, PackedRgb) {
  for (unsigned c = 0; c < 3; ++c) EXPECT_EQ(global(1, [c](unsigned l) { return 3 * l + c; }), (SectorCounts{3, 1, 1}));
  EXPECT_EQ(global(4, [](unsigned l) { return 4 * l; }, 0x00ffffff), (SectorCounts{3, 1, 3}));
}

TEST(GlobalCases, TwoUnrelatedHalves) {
  const auto halves = [](std::uint64_t a, std::uint64_t b) {
    return global(8, [=](unsigned l) { return l < 16 ? a + 8 * l : b + 8 * (l - 16); });
  };
  EXPECT_EQ(halves(0, 1 << 20), (SectorCounts{8, 2, 8}));
  EXPECT_EQ(halves(64, (1 << 20) + 96), (SectorCounts{8, 4, 8}));
  EXPECT_EQ(halves(1 << 20, 0), (SectorCounts{8, 2, 8})) << "descending";
}

TEST(GlobalCases, TransposeOf16x16Blocks) {
  EXPECT_EQ(global(4, [](unsigned l) { return 4 * ((l % 16) * 2048 + l / 16); }).sectors, 16u);
  EXPECT_EQ(global(4, [](unsigned l) { return 4 * ((l / 16) * 2048 + l % 16); }), (SectorCounts{4, 2, 4}));
}

TEST(GlobalCases, FiveDoublesPerRecord) {
  EXPECT_EQ(global(8, [](unsigned l) { return 40 * l; }), (SectorCounts{32, 10, 8}));
}

TEST(GlobalCases, NoLaneNoSector) {
  EXPECT_EQ(global(4, [](unsigned l) { return l; }, 0), (SectorCounts{}));
}

TEST(GlobalCases, Atomics) {
  const auto sectors = [](const Index& f) { return count_atomic_sectors(warp(4, f)).sectors; };
  EXPECT_EQ(sectors([](unsigned) { return 0; }), 32u);
  EXPECT_EQ(sectors([](unsigned l) { return 4 * l; }), 4u);
  EXPECT_EQ(sectors([](unsigned l) { return 4 * (l / 4); }), 4u) << "four lanes share each address of one sector";
  EXPECT_EQ(sectors([](unsigned l) { return 32 * (l / 2); }), 32u);
}

// --- shared
// -----------------------------------------------------------------------------------------------------------

TEST(SharedCases, StrideFourLoad) {
  EXPECT_EQ(count_banks(warp(4, [](unsigned l) { return 16 * l; }), SharedOp::kLoad), (BankCounts{4, 1, 4, 1}));
}

TEST(SharedCases, WideLoads) {
  EXPECT_EQ(count_banks(warp(16, [](unsigned l) { return 128 * l; }), SharedOp::kLoad), (BankCounts{32, 4, 32, 4}));
  EXPECT_EQ(count_banks(warp(16, [](unsigned l) { return 16 * l; }), SharedOp::kLoad), (BankCounts{4, 4, 4, 4}));
}

TEST(SharedCases, PairsMerge) {
  EXPECT_EQ(loads(16, [](unsigned l) { return 16 * (l % 4); }), 4u);
  EXPECT_EQ(count_banks(warp(16, [](unsigned l) { return 16 * (l / 8); }), SharedOp::kLoad), (BankCounts{2, 2, 2, 2}));
  EXPECT_EQ(stores(16, [](unsigned l) { return 16 * (l / 8); }), 4u) << "stores never merge";
  // Only lanes 15 and 16, or 0 and 15, active.
  EXPECT_EQ(loads(16, [](unsigned) { return 0; }, 1u << 15 | 1u << 16), 2u);
  EXPECT_EQ(loads(16, [](unsigned) { return 0; }, 1u << 0 | 1u << 15), 1u);
}

TEST(SharedCases, PaddedTileOf16Rows) {
  for (unsigned t0 = 0; t0 < 512; t0 += 32) {
    EXPECT_EQ(loads(4, [=](unsigned l) { return 4 * (33 * ((t0 + l) % 16) + (t0 + l) / 16); }), 2u);
    EXPECT_EQ(loads(4, [=](unsigned l) { return 4 * (34 * ((t0 + l) % 16) + (t0 + l) / 16); }), 1u);
  }
}

TEST(SharedCases, SixteenWideTiles) {
  const auto column = [](unsigned pitch) {
    return loads(4, [=](unsigned l) { return 4 * (pitch * (l % 16) + l / 16); });
  };
  EXPECT_EQ(column(17), 2u);
  EXPECT_EQ(column(16), 8u);
  EXPECT_EQ(column(18), 1u);
  const auto row = [](unsigned pitch) {
    return stores(4, [=](unsigned l) { return 4 * (pitch * (l / 16) + l % 16); });
  };
  EXPECT_EQ(row(16), 1u);
  EXPECT_EQ(row(17), 2u);
  EXPECT_EQ(row(18), 2u);
  for (unsigned pitch = 16; pitch <= 64; ++pitch) EXPECT_FALSE(column(pitch) == 1 && row(pitch) == 1) << pitch;
}

TEST(SharedCases, XorSwizzle) {
  const auto swizzled = [](unsigned bits, unsigned column) {
    return loads(4, [=](unsigned row) { return 4 * (32 * row + (column ^ (row & ((1u << bits) - 1)))); });
  };
  for (unsigned column = 0; column < 32; ++column) {
    EXPECT_EQ(swizzled(5, column), 1u);
    EXPECT_EQ(swizzled(3, column), 4u);
    EXPECT_EQ(swizzled(2, column), 8u);
    EXPECT_EQ(swizzled(0, column), 32u);
  }
}

TEST(SharedCases, TransposedStoreOfSgemm) {
  const auto a = [](unsigned p) { return stores(4, [=](unsigned t) { return 4 * (4 * (t % 2) * p + t / 2); }); };
  EXPECT_EQ(a(128), 2u);
  EXPECT_EQ(a(130), 2u);
  EXPECT_EQ(a(132), 1u);
  const auto b = [](unsigned p) { return stores(4, [=](unsigned t) { return 4 * (4 * (t % 4) * p + t / 4); }); };
  EXPECT_EQ(b(128), 4u);
  EXPECT_EQ(b(130), 1u);
  EXPECT_EQ(b(132), 2u);
}

TEST(SharedCases, RowsOf128Bytes) {
  const auto rows = [](unsigned pitch) { return loads(4, [=](unsigned t) { return pitch * (t / 4) + 4 * (t % 4); }); };
  EXPECT_EQ(rows(128), 8u);
  EXPECT_EQ(rows(144), 1u);
  EXPECT_EQ(rows(136), 2u);
}

TEST(SharedCases, ColumnsAndBytes) {
  EXPECT_EQ(loads(4, [](unsigned l) { return 4 * (32 * l + 3); }), 32u);
  EXPECT_EQ(loads(4, [](unsigned l) { return 4 * (33 * l + 3); }), 1u);
  EXPECT_EQ(loads(1, [](unsigned l) { return l; }), 1u);
  EXPECT_EQ(loads(1, [](unsigned l) { return 4 * l; }), 1u);
  EXPECT_EQ(loads(1, [](unsigned l) { return 128 * l; }), 32u);
}

TEST(SharedCases, RunsPerThread) {
  for (unsigned f : {1u, 2u, 3u, 4u, 8u}) EXPECT_EQ(stores(4, [=](unsigned l) { return 4 * f * l; }), std::gcd(f, 32u));
}

TEST(SharedCases, HalfPrecisionTile) {
  EXPECT_EQ(stores(2, [](unsigned t) { return 2 * (32 * (t % 16) + t / 16); }), 8u);
  EXPECT_EQ(stores(2, [](unsigned t) { return 2 * (32 * (t / 16) + t % 16); }), 1u);
}

TEST(SharedCases, PrivateDoubles) {
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::vector<unsigned> e(32);
    for (unsigned& x : e) x = random() % 8;
    EXPECT_EQ(loads(8, [&](unsigned l) { return 8 * (32 * e[l] + l); }), 2u);
  }
  EXPECT_EQ(loads(8, [](unsigned l) { return 8 * (8 * l + (11 * l) % 8); }), 4u);
  EXPECT_EQ(loads(8, [](unsigned l) { return 8 * 8 * l; }), 16u);
  EXPECT_EQ(loads(8, [](unsigned l) { return 8 * (8 * l + (l / 2) % 8); }), 2u);
}

TEST(SharedCases, TwoAddresses) {
  const auto two = [](std::uint64_t second, std::uint32_t bytes) {
    return loads(bytes, [=](unsigned l) { return l == 0 ? 0 : second; }, 3);
  };
  EXPECT_EQ(two(4, 4), 1u);
  EXPECT_EQ(two(132, 4), 1u);
  EXPECT_EQ(two(128, 4), 2u);
  EXPECT_EQ(two(1, 1), 1u);
}

TEST(SharedCases, ScanPadding) {
  const unsigned none[] = {2, 4, 8, 16, 32}, pad4[] = {2, 2, 2, 1, 2};
  for (unsigned i = 0; i < 5; ++i) {
    const unsigned o = 1u << i;
    const auto with = [&](auto pad) {
      return loads(4, [=](unsigned t) {
        const unsigned index = o * (2 * t + 1) - 1;
        return 4 * (index + pad(index));
      });
    };
    EXPECT_EQ(with([](unsigned) { return 0u; }), none[i]);
    EXPECT_EQ(with([](unsigned x) { return x >> 5; }), 1u);
    EXPECT_EQ(with([](unsigned x) { return x >> 4; }), pad4[i]);
  }
}

TEST(SharedCases, Atomics) {
  EXPECT_EQ(count_banks(warp(4, [](unsigned) { return 64; }), SharedOp::kAtomic), (BankCounts{32, 1, 32, 1}));
  EXPECT_EQ(count_banks(warp(4, [](unsigned) { return 64; }), SharedOp::kIncrement), (BankCounts{1, 1, 1, 1}));
  trace::WarpAccess increment;
  increment.space = trace::Space::kShared;
  increment.kind = trace::Kind::kRed;
  increment.shape = trace::Shape::kUniform;
  increment.mask = kAllLanes;
  EXPECT_EQ(count_banks(increment), (BankCounts{32, 1, 32, 1}));
  increment.increment = true;
  EXPECT_EQ(count_banks(increment), (BankCounts{1, 1, 1, 1})) << "ATOMS.POPC.INC joins equal addresses";
  increment.shape = trace::Shape::kAffine;
  increment.stride = 64;
  EXPECT_EQ(count_banks(increment), (BankCounts{16, 1, 16, 1}));
  const CasLoopCounts one = count_cas_loop(warp(8, [](unsigned) { return 64; }));
  EXPECT_EQ(one.rounds, 32u);
  EXPECT_EQ(one.load_wavefronts, 32u);
  EXPECT_EQ(one.atom_wavefronts, 96u);
  const CasLoopCounts apart = count_cas_loop(warp(8, [](unsigned l) { return 128 * l; }));
  EXPECT_EQ(apart.rounds, 16u);
  EXPECT_EQ(apart.load_wavefronts, 272u);
  EXPECT_EQ(apart.atom_wavefronts, 64u);
}

TEST(SharedCases, SwapOfALoop) {
  std::vector<std::uint64_t> one_bank(32), in_order(32);
  for (unsigned lane = 0; lane < 32; ++lane) one_bank[lane] = 128 * lane, in_order[lane] = 8 * lane;
  for (const auto& addresses : {one_bank, in_order}) {
    trace::WarpAccess swap;
    swap.space = trace::Space::kShared;
    swap.kind = trace::Kind::kAtom;
    swap.swap = true;
    swap.addresses = addresses.data();
    const auto cost = [&](std::uint8_t bytes, GroupMask mask) {
      swap.bytes = bytes;
      swap.mask = mask;
      return count_banks(swap);
    };
    EXPECT_EQ(cost(4, kAllLanes), (BankCounts{2, 1, 2, 1}));
    EXPECT_EQ(cost(4, 0x80000000), (BankCounts{2, 1, 2, 1}));
    EXPECT_EQ(cost(8, kAllLanes), (BankCounts{4, 1, 4, 2}));
    EXPECT_EQ(cost(8, 0x00010001), (BankCounts{4, 1, 4, 1}));
    EXPECT_EQ(cost(8, 0x00000101), (BankCounts{2, 1, 2, 1}));
    EXPECT_EQ(cost(8, 0xff000000), (BankCounts{2, 1, 2, 1}));
    EXPECT_EQ(cost(8, 0), (BankCounts{0, 0, 0, 0}));
    EXPECT_EQ(cost(8, 0x00030003).conflicts(), 3u) << "wavefronts - executions";
  }
}

// --- constant, local, texture
// -------------------------------------------------------------------------------------------

TEST(ConstantCases, DistinctWords) {
  const auto requests = [](const Index& f) { return count_constant(warp(4, f)).requests; };
  EXPECT_EQ(requests([](unsigned) { return 20; }), 1u);
  EXPECT_EQ(requests([](unsigned l) { return 4 * (l % 4); }), 4u);
  EXPECT_EQ(requests([](unsigned l) { return 4 * (l / 4); }), 8u);
  EXPECT_EQ(requests([](unsigned l) { return 4 * l; }), 32u);
}

TEST(LocalCases, InterleavedFrames) {
  const auto sectors = [](std::uint32_t bytes, const Index& f, GroupMask mask = kAllLanes) {
    return count_local_sectors(warp(bytes, f, mask)).sectors;
  };
  EXPECT_EQ(sectors(4, [](unsigned) { return 8; }), 4u);
  EXPECT_EQ(sectors(4, [](unsigned l) { return 4 * l; }), 32u);
  EXPECT_EQ(sectors(4, [](unsigned l) { return 4 * (l % 4); }), 16u) << "at most four rows per eight lanes";
  EXPECT_EQ(sectors(16, [](unsigned) { return 32; }), 16u);
  EXPECT_EQ(sectors(1, [](unsigned) { return 33; }), 4u);
  EXPECT_EQ(sectors(4, [](unsigned) { return 8; }, 0xff), 1u);
}

// Aligned accesses are counted row by row, others word by word: the same where both can be.
TEST(LocalSectors, AlignedAccessesAreCountedAlike) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 2000; ++turn) {
    std::array<std::uint64_t, kGroupLanes> at;
    const unsigned bytes = 1u << random() % 5, spread = 1u + static_cast<unsigned>(random()) % 40;
    for (std::uint64_t& a : at) a = random() % spread * bytes;
    trace::WarpAccess access;
    access.space = trace::Space::kLocal;
    access.bytes = static_cast<std::uint8_t>(bytes);
    access.mask = static_cast<GroupMask>(random());
    access.addresses = at.data();
    const SectorCounts fast = count_local_sectors(access);
    const SectorCounts words = count_local_sectors(LaneAddresses{at, WarpMask::of(access.mask), bytes});
    ASSERT_EQ(fast.sectors, words.sectors) << turn;
    ASSERT_EQ(fast.lines, words.lines) << turn;
    ASSERT_EQ(fast.ideal, words.ideal) << turn;
  }
}

// --- generations
// ----------------------------------------------------------------------------------------------------------

Transactions load_on(const char* gpu, bool l1, std::uint32_t bytes, const Index& f) {
  return count_transactions(arch::find_gpu(gpu).global, warp(bytes, f), trace::Kind::kLoad, l1);
}

TEST(Generations, FermiTextbookCases) {
  const auto aligned = [](unsigned l) { return 128 + 4 * l; };
  const auto straddling = [](unsigned l) { return 128 + 16 + 4 * l; };
  const auto one_word = [](unsigned) { return 256; };
  const auto scattered = [](unsigned l) { return 4096 * l; };
  EXPECT_EQ(load_on("sm_20", true, 4, aligned).of_128, 1u);
  EXPECT_DOUBLE_EQ(load_on("sm_20", true, 4, aligned).bus_utilisation(), 1.0);
  EXPECT_EQ(load_on("sm_20", true, 4, straddling).of_128, 2u);
  EXPECT_DOUBLE_EQ(load_on("sm_20", true, 4, straddling).bus_utilisation(), 0.5);
  EXPECT_EQ(load_on("sm_20", false, 4, aligned).of_32, 4u);
  EXPECT_EQ(load_on("sm_20", false, 4, straddling).of_32, 5u);
  EXPECT_DOUBLE_EQ(load_on("sm_20", false, 4, straddling).bus_utilisation(), 0.8);
  EXPECT_DOUBLE_EQ(load_on("sm_20", true, 4, one_word).bus_utilisation(), 4.0 / 128);
  EXPECT_DOUBLE_EQ(load_on("sm_20", false, 4, one_word).bus_utilisation(), 4.0 / 32);
  EXPECT_EQ(load_on("sm_20", true, 4, scattered).of_128, 32u);
  EXPECT_DOUBLE_EQ(load_on("sm_20", true, 4, scattered).bus_utilisation(), 128.0 / 4096);
  EXPECT_DOUBLE_EQ(load_on("sm_20", false, 4, scattered).bus_utilisation(), 128.0 / 1024);
  // A permutation within the line changes nothing.
  EXPECT_EQ(load_on("sm_20", true, 4, [](unsigned l) { return 128 + 4 * (31 - l); }).of_128, 1u);
}

TEST(Generations, FermiSplitsWideWords) {
  const Transactions doubles = load_on("sm_20", true, 8, [](unsigned l) { return 8 * l; });
  EXPECT_EQ(doubles.requests, 2u);
  EXPECT_EQ(doubles.of_128, 2u);
  const Transactions vectors = load_on("sm_20", true, 16, [](unsigned l) { return 16 * l; });
  EXPECT_EQ(vectors.requests, 4u);
  EXPECT_EQ(vectors.of_128, 4u);
  // Both halves on the same line: each request fetches it.
  EXPECT_EQ(load_on("sm_20", true, 8, [](unsigned l) { return 8 * (l % 16); }).of_128, 2u);
}

TEST(Generations, KeplerStoresJoinSegments) {
  const auto store = [](const Index& f, GroupMask mask) {
    return count_transactions(arch::find_gpu("sm_35").global, warp(4, f, mask), trace::Kind::kStore, false);
  };
  const auto aligned = [](unsigned l) { return 4 * l; };
  EXPECT_EQ(store(aligned, kAllLanes).of_128, 1u);
  EXPECT_EQ(store(aligned, 0xffff).of_64, 1u);
  EXPECT_EQ(store(aligned, 0xff).of_32, 1u);
  // Two segments in different halves of the line: one transaction of four segments.
  EXPECT_EQ(store(aligned, 0x00ff00ff).of_128, 1u);
  EXPECT_EQ(store(aligned, 0x00ffff00).of_128, 1u);
}

TEST(Generations, PascalCutsRequestsOf8Lanes) {
  const Transactions copy = load_on("sm_61", false, 4, [](unsigned l) { return 4 * l; });
  EXPECT_EQ(copy.requests, 4u);
  EXPECT_EQ(copy.of_32, 4u);
  EXPECT_EQ(load_on("sm_61", false, 16, [](unsigned l) { return 16 * l; }).requests, 16u);
  // nvprof figures of a GeForce MX150 for transposes: a column load with 16x16 and 8x32 blocks, a column store.
  EXPECT_DOUBLE_EQ(load_on("mx150", false, 4, [](unsigned l) { return 4 * ((l % 16) * 2048 + l / 16); }).efficiency(),
                   0.25);
  EXPECT_DOUBLE_EQ(load_on("mx150", false, 4, [](unsigned l) { return 4 * ((l % 8) * 2048 + l / 8); }).efficiency(),
                   0.5);
  const Transactions store = count_transactions(arch::find_gpu("mx150").global,
                                                warp(4, [](unsigned l) { return 4 * ((l % 16) * 2048 + l / 16); }),
                                                trace::Kind::kStore, false);
  EXPECT_DOUBLE_EQ(store.efficiency(), 0.125);
}

TEST(Generations, ModernIsOneRequestOfSectors) {
  const Transactions t = load_on("h200", true, 4, [](unsigned l) { return 16 + 4 * l; });
  EXPECT_EQ(t.requests, 1u);
  EXPECT_EQ(t.of_32, 5u);
  EXPECT_DOUBLE_EQ(t.bus_utilisation(), 0.8);
}

// --- fast paths against the plain rule
// ------------------------------------------------------------------------------------

SectorCounts plain_sectors(const Access& a) {
  std::set<std::uint64_t> sectors, lines;
  for_each_lane(a.mask, [&](unsigned l) {
    for (std::uint64_t b = a.addresses[l]; b < a.addresses[l] + a.bytes; ++b) {
      sectors.insert(b / 32);
      lines.insert(b / 128);
    }
  });
  const auto n = static_cast<std::uint32_t>(sectors.size());
  return {n, static_cast<std::uint32_t>(lines.size()), std::min(n, (a.mask.count() * a.bytes + 31) / 32)};
}

std::uint32_t plain_wavefronts(const Access& a, bool load) {
  unsigned group = a.bytes <= 4 ? 32 : 128 / a.bytes;
  bool one = true, two = true;
  for (unsigned l = 0; l < 32; ++l) {
    if (!a.mask.test(l)) continue;
    one = one && (!a.mask.test(l ^ 1) || a.addresses[l] == a.addresses[l ^ 1]);
    two = two && (!a.mask.test(l ^ 2) || a.addresses[l] == a.addresses[l ^ 2]);
  }
  if (load && group < 32 && (one || two)) group *= 2;
  std::uint32_t sum = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words;
    for (unsigned l = first; l < first + group; ++l)
      if (a.mask.test(l))
        for (std::uint64_t w = a.addresses[l] / 4; w <= (a.addresses[l] + a.bytes - 1) / 4; ++w)
          words[w % 32].insert(w);
    std::size_t most = 0;
    for (const auto& [bank, set] : words) most = std::max(most, set.size());
    sum += static_cast<std::uint32_t>(most);
  }
  return sum;
}

TEST(FastPaths, AgreeWithThePlainRule) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t bytes = 1u << random() % 5;
    const GroupMask mask = i % 3 == 0 ? kAllLanes : static_cast<GroupMask>(random() >> (random() % 32));
    const std::uint64_t unit = i % 7 == 0 ? 1 : bytes;  // some misaligned
    const std::uint64_t base = random() % 4096 / unit * unit + (1u << 20);
    const std::int64_t stride = (static_cast<std::int64_t>(random() % 512) - 256) * static_cast<std::int64_t>(unit);
    const std::uint64_t range = std::uint64_t{64} << random() % 10;
    const bool is_affine = i % 2 == 0;
    const Access a = warp(
        bytes,
        [&](unsigned l) {
          return is_affine ? base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(l))
                           : base + random() % range / unit * unit;
        },
        mask);
    EXPECT_EQ(count_sectors(a), plain_sectors(a)) << i;
    EXPECT_EQ(count_banks(a, SharedOp::kLoad).wavefronts, plain_wavefronts(a, true)) << i;
    EXPECT_EQ(count_banks(a, SharedOp::kStore).wavefronts, plain_wavefronts(a, false)) << i;
    if (!is_affine) continue;
    EXPECT_EQ(count_sectors_affine(base, stride, mask, bytes), plain_sectors(a)) << i << " stride " << stride;
    for (const SharedOp op : {SharedOp::kLoad, SharedOp::kStore, SharedOp::kAtomic, SharedOp::kIncrement})
      EXPECT_EQ(count_banks_affine(base, stride, mask, bytes, op), count_banks(a, op)) << i << " stride " << stride;
  }
}

TEST(FastPaths, AddressesAtTheEdges) {
  EXPECT_EQ(global(4, [](unsigned l) { return 4 * l; }), (SectorCounts{4, 1, 4})) << "sector zero";
  EXPECT_EQ(count_sectors_affine(0, 4, kAllLanes, 4), (SectorCounts{4, 1, 4}));
  EXPECT_EQ(count_sectors_affine(124, -4, kAllLanes, 4), (SectorCounts{4, 1, 4}));
  const std::uint64_t top = ~std::uint64_t{0} - 127;
  EXPECT_EQ(global(4, [=](unsigned l) { return top + 4 * l; }), (SectorCounts{4, 1, 4}));
}

TEST(FastPaths, WarpsOf128Lanes) {
  Access a{std::vector<std::uint64_t>(128), {}, 4};
  for (unsigned lane = 0; lane < 128; ++lane) {
    a.addresses[lane] = 4 * ((lane * 37) % 128);
    a.mask.set(lane);
  }
  EXPECT_EQ(count_sectors(a), (SectorCounts{16, 4, 16}));
  EXPECT_EQ(count_banks(a, SharedOp::kLoad).wavefronts, 4u);
}

}  // namespace
}  // namespace muscope::model
