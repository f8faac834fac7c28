// Stands in for a program with a statically linked CUDA runtime: local functions with CUDA's names, which must never run
// when the engine is preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noipa, used))

KEEP static void** __cudaRegisterFatBinary(void* wrapper) {
  printf("own __cudaRegisterFatBinary %p\n", wrapper);
  return NULL;
}

KEEP static int cudaMalloc(void** pointer, size_t bytes) {
  printf("own cudaMalloc %zu\n", bytes);
  *pointer = NULL;
  return 999;
}

KEEP static int cudaMemset(void* pointer, int value, size_t bytes) {
  printf("own cudaMemset %p %d %zu\n", pointer, value, bytes);
  return 999;
}

KEEP static int cudaGetLastError(void) {
  printf("own cudaGetLastError %d\n", rand());
  return 999;
}

#ifdef MUSCOPE_OF_CUDA_11
KEEP static void __cudaRegisterTexture(void) {}
#endif

KEEP static int cudaThatNobodyKnows(void) { return 7; }

int main(int argc, char** argv) {
  void* pointer = NULL;
  (void)argv;
  if (argc > 5) __cudaRegisterFatBinary(NULL);
  const int allocated = cudaMalloc(&pointer, 64);
  const int filled = cudaMemset(pointer, 1, 64);
  const int beyond = cudaMemset(pointer, 1, 65);
  printf("malloc %d memset %d %d own %d\n", allocated, filled, beyond, cudaThatNobodyKnows());
  // The shared runtime is another copy, with errors of its own.
  int (*const shared)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "cudaGetLastError");
  const int of_shared = shared != NULL ? shared() : -1;
  const int of_own = cudaGetLastError();
  printf("last errors: shared %d own %d %d\n", of_shared, of_own, cudaGetLastError());
  return 0;
}
