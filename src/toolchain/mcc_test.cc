#include "toolchain/mcc.h"

#include <gmock/gmock.h>

namespace muscope::toolchain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

TEST(Mcc, KnowsItsCommandLines) {
  EXPECT_TRUE(is_for_mcc({"-c", "a.mu"}));
  EXPECT_TRUE(is_for_mcc({"-x", "musa", "a.cpp"}));
  EXPECT_TRUE(is_for_mcc({"--cuda-gpu-arch=mp_22", "a.o"}));
  EXPECT_FALSE(is_for_mcc({"-arch=sm_80", "a.cu"}));
  EXPECT_FALSE(is_for_mcc({"musa", "-o", "x", "a.cu"}));
}

TEST(Mcc, BecomesNvccs) {
  Words left;
  EXPECT_THAT(from_mcc({"a.mu", "-o", "-fake", "-mtgpu", "-fPIC", "-Wall", "-Wl,-rpath,/x", "--cuda-gpu-arch=mp_22",
                        "-O2", "-pthread"},
                       left),
              ElementsAre("a.mu", "-o", "-fake", "-mtgpu", "-Xcompiler=-fPIC", "-Xcompiler=-Wall", "-Xlinker=-rpath,/x",
                          "--offload-arch=mp_22", "-O2", "-Xcompiler=-pthread"));
  EXPECT_THAT(left, IsEmpty());
  EXPECT_THAT(from_mcc({"-ffast-math", "-ffp-contract=off", "-fmusa-flush-denormals-to-zero"}, left),
              ElementsAre("-use_fast_math", "-fmad=false", "-ftz=true"));
  EXPECT_THAT(from_mcc({"-mllvm", "-mtgpu-opt-level=1", "-Od3", "-mathx-disable-fp64", "-U__CUDA__", "-c"}, left),
              ElementsAre("-c"));
  EXPECT_THAT(left, ElementsAre("-mllvm -mtgpu-opt-level=1", "-Od3", "-mathx-disable-fp64", "-U__CUDA__"));
}

}  // namespace
}  // namespace muscope::toolchain
