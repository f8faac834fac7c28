// The binary interface that compiled programs rely on: sizes and offsets, taken from CUDA 13.0's headers with a program
// that printed them, and for CUDA 12's cudaDeviceProp from public bindings (cuda_abi.h).
#include "runtime/cuda_abi.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace muscope::runtime {

static_assert(sizeof(cudaDeviceProp) == 1008);
static_assert(offsetof(cudaDeviceProp, totalGlobalMem) == 288);
static_assert(offsetof(cudaDeviceProp, totalConstMem) == 352);
static_assert(offsetof(cudaDeviceProp, major) == 360);
static_assert(offsetof(cudaDeviceProp, multiProcessorCount) == 384);
static_assert(offsetof(cudaDeviceProp, surfaceAlignment) == 552);
static_assert(offsetof(cudaDeviceProp, l2CacheSize) == 596);
static_assert(offsetof(cudaDeviceProp, sharedMemPerMultiprocessor) == 624);
static_assert(offsetof(cudaDeviceProp, sharedMemPerBlockOptin) == 672);
static_assert(offsetof(cudaDeviceProp, clusterLaunch) == 748);
static_assert(offsetof(cudaDeviceProp, reserved) == 784);
static_assert(sizeof(cudaFuncAttributes) == 144);
static_assert(offsetof(cudaFuncAttributes, numRegs) == 28);
static_assert(offsetof(cudaFuncAttributes, maxDynamicSharedSizeBytes) == 44);
static_assert(sizeof(cudaPointerAttributes) == 88);
static_assert(offsetof(cudaPointerAttributes, devicePointer) == 8);
static_assert(offsetof(cudaPointerAttributes, hostPointer) == 16);
static_assert(sizeof(cudaChannelFormatDesc) == 20);
static_assert(sizeof(cudaExtent) == 24);
static_assert(sizeof(cudaPos) == 24);
static_assert(sizeof(cudaPitchedPtr) == 32);
static_assert(sizeof(cudaMemcpy3DParms) == 160);
static_assert(offsetof(cudaMemcpy3DParms, dstArray) == 64);
static_assert(offsetof(cudaMemcpy3DParms, extent) == 128);
static_assert(offsetof(cudaMemcpy3DParms, kind) == 152);
static_assert(sizeof(cudaMemcpy3DPeerParms) == 168);
static_assert(sizeof(cudaResourceDesc) == 144);
static_assert(offsetof(cudaResourceDesc, res) == 8);
static_assert(offsetof(cudaResourceDesc, res.linear.sizeInBytes) == 40);
static_assert(offsetof(cudaResourceDesc, res.pitch2D.pitchInBytes) == 56);
static_assert(sizeof(cudaTextureDesc) == 72);
static_assert(offsetof(cudaTextureDesc, readMode) == 16);
static_assert(offsetof(cudaTextureDesc, normalizedCoords) == 40);
static_assert(sizeof(cudaResourceViewDesc) == 112);
static_assert(sizeof(cudaLaunchConfig_t) == 56);
static_assert(offsetof(cudaLaunchConfig_t, dynamicSmemBytes) == 24);
static_assert(offsetof(cudaLaunchConfig_t, attrs) == 40);
static_assert(offsetof(cudaLaunchConfig_t, numAttrs) == 48);
static_assert(sizeof(cudaLaunchAttribute) == 72);
static_assert(offsetof(cudaLaunchAttribute, val) == 8);
static_assert(sizeof(cudaMemLocation) == 8);
static_assert(sizeof(dim3) == 12);

static_assert(sizeof(DeviceProp12) == 1032);
static_assert(offsetof(DeviceProp12, totalGlobalMem) == 288);
static_assert(offsetof(DeviceProp12, clockRate) == 348);
static_assert(offsetof(DeviceProp12, major) == 360);
static_assert(offsetof(DeviceProp12, multiProcessorCount) == 388);
static_assert(offsetof(DeviceProp12, computeMode) == 404);
static_assert(offsetof(DeviceProp12, maxTexture1DLinear) == 416);
static_assert(offsetof(DeviceProp12, surfaceAlignment) == 568);
static_assert(offsetof(DeviceProp12, memoryClockRate) == 608);
static_assert(offsetof(DeviceProp12, l2CacheSize) == 616);
static_assert(offsetof(DeviceProp12, sharedMemPerMultiprocessor) == 640);
static_assert(offsetof(DeviceProp12, cooperativeMultiDeviceLaunch) == 692);
static_assert(offsetof(DeviceProp12, sharedMemPerBlockOptin) == 696);
static_assert(offsetof(DeviceProp12, reservedSharedMemPerBlock) == 720);
static_assert(offsetof(DeviceProp12, clusterLaunch) == 772);
static_assert(offsetof(DeviceProp12, reserved) == 780);

// Everything is checked at compile time; this says so in the list of tests.
TEST(Abi, LayoutsAreCudas) { SUCCEED(); }

}  // namespace muscope::runtime
