// Times, on a real GPU, what tutorials claim about memory access: docs/claims.md quotes the output.
//
// Build and run: nvcc -O2 -std=c++17 -arch=sm_90 -o claims claims.cu && ./claims > claims.txt
// Output: one line per measurement, separated by tabs: group, what, median, unit. Arrays are several times larger than
// L2, so that what is timed is device memory; each number is the median of 15 launches after 3 that are not counted.
#include "claims.h"

// Copies and block shapes.
template <typename T>
__global__ void copy(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void copyUnroll4(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  if (i + 3 * blockDim.x < n) {
    for (int k = 0; k < 4; ++k) out[i + k * blockDim.x] = in[i + k * blockDim.x];
  }
}
__global__ void copyMatrix(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * n + x] = in[y * n + x];
}
__global__ void strided(const float* in, float* out, int count, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i * stride];
}
__global__ void addShifted(const float* a, const float* b, float* c, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i + offset] + b[i + offset];
}
__global__ void addAligned(const float* a, const float* b, float* c, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i + offset] = a[i] + b[i];
}
__global__ void copyShiftedTexture(cudaTextureObject_t in, float* out, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(in, i + offset);
}
__global__ void copyShifted(const float* in, float* out, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}
__global__ void copyLdg(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ldg(in + i);
}

// Structures.
template <int kFields>
struct Record {
  float field[kFields];
};
template <int kFields>
__global__ void sumFields(const Record<kFields>* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < kFields; ++k) sum += in[i].field[k];
  out[i] = sum;
}
template <int kFields>
__global__ void sumArrays(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < kFields; ++k) sum += in[static_cast<size_t>(k) * n + i];
  out[i] = sum;
}
template <int kFields>
__global__ void oneField(const Record<kFields>* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].field[0];
}

// Transposes of an n x n matrix.
enum Way { kNaiveRow, kNaiveCol, kDiagonalRow, kDiagonalCol };
template <Way way>
__global__ void transposeGlobal(const float* in, float* out, int n) {
  int bx = blockIdx.x, by = blockIdx.y;
  if (way == kDiagonalRow || way == kDiagonalCol) {
    by = blockIdx.x;
    bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  }
  const int x = bx * blockDim.x + threadIdx.x;
  const int y = by * blockDim.y + threadIdx.y;
  if (way == kNaiveRow || way == kDiagonalRow) {
    out[x * n + y] = in[y * n + x];
  } else {
    out[y * n + x] = in[x * n + y];
  }
}
template <int kPadding>
__global__ void transposeTile(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPadding];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Constant and global masses: the article's kernel with four bodies, and one with 1,024.
constexpr int kBodies = 1024;
__constant__ float constant_masses[kBodies];
template <bool kConstant, int kCount>
__global__ void accelerate(const float* particles, const float* masses, const float* places, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = particles[i];
  float sum = 0;
  for (int k = 0; k < kCount; ++k) {
    const float d = x - places[k];
    sum += (kConstant ? constant_masses[k] : masses[k]) * d * rsqrtf(d * d + 0.01f);
  }
  out[i] = sum;
}
template <bool kConstant>
__global__ void lookUp(const int* index, const float* table, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kConstant ? constant_masses[index[i]] : table[index[i]];
}

// Sums and atomics.
enum Atomics { kEveryThread, kEveryThreadFloat, kPerWarp };
template <Atomics way>
__global__ void addAll(const int* in, int* sum, float* float_sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? in[i] : 0;
  if (way == kEveryThread) {
    atomicAdd(sum, value);
  } else if (way == kEveryThreadFloat) {
    atomicAdd(float_sum, static_cast<float>(value));
  } else {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
  }
}
template <bool kShared>
__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  if (kShared) {
    local[threadIdx.x] = 0;
    __syncthreads();
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(kShared ? &local[data[i]] : &bins[data[i]], 1u);
  }
  if (kShared) {
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  }
}
enum Reduction { kInterleaved, kSequential, kShuffle };
template <Reduction way>
__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
  float value = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) value += in[i];
  if (way == kShuffle) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
    if (t % 32 == 0) partial[t / 32] = value;
    __syncthreads();
    if (t < 8) {
      value = partial[t];
      for (int d = 4; d > 0; d /= 2) value += __shfl_down_sync(0xffu, value, d);
      if (t == 0) out[blockIdx.x] = value;
    }
    return;
  }
  partial[t] = value;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (way == kInterleaved) {
      const int k = 2 * step * t;
      if (k < 256) partial[k] += partial[k + step];
    } else {
      const int distance = 128 / step;
      if (t < distance) partial[t] += partial[t + distance];
    }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

// Reads with a chosen number of 16-byte loads under way per thread; dynamic shared memory sets the occupancy.
template <int kLoads>
__global__ void readMany(const float4* in, float* out, int n) {
  float4 value[kLoads];
  float sum = 0;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x * kLoads) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int at = i + k * gridDim.x * blockDim.x;
      value[k] = at < n ? in[at] : float4{0, 0, 0, 0};
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += value[k].x + value[k].y + value[k].z + value[k].w;
  }
  if (sum == 12345.678f) *out = sum;
}

// Latency: each load's result is the next load's address.
__global__ void chaseGlobal(const unsigned* next, int steps, long long* cycles, unsigned* end) {
  unsigned at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];  // brings it into the cache that it fits in
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) at = next[at];
  *cycles = clock64() - start;
  *end = at;
}
__global__ void chaseL2(const unsigned* next, int steps, long long* cycles, unsigned* end) {
  unsigned at = 0;
  for (int i = 0; i < steps; ++i) at = __ldcg(next + at);
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) at = __ldcg(next + at);
  *cycles = clock64() - start;
  *end = at;
}
__constant__ unsigned constant_next[512];
__global__ void chaseConstant(int steps, long long* cycles, unsigned* end, unsigned at) {
  for (int i = 0; i < steps; ++i) at = constant_next[at];
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) at = constant_next[at];
  *cycles = clock64() - start;
  *end = at;
}
// Every lane stays on one word, and `ways` lanes share each bank that is used; one warp.
__global__ void chaseShared(int ways, int steps, long long* cycles, unsigned* end) {
  __shared__ unsigned next[32 * 32];
  const unsigned lane = threadIdx.x;
  for (int i = lane; i < 32 * 32; i += 32) next[i] = i;
  __syncwarp();
  // 32 different words in 32 / ways banks: word = row * 32 + bank.
  unsigned at = (lane % ways) * 32 + lane / ways;
  for (int i = 0; i < steps; ++i) at = next[at];
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) at = next[at];
  if (lane == 0) *cycles = clock64() - start;
  end[lane] = at;
}

int main() {
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("# %s, runtime %d, driver API %d; median of %d launches\n", device.name, runtime, driver, kRuns);
  constexpr int n = 1 << 26;  // 256 MiB of floats; L2 holds 60 MB
  constexpr int side = 8192;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, (n + 1024) * sizeof(float)));
  CHECK(cudaMalloc(&b, (n + 1024) * sizeof(float)));
  CHECK(cudaMalloc(&c, (n + 1024) * sizeof(float)));
  CHECK(cudaMemset(a, 0, n * sizeof(float)));
  CHECK(cudaMemset(b, 0, n * sizeof(float)));

  line("copy", "float", time_of([&] { copy<<<n / 256, 256>>>(a, c, n); }));
  line("copy", "float2",
       time_of([&] { copy<<<n / 512, 256>>>(reinterpret_cast<float2*>(a), reinterpret_cast<float2*>(c), n / 2); }));
  line("copy", "float4",
       time_of([&] { copy<<<n / 1024, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(c), n / 4); }));
  line("copy", "float, four per thread", time_of([&] { copyUnroll4<<<n / 1024, 256>>>(a, c, n); }));
  line("copy", "__ldg", time_of([&] { copyLdg<<<n / 256, 256>>>(a, c, n); }));
  line("copy", "cudaMemcpy", time_of([&] { cudaMemcpyAsync(c, a, n * 4ull, cudaMemcpyDeviceToDevice); }));
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    line("block size", std::to_string(threads), time_of([&] { copy<<<n / threads, threads>>>(a, c, n); }));
  }
  for (const dim3 block :
       {dim3(256, 1), dim3(32, 8), dim3(16, 16), dim3(8, 32), dim3(4, 64), dim3(2, 128), dim3(1, 256)}) {
    line("block shape", std::to_string(block.x) + "x" + std::to_string(block.y),
         time_of([&] { copyMatrix<<<dim3(side / block.x, side / block.y), block>>>(a, c, side); }));
  }
  // 4 GiB, so that every stride and every structure below reads memory that no cache holds.
  constexpr int count = 1 << 25;
  float* wide = nullptr;
  CHECK(cudaMalloc(&wide, count * 32ull * sizeof(float)));
  CHECK(cudaMemset(wide, 0, count * 32ull * sizeof(float)));
  for (const int stride : {1, 2, 3, 4, 8, 16, 32}) {
    line("stride", std::to_string(stride), time_of([&] { strided<<<count / 256, 256>>>(wide, c, count, stride); }));
  }
  for (const int offset : {0, 1, 8, 11, 32}) {
    line("shifted loads", std::to_string(offset), time_of([&] { addShifted<<<n / 256, 256>>>(a, b, c, n, offset); }));
  }
  for (const int offset : {0, 1, 8}) {
    line("shifted stores", std::to_string(offset), time_of([&] { addAligned<<<n / 256, 256>>>(a, b, c, n, offset); }));
  }
  const cudaTextureObject_t texture = linear_texture(a, n + 1024);
  for (const int offset : {0, 1}) {
    line("shifted copy", "global " + std::to_string(offset),
         time_of([&] { copyShifted<<<n / 256, 256>>>(a, c, n, offset); }));
    line("shifted copy", "texture " + std::to_string(offset),
         time_of([&] { copyShiftedTexture<<<n / 256, 256>>>(texture, c, n, offset); }));
  }

  const auto record = [&](auto fields) {
    constexpr int k = decltype(fields)::value;
    const std::string name = std::to_string(k) + " fields, ";
    const auto* aos = reinterpret_cast<const Record<k>*>(wide);
    line("structures", name + "all used, AoS", time_of([&] { sumFields<k><<<count / 256, 256>>>(aos, c, count); }));
    line("structures", name + "all used, SoA", time_of([&] { sumArrays<k><<<count / 256, 256>>>(wide, c, count); }));
    line("structures", name + "one used, AoS", time_of([&] { oneField<k><<<count / 256, 256>>>(aos, c, count); }));
    line("structures", name + "one used, SoA", time_of([&] { copy<<<count / 256, 256>>>(wide, c, count); }));
  };
  record(std::integral_constant<int, 2>());
  record(std::integral_constant<int, 4>());
  record(std::integral_constant<int, 8>());
  CHECK(cudaFree(wide));

  const dim3 grid16(side / 16, side / 16), block16(16, 16), grid32(side / 32, side / 32), block32(32, 8);
  line("transpose", "copy", time_of([&] { copyMatrix<<<grid16, block16>>>(a, c, side); }));
  line("transpose", "naiveRow", time_of([&] { transposeGlobal<kNaiveRow><<<grid16, block16>>>(a, c, side); }));
  line("transpose", "naiveCol", time_of([&] { transposeGlobal<kNaiveCol><<<grid16, block16>>>(a, c, side); }));
  line("transpose", "diagonalRow", time_of([&] { transposeGlobal<kDiagonalRow><<<grid16, block16>>>(a, c, side); }));
  line("transpose", "diagonalCol", time_of([&] { transposeGlobal<kDiagonalCol><<<grid16, block16>>>(a, c, side); }));
  line("transpose", "tile, pitch 32", time_of([&] { transposeTile<0><<<grid32, block32>>>(a, c, side); }));
  line("transpose", "tile, pitch 33", time_of([&] { transposeTile<1><<<grid32, block32>>>(a, c, side); }));

  float* places = nullptr;
  float* masses = nullptr;
  CHECK(cudaMalloc(&places, kBodies * sizeof(float)));
  CHECK(cudaMalloc(&masses, kBodies * sizeof(float)));
  CHECK(cudaMemset(places, 0, kBodies * sizeof(float)));
  CHECK(cudaMemset(masses, 0, kBodies * sizeof(float)));
  const int particles = 1 << 20;
  line("masses", "4, constant", time_of([&] { accelerate<true, 4><<<n / 256, 256>>>(a, masses, places, c, n); }));
  line("masses", "4, global", time_of([&] { accelerate<false, 4><<<n / 256, 256>>>(a, masses, places, c, n); }));
  const auto with_bodies = [&](auto bodies) {
    constexpr int k = decltype(bodies)::value;
    line("masses", std::to_string(k) + ", constant",
         time_of([&] { accelerate<true, k><<<particles / 256, 256>>>(a, masses, places, c, particles); }));
    line("masses", std::to_string(k) + ", global",
         time_of([&] { accelerate<false, k><<<particles / 256, 256>>>(a, masses, places, c, particles); }));
  };
  with_bodies(std::integral_constant<int, 64>());
  with_bodies(std::integral_constant<int, 256>());
  with_bodies(std::integral_constant<int, kBodies>());

  const int m = 1 << 24;
  int* index = nullptr;
  CHECK(cudaMalloc(&index, m * sizeof(int)));
  for (const char* pattern : {"uniform", "one per lane", "random"}) {
    const std::string name = pattern;
    std::vector<int> host(m);
    unsigned state = 1;
    for (int i = 0; i < m; ++i) {
      state = state * 1664525u + 1013904223u;
      host[i] = name == "uniform" ? i / 32 % kBodies : name == "random" ? state >> 22 : i % kBodies;
    }
    CHECK(cudaMemcpy(index, host.data(), m * sizeof(int), cudaMemcpyHostToDevice));
    line("table", name + ", constant", time_of([&] { lookUp<true><<<m / 256, 256>>>(index, masses, c, m); }));
    line("table", name + ", global", time_of([&] { lookUp<false><<<m / 256, 256>>>(index, masses, c, m); }));
  }

  int* sum = nullptr;
  float* float_sum = nullptr;
  CHECK(cudaMalloc(&sum, 4));
  CHECK(cudaMalloc(&float_sum, 4));
  line("sum by atomics", "int, every thread",
       time_of([&] { addAll<kEveryThread><<<m / 256, 256>>>(index, sum, float_sum, m); }));
  line("sum by atomics", "float, every thread",
       time_of([&] { addAll<kEveryThreadFloat><<<m / 256, 256>>>(index, sum, float_sum, m); }));
  line("sum by atomics", "int, shuffles and one per warp",
       time_of([&] { addAll<kPerWarp><<<m / 256, 256>>>(index, sum, float_sum, m); }));
  unsigned char* bytes = nullptr;
  unsigned* bins = nullptr;
  CHECK(cudaMalloc(&bytes, m));
  CHECK(cudaMalloc(&bins, 1024));
  std::vector<unsigned char> data(m);
  unsigned state = 7;
  for (unsigned char& byte : data) byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  for (const char* what : {"uniform", "all equal"}) {
    if (what[0] == 'a') data.assign(m, 42);
    CHECK(cudaMemcpy(bytes, data.data(), m, cudaMemcpyHostToDevice));
    line("histogram", std::string(what) + ", global",
         time_of([&] { histogram<false><<<1056, 256>>>(bytes, bins, m); }));
    line("histogram", std::string(what) + ", shared", time_of([&] { histogram<true><<<1056, 256>>>(bytes, bins, m); }));
  }
  // One element per thread, so that the tree is most of the work; and a grid that just fills the GPU.
  for (const int blocks : {n / 256, 1056}) {
    const std::string name = std::to_string(blocks) + " blocks, ";
    line("reduction", name + "interleaved", time_of([&] { reduce<kInterleaved><<<blocks, 256>>>(a, c, n); }));
    line("reduction", name + "sequential", time_of([&] { reduce<kSequential><<<blocks, 256>>>(a, c, n); }));
    line("reduction", name + "shuffle", time_of([&] { reduce<kShuffle><<<blocks, 256>>>(a, c, n); }));
  }

  const auto* vectors = reinterpret_cast<const float4*>(a);
  for (const int blocks_per_sm : {1, 2, 4, 8}) {
    const size_t shared =
        blocks_per_sm == 8 ? 0 : (228 * 1024) / blocks_per_sm - 1024 - (blocks_per_sm == 1 ? 1024 : 0);
    const std::string name = std::to_string(blocks_per_sm * 8) + " warps per SM, ";
    const int grid = device.multiProcessorCount * blocks_per_sm;
    CHECK(cudaFuncSetAttribute(readMany<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    CHECK(cudaFuncSetAttribute(readMany<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    line("occupancy", name + "1 load at a time",
         time_of([&] { readMany<1><<<grid, 256, shared>>>(vectors, c, n / 4); }));
    line("occupancy", name + "4 loads at a time",
         time_of([&] { readMany<4><<<grid, 256, shared>>>(vectors, c, n / 4); }));
  }

  host_memory(c, n / 4);

  long long* cycles = nullptr;
  unsigned* end = nullptr;
  CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
  CHECK(cudaMalloc(&end, 32 * sizeof(unsigned)));
  const auto latency = [&](const std::string& what, int steps) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    line("latency", what, static_cast<double>(*cycles) / steps, "cycles");
  };
  const auto chain = [&](size_t words, size_t step) {  // next[i] = i + step, round and round
    std::vector<unsigned> next(words);
    for (size_t i = 0; i < words; ++i) next[i] = static_cast<unsigned>((i + step) % words);
    CHECK(cudaMemcpy(a, next.data(), words * sizeof(unsigned), cudaMemcpyHostToDevice));
    return reinterpret_cast<const unsigned*>(a);
  };
  for (const int ways : {1, 2, 4, 8, 16, 32}) {
    chaseShared<<<1, 32>>>(ways, 4096, cycles, end);
    latency("shared, " + std::to_string(ways) + "-way", 4096);
  }
  chaseGlobal<<<1, 1>>>(chain(4096, 8), 512, cycles, end);
  latency("L1", 512);
  chaseL2<<<1, 1>>>(chain(1 << 18, 32), 8192, cycles, end);
  latency("L2", 8192);
  chaseL2<<<1, 1>>>(chain(n, 32 * 1024 + 32), 2047, cycles, end);
  CHECK(cudaDeviceSynchronize());
  chain(n, 32 * 1024 + 32);  // copying 256 MiB throws everything out of L2
  CHECK(cudaMemset(b, 0, n * 4ull));
  chaseCold<<<1, 1>>>(reinterpret_cast<const unsigned*>(a), 2000, cycles, end);
  latency("device memory", 2000);
  std::vector<unsigned> next(512);
  for (unsigned i = 0; i < 512; ++i) next[i] = (i + 1) % 512;
  CHECK(cudaMemcpyToSymbol(constant_next, next.data(), 2048));
  chaseConstant<<<1, 1>>>(1024, cycles, end, 0);
  latency("constant cache", 1024);
  return 0;
}
