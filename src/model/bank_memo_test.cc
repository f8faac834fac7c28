#include "model/bank_memo.h"

#include <gtest/gtest.h>

#include <random>

namespace muscope::model {
namespace {

trace::WarpAccess scattered(std::uint32_t bytes, trace::Kind kind) {
  trace::WarpAccess access;
  access.space = trace::Space::kShared;
  access.shape = trace::Shape::kScattered;
  access.mask = kAllLanes;
  access.bytes = static_cast<decltype(access.bytes)>(bytes);
  access.kind = kind;
  return access;
}

// The same pattern elsewhere, other patterns, widths and kinds in turns: always what is counted without remembering.
TEST(BankMemo, CountsAsWithout) {
  std::mt19937 random(7);
  BankMemo memo;
  std::array<std::uint64_t, kGroupLanes> addresses{};
  for (int round = 0; round < 4000; ++round) {
    const std::uint32_t bytes = 1u << random() % 5;
    auto access = scattered(bytes, random() % 2 != 0 ? trace::Kind::kLoad : trace::Kind::kStore);
    const unsigned spread = 1u + static_cast<unsigned>(random() % 64);
    for (auto& address : addresses) address = random() % spread * bytes;
    access.addresses = addresses.data();
    for (int move = 0; move < 4; ++move) {
      ASSERT_EQ(memo.count(access), count_banks(access)) << "round " << round << ", move " << move;
      const std::uint64_t by = bytes * (1 + random() % 24);
      for (auto& address : addresses) address += by;
      if (random() % 4 == 0) addresses[random() % kGroupLanes] += 128u * bytes;
    }
    access.mask = static_cast<GroupMask>(random());
    ASSERT_EQ(memo.count(access), count_banks(access));
  }
}

}  // namespace
}  // namespace muscope::model
