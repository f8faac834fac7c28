// PTX, printing and processes for device_memory.cc and peers.cc.
#pragma once

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

inline const char kMemoryPtx[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 seen;
.visible .entry store(.param .u64 p, .param .u32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [v]; st.global.u32 [%rd1], %r1; ret;
}
.visible .entry load(.param .u64 p, .param .u32 v) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.global.u32 %r1, [%rd1]; st.global.u32 [seen], %r1; ret;
}
)";

inline const char* group = "";
inline CUcontext context = nullptr;
inline CUfunction store = nullptr, load = nullptr;

inline void say_result(const char* call, int code) {
  std::printf("%s | %s -> %d\n", group, call, code);
  std::fflush(stdout);
}
inline void say_value(const char* name, unsigned long long number) {
  std::printf("%s | %s = %llu\n", group, name, number);
  std::fflush(stdout);
}
#define R(call) say_result(#call, static_cast<int>(call))
#define V(expression) say_value(#expression, static_cast<unsigned long long>(expression))

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// Makes the device's primary context current, with the module loaded in it.
inline void start(const char* name, int device) {
  group = name;
  CUmodule module = nullptr;
  const bool ok = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
                  cuCtxSetCurrent(context) == CUDA_SUCCESS && cuModuleLoadData(&module, kMemoryPtx) == CUDA_SUCCESS &&
                  cuModuleGetFunction(&store, module, "store") == CUDA_SUCCESS &&
                  cuModuleGetFunction(&load, module, "load") == CUDA_SUCCESS;
  if (ok) return;
  std::printf("%s | cannot start -> 1\n", name);
  std::exit(1);
}

/// One thread; the code of the launch, or of the wait for its end.
inline int launch(CUfunction function, CUdeviceptr address, unsigned number) {
  void* arguments[] = {&address, &number};
  const CUresult launched = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  return launched != CUDA_SUCCESS ? launched : cuCtxSynchronize();
}

struct Group {
  void (*run)();
};

/// Each group in a child process; with a number, that group alone, here.
inline int run_groups(int argc, char** argv, const Group* groups, unsigned count) {
  if (argc > 1) return groups[static_cast<unsigned>(std::atoi(argv[1])) % count].run(), 0;
  for (unsigned i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      groups[i].run();
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("group %u | ended -> %d\n", i, status);
    std::fflush(stdout);
  }
  return 0;
}
