// Loops whose end others decide, in machine code that ptxas 13.0 wrote for sm_90.
#include <gtest/gtest.h>

#include "code/machine_builder.h"

namespace muscope::code {
namespace {

bool waits(std::vector<sass::Word> words) {
  MachineInput input;
  input.words = std::move(words);
  const MachineFlow flow = find_flow(input);
  EXPECT_EQ(flow.problem, "");
  return waits_for_others(flow);
}

// while (*p == 0) {}, p volatile
TEST(MachineWaits, UntilAnotherThreadHasWritten) {
  EXPECT_TRUE(waits({{0x00000a00ff017b82, 0x000ff00000000800},
                     {0x00008400ff027b82, 0x000e220000000a00},
                     {0x0000820000047ab9, 0x000fca0000000a00},
                     {0x0000000402007981, 0x001ea4000c1f5900},
                     {0x000000ff0000720c, 0x004fda0003f05270},
                     {0xfffffffc00f48947, 0x000fea000383ffff},
                     {0x000000000000794d, 0x000fea0003800000}}));
}

// do { seen = old; old = atomicCAS(p, seen, seen * 3 + 1); } while (old != seen);
TEST(MachineWaits, UntilASwapWasFirst) {
  EXPECT_TRUE(waits({{0x00000a00ff017b82, 0x000ff00000000800},
                     {0x00008400ff027b82, 0x000e220000000a00},
                     {0x0000820000047ab9, 0x000fe40000000a00},
                     {0x0000000402047981, 0x001162000c1e1900},
                     {0x00000003ff077435, 0x000fd600000001ff},
                     {0x0000000104057424, 0x020fe200078e0207},
                     {0x0000000000007946, 0x000fea0003800000},
                     {0x00000004020573a9, 0x000ea400001ee105},
                     {0x000000040500720c, 0x004fe40003f05270},
                     {0x0000000500047202, 0x000fd60000000f00},
                     {0xfffffffc00e80947, 0x000fea000383ffff},
                     {0x000000000000794d, 0x000fea0003800000}}));
}

// t = clock64(); while (clock64() - t < n) {}
TEST(MachineWaits, UntilTheClockIsThere) {
  EXPECT_TRUE(waits({{0x00000a00ff017b82, 0x000fe20000000800},
                     {0x0000820000047ab9, 0x000fe20000000a00},
                     {0x0000000000047805, 0x000fe20000015000},
                     {0x0000860000067ab9, 0x000fcc0000000a00},
                     {0x0000000000027805, 0x000fcc0000015000},
                     {0x0000000204007210, 0x000fca0007f1e1ff},
                     {0x0000000103027824, 0x000fe200000e0e05},
                     {0x0000000600007c0c, 0x000fc8000bf06070},
                     {0x0000000702007c0c, 0x000fda000bf06300},
                     {0xfffffffc00e88947, 0x000fea000383ffff},
                     {0x00008400ff027b82, 0x000e240000000a00},
                     {0x0000000402007986, 0x001fe2000c101b04},
                     {0x000000000000794d, 0x000fea0003800000}}));
}

// for (i = 0; i < n; ++i) s += p[i], p volatile: what is read does not decide how often.
TEST(MachineWaits, NotWhereALoopOnlyReads) {
  EXPECT_FALSE(waits({{0x00000a00ff017b82, 0x000ff00000000800}, {0x00008800ff007b82, 0x000e220000000800},
                      {0x0000820000067ab9, 0x000fe20000000a00}, {0x000000ffff077224, 0x000fcc00078e00ff},
                      {0x00008600ff027b82, 0x000e620000000a00}, {0x000000010000780c, 0x001fda0003f06270},
                      {0x0000000000308947, 0x002fea0003800000}, {0x00000000ff077435, 0x000fe200000001ff},
                      {0x0000003f00047c82, 0x000fe20008000000}, {0x0000840000087ab9, 0x000fd20000000a00},
                      {0x00000008ff047e24, 0x000fe2000f8e00ff}, {0x0000000900057c02, 0x000fca0008000f00},
                      {0x0000000604047981, 0x000ea2000c1f5900}, {0x0000000104047890, 0x000fe4000fffe03f},
                      {0x0000000408087890, 0x000fc8000ff1e03f}, {0x0000000400007c0c, 0x000fe2000bf03270},
                      {0x000000093f097290, 0x000fe200087fe43f}, {0x0000000104077824, 0x004fd600078e0207},
                      {0xfffffffc00dc8947, 0x000fea000383ffff}, {0x0000000702007986, 0x000fe2000c101906},
                      {0x000000000000794d, 0x000fea0003800000}}));
}

}  // namespace
}  // namespace muscope::code
