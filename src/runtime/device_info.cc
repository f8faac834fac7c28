#include "runtime/device_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <tuple>

namespace muscope::runtime {
namespace {

// By number, from 0 (unused): what cudaDeviceGetAttribute said on an H200 with driver 580.
constexpr std::array kH200Attributes = {
    0,        1024,      1024,     1024,  64,    2147483647, 65535, 65535,     49152,     65536,     32,     2147483647,
    65536,    1980000,   512,      1,     132,   0,          0,     1,         0,         131072,    131072, 65536,
    16384,    16384,     16384,    32768, 32768, 2048,       512,   1,         1,         0,         6,      0,
    3201000,  6016,      62914560, 2048,  3,     1,          32768, 2048,      1,         32768,     32768,  8192,
    8192,     32768,     0,        32,    32768, 32768,      2046,  32768,     131072,    65536,     16384,  16384,
    16384,    32768,     2048,     32768, 32768, 2048,       32768, 32768,     2046,      268435456, 131072, 65000,
    2097120,  32768,     32768,    9,     0,     32768,      1,     1,         1,         233472,    65536,  1,
    0,        0,         0,        2,     0,     1,          1,     1,         0,         0,         0,      1,
    1,        232448,    0,        1,     0,     0,          1,     1,         0,         0,         32,     1,
    39321600, 134217728, 1,        1024,  1,     1,          1,     1,         1,         1,         100,    9,
    1,        1,         1,        1,     1,     1,          4,     1,         1,         1,         0,      -1,
    0,        0,         0,        0,     0,     0,          0,     590680286, 415174878, 1,         1,      0,
    1,        1,         0,        0,
};

constexpr int kUnifiedFunctionPointers = 129;  // has no cudaDevAttr name

int clamp(double value) { return static_cast<int>(std::min(value, static_cast<double>(INT_MAX))); }

// The spec's number where it is known.
int known(const arch::Sourced& number, int otherwise, double scale = 1) {
  return number.known ? clamp(number.value * scale) : otherwise;
}

// What is told where the spec knows nothing: never an H200's number, never 0, which programs divide by. An SM takes one
// block of the largest size at a time, and there is one, as launches take it to be.
constexpr int kOneSm = 1, kOneBlock = 1, kGigahertzInKhz = 1000000, kBusBits = 128, kL2Bytes = 1 << 20;

struct StandIn {
  arch::Sourced arch::GpuSpec::* number;
  std::string_view name;
  std::array<int, 2> attributes;
};
constexpr std::array kStandIns = {
    StandIn{&arch::GpuSpec::sm_count, "multiprocessors", {cudaDevAttrMultiProcessorCount, 0}},
    StandIn{&arch::GpuSpec::clock_mhz, "clock", {cudaDevAttrClockRate, 0}},
    StandIn{&arch::GpuSpec::memory_clock_mhz, "memory clock", {cudaDevAttrMemoryClockRate, 0}},
    StandIn{&arch::GpuSpec::memory_bus_bits, "memory bus width", {cudaDevAttrGlobalMemoryBusWidth, 0}},
    StandIn{&arch::GpuSpec::l2_bytes, "L2 bytes", {cudaDevAttrL2CacheSize, cudaDevAttrMaxPersistingL2CacheSize}},
    StandIn{&arch::GpuSpec::max_threads_per_sm, "threads of an SM", {cudaDevAttrMaxThreadsPerMultiProcessor, 0}},
    StandIn{&arch::GpuSpec::max_blocks_per_sm, "blocks of an SM", {cudaDevAttrMaxBlocksPerMultiprocessor, 0}},
    StandIn{&arch::GpuSpec::shared_per_sm, "shared bytes of an SM", {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0}},
    StandIn{&arch::GpuSpec::registers_per_sm, "registers of an SM", {cudaDevAttrMaxRegistersPerMultiprocessor, 0}},
};

}  // namespace

std::pair<int, int> reported_capability(const arch::GpuSpec& gpu) {
  if (gpu.cc_major == 0) return {gpu.cc_minor / 10, gpu.cc_minor % 10};
  return {gpu.cc_major, gpu.cc_minor};
}

bool device_attribute(const arch::GpuSpec& gpu, int device, int number, int& value) {
  if (number <= 0 || number >= static_cast<int>(kH200Attributes.size())) return false;
  value = kH200Attributes[static_cast<std::size_t>(number)];
  const int cc = gpu.cc_major * 10 + gpu.cc_minor;
  switch (number) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      value = known(gpu.max_threads_per_block, value);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      value = known(gpu.shared_per_block, value);
      break;
    case cudaDevAttrTotalConstantMemory:
      value = known(gpu.constant_bytes, value);
      break;
    case cudaDevAttrWarpSize:
      value = known(gpu.warp_size, value);
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      value = known(gpu.registers_per_block, value);
      break;
    case cudaDevAttrClockRate:
      value = known(gpu.clock_mhz, kGigahertzInKhz, 1000);
      break;
    case cudaDevAttrMultiProcessorCount:
      value = known(gpu.sm_count, kOneSm);
      break;
    case cudaDevAttrPciBusId:
      value = device + 1;
      break;
    case cudaDevAttrMemoryClockRate:
      value = known(gpu.memory_clock_mhz, kGigahertzInKhz, 1000);
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      value = known(gpu.memory_bus_bits, kBusBits);
      break;
    case cudaDevAttrL2CacheSize:
      value = known(gpu.l2_bytes, kL2Bytes);
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      value = known(gpu.max_threads_per_sm, known(gpu.max_threads_per_block, value));
      break;
    case cudaDevAttrComputeCapabilityMajor:
      value = reported_capability(gpu).first;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      value = reported_capability(gpu).second;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      value = known(gpu.shared_per_sm, known(gpu.shared_per_block_optin, known(gpu.shared_per_block, value)));
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      value = known(gpu.registers_per_sm, known(gpu.registers_per_block, value));
      break;
    case cudaDevAttrMultiGpuBoardGroupID:
      value = device;
      break;
    case cudaDevAttrComputePreemptionSupported:
      value = cc >= 60;
      break;
    case cudaDevAttrConcurrentManagedAccess:
      value = cc >= 60;
      break;
    case cudaDevAttrCooperativeLaunch:
      value = cc >= 60;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      value = known(gpu.shared_per_block_optin, known(gpu.shared_per_block, value));
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      value = known(gpu.max_blocks_per_sm, kOneBlock);
      break;
    case cudaDevAttrMaxPersistingL2CacheSize:
      value = cc < 80 ? 0 : known(gpu.l2_bytes, kL2Bytes / 8 * 5, 0.625);
      break;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      value = cc < 80 ? 0 : value;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      value = known(gpu.shared_reserved_per_block, cc < 80 ? 0 : value);
      break;
    case cudaDevAttrClusterLaunch:
      value = cc >= 90;
      break;
    default:
      break;
  }
  return true;
}

std::string stand_ins(const arch::GpuSpec& gpu, int number) {
  bool asked = number == 0;
  std::string names;
  for (const StandIn& s : kStandIns) {
    if ((gpu.*s.number).known) continue;
    asked = asked || std::find(s.attributes.begin(), s.attributes.end(), number) != s.attributes.end();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", s.name);
  }
  return asked ? names : std::string();
}

std::string pci_bus_id(int device) { return fmt::format("0000:{:02X}:00.0", device + 1); }

namespace {

// Everything that both layouts have under the same names.
template <typename Properties>
void fill_common(const arch::GpuSpec& gpu, int device, Properties& p) {
  const auto attribute = [&](int number) {
    int value = 0;
    device_attribute(gpu, device, number, value);
    return value;
  };
  const auto size = [&](int number) { return static_cast<std::size_t>(attribute(number)); };
  std::memset(&p, 0, sizeof p);
  const std::string& name = gpu.full_name.empty() ? gpu.name : gpu.full_name;
  std::memcpy(p.name, name.data(), std::min(name.size(), sizeof p.name - 1));
  std::memcpy(p.uuid.bytes, "muscope device", 14);
  p.uuid.bytes[15] = static_cast<char>(device + 1);
  p.totalGlobalMem =
      gpu.memory_bytes.known ? static_cast<std::size_t>(gpu.memory_bytes.as_int()) : std::size_t{16} << 30;
  p.sharedMemPerBlock = size(cudaDevAttrMaxSharedMemoryPerBlock);
  p.regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = attribute(cudaDevAttrWarpSize);
  p.memPitch = size(cudaDevAttrMaxPitch);
  p.maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = attribute(cudaDevAttrMaxBlockDimX + i);
    p.maxGridSize[i] = attribute(cudaDevAttrMaxGridDimX + i);
  }
  p.totalConstMem = size(cudaDevAttrTotalConstantMemory);
  std::tie(p.major, p.minor) = reported_capability(gpu);
  p.textureAlignment = size(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = size(cudaDevAttrTexturePitchAlignment);
  p.multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  p.integrated = attribute(cudaDevAttrIntegrated);
  p.canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory);
  p.surfaceAlignment = size(cudaDevAttrSurfaceAlignment);
  p.concurrentKernels = attribute(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = attribute(cudaDevAttrEccEnabled);
  p.pciBusID = device + 1;
  p.asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = attribute(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  p.persistingL2CacheMaxSize = attribute(cudaDevAttrMaxPersistingL2CacheSize);
  p.maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = attribute(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = attribute(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = attribute(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = size(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = attribute(cudaDevAttrManagedMemory);
  p.multiGpuBoardGroupID = device;
  p.hostNativeAtomicSupported = attribute(cudaDevAttrHostNativeAtomicSupported);
  p.pageableMemoryAccess = attribute(cudaDevAttrPageableMemoryAccess);
  p.concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = attribute(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = attribute(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = size(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.pageableMemoryAccessUsesHostPageTables = attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
  p.directManagedMemAccessFromHost = attribute(cudaDevAttrDirectManagedMemAccessFromHost);
  p.maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.accessPolicyMaxWindowSize = attribute(cudaDevAttrMaxAccessPolicyWindowSize);
  p.reservedSharedMemPerBlock = size(cudaDevAttrReservedSharedMemoryPerBlock);
  p.hostRegisterSupported = attribute(cudaDevAttrHostRegisterSupported);
  p.sparseCudaArraySupported = attribute(cudaDevAttrSparseCudaArraySupported);
  p.hostRegisterReadOnlySupported = attribute(cudaDevAttrHostRegisterReadOnlySupported);
  p.timelineSemaphoreInteropSupported = attribute(cudaDevAttrTimelineSemaphoreInteropSupported);
  p.memoryPoolsSupported = attribute(cudaDevAttrMemoryPoolsSupported);
  p.gpuDirectRDMASupported = attribute(cudaDevAttrGPUDirectRDMASupported);
  p.gpuDirectRDMAFlushWritesOptions = static_cast<unsigned>(attribute(cudaDevAttrGPUDirectRDMAFlushWritesOptions));
  p.gpuDirectRDMAWritesOrdering = attribute(cudaDevAttrGPUDirectRDMAWritesOrdering);
  p.memoryPoolSupportedHandleTypes = static_cast<unsigned>(attribute(cudaDevAttrMemoryPoolSupportedHandleTypes));
  p.deferredMappingCudaArraySupported = attribute(cudaDevAttrDeferredMappingCudaArraySupported);
  p.ipcEventSupported = attribute(cudaDevAttrIpcEventSupport);
  p.clusterLaunch = attribute(cudaDevAttrClusterLaunch);
  p.unifiedFunctionPointers = attribute(kUnifiedFunctionPointers);
  // Texture and surface limits of the layouts' common block, cc 5.0 and later (CUDA C++ Programming Guide, "Technical
  // Specifications"; tests/counters/runtime_api_h200.txt).
  const auto set = [](int* to, std::initializer_list<int> values) { std::copy(values.begin(), values.end(), to); };
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  set(p.maxTexture2D, {131072, 65536});
  set(p.maxTexture2DMipmap, {32768, 32768});
  set(p.maxTexture2DLinear, {131072, 65000, 2097120});
  set(p.maxTexture2DGather, {32768, 32768});
  set(p.maxTexture3D, {16384, 16384, 16384});
  set(p.maxTexture3DAlt, {8192, 8192, 32768});
  p.maxTextureCubemap = 32768;
  set(p.maxTexture1DLayered, {32768, 2048});
  set(p.maxTexture2DLayered, {32768, 32768, 2048});
  set(p.maxTextureCubemapLayered, {32768, 2046});
  p.maxSurface1D = 32768;
  set(p.maxSurface2D, {131072, 65536});
  set(p.maxSurface3D, {16384, 16384, 16384});
  set(p.maxSurface1DLayered, {32768, 2048});
  set(p.maxSurface2DLayered, {32768, 32768, 2048});
  p.maxSurfaceCubemap = 32768;
  set(p.maxSurfaceCubemapLayered, {32768, 2046});
}

}  // namespace

void fill_properties(const arch::GpuSpec& gpu, int device, cudaDeviceProp& p) {
  fill_common(gpu, device, p);
  p.deviceNumaId = -1;
  p.hostNumaId = 0;
}

void fill_properties(const arch::GpuSpec& gpu, int device, DeviceProp12& p) {
  fill_common(gpu, device, p);
  const auto attribute = [&](int number) {
    int value = 0;
    device_attribute(gpu, device, number, value);
    return value;
  };
  p.clockRate = attribute(cudaDevAttrClockRate);
  p.memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
  p.deviceOverlap = attribute(cudaDevAttrGpuOverlap);
  p.maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth);
  p.singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
}

}  // namespace muscope::runtime
