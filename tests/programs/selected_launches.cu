// Launches inside and outside of what profilers are told to look at.
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

__global__ void a() {}
__global__ void b() {}
__global__ void c() {}
__global__ void d() {}
__global__ void e() {}

int main() {
  a<<<1, 1>>>();
  cudaProfilerStop();
  nvtxRangePushA("outer");
  b<<<1, 1>>>();
  cudaProfilerStart();
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  nvtxEventAttributes_t step = {};
  step.version = NVTX_VERSION;
  step.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  step.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  step.message.registered = nvtxDomainRegisterStringA(domain, "step");
  nvtxDomainRangePushEx(domain, &step);
  c<<<1, 1>>>();
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  cudaProfilerStop();
  const nvtxRangeId_t phase = nvtxRangeStartW(L"ph\u00e4se, two");
  d<<<1, 1>>>();
  cudaProfilerStart();
  e<<<1, 1>>>();
  nvtxRangeEnd(phase);
  return cudaDeviceSynchronize() != cudaSuccess;
}
