// Sizes, offsets and values of the runtime's types, as CUDA 13.0 has them (read from nvcc 13.0.88's headers by a
// program).
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace {

#define EXPECT_LAYOUT(type, size, alignment) \
  EXPECT_EQ(sizeof(type), size) << #type;    \
  EXPECT_EQ(alignof(type), alignment) << #type

TEST(Layout, Sizes) {
  EXPECT_LAYOUT(cudaDeviceProp, 1008u, 8u);
  EXPECT_LAYOUT(cudaFuncAttributes, 144u, 8u);
  EXPECT_LAYOUT(cudaPointerAttributes, 88u, 8u);
  EXPECT_LAYOUT(cudaMemcpy3DParms, 160u, 8u);
  EXPECT_LAYOUT(cudaChannelFormatDesc, 20u, 4u);
  EXPECT_LAYOUT(cudaResourceDesc, 144u, 8u);
  EXPECT_LAYOUT(cudaResourceViewDesc, 112u, 8u);
  EXPECT_LAYOUT(cudaTextureDesc, 72u, 4u);
  EXPECT_LAYOUT(cudaMemPoolProps, 88u, 8u);
  EXPECT_LAYOUT(cudaLaunchConfig_t, 56u, 8u);
  EXPECT_LAYOUT(cudaLaunchAttribute, 72u, 8u);
  EXPECT_LAYOUT(cudaKernelNodeParams, 56u, 8u);
  EXPECT_LAYOUT(cudaGraphNodeParams, 256u, 8u);
  EXPECT_LAYOUT(cudaGraphInstantiateParams, 32u, 8u);
}

TEST(Layout, VectorTypes) {
  EXPECT_LAYOUT(dim3, 12u, 4u);
  EXPECT_LAYOUT(char3, 3u, 1u);
  EXPECT_LAYOUT(uchar4, 4u, 4u);
  EXPECT_LAYOUT(short4, 8u, 8u);
  EXPECT_LAYOUT(float2, 8u, 8u);
  EXPECT_LAYOUT(float3, 12u, 4u);
  EXPECT_LAYOUT(float4, 16u, 16u);
  EXPECT_LAYOUT(double2, 16u, 16u);
  EXPECT_LAYOUT(longlong2, 16u, 16u);
  EXPECT_LAYOUT(double4, 32u, 16u);
  EXPECT_LAYOUT(double4_32a, 32u, 32u);
}

TEST(Layout, DeviceProperties) {
  EXPECT_EQ(offsetof(cudaDeviceProp, uuid), 256u);
  EXPECT_EQ(offsetof(cudaDeviceProp, totalGlobalMem), 288u);
  EXPECT_EQ(offsetof(cudaDeviceProp, warpSize), 308u);
  EXPECT_EQ(offsetof(cudaDeviceProp, major), 360u);
  EXPECT_EQ(offsetof(cudaDeviceProp, multiProcessorCount), 384u);
  EXPECT_EQ(offsetof(cudaDeviceProp, pciDomainID), 576u);
  EXPECT_EQ(offsetof(cudaDeviceProp, l2CacheSize), 596u);
  EXPECT_EQ(offsetof(cudaDeviceProp, regsPerMultiprocessor), 632u);
  EXPECT_EQ(offsetof(cudaDeviceProp, sharedMemPerBlockOptin), 672u);
  EXPECT_EQ(offsetof(cudaDeviceProp, clusterLaunch), 748u);
  EXPECT_EQ(offsetof(cudaDeviceProp, reserved), 784u);
}

TEST(Layout, Values) {
  EXPECT_EQ(cudaErrorInvalidValue, 1);
  EXPECT_EQ(cudaErrorNotReady, 600);
  EXPECT_EQ(cudaErrorIllegalAddress, 700);
  EXPECT_EQ(cudaErrorAssert, 710);
  EXPECT_EQ(cudaErrorCooperativeLaunchTooLarge, 720);
  EXPECT_EQ(cudaErrorUnknown, 999);
  EXPECT_EQ(cudaMemcpyDefault, 4);
  EXPECT_EQ(cudaResourceTypePitch2D, 3);
  EXPECT_EQ(cudaAddressModeBorder, 3);
  EXPECT_EQ(cudaFuncAttributeMaxDynamicSharedMemorySize, 8);
  EXPECT_EQ(cudaDevAttrWarpSize, 10);
  EXPECT_EQ(cudaDevAttrComputeCapabilityMinor, 76);
  EXPECT_EQ(cudaDevAttrCooperativeLaunch, 95);
  EXPECT_EQ(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97);
  EXPECT_EQ(cudaMemAdviseSetAccessedBy, 5);
  EXPECT_EQ(cudaStreamCaptureModeRelaxed, 2);
  EXPECT_EQ(cudaGraphNodeTypeMemset, 2);
  EXPECT_EQ(CUDART_VERSION, 13000);
}

}  // namespace
