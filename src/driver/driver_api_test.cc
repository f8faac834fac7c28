// The driver API as programs get it: through the stand-in for libcuda, with CUDA's names and types.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "driver/driver_abi.h"
#include "runtime/cuda_abi.h"

namespace muscope::driver {
namespace {

void* library(const char* name) {
  void* const handle =
      dlopen((std::string(MUSCOPE_BINARY_DIR) + "/lib/muscope/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) ADD_FAILURE() << dlerror();
  return handle;
}

template <typename Function>
Function* function(const char* name) {
  static void* const driver = library("libcuda.so.1");
  static void* const runtime = library("libcudart.so.13");
  void* const found = dlsym(std::strncmp(name, "cuda", 4) == 0 ? runtime : driver, name);
  if (found == nullptr) ADD_FAILURE() << name << " is not there";
  return reinterpret_cast<Function*>(found);
}

#define CU(name) (*function<decltype(::name)>(#name))

// Adds k to the first n floats at p; `counter` starts at 7.
constexpr const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry add(.param .u64 p, .param .u32 n, .param .f32 k) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .pred %p1;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [k];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;
  mul.wide.u32 %rd2, %r5, 4; cvta.to.global.u64 %rd1, %rd1; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; add.f32 %f2, %f2, %f1; st.global.f32 [%rd3], %f2;
done: ret;
})";

class DriverApi : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(CU(cuInit)(0), CUDA_SUCCESS);
    ASSERT_EQ(CU(cuCtxCreate_v2)(&context_, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override { CU(cuCtxDestroy_v2)(context_); }
  CUmodule load(const void* image) {
    CUmodule module = nullptr;
    EXPECT_EQ(CU(cuModuleLoadData)(&module, image), CUDA_SUCCESS);
    return module;
  }
  CUcontext context_ = nullptr;
};

TEST_F(DriverApi, LaunchesWithParametersOneByOneAndAsABlock) {
  const CUmodule module = load(kPtx);
  CUfunction add = nullptr;
  ASSERT_EQ(CU(cuModuleGetFunction)(&add, module, "add"), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(CU(cuMemAlloc_v2)(&memory, 400), CUDA_SUCCESS);
  std::vector<float> host(100, 1.0f);
  ASSERT_EQ(CU(cuMemcpyHtoD_v2)(memory, host.data(), 400), CUDA_SUCCESS);
  unsigned n = 100;
  float k = 2;
  void* params[] = {&memory, &n, &k};
  EXPECT_EQ(CU(cuLaunchKernel)(add, 4, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
  struct {
    CUdeviceptr p;
    unsigned n;
    float k;
  } block{memory, 50, 10};
  std::size_t bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(CU(cuLaunchKernel)(add, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(CU(cuLaunchKernel)(add, 4, 1, 1, 32, 1, 1, 0, nullptr, params, extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuLaunchKernel)(add, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  bytes = 12;
  EXPECT_EQ(CU(cuLaunchKernel)(add, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(CU(cuMemcpyDtoH_v2)(host.data(), memory, 400), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 13);
  EXPECT_EQ(host[49], 13);
  EXPECT_EQ(host[50], 3);
  EXPECT_EQ(host[99], 3);
}

TEST_F(DriverApi, HandlesThatAreNoneAreRefused) {
  CUfunction add = nullptr;
  CUmodule other = nullptr;
  const CUmodule module = load(kPtx);
  EXPECT_EQ(CU(cuModuleGetFunction)(&add, module, "nobody"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(CU(cuModuleGetFunction)(&add, nullptr, "add"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuModuleGetFunction)(&add, reinterpret_cast<CUmodule>(&add), "add"), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(CU(cuModuleGetFunction)(&add, module, "add"), CUDA_SUCCESS);
  ASSERT_EQ(CU(cuModuleUnload)(module), CUDA_SUCCESS);
  EXPECT_EQ(CU(cuModuleUnload)(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuLaunchKernel)(add, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(&add)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuStreamQuery)(reinterpret_cast<CUstream>(&add)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuModuleLoadData)(nullptr, kPtx), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuModuleLoadData)(&other, reinterpret_cast<const void*>(0x10)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverApi, WrongPtxGoesToTheErrorLog) {
  char log[500] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_EQ(CU(cuModuleLoadDataEx)(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f( {\n", 2,
                                   options, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("line 4"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log));
  EXPECT_EQ(CU(cuModuleLoadData)(&module, "no PTX at all"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(CU(cuModuleLoad)(&module, "/nowhere/at/all.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(DriverApi, VariablesHaveTheirFirstValues) {
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  const CUmodule module = load(kPtx);
  ASSERT_EQ(CU(cuModuleGetGlobal_v2)(&counter, &bytes, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  unsigned value = 0;
  ASSERT_EQ(CU(cuMemcpyDtoH_v2)(&value, counter, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(CU(cuModuleGetGlobal_v2)(&counter, &bytes, module, "nobody"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(DriverApi, ContextsStack) {
  CUcontext now = nullptr, other = nullptr, popped = nullptr;
  ASSERT_EQ(CU(cuCtxCreate_v2)(&other, 0, 0), CUDA_SUCCESS);
  CU(cuCtxGetCurrent)(&now);
  EXPECT_EQ(now, other);
  EXPECT_EQ(CU(cuCtxPopCurrent_v2)(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, other);
  CU(cuCtxGetCurrent)(&now);
  EXPECT_EQ(now, context_);
  EXPECT_EQ(CU(cuCtxPushCurrent_v2)(other), CUDA_SUCCESS);
  EXPECT_EQ(CU(cuCtxDestroy_v2)(other), CUDA_SUCCESS);
  CU(cuCtxGetCurrent)(&now);
  EXPECT_EQ(now, context_);
  EXPECT_EQ(CU(cuCtxPushCurrent_v2)(other), CUDA_ERROR_INVALID_CONTEXT);
  std::thread([] {
    CUcontext none = reinterpret_cast<CUcontext>(1);
    EXPECT_EQ(CU(cuCtxGetCurrent)(&none), CUDA_SUCCESS);
    EXPECT_EQ(none, nullptr);
    CUdeviceptr memory = 0;
    EXPECT_EQ(CU(cuMemAlloc_v2)(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(DriverApi, SharesMemoryAndDevicesWithTheRuntime) {
  void* pointer = nullptr;
  ASSERT_EQ(CU(cudaMalloc)(&pointer, 16), cudaSuccess);
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  EXPECT_EQ(CU(cuMemsetD32_v2)(address, 0x01020304, 4), CUDA_SUCCESS);
  unsigned char bytes[16] = {};
  EXPECT_EQ(CU(cudaMemcpy)(bytes, pointer, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(bytes[4], 4);
  EXPECT_EQ(bytes[7], 1);
  std::thread([] {
    ASSERT_EQ(CU(cudaSetDevice)(0), cudaSuccess);
    CUcontext primary = nullptr, now = nullptr;
    EXPECT_EQ(CU(cuDevicePrimaryCtxRetain)(&primary, 0), CUDA_SUCCESS);
    EXPECT_EQ(CU(cuCtxGetCurrent)(&now), CUDA_SUCCESS);
    EXPECT_EQ(now, primary);
    EXPECT_EQ(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(CU(cuMemFree_v2)(address), CUDA_SUCCESS);
  EXPECT_EQ(CU(cuMemFree_v2)(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cudaGetLastError)(), cudaSuccess);  // errors of the driver's calls are not the runtime's
}

TEST_F(DriverApi, LibrariesOfTheRuntime) {
  using Load = cudaError_t(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
  using GetKernel = cudaError_t(void**, void*, const char*);
  void *library = nullptr, *kernel = nullptr;
  ASSERT_EQ(function<Load>("cudaLibraryLoadData")(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  EXPECT_EQ(function<GetKernel>("cudaLibraryGetKernel")(&kernel, library, "nobody"),
            static_cast<cudaError_t>(CUDA_ERROR_NOT_FOUND));
  ASSERT_EQ(function<GetKernel>("cudaLibraryGetKernel")(&kernel, library, "add"), cudaSuccess);
  CUdeviceptr memory = 0;
  ASSERT_EQ(CU(cuMemAlloc_v2)(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(CU(cuMemsetD32_v2)(memory, 0, 1), CUDA_SUCCESS);
  unsigned n = 1;
  float k = 2.5f;
  void* params[] = {&memory, &n, &k};
  EXPECT_EQ(CU(cudaLaunchKernel)(kernel, dim3{1, 1, 1}, dim3{1, 1, 1}, params, 0, nullptr), cudaSuccess);
  EXPECT_EQ(CU(cuMemcpyDtoH_v2)(&k, memory, 4), CUDA_SUCCESS);
  EXPECT_EQ(k, 2.5f);
  EXPECT_EQ(function<cudaError_t(void*)>("cudaLibraryUnload")(library), cudaSuccess);
}

TEST_F(DriverApi, LinkedPiecesCallEachOther) {
  static char caller[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) twice(.param .b32 x);\n"
      ".visible .entry run(.param .u64 p) {\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\n"
      "cvta.to.global.u64 %rd2, %rd1;\nld.global.u32 %r1, [%rd2];\n{ .param .b32 a; .param .b32 b;\n"
      "st.param.b32 [a], %r1;\ncall.uni (b), twice, (a);\nld.param.b32 %r2, [b]; }\nst.global.u32 [%rd2], "
      "%r2;\nret;\n}\n";
  static char callee[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func (.param .b32 r) twice(.param .b32 x) {\n"
      ".reg .b32 %r<3>;\nld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n";
  CUlinkState link = nullptr;
  ASSERT_EQ(CU(cuLinkCreate_v2)(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (char* const text : {caller, callee})
    ASSERT_EQ(CU(cuLinkAddData_v2)(link, CU_JIT_INPUT_PTX, text, std::strlen(text) + 1, "piece", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  void* cubin = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(CU(cuLinkComplete)(link, &cubin, &size), CUDA_SUCCESS);
  const std::string copy(static_cast<const char*>(cubin), size);
  ASSERT_EQ(CU(cuLinkDestroy)(link), CUDA_SUCCESS);
  const CUmodule module = load(copy.data());
  CUfunction run = nullptr;
  ASSERT_EQ(CU(cuModuleGetFunction)(&run, module, "run"), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CU(cuMemAlloc_v2)(&memory, 4);
  CU(cuMemsetD32_v2)(memory, 21, 1);
  void* params[] = {&memory};
  EXPECT_EQ(CU(cuLaunchKernel)(run, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
  unsigned value = 0;
  CU(cuMemcpyDtoH_v2)(&value, memory, 4);
  EXPECT_EQ(value, 42u);
}

class MachineCodeOnly : public DriverApi {
 protected:
  CUresult load_file(const std::string& name) {
    return CU(cuModuleLoad)(&module_, (MUSCOPE_SOURCE_DIR "/tests/counters/binaries/" + name).c_str());
  }
  /// Runs a kernel of code.cu on 16 numbers with one thread, gives them back.
  std::vector<int> run(const char* name, std::vector<int> numbers, std::vector<int> more = {}) {
    CUfunction kernel = nullptr;
    EXPECT_EQ(CU(cuModuleGetFunction)(&kernel, module_, name), CUDA_SUCCESS) << name;
    numbers.resize(16);
    CUdeviceptr memory = 0;
    CU(cuMemAlloc_v2)(&memory, 64);
    CU(cuMemcpyHtoD_v2)(memory, numbers.data(), 64);
    void* params[] = {&memory, more.empty() ? nullptr : &more[0]};
    EXPECT_EQ(CU(cuLaunchKernel)(kernel, 1, 1, 1, threads_, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS) << name;
    EXPECT_EQ(CU(cuMemcpyDtoH_v2)(numbers.data(), memory, 64), CUDA_SUCCESS) << name;
    CU(cuMemFree_v2)(memory);
    return numbers;
  }
  CUmodule module_ = nullptr;
  unsigned threads_ = 1;
};

TEST_F(MachineCodeOnly, RunsFunctionsTablesAndConstants) {
  for (const char* const file : {"code_90.cubin", "code_90_linked.cubin"}) {
    ASSERT_EQ(load_file(file), CUDA_SUCCESS) << file;
    const auto called = run("calls", {0, 21, 5});
    EXPECT_EQ(called[0], 42) << file;
    EXPECT_EQ(called[3], 3 * 5 - 20) << file;
    EXPECT_EQ(run("indirect", {0, 0, 4})[0], 8) << file;
    EXPECT_EQ(run("indirect", {0, 1, 4})[0], 3 * 4 - 10) << file;
    EXPECT_EQ(run("constants", {})[0], 3 + 0 + 20) << file;
    const auto switched = run("switches", {0, 6, 7}, {0});
    EXPECT_EQ(switched[0], 42) << file;
    EXPECT_EQ(run("switches", {0, 0xff}, {2})[5], 8) << file;
    EXPECT_EQ(run("switches", {}, {9})[10], 1) << file;
  }
}

TEST_F(MachineCodeOnly, OfAnotherGpuIsRefused) {
  EXPECT_EQ(load_file("kernels_80.cubin"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(load_file("code_90_rdc.cubin"), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(DriverApi, FunctionsAreFoundByNameAndVersion) {
  void *old = nullptr, *now = nullptr, *none = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(CU(cuGetProcAddress_v2)("cuCtxCreate", &old, 11000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(CU(cuGetProcAddress_v2)("cuCtxCreate", &now, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_NE(old, now);
  EXPECT_EQ(CU(cuGetProcAddress_v2)("cuGraphCreate", &none, 9000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(CU(cuGetProcAddress_v2)("cuNobody", &none, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(none, nullptr);
  const char* name = nullptr;
  EXPECT_EQ(CU(cuGetErrorName)(CUDA_ERROR_INVALID_PTX, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_INVALID_PTX");
  EXPECT_EQ(CU(cuGetErrorName)(static_cast<CUresult>(998), &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(function<void>("cuMemExportToShareableHandle"))(),
            CUDA_ERROR_NOT_SUPPORTED);
  using EntryPoint = cudaError_t(const char*, void**, unsigned long long, int*);
  int found = 5;
  EXPECT_EQ(function<EntryPoint>("cudaGetDriverEntryPoint")("cuCtxCreate", &old, 0, &found), cudaSuccess);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(old, now);
  EXPECT_EQ(function<EntryPoint>("cudaGetDriverEntryPoint")("cuNobody", &old, 0, &found), cudaSuccess);
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace muscope::driver
