// Basic blocks of machine code: where they begin and end, what is reached, what cannot be executed. Words are those of
// code that ptxas wrote for sm_90.
#include "code/machine_flow.h"

#include <gmock/gmock.h>

#include "code/machine_lowering.h"

namespace muscope::code {
namespace {

using sass::Word;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Word kMove{0x00000004ff057424, 0x000fe200078e00ff};    // IMAD.MOV.U32 R5, RZ, RZ, 0x4
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};    // EXIT
constexpr Word kExitIf{0x000000000000094d, 0x000fea0003800000};  // @P0 EXIT
constexpr Word kNothing{0, 0};

/// BRA or, with predicate 0, @P0 BRA from instruction `at` to `target` (instruction numbers).
Word branch(int at, int target, bool conditional) {
  const auto distance = static_cast<std::uint64_t>((target - at - 1) * 16);
  // Units of 4 in bits 16 to 23, of 1,024 from bit 34 on.
  Word word{0x0000000000000947u | (conditional ? 0u : 0x7000u), 0x000fea0003800000};
  word.lo |= (distance >> 2 & 0xff) << 16 | (distance >> 10) << 34;
  word.hi |= static_cast<std::uint64_t>(target < at + 1 ? 0x3ffff : 0);
  return word;
}

MachineFlow flow_of(std::vector<Word> words) {
  MachineInput input;
  input.words = std::move(words);
  return find_flow(input);
}

TEST(MachineFlow, StraightCodeIsOneBlock) {
  const MachineFlow flow = flow_of({kMove, kMove, kExit, kNothing});
  EXPECT_THAT(flow.problem, IsEmpty());
  ASSERT_EQ(flow.blocks.size(), 1u);
  EXPECT_EQ(flow.blocks[0].first, 0u);
  EXPECT_EQ(flow.blocks[0].end, 3u);  // what is not reached may be anything
}

TEST(MachineFlow, AnExitOfSomeLanesEndsABlock) {
  const MachineFlow flow = flow_of({kMove, kExitIf, kMove, kExit});
  ASSERT_EQ(flow.blocks.size(), 2u);
  EXPECT_EQ(flow.blocks[1].first, 2u);
  EXPECT_EQ(flow.block_at[2], 1u);
  EXPECT_EQ(flow.block_at[1], kNoBlock);
}

TEST(MachineFlow, TheTargetOfABackwardBranchHeadsALoop) {
  const MachineFlow flow = flow_of({kMove, kMove, branch(2, 1, true), kExit});
  EXPECT_THAT(flow.problem, IsEmpty());
  ASSERT_EQ(flow.blocks.size(), 3u);
  EXPECT_FALSE(flow.blocks[0].loop_header);
  EXPECT_TRUE(flow.blocks[1].loop_header);
  EXPECT_EQ(flow.blocks[1].first, 1u);
  EXPECT_EQ(flow.blocks[1].end, 3u);
}

TEST(MachineFlow, WhatABranchSkipsIsNotReached) {
  const MachineFlow flow = flow_of({branch(0, 2, false), kNothing, kExit});
  EXPECT_THAT(flow.problem, IsEmpty());
  ASSERT_EQ(flow.blocks.size(), 2u);
  EXPECT_EQ(flow.blocks[1].first, 2u);
}

TEST(MachineFlow, AnUnknownInstructionIsNamed) {
  EXPECT_THAT(flow_of({kMove, kNothing, kExit}).problem, HasSubstr("at 0x10 is not known"));
}

TEST(MachineFlow, AJumpOutOfTheCodeIsNamed) {
  EXPECT_THAT(flow_of({branch(0, 40, false), kExit}).problem, HasSubstr("leaves the code"));
}

TEST(MachineFlow, NoCodeAtAllIsNoCrash) { EXPECT_THAT(flow_of({}).problem, HasSubstr("leaves the code")); }

/// Of the words' lowering: whether the branch asks for a lane where P0 holds, and whether it is taken if there is none.
std::pair<bool, bool> branch_of_all(Word word) {
  MachineInput input;
  input.words = {word, kExit, kExit};
  const LoweredMachine lowered = lower_machine(input, Kernel{});
  EXPECT_THAT(lowered.problem, IsEmpty());
  if (lowered.kernel == nullptr) return {};
  for (std::size_t i = 1; i < lowered.kernel->ops.size(); ++i) {
    const Op& asks = lowered.kernel->ops[i - 1];
    const Op& jumps = lowered.kernel->ops[i];
    if (asks.machine == MachineKind::kAnyLane && jumps.kind == OpKind::kBranch) {
      return {!asks.a_negated, jumps.guard_negated};
    }
  }
  ADD_FAILURE() << "no branch of the whole warp";
  return {};
}

TEST(MachineLowering, ABranchOfTheWholeWarpIsTakenByAllLanesOrNone) {
  // @!P0 BRA.U: not where P0 holds in some lane.
  EXPECT_EQ(branch_of_all({0x0000000100048947, 0x000fec0003800000}), std::make_pair(true, true));
  // @P0 BRA.U: not where it fails in some lane.
  EXPECT_EQ(branch_of_all({0x0000000100040947, 0x000fec0003800000}), std::make_pair(false, true));
}

}  // namespace
}  // namespace muscope::code
