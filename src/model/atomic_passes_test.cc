// Passes of atomics on global memory, held against what an H200 counted.
#include "model/atomic_passes.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "model/l1_stages.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

constexpr unsigned kLine = 128;

AtomicPasses passes(const std::vector<std::uint64_t>& addresses, std::uint32_t bytes = 4) {
  WarpMask mask;
  for (unsigned lane = 0; lane < addresses.size(); ++lane) mask.set(lane);
  return count_atomic_passes({addresses, mask, bytes});
}

/// The rule word for word: queues by set and word, each pass the line of the lowest lane.
AtomicPasses plain(const std::vector<std::uint64_t>& addresses) {
  AtomicPasses result;
  for (unsigned set = 0; set < 4; ++set) {
    std::map<std::uint64_t, std::vector<unsigned>> queues;
    std::vector<unsigned> waiting;
    for (unsigned lane = 0; lane < addresses.size(); ++lane) {
      if (t_stage_set(addresses[lane] / kLine) != set) continue;
      queues[addresses[lane] % kLine / 4].push_back(lane);
      waiting.push_back(lane);
    }
    std::uint32_t wavefronts = 0;
    for (; !waiting.empty(); ++wavefronts) {
      const std::uint64_t line = addresses[waiting.front()] / kLine;
      std::map<std::uint64_t, bool> sectors;
      for (auto& [word, queue] : queues) {
        if (queue.empty() || addresses[queue.front()] / kLine != line) continue;
        sectors[addresses[queue.front()] / 32] = true;
        std::erase(waiting, queue.front());
        queue.erase(queue.begin());
      }
      result.sectors += static_cast<std::uint32_t>(sectors.size());
    }
    result.wavefronts = std::max(result.wavefronts, wavefronts);
  }
  return result;
}

TEST(AtomicPasses, ALaneBehindAnotherLineMissesAPass) {
  const std::uint64_t other = 5 * kLine;  // of line 0's set
  ASSERT_EQ(t_stage_set(5), t_stage_set(0));
  EXPECT_EQ(passes({4, 0}), (AtomicPasses{1, 1}));
  EXPECT_EQ(passes({0, other, 4}), (AtomicPasses{2, 2}));
  EXPECT_EQ(passes({4, other, 0}), (AtomicPasses{3, 3})) << "lane 2 waits for lane 1: line 0 goes, then 5, then 0";
  EXPECT_EQ(passes({4, other + 8, 0}), (AtomicPasses{2, 2})) << "another word, another queue";
  ASSERT_NE(t_stage_set(1), t_stage_set(0));
  EXPECT_EQ(passes({4, kLine, 0}), (AtomicPasses{2, 1})) << "another set";
}

TEST(AtomicPasses, SharedAddressesOneAfterTheOther) {
  EXPECT_EQ(passes(std::vector<std::uint64_t>(32, 64)), (AtomicPasses{32, 32}));
  EXPECT_EQ(passes({0, 0, 32, 64, 64, 64}), (AtomicPasses{6, 3}));
  EXPECT_EQ(passes({0, 8, 8, 16}, 8), (AtomicPasses{2, 2}));
  EXPECT_EQ(passes({}), (AtomicPasses{0, 0}));
}

TEST(AtomicPasses, AnyNumberOfLanes) {
  std::mt19937 random(5);
  for (const unsigned lanes : {1u, 7u, 32u, 33u, 64u, 65u, 128u})
    for (const unsigned lines : {1u, 6u, 24u, 100u})
      for (int turn = 0; turn < 20; ++turn) {
        std::vector<std::uint64_t> addresses(lanes);
        for (std::uint64_t& address : addresses) address = random() % lines * kLine + random() % 32 * 4;
        EXPECT_EQ(passes(addresses), plain(addresses)) << lanes << " lanes, " << lines << " lines";
      }
}

TEST(AtomicPasses, EveryMeasuredReductionIsEqual) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/experiments/atomic_sectors.tsv");
  std::string line, cell;
  std::getline(in, line);
  int rows = 0;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::getline(cells, cell, '\t');
    std::getline(cells, cell, '\t');
    const auto mask = static_cast<GroupMask>(std::stoul(cell, nullptr, 16));
    std::array<std::uint64_t, kGroupLanes> addresses{};
    std::getline(cells, cell, '\t');
    std::stringstream offsets(cell);
    for (std::uint64_t& address : addresses) {
      std::getline(offsets, cell, ',');
      address = std::stoull(cell);
    }
    AtomicPasses measured;
    cells >> measured.sectors >> measured.wavefronts;
    EXPECT_EQ(count_atomic_passes({addresses, WarpMask::of(mask), 4}), measured) << line;

    trace::WarpAccess access;
    access.kind = trace::Kind::kRed;
    access.bytes = 4;
    access.mask = mask;
    access.addresses = addresses.data();
    const GlobalCounts counts = count_global(access);
    EXPECT_EQ((AtomicPasses{counts.sectors.sectors, counts.t_wavefronts}), measured) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 1320);
}

}  // namespace
}  // namespace muscope::model
