// What the CUDA driver API answers, call by call: one line "group | call -> code" or "group | value = number" each. It
// needs no nvcc. On a machine with a GPU:
//   g++ -std=c++17 -I /usr/local/cuda/include tests/programs/driver_api.cc -o driver_api -lcuda && ./driver_api
// Under muscope it must print tests/programs/driver_api.txt.
#include "driver_api.h"

#include <thread>

#include "driver_api_work.h"

namespace {

void before_init() {
  group = "before cuInit";
  int number = 0;
  CUdevice device = 0;
  CUcontext none = nullptr;
  R(cuDeviceGetCount(&number));
  R(cuDeviceGet(&device, 0));
  R(cuCtxGetCurrent(&none));
  R(cuDriverGetVersion(nullptr));
  R(cuInit(1));
  R(cuInit(0));
  R(cuInit(0));
}

void devices() {
  group = "devices";
  int number = 0, major = 0, minor = 0;
  char name[8] = "";
  size_t bytes = 0;
  CUdevice device = 0;
  R(cuDeviceGetCount(nullptr));
  R(cuDeviceGet(&device, 0));
  R(cuDeviceGet(&device, -1));
  R(cuDeviceGet(&device, 1000));
  R(cuDeviceGet(nullptr, 0));
  R(cuDeviceGetName(name, sizeof name, 0));
  V(std::strlen(name));
  R(cuDeviceGetName(nullptr, 8, 0));
  R(cuDeviceGetName(name, 8, 1000));
  R(cuDeviceTotalMem(&bytes, 0));
  R(cuDeviceTotalMem(nullptr, 0));
  R(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  V(number);
  R(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  V(number);
  R(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  V(number);
  R(cuDeviceGetAttribute(&number, static_cast<CUdevice_attribute>(0), 0));
  R(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  R(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1000));
  R(cuDeviceComputeCapability(&major, &minor, 0));
  V(major * 10 + minor);
}

void contexts() {
  group = "contexts";
  CUcontext now = nullptr, other = nullptr, primary = nullptr, again = nullptr;
  CUdevice device = 5;
  unsigned flags = 0, version = 0;
  int active = 5;
  CUdeviceptr memory = 0;
  R(cuCtxGetCurrent(&now));
  V(now == nullptr);
  R(cuCtxGetCurrent(nullptr));
  R(cuCtxGetDevice(&device));
  R(cuMemAlloc(&memory, 16));
  R(cuCtxSynchronize());
  R(cuCtxPopCurrent(&now));
  R(cuCtxPushCurrent(nullptr));
  R(cuDevicePrimaryCtxGetState(0, &flags, &active));
  V(active);
  R(cuDevicePrimaryCtxRetain(&primary, 0));
  R(cuDevicePrimaryCtxRetain(&again, 0));
  V(primary == again);
  R(cuDevicePrimaryCtxGetState(0, &flags, &active));
  V(active);
  R(cuCtxDestroy(primary));
  R(cuDevicePrimaryCtxRelease(0));
  R(cuDevicePrimaryCtxRelease(0));
  R(cuDevicePrimaryCtxRelease(0));
  R(cuDevicePrimaryCtxRetain(nullptr, 0));
  R(cuDevicePrimaryCtxRetain(&primary, 1000));
  R(CREATE(nullptr, 0, 0));
  R(CREATE(&context, 0, 1000));
  R(CREATE(&context, 0xffff, 0));
  R(CREATE(&context, CU_CTX_SCHED_AUTO, 0));
  R(cuCtxGetCurrent(&now));
  V(now == context);
  R(cuCtxGetDevice(&device));
  V(device);
  R(cuCtxGetFlags(&flags));
  R(cuCtxGetApiVersion(context, &version));
  V(version);
  R(CREATE(&other, CU_CTX_SCHED_YIELD, 0));
  R(cuCtxPopCurrent(&now));
  V(now == other);
  R(cuCtxPushCurrent(other));
  R(cuMemAlloc(&memory, 16));
  R(cuCtxDestroy(other));
  R(cuCtxGetCurrent(&now));
  V(now == context);
  R(cuMemFree(memory));
  R(cuCtxDestroy(nullptr));
  R(cuCtxSetCurrent(nullptr));
  R(cuCtxGetCurrent(&now));
  V(now == nullptr);
  R(cuCtxSetCurrent(context));
  size_t limit = 0;
  R(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  V(limit);
  R(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 5000));
  R(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  V(limit);
  R(cuCtxGetLimit(&limit, static_cast<CUlimit>(1000)));
  R(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  std::thread([] {
    CUcontext mine = context;
    CUdeviceptr pointer = 0;
    R(cuCtxGetCurrent(&mine));
    V(mine == nullptr);
    R(cuMemAlloc(&pointer, 16));
    R(cuCtxSetCurrent(context));
    R(cuMemAlloc(&pointer, 16));
    R(cuMemFree(pointer));
  }).join();
}

void modules() {
  group = "modules";
  CUmodule bad = nullptr;
  CUfunction none = nullptr;
  CUdeviceptr pointer = 0;
  size_t bytes = 0;
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(32)};
  R(cuModuleLoadDataEx(&module, kPtx, 3, options, values));
  V(std::strlen(log));
  R(cuModuleLoadData(nullptr, kPtx));
  R(cuModuleLoadData(&bad, nullptr));
  values[1] = reinterpret_cast<void*>(sizeof log);  // the first load wrote there how much it logged
  R(cuModuleLoadDataEx(&bad, kWrong, 2, options, values));
  V(std::strlen(log) > 10);
  V(reinterpret_cast<size_t>(values[1]) > 10);
  V(std::strstr(log, "line 7") != nullptr);
  R(cuModuleLoadData(&bad, "this is no PTX"));
  R(cuModuleLoadData(&bad,
                     "\x7f"
                     "ELF, or what looks like it: it has no more than a name and some blanks            "));
  R(cuModuleLoadDataEx(&bad, kPtx, 1, nullptr, nullptr));
  R(cuModuleLoad(&bad, "/nowhere/at/all.ptx"));
  R(cuModuleLoad(&bad, nullptr));
  R(cuModuleGetFunction(&add, module, "add"));
  R(cuModuleGetFunction(&store, module, "store"));
  R(cuModuleGetFunction(&shares, module, "shares"));
  R(cuModuleGetFunction(&nothing, module, "nothing"));
  R(cuModuleGetFunction(&none, module, "nobody"));
  R(cuModuleGetFunction(&none, module, nullptr));
  R(cuModuleGetFunction(nullptr, module, "add"));
  R(cuModuleGetFunction(&none, nullptr, "add"));
  R(cuModuleGetGlobal(&pointer, &bytes, module, "counter"));
  V(bytes);
  unsigned value = 0;
  R(cuMemcpyDtoH(&value, pointer, 4));
  V(value);
  R(cuModuleGetGlobal(&pointer, &bytes, module, "table"));
  V(bytes);
  R(cuMemcpyDtoH(&value, pointer + 12, 4));
  V(value);
  R(cuModuleGetGlobal(nullptr, &bytes, module, "counter"));
  R(cuModuleGetGlobal(&pointer, &bytes, module, "nobody"));
  R(cuModuleGetGlobal(&pointer, &bytes, module, nullptr));
  R(cuModuleUnload(nullptr));
  const std::string path = "driver_api_module.ptx";
  if (std::FILE* const file = std::fopen(path.c_str(), "w")) {
    std::fputs(kPtx, file);
    std::fclose(file);
  }
  R(cuModuleLoad(&bad, path.c_str()));
  R(cuModuleUnload(bad));
  std::remove(path.c_str());
}

void functions() {
  group = "functions";
  int value = 0;
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, store));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shares));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, add));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, add));
  V(value);
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shares));
  V(value);
  R(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, add));
  R(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(1000), add));
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
  R(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  R(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shares));
  V(value);
  R(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000000));
  R(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
  R(cuFuncSetCacheConfig(add, CU_FUNC_CACHE_PREFER_L1));
  CUmodule owner = nullptr;
  R(cuFuncGetModule(&owner, add));
  V(owner == module);
  int blocks = 0, threads = 0;
  R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  V(blocks);
  R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shares, 256, 100000));
  V(blocks);
  R(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, add, 256, 0));
  R(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0));
  R(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, add, nullptr, 0, 0));
  V(blocks);
  V(threads);
  R(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, store, nullptr, 0, 0));
  V(threads);
}

void launches() {
  group = "launches";
  CUdeviceptr memory = 0;
  R(cuMemAlloc(&memory, 4096));
  R(cuMemsetD32(memory, 0, 1024));
  unsigned n = 1000, v = 5;
  float k = 2.5f;
  void* params[] = {&memory, &n, &k};
  R(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr));
  struct {
    CUdeviceptr p;
    unsigned n;
    float k;
  } block{memory, 500, 1.0f};
  size_t bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  R(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  R(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, params, extra));
  R(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr));
  R(cuLaunchKernel(nullptr, 8, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr));
  R(cuLaunchKernel(add, 0, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr));
  R(cuLaunchKernel(add, 8, 1, 1, 2048, 1, 1, 0, nullptr, params, nullptr));
  R(cuLaunchKernel(add, 8, 70000, 1, 128, 1, 1, 0, nullptr, params, nullptr));
  R(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 1 << 20, nullptr, params, nullptr));
  void* store_params[] = {&memory, &v};
  R(cuLaunchKernel(store, 1, 1, 1, 256, 1, 1, 0, nullptr, store_params, nullptr));
  R(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  float first = 0, last = 0;
  R(cuMemcpyDtoH(&first, memory, 4));
  R(cuMemcpyDtoH(&last, memory + 3996, 4));
  V(first * 10);
  V(last * 10);
  R(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, store_params, nullptr));
  unsigned number = 0;
  R(cuMemcpyDtoH(&number, memory, 4));
  V(number);
  R(cuLaunchKernel(shares, 1, 1, 1, 256, 1, 1, 1024, nullptr, params, nullptr));
  R(cuMemcpyDtoH(&number, memory + 4 * 200, 4));
  V(number);
  R(cuLaunchCooperativeKernel(nothing, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  R(cuLaunchCooperativeKernel(nothing, 1000000, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  CUlaunchConfig config{};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  R(cuLaunchKernelEx(&config, add, params, nullptr));
  R(cuLaunchKernelEx(nullptr, add, params, nullptr));
  config.numAttrs = 1;
  R(cuLaunchKernelEx(&config, add, params, nullptr));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  config.attrs = &attribute;
  R(cuLaunchKernelEx(&config, add, params, nullptr));
  R(cuCtxSynchronize());
  R(cuMemFree(memory));
}

void names() {
  group = "names";
  const char* text = nullptr;
  R(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
  V(std::strcmp(text, "CUDA_ERROR_INVALID_PTX"));
  R(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  V(std::strcmp(text, "out of memory"));
  R(cuGetErrorName(static_cast<CUresult>(998), &text));
  void *function = nullptr, *other = nullptr;
  CUdriverProcAddressQueryResult status{};
  R(cuGetProcAddress("cuMemAlloc", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  V(function != nullptr);
  V(status);
  R(cuGetProcAddress("cuCtxCreate", &other, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  R(cuGetProcAddress("cuNobody", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  V(function == nullptr);
  V(status);
  R(cuGetProcAddress("cuLibraryLoadData", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  V(status);
  R(cuGetProcAddress("cuInit", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
}

void other_contexts() {
  group = "other contexts";
  CUcontext other = nullptr, now = nullptr;
  R(CREATE(&other, 0, 0));
  R(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CUmodule mine = nullptr;
  CUfunction same = nullptr;
  R(cuModuleLoadData(&mine, kPtx));
  R(cuModuleGetFunction(&same, mine, "nothing"));
  R(cuLaunchKernel(same, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  R(cuCtxSynchronize());
  R(cuCtxDestroy(other));
  R(cuCtxGetCurrent(&now));
  V(now == context);
}

void faults() {
  group = "faults";
  CUfunction fails = nullptr;
  CUdeviceptr memory = 0;
  CUcontext now = nullptr;
  CUdevice device = 0;
  R(cuModuleGetFunction(&fails, module, "fails"));
  R(cuLaunchKernel(fails, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  R(cuCtxSynchronize());
  R(cuCtxSynchronize());
  R(cuMemAlloc(&memory, 16));
  R(cuCtxGetCurrent(&now));
  R(cuCtxGetDevice(&device));
  R(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  R(cuCtxDestroy(context));
}

}  // namespace

int main() {
  before_init();
  devices();
  contexts();
  modules();
  functions();
  launches();
  memory_calls();
  copies();
  streams();
  linker();
  libraries();
  graphs();
  names();
  other_contexts();
  faults();
}
