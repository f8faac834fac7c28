// All lanes on one word: in global memory, in shared memory, and as an atomic.
//
// A read of one word by all lanes is one sector in global memory and one wavefront in shared memory: the value is
// handed to all of them at once. Nothing is fetched 32 times. What costs is that a whole sector moves for 4 bytes. A
// write of one word by all lanes is one sector too; one of the values stays, and which one is not defined. Atomics on
// one word cannot be merged that way if every lane needs the old value: they are done one after the other.
#include "../example.h"

__global__ void readOneWord(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[blockIdx.x] + i;  // the same address for the whole block
}

__global__ void readOneSharedWord(const float* in, float* out) {
  __shared__ float values[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 8) values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[i] = values[threadIdx.x / 32];  // one word per warp
}

// The same value from every lane, so that it does not matter which one stays.
__global__ void writeOneWord(int* out) { out[blockIdx.x] = blockIdx.x * 10; }

// Every thread gets a ticket of its own.
__global__ void takeTickets(int* counter, int* tickets) {
  tickets[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1);
}

int main() {
  constexpr int kBlocks = 64;
  constexpr int kBlock = 256;
  constexpr int kThreads = kBlocks * kBlock;
  const std::vector<float> host = random_floats(kBlocks);
  const float* in = to_device(host);
  float* out = device_array<float>(kThreads);
  Verdict verdict;

  readOneWord<<<kBlocks, kBlock>>>(in, out);
  CHECK_LAUNCH();
  std::vector<float> got = to_host(out, kThreads);
  bool ok = true;
  for (int i = 0; i < kThreads; ++i) ok = ok && got[i] == host[i / kBlock] + static_cast<float>(i);
  verdict.expect(ok, "readOneWord");

  readOneSharedWord<<<kBlocks, kBlock>>>(in, out);
  CHECK_LAUNCH();
  got = to_host(out, kThreads);
  ok = true;
  for (int i = 0; i < kThreads; ++i) ok = ok && got[i] == host[i % kBlock / 32];
  verdict.expect(ok, "readOneSharedWord");

  int* words = device_array<int>(kBlocks);
  writeOneWord<<<kBlocks, kBlock>>>(words);
  CHECK_LAUNCH();
  const std::vector<int> written = to_host(words, kBlocks);
  for (int i = 0; i < kBlocks; ++i) verdict.expect(written[i] == i * 10, "writeOneWord");

  int* counter = to_device(std::vector<int>{0});
  int* tickets = device_array<int>(kThreads);
  takeTickets<<<kBlocks, kBlock>>>(counter, tickets);
  CHECK_LAUNCH();
  // Which thread got which ticket is not defined, but every ticket was given once.
  std::vector<bool> seen(kThreads, false);
  for (const int ticket : to_host(tickets, kThreads)) {
    ok = ticket >= 0 && ticket < kThreads && !seen[ticket];
    verdict.expect(ok, "takeTickets: every ticket once");
    if (!ok) break;
    seen[ticket] = true;
  }
  verdict.expect(to_host(counter, 1)[0] == kThreads, "takeTickets counts all threads");

  CHECK(cudaFree(const_cast<float*>(in)));
  CHECK(cudaFree(out));
  CHECK(cudaFree(words));
  CHECK(cudaFree(counter));
  CHECK(cudaFree(tickets));
  return verdict.finish();
}
