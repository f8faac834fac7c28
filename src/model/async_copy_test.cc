// Asynchronous copies, held against what an H200 counted.
#include "model/async_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "model/l1_stages.h"

namespace muscope::model {
namespace {

/// A copy and its addresses.
struct Lanes {
  std::array<std::uint64_t, kGroupLanes> from{}, to{};
  GroupMask active = kAllLanes, reads = kAllLanes, filled = 0;
  std::uint32_t bytes = 4;

  AsyncCopy copy() const { return {from.data(), to.data(), active, reads & active, filled & active, bytes}; }
};

template <typename From, typename To>
Lanes lanes(std::uint32_t bytes, From from, To to, GroupMask active = kAllLanes) {
  Lanes result;
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    result.from[l] = from(l) * bytes;
    result.to[l] = to(l) * bytes;
  }
  result.active = active;
  result.bytes = bytes;
  return result;
}

unsigned itself(unsigned lane) { return lane; }

GlobalCounts reads_as_a_load(const Lanes& l) {
  trace::WarpAccess access;
  access.kind = trace::Kind::kCopy;
  access.bytes = static_cast<std::uint8_t>(l.bytes);
  access.mask = l.active;
  access.addresses = l.from.data();
  return count_global(access);
}

/// A row of the experiment: what was copied and what was counted.
struct Row {
  bool past_l1 = false;
  Lanes lanes;
  std::uint32_t sectors = 0, sass_sectors = 0, lines = 0, t_wavefronts = 0, wavefronts = 0, conflicts = 0,
                sass_wavefronts = 0, sass_conflicts = 0, bytes_read = 0, bytes_written = 0;
};

std::vector<Row> measured() {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/experiments/async_copies.tsv");
  std::vector<Row> rows;
  std::string line, cell;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    Row row;
    std::getline(cells, cell, '\t');
    row.past_l1 = cell == "cg16";
    row.lanes.bytes = static_cast<std::uint32_t>(std::stoul(cell.substr(2)));
    std::getline(cells, cell, '\t');  // the name of the pattern
    std::getline(cells, cell, '\t');
    row.lanes.active = static_cast<GroupMask>(std::stoul(cell, nullptr, 16));
    for (auto* side : {&row.lanes.from, &row.lanes.to}) {
      std::getline(cells, cell, '\t');
      std::stringstream numbers(cell);
      for (std::uint64_t& address : *side) {
        std::getline(numbers, cell, ',');
        address = std::stoull(cell) * row.lanes.bytes;
      }
    }
    for (std::uint32_t* number :
         {&row.sectors, &row.sass_sectors, &row.lines, &row.t_wavefronts, &row.wavefronts, &row.conflicts,
          &row.sass_wavefronts, &row.sass_conflicts, &row.bytes_read, &row.bytes_written})
      cells >> *number;
    EXPECT_FALSE(cells.fail()) << line;
    rows.push_back(row);
  }
  return rows;
}

TEST(AsyncCopies, ThroughL1AreAsAnH200Counted) {
  int compared = 0;
  for (const Row& row : measured()) {
    if (row.past_l1) continue;
    ++compared;
    const GlobalCounts reads = reads_as_a_load(row.lanes);
    const CopyWrites writes = count_writes_through_l1(row.lanes.copy());
    const std::string where = "launch of " + std::to_string(row.lanes.bytes) + " bytes, " + std::to_string(compared);
    EXPECT_EQ(reads.sectors.sectors, row.sectors) << where;
    EXPECT_EQ(reads.sectors.sectors, row.sass_sectors) << where;
    EXPECT_EQ(reads.sectors.lines, row.lines) << where;
    EXPECT_EQ(reads.t_wavefronts, row.t_wavefronts) << where;
    EXPECT_EQ(reads.addresses * row.lanes.bytes, row.bytes_read) << where;
    EXPECT_EQ(writes.banks.wavefronts, row.wavefronts) << where;
    EXPECT_EQ(writes.banks.conflicts(), row.conflicts) << where;
    EXPECT_EQ(writes.banks.sass, row.sass_wavefronts) << where;
    EXPECT_EQ(writes.banks.sass - writes.sass_least, row.sass_conflicts) << where;
    EXPECT_EQ(writes.addresses * row.lanes.bytes, row.bytes_written) << where;
  }
  EXPECT_EQ(compared, 501);
}

TEST(AsyncCopies, PastL1AreNearlyAllAsAnH200Counted) {
  int compared = 0, sectors = 0, wavefronts = 0, apart = 0;
  for (const Row& row : measured()) {
    if (!row.past_l1) continue;
    ++compared;
    const CopyReads reads = count_reads_past_l1(row.lanes.copy());
    const CopyWrites writes = count_writes_past_l1(row.lanes.copy());
    EXPECT_EQ(reads.sass_sectors, row.sass_sectors) << compared;
    EXPECT_EQ(reads.addresses * row.lanes.bytes, row.bytes_read) << compared;
    EXPECT_EQ(writes.addresses * row.lanes.bytes, row.bytes_written) << compared;
    EXPECT_EQ(writes.banks.sass - writes.sass_least, row.sass_conflicts) << compared;
    EXPECT_EQ(writes.banks.conflicts(), row.conflicts) << compared;
    wavefronts += writes.banks.sass == row.sass_wavefronts;
    EXPECT_LE(row.sass_wavefronts - writes.banks.sass, 1u) << compared;
    sectors += reads.sectors == row.sectors;
    if (row.bytes_written != row.lanes.bytes * static_cast<std::uint32_t>(std::popcount(row.lanes.active))) continue;
    ++apart;
    EXPECT_EQ(reads.sectors, row.sectors) << compared << ": every lane writes a place of its own";
  }
  EXPECT_EQ(compared, 167);
  EXPECT_EQ(wavefronts, 166);
  EXPECT_EQ(sectors, 160);
  EXPECT_EQ(apart, 132);
}

TEST(AsyncCopies, NothingIsBroadcast) {
  const auto wavefronts = [](const Lanes& l) { return count_writes_through_l1(l.copy()).banks; };
  const auto same = [](unsigned) { return 0u; };
  EXPECT_EQ(wavefronts(lanes(4, same, itself)).wavefronts, 32u) << "one word read by all lanes";
  EXPECT_EQ(wavefronts(lanes(4, itself, same)).wavefronts, 32u) << "one place written by all lanes";
  EXPECT_EQ(wavefronts(lanes(16, itself, itself)), (BankCounts{4, 4, 4, 4}));
  EXPECT_EQ(wavefronts(lanes(4, [](unsigned l) { return 2 * l; }, itself)), (BankCounts{2, 1, 2, 1}));
}

/// copyPartOfLane and copyZerosAtEdge of tests/counters/kernels/async.cu.
TEST(AsyncCopies, ZerosAreWrittenOnceMore) {
  Lanes l = lanes(16, itself, itself);
  l.filled = 0xff;
  EXPECT_EQ(count_writes_through_l1(l.copy()).banks, (BankCounts{5, 5, 4, 4}));
  EXPECT_EQ(count_writes_past_l1(l.copy()).banks.sass, 5u);
  l.filled = kAllLanes;
  EXPECT_EQ(count_writes_past_l1(l.copy()).banks, (BankCounts{8, 8, 8, 8}));
  l = lanes(4, itself, itself);
  l.filled = kAllLanes;
  l.reads = 0;
  EXPECT_EQ(count_writes_through_l1(l.copy()).banks, (BankCounts{1, 1, 1, 1})) << "nothing but zeros";
  l.reads = 0xffff;
  l.filled = 0xffff0000;
  EXPECT_EQ(count_writes_through_l1(l.copy()).banks.wavefronts, 2u);
  EXPECT_EQ(count_reads_past_l1(lanes(16, itself, itself, 0).copy()), CopyReads{});
}

/// Rows of a tile, 8 lanes each, written with their 16-byte pieces exchanged so that columns meet no conflict.
TEST(AsyncCopies, TilesOfWholeLines) {
  const auto rows = [](unsigned l) { return l / 8 * 40 + l % 8; };  // apart in global memory
  const auto one_row = [](unsigned l) { return l % 8; };
  for (unsigned change = 0; change < 8; ++change) {
    const auto to = [&](unsigned l) { return (l ^ change) + 64; };
    EXPECT_EQ(count_writes_through_l1(lanes(16, rows, to).copy()), (CopyWrites{{4, 4, 4, 4}, 4, 32})) << change;
    EXPECT_EQ(count_writes_past_l1(lanes(16, rows, to).copy()), (CopyWrites{{4, 4, 4, 4}, 4, 32})) << change;
    EXPECT_EQ(count_reads_past_l1(lanes(16, rows, to).copy()), (CopyReads{16, 16, 32})) << change;
    EXPECT_EQ(count_reads_past_l1(lanes(16, one_row, to).copy()), (CopyReads{16, 16, 8})) << change;
    // The same in another order of lanes, which the general rule counts.
    const auto backwards = [](auto f) { return [f](unsigned l) { return f(31 - l); }; };
    EXPECT_EQ(count_writes_through_l1(lanes(16, backwards(rows), backwards(to)).copy()).banks,
              (BankCounts{4, 4, 4, 4}));
    EXPECT_EQ(count_writes_past_l1(lanes(16, backwards(rows), backwards(to)).copy()),
              (CopyWrites{{4, 4, 4, 4}, 4, 32}));
    EXPECT_EQ(count_reads_past_l1(lanes(16, backwards(rows), backwards(to)).copy()), (CopyReads{16, 16, 32}));
    EXPECT_EQ(count_reads_past_l1(lanes(16, backwards(one_row), backwards(to)).copy()), (CopyReads{16, 16, 8}));
  }
  EXPECT_EQ(count_writes_past_l1(lanes(16, rows, one_row).copy()).banks.sass, 1u) << "all rows to one place";
}

TEST(AsyncCopies, SwizzlesWithinSectorsCostMorePastL1) {
  const auto swizzled = [](unsigned l) { return l ^ (l / 8 & 3); };
  EXPECT_EQ(count_writes_past_l1(lanes(16, itself, itself).copy()).banks.sass, 4u);
  EXPECT_EQ(count_reads_past_l1(lanes(16, itself, itself).copy()), (CopyReads{16, 16, 32}));
  EXPECT_EQ(count_writes_past_l1(lanes(16, itself, swizzled).copy()).banks.sass, 4u)
      << "all sectors of a line change in the same way";
  EXPECT_EQ(count_writes_past_l1(lanes(16, itself, [](unsigned l) { return l ^ (l / 2 & 1); }).copy()).banks.sass, 8u);
}

}  // namespace
}  // namespace muscope::model
