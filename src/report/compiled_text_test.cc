#include "report/compiled_text.h"

#include <gtest/gtest.h>

namespace muscope::report {
namespace {

using trace::Kind;
using trace::Space;
using views::CodeAccesses;
using K = views::CodeChangeKind;

std::string text(K kind, CodeAccesses ptx, CodeAccesses machine, Kind access = Kind::kLoad,
                 Space space = Space::kGlobal, bool generic = false) {
  return text_of(views::CodeChange{kind, 0, space, generic, access, ptx, machine});
}

TEST(CompiledText, SaysWhatBecameOfWhat) {
  EXPECT_EQ(text(K::kJoined, {4, 16, 4}, {1, 16, 16}), "4 global loads of 4 bytes became 1 of 16");
  EXPECT_EQ(text(K::kJoined, {6, 32, 0}, {3, 32, 0}, Kind::kStore, Space::kShared),
            "6 shared stores (32 bytes) became 3 (32 bytes)");
  EXPECT_EQ(text(K::kPartOf, {1, 4, 4}, {}), "1 global load of 4 bytes is part of a wider one at the next addresses");
  EXPECT_EQ(text(K::kPartOf, {2, 8, 4}, {}), "2 global loads of 4 bytes are part of wider ones at the next addresses");
  EXPECT_EQ(text(K::kWidened, {1, 4, 4}, {1, 8, 8}),
            "1 global load of 4 bytes became 1 of 8, with others at the next addresses");
  EXPECT_EQ(text(K::kDuplicates, {3, 12, 4}, {1, 4, 4}), "2 of 3 global loads dropped: same address as another");
  EXPECT_EQ(text(K::kDropped, {1, 1, 1}, {}, Kind::kLoad, Space::kGlobal, true),
            "1 load dropped (value known or not used)");
  EXPECT_EQ(text(K::kDropped, {9, 36, 4}, {8, 32, 4}, Kind::kStore, Space::kShared), "1 of 9 shared stores dropped");
  EXPECT_EQ(text(K::kUnrolled, {1, 8, 8}, {7, 56, 8}),
            "loop unrolled: 1 global load of 8 bytes stands in the code 7 times");
  EXPECT_EQ(text(K::kUnrolledInto, {32, 128, 4}, {140, 896, 0}),
            "loop unrolled: 32 global loads of 4 bytes became 140 (896 bytes)");
  EXPECT_EQ(text(K::kCopied, {2, 8, 4}, {4, 16, 4}), "code doubled: 2 global loads of 4 bytes stand in it 4 times");
  EXPECT_EQ(text(K::kBecame, {3, 12, 4}, {2, 12, 0}), "3 global loads of 4 bytes became 2 (12 bytes)");
  EXPECT_EQ(text(K::kInRegisters, {8, 32, 4}, {}, Kind::kStore, Space::kLocal),
            "8 local stores dropped: the variable is in registers");
}

TEST(CompiledText, SpillsAndAtomics) {
  EXPECT_EQ(text(K::kSpilled, {}, {8, 32, 4}, Kind::kStore, Space::kLocal), "8 spill stores (32 bytes)");
  EXPECT_EQ(text(K::kSpilled, {}, {1, 8, 8}, Kind::kLoad, Space::kLocal), "1 spill load (8 bytes)");
  EXPECT_EQ(text(K::kSaved, {}, {4, 16, 4}, Kind::kStore, Space::kLocal),
            "4 registers stored in a called function (16 bytes: kept for the caller, or spilled)");
  EXPECT_EQ(text(K::kSwapLoop, {1, 4, 4}, {1, 4, 4}, Kind::kAtom, Space::kShared),
            "shared atomic became a compare-and-swap loop (ATOMS.CAST.SPIN)");
  EXPECT_EQ(text(K::kReduction, {1, 4, 4}, {1, 4, 4}, Kind::kAtom),
            "global atomic without a used result became a reduction (RED)");
  CodeChangeReport spill;
  spill.kind = K::kSpilled;
  spill.access = Kind::kStore;
  spill.machine = {2, 8, 4};
  spill.executed = 32768;
  EXPECT_EQ(spill_text(spill), "2 spill stores (8 bytes), executed 32,768 times by warps");
}

}  // namespace
}  // namespace muscope::report
