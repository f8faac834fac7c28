// What machine instructions count as. Words are those of code that ptxas 13.0 wrote for sm_90.
#include <gtest/gtest.h>

#include "code/machine_builder.h"

namespace muscope::code {
namespace {

views::InstructionKind kind(std::uint64_t low, std::uint64_t high) { return kind_of(sass::decode({low, high}, 0)); }

TEST(MachineKind, HalfInstructionsThatOnlyMove) {
  using K = views::InstructionKind;
  EXPECT_EQ(kind(0x00000001ff0d7435, 0x000fe200000001ff), K::kFp16FmaMove) << "HFMA2.MMA R13, -RZ, RZ, 0, 5.96e-08";
  EXPECT_EQ(kind(0x3f800000ff057435, 0x000fe200000001ff), K::kFp16FmaMove) << "HFMA2.MMA R5, -RZ, RZ, 1.875, 0";
  EXPECT_EQ(kind(0x20000002ff097230, 0x008fca0000004100), K::kFp16AddMove) << "HADD2.F32 R9, -RZ, R2.H0_H0";
  EXPECT_EQ(kind(0x0000000d080d7235, 0x008fce0000000002), K::kFp16Fma) << "HFMA2.MMA R13, R8, R13, R2";
  EXPECT_EQ(kind(0x3c003c000b0b7835, 0x004fce0000000000), K::kFp16Fma) << "HFMA2.MMA R11, R11, 1, 1, R0";
}

}  // namespace
}  // namespace muscope::code
