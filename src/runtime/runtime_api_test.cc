// The runtime as programs get it: through the shim, with CUDA's names and types. No kernels here.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cuda_abi.h"

namespace muscope::runtime {
namespace {

void* shim(int version) {
  static void* const loaded[] = {
      dlopen((std::string(MUSCOPE_BINARY_DIR) + "/lib/muscope/libcudart.so.11.0").c_str(), RTLD_NOW | RTLD_LOCAL),
      dlopen((std::string(MUSCOPE_BINARY_DIR) + "/lib/muscope/libcudart.so.12").c_str(), RTLD_NOW | RTLD_LOCAL),
      dlopen((std::string(MUSCOPE_BINARY_DIR) + "/lib/muscope/libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL),
  };
  void* const handle = loaded[version - 11];
  if (handle == nullptr) ADD_FAILURE() << dlerror();
  return handle;
}

template <typename Function>
Function* function(const char* name, int version = 13) {
  void* const found = dlsym(shim(version), name);
  if (found == nullptr) ADD_FAILURE() << name << " is not in libcudart.so." << version;
  return reinterpret_cast<Function*>(found);
}

#define CUDA(name) (*function<decltype(::name)>(#name))

class RuntimeApi : public ::testing::Test {
 protected:
  void SetUp() override { CUDA(cudaGetLastError)(); }
  void TearDown() override {
    for (void* const pointer : device_) CUDA(cudaFree)(pointer);
  }
  char* device(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(CUDA(cudaMalloc)(&pointer, bytes), cudaSuccess);
    device_.push_back(pointer);
    return static_cast<char*>(pointer);
  }
  std::vector<void*> device_;
};

TEST_F(RuntimeApi, SonamesAndVersionNodesAreCudas) {
  for (const int version : {11, 12, 13}) {
    const std::string node = "libcudart.so." + std::to_string(version) + (version == 11 ? ".0" : "");
    EXPECT_NE(dlvsym(shim(version), "cudaMalloc", node.c_str()), nullptr) << node;
    EXPECT_NE(dlvsym(shim(version), "__cudaRegisterFatBinary", node.c_str()), nullptr) << node;
  }
  int number = 0;
  EXPECT_EQ(function<decltype(::cudaRuntimeGetVersion)>("cudaRuntimeGetVersion", 12)(&number), cudaSuccess);
  EXPECT_EQ(number / 1000, 12);
  EXPECT_EQ(CUDA(cudaRuntimeGetVersion)(&number), cudaSuccess);
  EXPECT_EQ(number, 13000);
}

TEST_F(RuntimeApi, ErrorsHaveCudasNamesAndAreRememberedPerThread) {
  EXPECT_STREQ(CUDA(cudaGetErrorName)(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(CUDA(cudaGetErrorString)(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(CUDA(cudaGetErrorString)(static_cast<cudaError_t>(12345)), "unrecognized error code");
  EXPECT_EQ(CUDA(cudaSetDevice)(100), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(CUDA(cudaPeekAtLastError)(), cudaSuccess); }).join();
  EXPECT_EQ(CUDA(cudaPeekAtLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(CUDA(cudaGetLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(CUDA(cudaGetLastError)(), cudaSuccess);
}

TEST_F(RuntimeApi, CopiesThereAndBack) {
  char* const a = device(1000);
  char* const b = device(1000);
  std::vector<char> out(1000), in(1000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7);
  EXPECT_EQ(CUDA(cudaMemcpy)(a, in.data(), 1000, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpy)(b, a, 1000, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpy)(out.data(), b, 1000, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(CUDA(cudaMemset)(b + 10, 5, 20), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpyAsync)(out.data(), b, 1000, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  std::fill(in.begin() + 10, in.begin() + 30, 5);
  EXPECT_EQ(out, in);
}

// Codes as in tests/counters/runtime_api_h200.txt.
TEST_F(RuntimeApi, CopiesRefuseWhatAnH200Refuses) {
  char* const a = device(100);
  char* const b = device(100);
  char host[256] = {};
  const auto copy = [](void* to, const void* from, std::size_t bytes, int kind) {
    return static_cast<int>(CUDA(cudaMemcpy)(to, from, bytes, static_cast<cudaMemcpyKind>(kind)));
  };
  EXPECT_EQ(copy(a, host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(a + 50, host, 51, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host, a, 101, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(a, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(a, reinterpret_cast<void*>(16), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(const_cast<char*>("constant"), a, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(copy(a, host, 4, 7), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(copy(a, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host, a, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(a, host, 4, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(copy(a, b, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(copy(host, host + 100, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaMemset)(host, 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaMemset)(a, 0, 101), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaFree)(a + 4), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaFree)(host), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaFree)(nullptr), cudaSuccess);
}

TEST_F(RuntimeApi, TwoDimensionalCopies) {
  char* const a = device(4096);
  std::vector<unsigned char> host(64 * 8), back(32 * 8, 0xff);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i);
  EXPECT_EQ(CUDA(cudaMemset)(a, 0, 4096), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpy2D)(a, 512, host.data(), 64, 20, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpy2D)(back.data(), 32, a, 512, 21, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t y = 0; y < 8; ++y) {
    EXPECT_EQ(std::memcmp(&back[y * 32], &host[y * 64], 20), 0) << y;
    EXPECT_EQ(back[y * 32 + 20], 0);
    EXPECT_EQ(back[y * 32 + 21], 0xff);
  }
  EXPECT_EQ(CUDA(cudaMemcpy2D)(a, 19, host.data(), 64, 20, 8, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(CUDA(cudaMemcpy2D)(a, 512, host.data(), 64, 20, 9, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
}

TEST_F(RuntimeApi, ThreeDimensionalMemoryAndCopies) {
  cudaPitchedPtr block{};
  ASSERT_EQ(CUDA(cudaMalloc3D)(&block, {100, 3, 2}), cudaSuccess);
  device_.push_back(block.ptr);
  EXPECT_EQ(block.pitch, 512U);
  EXPECT_EQ(CUDA(cudaMemset3D)(block, 9, {100, 3, 2}), cudaSuccess);
  std::vector<char> host(50 * 4 * 2, 1);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = block;
  copy.srcPos = {60, 1, 0};
  copy.dstPtr = {host.data(), 50, 50, 4};
  copy.dstPos = {5, 2, 0};
  copy.extent = {40, 2, 2};
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(CUDA(cudaMemcpy3D)(&copy), cudaSuccess);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 50; ++x) {
        const bool copied = x >= 5 && x < 45 && y >= 2;
        ASSERT_EQ(host[(z * 4 + y) * 50 + x], copied ? 9 : 1) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(RuntimeApi, ArraysHoldTexels) {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaArray_t array = nullptr;
  ASSERT_EQ(CUDA(cudaMallocArray)(&array, &format, 10, 4, 0), cudaSuccess);
  std::vector<float> host(40), back(40);
  for (std::size_t i = 0; i < 40; ++i) host[i] = static_cast<float>(i);
  EXPECT_EQ(CUDA(cudaMemcpy2DToArray)(array, 0, 0, host.data(), 40, 40, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemcpy2DToArray)(array, 4, 0, host.data(), 40, 40, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaMemcpyFromArray)(back.data(), array, 8, 1, 100, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < 25; ++i) EXPECT_EQ(back[i], static_cast<float>(12 + i));
  cudaChannelFormatDesc got{};
  cudaExtent extent{};
  EXPECT_EQ(CUDA(cudaArrayGetInfo)(&got, &extent, nullptr, array), cudaSuccess);
  EXPECT_EQ(got.x, 32);
  EXPECT_EQ(extent.width, 10U);
  EXPECT_EQ(extent.depth, 0U);
  EXPECT_EQ(CUDA(cudaFreeArray)(array), cudaSuccess);
  const cudaChannelFormatDesc three{32, 32, 32, 0, cudaChannelFormatKindFloat};
  EXPECT_EQ(CUDA(cudaMallocArray)(&array, &three, 10, 4, 0), cudaErrorInvalidChannelDescriptor);
  EXPECT_EQ(CUDA(cudaMallocArray)(&array, &format, 0, 0, 0), cudaErrorInvalidValue);
}

cudaPointerAttributes attributes_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(CUDA(cudaPointerGetAttributes)(&attributes, pointer), cudaSuccess);
  return attributes;
}

TEST_F(RuntimeApi, PointersSayWhatTheyAre) {
  char* const a = device(1000);
  EXPECT_EQ(attributes_of(a + 999).type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes_of(a + 999).devicePointer, a + 999);
  EXPECT_EQ(attributes_of(a + 999).hostPointer, nullptr);
  EXPECT_EQ(attributes_of(a + 1000).type, cudaMemoryTypeUnregistered);
  int local = 0;
  EXPECT_EQ(attributes_of(&local).type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes_of(&local).device, -2);
  EXPECT_EQ(attributes_of(&local).hostPointer, &local);
  void* managed = nullptr;
  ASSERT_EQ(CUDA(cudaMallocManaged)(&managed, 100, cudaMemAttachGlobal), cudaSuccess);
  std::memset(managed, 1, 100);
  EXPECT_EQ(attributes_of(managed).type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes_of(managed).hostPointer, managed);
  EXPECT_EQ(CUDA(cudaFreeHost)(managed), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaFree)(managed), cudaSuccess);
}

TEST_F(RuntimeApi, PinnedAndRegisteredMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(CUDA(cudaMallocHost)(&pinned, 5000), cudaSuccess);
  std::memset(pinned, 1, 5000);
  EXPECT_EQ(attributes_of(pinned).type, cudaMemoryTypeHost);
  void* as_device = nullptr;
  EXPECT_EQ(CUDA(cudaHostGetDevicePointer)(&as_device, pinned, 0), cudaSuccess);
  EXPECT_EQ(as_device, pinned);
  EXPECT_EQ(CUDA(cudaFree)(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaFreeHost)(pinned), cudaSuccess);
  EXPECT_EQ(CUDA(cudaFreeHost)(pinned), cudaErrorInvalidValue);
  alignas(4096) static char plain[8192];
  EXPECT_EQ(CUDA(cudaHostRegister)(plain, 4096, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(CUDA(cudaHostRegister)(plain, 8192, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  unsigned flags = 0;
  EXPECT_EQ(CUDA(cudaHostGetFlags)(&flags, plain), cudaSuccess);
  EXPECT_EQ(flags, 2U);
  EXPECT_EQ(CUDA(cudaHostUnregister)(plain), cudaSuccess);
  EXPECT_EQ(CUDA(cudaHostUnregister)(plain), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(CUDA(cudaHostAlloc)(&pinned, 16, 0x100), cudaErrorInvalidValue);
}

TEST_F(RuntimeApi, AllocationEdges) {
  void* pointer = &pointer;
  EXPECT_EQ(CUDA(cudaMalloc)(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(CUDA(cudaMalloc)(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(CUDA(cudaMalloc)(nullptr, 16), cudaErrorInvalidValue);
  std::size_t pitch = 0;
  EXPECT_EQ(CUDA(cudaMallocPitch)(&pointer, &pitch, 513, 2), cudaSuccess);
  EXPECT_EQ(pitch, 1024U);
  EXPECT_EQ(CUDA(cudaFree)(pointer), cudaSuccess);
  std::size_t free_before = 0, free_after = 0, total = 0;
  EXPECT_EQ(CUDA(cudaMemGetInfo)(&free_before, &total), cudaSuccess);
  device(64 << 20);
  EXPECT_EQ(CUDA(cudaMemGetInfo)(&free_after, &total), cudaSuccess);
  EXPECT_EQ(free_before - free_after, std::size_t{64} << 20);
  EXPECT_LE(free_before, total);
}

TEST_F(RuntimeApi, TheHeapOfKernelsIsRoundedAsAnH200Does) {
  for (const auto& [asked, given] : {std::pair<std::size_t, std::size_t>{1, 4194304},
                                     {5000000, 5046272},
                                     {64000000, 64028672},
                                     {100000000, 100007936}}) {
    std::size_t limit = 0;
    EXPECT_EQ(CUDA(cudaDeviceSetLimit)(cudaLimitMallocHeapSize, asked), cudaSuccess);
    EXPECT_EQ(CUDA(cudaDeviceGetLimit)(&limit, cudaLimitMallocHeapSize), cudaSuccess);
    EXPECT_EQ(limit, given);
  }
}

TEST_F(RuntimeApi, StreamOrderedAllocation) {
  void* pointer = nullptr;
  cudaMemPool_t pool = nullptr;
  std::uint64_t used = 0;
  ASSERT_EQ(CUDA(cudaDeviceGetDefaultMemPool)(&pool, 0), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMallocAsync)(&pointer, 1000, nullptr), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 1000U);
  EXPECT_EQ(CUDA(cudaFreeAsync)(pointer, nullptr), cudaSuccess);
  EXPECT_EQ(CUDA(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(CUDA(cudaFreeAsync)(&used, nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeApi, StreamsAndEvents) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(CUDA(cudaStreamCreateWithPriority)(&stream, cudaStreamNonBlocking, -100), cudaSuccess);
  int priority = 0;
  unsigned flags = 0;
  EXPECT_EQ(CUDA(cudaStreamGetPriority)(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(CUDA(cudaStreamGetFlags)(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, 1U);
  cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(CUDA(cudaEventCreate)(&start), cudaSuccess);
  ASSERT_EQ(CUDA(cudaEventCreate)(&stop), cudaSuccess);
  ASSERT_EQ(CUDA(cudaEventCreateWithFlags)(&untimed, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventQuery)(start), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventElapsedTime)(&milliseconds, start, stop), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(CUDA(cudaEventRecord)(start, stream), cudaSuccess);
  usleep(2000);
  EXPECT_EQ(CUDA(cudaEventRecord)(stop, stream), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventSynchronize)(stop), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventElapsedTime)(&milliseconds, start, stop), cudaSuccess);
  EXPECT_GE(milliseconds, 2.0F);
  EXPECT_EQ(CUDA(cudaEventRecord)(untimed, stream), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventElapsedTime)(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  int called = 0;
  EXPECT_EQ(CUDA(cudaLaunchHostFunc)(stream, [](void* data) { *static_cast<int*>(data) = 7; }, &called), cudaSuccess);
  EXPECT_EQ(CUDA(cudaStreamSynchronize)(stream), cudaSuccess);
  EXPECT_EQ(called, 7);
  for (cudaEvent_t event : {start, stop, untimed}) EXPECT_EQ(CUDA(cudaEventDestroy)(event), cudaSuccess);
  EXPECT_EQ(CUDA(cudaEventDestroy)(start), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(CUDA(cudaStreamDestroy)(stream), cudaSuccess);
  EXPECT_EQ(CUDA(cudaStreamSynchronize)(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(CUDA(cudaStreamDestroy)(nullptr), cudaErrorInvalidResourceHandle);
}

/// A structure as an older CUDA has it, with bytes behind it that must stay as they are.
class Older {
 public:
  explicit Older(std::size_t bytes) : bytes_(bytes), memory_(bytes + 256, char{0x5a}) {}
  template <typename T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, memory_.data() + offset, sizeof value);
    return value;
  }
  void* get() { return memory_.data(); }
  bool kept() const { return memory_.find_first_not_of(char{0x5a}, bytes_) == std::string::npos; }

 private:
  std::size_t bytes_;
  std::string memory_;
};

// Sizes and offsets: the headers of CUDA 11.8.
TEST_F(RuntimeApi, OlderProgramsGetNoByteMoreThanTheyHaveRoomFor) {
  using Get = cudaError_t(void*, unsigned long long);
  char* const memory = device(16);
  for (const int version : {11, 12}) {
    Older properties(728);
    ASSERT_EQ((*function<cudaError_t(void*, int)>("cudaGetDeviceProperties", version))(properties.get(), 0),
              cudaSuccess);
    EXPECT_STREQ(static_cast<char*>(properties.get()), "NVIDIA H200");
    EXPECT_EQ(properties.at<int>(360), 9);                // major
    EXPECT_EQ(properties.at<int>(388), 132);              // multiProcessorCount
    EXPECT_EQ(properties.at<std::size_t>(696), 232448u);  // sharedMemPerBlockOptin
    EXPECT_EQ(properties.at<std::size_t>(720), 1024u);    // reservedSharedMemPerBlock
    EXPECT_TRUE(properties.kept());
    Older pointer(24);
    ASSERT_EQ((*function<cudaError_t(void*, const void*)>("cudaPointerGetAttributes", version))(pointer.get(), memory),
              cudaSuccess);
    EXPECT_EQ(pointer.at<int>(0), cudaMemoryTypeDevice);
    EXPECT_EQ(pointer.at<void*>(8), memory);
    EXPECT_TRUE(pointer.kept());

    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
    ASSERT_EQ(CUDA(cudaMallocArray)(&array, &format, 8, 8, 0), cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc{};
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = cudaAddressModeClamp;
    cudaTextureObject_t texture = 0;
    ASSERT_EQ(function<decltype(::cudaCreateTextureObject)>("cudaCreateTextureObject", version)(&texture, &resource,
                                                                                                &desc, nullptr),
              cudaSuccess);
    Older back(64), sampling(version == 11 ? 68 : 72);
    ASSERT_EQ((*function<Get>("cudaGetTextureObjectResourceDesc", version))(back.get(), texture), cudaSuccess);
    EXPECT_EQ(back.at<cudaArray_t>(8), array);
    EXPECT_TRUE(back.kept());
    ASSERT_EQ((*function<Get>("cudaGetTextureObjectTextureDesc", version))(sampling.get(), texture), cudaSuccess);
    EXPECT_EQ(sampling.at<int>(0), cudaAddressModeClamp);
    EXPECT_TRUE(sampling.kept());
    EXPECT_EQ(CUDA(cudaDestroyTextureObject)(texture), cudaSuccess);
    EXPECT_EQ(CUDA(cudaFreeArray)(array), cudaSuccess);
  }
}

// CUDA 11 gives a place for a node and a text in place of flags.
TEST_F(RuntimeApi, GraphsOfCuda11) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(CUDA(cudaGraphCreate)(&graph, 0), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = reinterpret_cast<cudaGraphNode_t>(8);
  char text[8] = "before";
  using Instantiate = cudaError_t(cudaGraphExec_t*, cudaGraph_t, cudaGraphNode_t*, char*, std::size_t);
  ASSERT_EQ((*function<Instantiate>("cudaGraphInstantiate", 11))(&exec, graph, &node, text, sizeof text), cudaSuccess);
  EXPECT_EQ(node, nullptr);
  EXPECT_STREQ(text, "");
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
  using Update = cudaError_t(cudaGraphExec_t, cudaGraph_t, cudaGraphNode_t*, cudaGraphExecUpdateResult*);
  EXPECT_EQ((*function<Update>("cudaGraphExecUpdate", 11))(exec, graph, &node, &result), cudaSuccess);
  EXPECT_EQ(result, cudaGraphExecUpdateSuccess);
  EXPECT_EQ(CUDA(cudaGraphExecDestroy)(exec), cudaSuccess);
  EXPECT_EQ(CUDA(cudaGraphDestroy)(graph), cudaSuccess);
}

TEST_F(RuntimeApi, PropertiesAreThoseOfTheGpu) {
  cudaDeviceProp properties;
  ASSERT_EQ(CUDA(cudaGetDeviceProperties)(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "NVIDIA H200");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.sharedMemPerBlock, 49152U);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 232448U);
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(properties.maxGridSize[0], 2147483647);
  EXPECT_EQ(properties.clusterLaunch, 1);
  DeviceProp12 older;
  ASSERT_EQ(function<cudaError_t(DeviceProp12*, int)>("cudaGetDeviceProperties_v2", 12)(&older, 0), cudaSuccess);
  EXPECT_STREQ(older.name, "NVIDIA H200");
  EXPECT_EQ(older.totalGlobalMem, properties.totalGlobalMem);
  EXPECT_EQ(older.warpSize, 32);
  EXPECT_GT(older.clockRate, 1000000);
  EXPECT_GT(older.memoryClockRate, 1000000);
  EXPECT_EQ(older.sharedMemPerBlockOptin, 232448U);
  int value = 0;
  EXPECT_EQ(CUDA(cudaDeviceGetAttribute)(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, 132);
  EXPECT_EQ(CUDA(cudaDeviceGetAttribute)(&value, static_cast<cudaDeviceAttr>(250), 0), cudaErrorInvalidValue);
  EXPECT_EQ(CUDA(cudaGetDeviceProperties)(&properties, 1), cudaErrorInvalidDevice);
  char id[16];
  EXPECT_EQ(CUDA(cudaDeviceGetPCIBusId)(id, sizeof id, 0), cudaSuccess);
  EXPECT_EQ(CUDA(cudaDeviceGetByPCIBusId)(&value, id), cudaSuccess);
  EXPECT_EQ(value, 0);
}

TEST_F(RuntimeApi, UnknownKernelsAndSymbolsAreErrors) {
  static int not_a_symbol = 0;
  void* arguments[] = {nullptr};
  EXPECT_EQ(CUDA(cudaLaunchKernel)(&not_a_symbol, dim3(1), dim3(1), arguments, 0, nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(CUDA(cudaLaunchKernel)(nullptr, dim3(1), dim3(1), arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(CUDA(cudaMemcpyToSymbol)(&not_a_symbol, &not_a_symbol, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  void* pointer = nullptr;
  EXPECT_EQ(CUDA(cudaGetSymbolAddress)(&pointer, &not_a_symbol), cudaErrorInvalidSymbol);
}

TEST_F(RuntimeApi, LaunchConfigurationsNest) {
  const auto push = function<unsigned(dim3, dim3, std::size_t, void*)>("__cudaPushCallConfiguration");
  const auto pop = function<cudaError_t(dim3*, dim3*, std::size_t*, void*)>("__cudaPopCallConfiguration");
  EXPECT_EQ(push(dim3(1, 2, 3), dim3(4, 5, 6), 7, reinterpret_cast<void*>(8)), 0U);
  EXPECT_EQ(push(dim3(9), dim3(10), 0, nullptr), 0U);
  dim3 grid, block;
  std::size_t shared = 1;
  void* stream = &stream;
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 9U);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3U);
  EXPECT_EQ(block.y, 5U);
  EXPECT_EQ(shared, 7U);
  EXPECT_EQ(stream, reinterpret_cast<void*>(8));
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

TEST_F(RuntimeApi, WhatIsNotThereSaysSo) {
  cudaIpcMemHandle_t handle;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CUDA(cudaIpcGetMemHandle)(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(CUDA(cudaGetLastError)(), cudaErrorNotSupported);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("D501"), std::string::npos) << said;
  EXPECT_NE(said.find("cudaIpcGetMemHandle"), std::string::npos) << said;
}

TEST_F(RuntimeApi, AForkedChildCannotGoOn) {
  device(16);
  const pid_t child = fork();
  if (child == 0) {
    void* pointer = nullptr;
    int count = 0;
    const bool good = CUDA(cudaMalloc)(&pointer, 16) == cudaErrorInitializationError &&
                      CUDA(cudaGetLastError)() == cudaErrorInitializationError &&
                      CUDA(cudaGetDeviceCount)(&count) == cudaSuccess && count == 1;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muscope::runtime
