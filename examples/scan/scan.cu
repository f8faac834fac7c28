// Prefix sums of 512 elements in one block: two algorithms, and what bank conflicts do to the second.
// clang-format off
//   Hillis-Steele   log2(n) rounds, in each every thread adds the element d to its left: n log n additions, two buffers
//                   neighbouring lanes always touch neighbouring banks. Inclusive: element i holds the sum of 0..i.
//   Blelloch        a tree upwards and downwards; 2n additions, but thread t works on elements 2*d*(t+1) - 1, whose
//                   distance doubles with every level: 2-way, 4-way, ... 32-way conflicts.
//                   Exclusive: element i holds the sum of 0..i-1.
//   with padding    one unused word after every 32 moves such elements into different banks
// clang-format on
#include "../example.h"

constexpr int kElements = 512;

__global__ void scanHillisSteele(const int* in, int* out) {
  __shared__ int buffer[2][kElements];
  const int t = threadIdx.x;
  int now = 0;
  buffer[0][t] = in[blockIdx.x * kElements + t];
  __syncthreads();
  for (int distance = 1; distance < kElements; distance *= 2) {
    // Reading from one buffer and writing to the other: no thread overwrites what another still has to read.
    const int before = now;
    now = 1 - now;
    buffer[now][t] = buffer[before][t] + (t >= distance ? buffer[before][t - distance] : 0);
    __syncthreads();
  }
  out[blockIdx.x * kElements + t] = buffer[now][t];
}

template <bool kPadded>
__device__ int place(int i) {
  return kPadded ? i + i / 32 : i;
}

// 256 threads, two elements each.
template <bool kPadded>
__global__ void scanBlelloch(const int* in, int* out) {
  __shared__ int tree[kElements + kElements / 32];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kElements;
  tree[place<kPadded>(2 * t)] = in[first + 2 * t];
  tree[place<kPadded>(2 * t + 1)] = in[first + 2 * t + 1];

  // Upwards: each level adds the left child to the right one.
  int distance = 1;
  for (int active = kElements / 2; active > 0; active /= 2) {
    __syncthreads();
    if (t < active) {
      const int left = place<kPadded>(distance * (2 * t + 1) - 1);
      const int right = place<kPadded>(distance * (2 * t + 2) - 1);
      tree[right] += tree[left];
    }
    distance *= 2;
  }
  if (t == 0) tree[place<kPadded>(kElements - 1)] = 0;

  // Downwards: the left child gets what stands left of the pair, the right one that and the left child's sum.
  for (int active = 1; active < kElements; active *= 2) {
    distance /= 2;
    __syncthreads();
    if (t < active) {
      const int left = place<kPadded>(distance * (2 * t + 1) - 1);
      const int right = place<kPadded>(distance * (2 * t + 2) - 1);
      const int sum = tree[left];
      tree[left] = tree[right];
      tree[right] += sum;
    }
  }
  __syncthreads();
  out[first + 2 * t] = tree[place<kPadded>(2 * t)];
  out[first + 2 * t + 1] = tree[place<kPadded>(2 * t + 1)];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 17, kElements, 1 << 22);
  Random random;
  std::vector<int> host(n);
  for (int& value : host) value = static_cast<int>(random.below(1000)) - 300;
  std::vector<int> inclusive(n);
  std::vector<int> exclusive(n);
  for (int i = 0; i < n; ++i) {
    exclusive[i] = i % kElements == 0 ? 0 : inclusive[i - 1];
    inclusive[i] = exclusive[i] + host[i];
  }
  int* in = to_device(host);
  int* out = device_array<int>(n);
  const int blocks = n / kElements;
  Verdict verdict;

  scanHillisSteele<<<blocks, kElements>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, n) == inclusive, "scanHillisSteele");
  scanBlelloch<false><<<blocks, kElements / 2>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, n) == exclusive, "scanBlelloch");
  CHECK(cudaMemset(out, 0xa5, n * sizeof(int)));
  scanBlelloch<true><<<blocks, kElements / 2>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, n) == exclusive, "scanBlelloch, padded");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
