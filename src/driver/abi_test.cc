// The binary interface that compiled programs rely on: sizes and offsets, taken from CUDA 13.0's headers with a program
// that printed them.
#include <gtest/gtest.h>

#include <cstddef>

#include "driver/driver_abi.h"

namespace muscope::driver {

static_assert(sizeof(CUuuid) == 16);
static_assert(sizeof(CUdevprop) == 56);
static_assert(sizeof(CUDA_MEMCPY2D) == 128);
static_assert(offsetof(CUDA_MEMCPY2D, dstXInBytes) == 56);
static_assert(offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112);
static_assert(sizeof(CUDA_MEMCPY3D) == 200);
static_assert(offsetof(CUDA_MEMCPY3D, srcPitch) == 72);
static_assert(offsetof(CUDA_MEMCPY3D, dstXInBytes) == 88);
static_assert(offsetof(CUDA_MEMCPY3D, WidthInBytes) == 176);
static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24);
static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144);
static_assert(offsetof(CUDA_RESOURCE_DESC, flags) == 136);
static_assert(sizeof(CUDA_TEXTURE_DESC) == 104);
static_assert(offsetof(CUDA_TEXTURE_DESC, borderColor) == 40);
static_assert(sizeof(CUlaunchConfig) == 56);
static_assert(offsetof(CUlaunchConfig, hStream) == 32);
static_assert(offsetof(CUlaunchConfig, numAttrs) == 48);
static_assert(sizeof(CUlaunchAttribute) == 72);
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72);
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == 40);
static_assert(sizeof(CUctxCreateParams) == 24);
static_assert(sizeof(CUmemAllocationProp) == 32);
static_assert(offsetof(CUmemAllocationProp, allocFlags) == 24);
static_assert(sizeof(CUmemAccessDesc) == 12);

TEST(DriverAbi, NumbersAreCudas) {
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, 218);
  EXPECT_EQ(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16);
  EXPECT_EQ(CU_JIT_ERROR_LOG_BUFFER, 5);
  EXPECT_EQ(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8);
}

}  // namespace muscope::driver
