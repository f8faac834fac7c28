// What device code asks of the system: printing, the heap, assertions, traps, sleeping.
#ifndef MUSCOPE_DEVICE_SYSTEM_CALLS_H
#define MUSCOPE_DEVICE_SYSTEM_CALLS_H

#include <stddef.h>

#include "../../host_defines.h"

// PTX Writer's Guide to Interoperability, "System Calls". Clang turns printf into vprintf with an argument block.
extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ int printf(const char* format, ...);
__device__ void* malloc(size_t bytes) __attribute__((nothrow, malloc));
__device__ void free(void* pointer) __attribute__((nothrow));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t char_size);
// What the C library's assert() calls.
static MUSCOPE_INLINE __device__ void __assert_fail(const char* message, const char* file, unsigned line,
                                                    const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
// What the table of an abstract class points to.
inline __attribute__((nodebug)) __device__ void __cxa_pure_virtual() { asm volatile("trap;"); }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
MUSCOPE_DEVICE void __nanosleep(unsigned nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds)); }
#endif

MUSCOPE_DEVICE unsigned long long __globaltimer() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

#endif
