// The runtime's typed forms and its common calls.
#include <cuda_runtime.h>

#include <cstdio>

template <class T>
__global__ void kernel(T* data, int n) {
  data[threadIdx.x] = n;
}
__constant__ int limits[4];

#define CHECK(call)                                                                  \
  do {                                                                               \
    const cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                                     \
      std::printf("%s: %s\n", cudaGetErrorName(status), cudaGetErrorString(status)); \
      return 1;                                                                      \
    }                                                                                \
  } while (0)

int main() {
  int count = 0, device = 0, value = 0;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  float *a, *b, *mapped, *view;
  double* managed;
  size_t pitch, free_bytes, total_bytes;
  CHECK(cudaMalloc(&a, 1024));
  CHECK(cudaMallocPitch(&b, &pitch, 100, 100));
  CHECK(cudaMallocManaged(&managed, 1024));
  CHECK(cudaMallocHost(&mapped, 1024));
  CHECK(cudaHostAlloc(&mapped, 1024, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&view, mapped, 0));
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  CHECK(cudaMemset(a, 0, 1024));
  CHECK(cudaMemcpy2D(b, pitch, mapped, 100, 100, 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(limits, &value, sizeof value, 4));
  cudaStream_t stream;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end, cudaEventDefault));
  CHECK(cudaEventRecord(begin));
  CHECK(cudaMallocAsync(&a, 1024, stream));
  CHECK(cudaMemcpyAsync(a, mapped, 1024, cudaMemcpyHostToDevice, stream));
  kernel<float><<<1, 32, 0, stream>>>(a, 1);
  CHECK(cudaPeekAtLastError());
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaStreamWaitEvent(stream, end));
  CHECK(cudaEventSynchronize(end));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  int n = 3, blocks = 0, size = 0;
  void* arguments[] = {&a, &n};
  CHECK(cudaLaunchKernel(kernel<float>, dim3(1), dim3(32), arguments));
  CHECK(cudaLaunchKernel((const void*)kernel<float>, dim3(1), dim3(32), arguments, 0, stream));
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = 1;
  configuration.blockDim = 32;
  CHECK(cudaLaunchKernelEx(&configuration, kernel<float>, a, 4));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel<float>));
  CHECK(cudaFuncSetAttribute(kernel<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  CHECK(cudaFuncSetCacheConfig(kernel<double>, cudaFuncCachePreferShared));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &size, kernel<float>));
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &size, kernel<float>,
                                                       [](int threads) { return threads * 4; }));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<float>, 256, 0));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaMemPrefetchAsync(managed, 1024, device));
  CHECK(cudaMemAdvise(managed, 1024, cudaMemAdviseSetReadMostly, device));
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPrefetchAsync(managed, 1024, here, 0, stream));
  cudaMemcpy3DParms copy = {};
  copy.extent = make_cudaExtent(1, 2, 3);
  copy.srcPtr = make_cudaPitchedPtr(a, 16, 4, 4);
  CHECK(cudaMemcpy3D(&copy));
  CHECK(cudaThreadSynchronize());
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaFree(b));
  CHECK(cudaDeviceReset());
  return 0;
}
