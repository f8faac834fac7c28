// Host memory that a GPU works with: pageable, pinned, mapped (zero-copy), managed.
// clang-format off
//   pageable   malloc, new: the driver copies it to a pinned buffer first, then over the bus
//   pinned     cudaMallocHost: stays where it is, so the copy goes directly, also beside kernels (cudaMemcpyAsync)
//   mapped     cudaHostAllocMapped: no copy at all, the kernel reads the host's memory over the bus, each time it reads
//   managed    cudaMallocManaged: one pointer for both sides, pages move to where they are used
// clang-format on
// The kernel is the same for all of them. Only copies to and from device memory, or their absence, differ.
#include "../example.h"

__global__ void triple(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 3.0f;
}

__managed__ int launches_seen = 0;  // a managed variable: host and device use the same name

__global__ void countLaunch() { ++launches_seen; }

bool tripled(const float* got, const std::vector<float>& host) {
  for (size_t i = 0; i < host.size(); ++i) {
    if (got[i] != host[i] * 3.0f) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 256, 1 << 22);
  const size_t bytes = n * sizeof(float);
  const std::vector<float> host = random_floats(n);
  float* in = device_array<float>(n);
  float* out = device_array<float>(n);
  Verdict verdict;

  {  // pageable
    std::vector<float> result(n);
    CHECK(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
    triple<<<n / 256, 256>>>(in, out, n);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
    verdict.expect(tripled(result.data(), host), "pageable memory");
  }

  {  // pinned: copies and kernel are queued in a stream, the host waits once
    float* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, bytes));
    for (int i = 0; i < n; ++i) pinned[i] = host[i];
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemsetAsync(out, 0, bytes, stream));
    CHECK(cudaMemcpyAsync(in, pinned, bytes, cudaMemcpyHostToDevice, stream));
    triple<<<n / 256, 256, 0, stream>>>(in, out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(pinned, out, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    verdict.expect(tripled(pinned, host), "pinned memory");
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
  }

  {  // mapped: the kernel reads and writes the host's memory itself
    float* mapped_in = nullptr;
    float* mapped_out = nullptr;
    CHECK(cudaHostAlloc(&mapped_in, bytes, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&mapped_out, bytes, cudaHostAllocMapped));
    for (int i = 0; i < n; ++i) mapped_in[i] = host[i];
    float* device_in = nullptr;
    float* device_out = nullptr;
    CHECK(cudaHostGetDevicePointer(&device_in, mapped_in, 0));
    CHECK(cudaHostGetDevicePointer(&device_out, mapped_out, 0));
    triple<<<n / 256, 256>>>(device_in, device_out, n);
    CHECK_LAUNCH();  // without waiting, the host would look at results that are still on their way
    verdict.expect(tripled(mapped_out, host), "mapped memory");
    CHECK(cudaFreeHost(mapped_in));
    CHECK(cudaFreeHost(mapped_out));
  }

  {  // managed: written by the host, read by the device, read by the host again
    float* managed_in = nullptr;
    float* managed_out = nullptr;
    CHECK(cudaMallocManaged(&managed_in, bytes));
    CHECK(cudaMallocManaged(&managed_out, bytes));
    for (int i = 0; i < n; ++i) managed_in[i] = host[i];
    triple<<<n / 256, 256>>>(managed_in, managed_out, n);
    CHECK_LAUNCH();
    verdict.expect(tripled(managed_out, host), "managed memory");
    CHECK(cudaFree(managed_in));
    CHECK(cudaFree(managed_out));
  }

  launches_seen = 40;
  countLaunch<<<1, 1>>>();
  countLaunch<<<1, 1>>>();
  CHECK_LAUNCH();
  verdict.expect(launches_seen == 42, "a managed variable");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
