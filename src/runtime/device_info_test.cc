// What programs are told about GPUs of which not everything is known.
#include "runtime/device_info.h"

#include <gmock/gmock.h>

#include <memory>

namespace muscope::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DeviceInfo, UnknownNumbersAreStandInsAndNotThoseOfAnH200) {
  const arch::GpuSpec gpu = arch::find_gpu("s4000"), h200 = arch::find_gpu("h200");
  ASSERT_FALSE(gpu.sm_count.known);
  const auto p = std::make_unique<DeviceProp12>(), other = std::make_unique<DeviceProp12>();
  fill_properties(gpu, 0, *p);
  fill_properties(h200, 0, *other);
  EXPECT_EQ(p->multiProcessorCount, 1);
  EXPECT_EQ(p->clockRate, 1000000);
  EXPECT_EQ(p->memoryClockRate, 1000000);
  EXPECT_EQ(p->memoryBusWidth, 384);  // known
  EXPECT_EQ(p->l2CacheSize, 1 << 20);
  EXPECT_EQ(p->maxThreadsPerMultiProcessor, 1024);
  EXPECT_EQ(p->sharedMemPerMultiprocessor, 72U * 1024);
  EXPECT_EQ(p->maxBlocksPerMultiProcessor, 1);
  EXPECT_EQ(other->multiProcessorCount, 132);
  EXPECT_EQ(other->l2CacheSize, 62914560);
}

TEST(DeviceInfo, StandInsAreNamed) {
  const arch::GpuSpec gpu = arch::find_gpu("s4000");
  EXPECT_THAT(stand_ins(gpu, 0), HasSubstr("multiprocessors, clock, memory clock, L2 bytes"));
  EXPECT_THAT(stand_ins(gpu, 0), Not(HasSubstr("bus")));
  EXPECT_EQ(stand_ins(gpu, cudaDevAttrMultiProcessorCount), stand_ins(gpu, 0));
  EXPECT_EQ(stand_ins(gpu, cudaDevAttrWarpSize), "");
  EXPECT_EQ(stand_ins(arch::find_gpu("h200"), 0), "");
}

}  // namespace
}  // namespace muscope::runtime
