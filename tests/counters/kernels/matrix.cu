// Matrices: loads and stores of 8 x 8 halves with rows in any place of shared memory, products of every type, tiles by
// ldmatrix and by wmma. Values are small whole numbers, so that every sum is exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "check.h"

using std::uint32_t;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

template <int kCount, bool kTransposed>
__device__ void load_matrices(unsigned address, uint32_t (&r)[4]) {
  if constexpr (kCount == 1 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address));
  if constexpr (kCount == 1 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address));
  if constexpr (kCount == 2 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address));
  if constexpr (kCount == 2 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address));
  if constexpr (kCount == 4 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  if constexpr (kCount == 4 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

/// Lane l's row begins at 16 * rows[l] bytes; shared memory holds 0, 1, 2 ... as 16-bit numbers.
template <int kCount, bool kTransposed>
__global__ void load_rows(const int* rows, uint32_t* out) {
  __shared__ __align__(128) unsigned short s[8192];
  for (int k = threadIdx.x; k < 8192; k += blockDim.x) s[k] = static_cast<unsigned short>(k);
  __syncthreads();
  uint32_t r[4] = {};
  load_matrices<kCount, kTransposed>(shared_address(s) + 16 * rows[threadIdx.x % 32], r);
  for (int n = 0; n < kCount; ++n) out[(blockIdx.x * kCount + n) * blockDim.x + threadIdx.x] = r[n];
}

template <int kCount, bool kTransposed>
__global__ void store_rows(const int* rows, uint32_t* out) {
  __shared__ __align__(128) unsigned short s[8192];
  for (int k = threadIdx.x; k < 8192; k += blockDim.x) s[k] = 0;
  __syncthreads();
  const unsigned address = shared_address(s) + 16 * rows[threadIdx.x % 32];
  const uint32_t v = (2 * threadIdx.x) | (2 * threadIdx.x + 1) << 16, next = 0x00400040;
  if constexpr (kCount == 1 && !kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address), "r"(v) : "memory");
  if constexpr (kCount == 2 && !kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(v), "r"(v + next)
                 : "memory");
  if constexpr (kCount == 4 && !kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v),
                 "r"(v + next), "r"(v + 2 * next), "r"(v + 3 * next)
                 : "memory");
  if constexpr (kCount == 4 && kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v),
                 "r"(v + next), "r"(v + 2 * next), "r"(v + 3 * next)
                 : "memory");
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) out[k] = reinterpret_cast<uint32_t*>(s)[k];
}

__global__ void transpose_in_registers(uint32_t* out) {
  uint32_t r = (2 * threadIdx.x) | (2 * threadIdx.x + 1) << 16;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r));
  out[threadIdx.x] = r;
}

// ---- products of one warp: A [rows][k], B [column][k], C and D [rows][8], all in global memory, elements as T

template <typename T, typename S, int kRows, int kK>
struct Product;  // one specialisation per instruction: run(a, b, c)

#define PRODUCT(T, S, rows, k, na, nb, nc, text)                                     \
  template <>                                                                        \
  struct Product<T, S, rows, k> {                                                    \
    static constexpr int kA = na, kB = nb, kC = nc;                                  \
    static __device__ void run(const uint32_t* a, const uint32_t* b, uint32_t* c) { \
      text;                                                                          \
    }                                                                                \
  }
#define SUMS4 "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
#define MMA_421(shape)                                                                                              \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                     \
               : SUMS4                                                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define MMA_442(shape)                                                                                              \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
               : SUMS4                                                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
struct Tf32 {
  float v;
};
struct E4m3 {
  unsigned char v;
};
PRODUCT(__half, float, 16, 8, 2, 1, 4, MMA_421("m16n8k8.row.col.f32.f16.f16.f32"));
PRODUCT(__half, float, 16, 16, 4, 2, 4, MMA_442("m16n8k16.row.col.f32.f16.f16.f32"));
PRODUCT(__nv_bfloat16, float, 16, 8, 2, 1, 4, MMA_421("m16n8k8.row.col.f32.bf16.bf16.f32"));
PRODUCT(__nv_bfloat16, float, 16, 16, 4, 2, 4, MMA_442("m16n8k16.row.col.f32.bf16.bf16.f32"));
PRODUCT(Tf32, float, 16, 4, 2, 1, 4, MMA_421("m16n8k4.row.col.f32.tf32.tf32.f32"));
PRODUCT(Tf32, float, 16, 8, 4, 2, 4, MMA_442("m16n8k8.row.col.f32.tf32.tf32.f32"));
PRODUCT(signed char, int, 16, 16, 2, 1, 4, MMA_421("m16n8k16.row.col.s32.s8.s8.s32"));
PRODUCT(signed char, int, 16, 32, 4, 2, 4, MMA_442("m16n8k32.row.col.s32.s8.s8.s32"));
PRODUCT(unsigned char, int, 16, 32, 4, 2, 4, MMA_442("m16n8k32.row.col.satfinite.s32.u8.u8.s32"));
PRODUCT(E4m3, float, 16, 32, 4, 2, 4, MMA_442("m16n8k32.row.col.f32.e4m3.e4m3.f32"));
PRODUCT(signed char, int, 8, 16, 1, 1, 2,
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+r"(c[0]), "+r"(c[1])
                     : "r"(a[0]), "r"(b[0])));

/// Loads fragments by the layouts of the PTX manual, multiplies, stores. `out` begins as C.
template <typename T, typename S, int kRows, int kK>
__global__ void product(const T* a, const T* b, S* out) {
  using P = Product<T, S, kRows, kK>;
  constexpr int kPer = 4 / sizeof(T), kHalves = kRows / 8;
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  uint32_t ra[P::kA], rb[P::kB], rc[P::kC];
  for (int r = 0; r < P::kA; ++r)
    ra[r] = *reinterpret_cast<const uint32_t*>(a + (g + 8 * (r % kHalves)) * kK + t * kPer + r / kHalves * 4 * kPer);
  for (int r = 0; r < P::kB; ++r) rb[r] = *reinterpret_cast<const uint32_t*>(b + g * kK + t * kPer + r * 4 * kPer);
  uint32_t* words = reinterpret_cast<uint32_t*>(out);
  for (int r = 0; r < P::kC; ++r) rc[r] = words[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2];
  P::run(ra, rb, rc);
  for (int r = 0; r < P::kC; ++r) words[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = rc[r];
}

template <int kRows, int kK>
__global__ void product_double(const double* a, const double* b, double* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  constexpr int kHalves = kRows / 8, kA = kRows * kK / 32, kB = kK / 4, kC = kRows / 4;
  double ra[kA], rb[kB], c[kC];
  for (int r = 0; r < kA; ++r) ra[r] = a[(g + 8 * (r % kHalves)) * kK + t + r / kHalves * 4];
  for (int r = 0; r < kB; ++r) rb[r] = b[g * kK + t + 4 * r];
  for (int r = 0; r < kC; ++r) c[r] = out[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2];
  if constexpr (kRows == 8)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(ra[0]), "d"(rb[0]));
  if constexpr (kRows == 16 && kK == 8)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(ra[0]), "d"(ra[1]), "d"(ra[2]), "d"(ra[3]), "d"(rb[0]), "d"(rb[1]));
  if constexpr (kRows == 16 && kK == 16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, "
        "%13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(ra[0]), "d"(ra[1]), "d"(ra[2]), "d"(ra[3]), "d"(ra[4]), "d"(ra[5]), "d"(ra[6]), "d"(ra[7]), "d"(rb[0]),
          "d"(rb[1]), "d"(rb[2]), "d"(rb[3]));
  for (int r = 0; r < kC; ++r) out[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = c[r];
}

// ---- tiles

/// C = A B of n x n halves, blocks of 4 warps and 32 x 32; rows of kPitch halves in shared memory.
template <int kPitch>
__global__ void tiles_by_ldmatrix(int n, const __half* a, const __half* b, float* c) {
  __shared__ __align__(128) __half sa[32 * kPitch], sb[32 * kPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
  const int r = warp / 2 * 16, q = warp % 2 * 16;
  float sum[2][4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int e = threadIdx.x; e < 32 * 4; e += blockDim.x) {
      const int y = e / 4, x = e % 4 * 8;
      *reinterpret_cast<uint4*>(sa + y * kPitch + x) = *reinterpret_cast<const uint4*>(a + (row + y) * n + k + x);
      *reinterpret_cast<uint4*>(sb + y * kPitch + x) = *reinterpret_cast<const uint4*>(b + (k + y) * n + column + x);
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 16) {
      uint32_t fa[4], fb[4];
      load_matrices<4, false>(shared_address(sa + (r + lane % 16) * kPitch + step + lane / 16 * 8), fa);
      load_matrices<4, true>(shared_address(sb + (step + lane % 16) * kPitch + q + lane / 16 * 8), fb);
      for (int half = 0; half < 2; ++half) {
        uint32_t s[4];
        for (int i = 0; i < 4; ++i) s[i] = __float_as_uint(sum[half][i]);
        Product<__half, float, 16, 16>::run(fa, fb + 2 * half, s);
        for (int i = 0; i < 4; ++i) sum[half][i] = __uint_as_float(s[i]);
      }
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i)
      c[(row + r + lane / 4 + 8 * (i / 2)) * n + column + q + 8 * half + lane % 4 * 2 + i % 2] = sum[half][i];
}

/// The same by wmma, one warp per 16 x 16, fragments out of global memory.
template <typename T, typename S, typename BLayout>
__global__ void tiles_by_wmma(int n, const T* a, const T* b, S* c) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 16, T, row_major> fa;
  fragment<matrix_b, 16, 16, 16, T, BLayout> fb;
  fragment<accumulator, 16, 16, 16, S> sum;
  fill_fragment(sum, S(0));
  constexpr bool kRow = std::is_same_v<BLayout, row_major>;
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, kRow ? b + k * n + column : b + column * n + k, n);
    mma_sync(sum, fa, fb, sum);
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

/// Fragments out of shared memory.
__global__ void tiles_by_shared_wmma(int n, const __half* a, const __half* b, __half* c) {
  using namespace nvcuda::wmma;
  __shared__ __align__(128) __half sa[16 * 16], sb[16 * 16];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, __half> sum;
  fill_fragment(sum, __float2half(0));
  for (int k = 0; k < n; k += 16) {
    for (int e = threadIdx.x; e < 256; e += 32) {
      sa[e] = a[(row + e / 16) * n + k + e % 16];
      sb[e] = b[(k + e / 16) * n + column + e % 16];
    }
    __syncwarp();
    load_matrix_sync(fa, sa, 16);
    load_matrix_sync(fb, sb, 16);
    mma_sync(sum, fa, fb, sum);
    __syncwarp();
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

__global__ void tiles_of_doubles(int n, const double* a, const double* b, double* c) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 8, column = blockIdx.x * 8;
  fragment<matrix_a, 8, 8, 4, double, row_major> fa;
  fragment<matrix_b, 8, 8, 4, double, row_major> fb;
  fragment<accumulator, 8, 8, 4, double> sum;
  fill_fragment(sum, 0.0);
  for (int k = 0; k < n; k += 4) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + column, n);
    mma_sync(sum, fa, fb, sum);
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

__global__ void tiles_of_tf32(int n, const float* a, const float* b, float* c) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
  fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> fb;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 8) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + column * n + k, n);
    mma_sync(sum, fa, fb, sum);
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}

// ---- host

template <int kCount, bool kTransposed>
void try_load(const char* name, const std::vector<int>& pattern) {
  Buffer<int> rows(32);
  Buffer<uint32_t> out(32 * kCount);
  rows.host = pattern;
  rows.up();
  load_rows<kCount, kTransposed><<<1, 32>>>(rows.device, out.device);
  check(name, out, [&](std::size_t i) {
    const int n = int(i / 32), g = int(i % 32 / 4), t = int(i % 4);
    const auto at = [&](int row, int column) { return uint32_t(8 * pattern[8 * n + row] + column); };
    return kTransposed ? at(2 * t, g) | at(2 * t + 1, g) << 16 : at(g, 2 * t) | at(g, 2 * t + 1) << 16;
  });
}

/// Rows that no two lanes share.
template <int kCount, bool kTransposed>
void try_store(const char* name, const std::vector<int>& pattern) {
  Buffer<int> rows(32);
  Buffer<uint32_t> out(4096);
  rows.host = pattern;
  rows.up();
  store_rows<kCount, kTransposed><<<1, 32>>>(rows.device, out.device);
  std::vector<unsigned short> want(8192);
  for (int n = 0; n < kCount; ++n)
    for (int e = 0; e < 64; ++e) {
      const int row = kTransposed ? e % 8 : e / 8, column = kTransposed ? e / 8 : e % 8;
      want[8 * pattern[8 * n + row] + column] = static_cast<unsigned short>(e + 64 * n);
    }
  check(name, out, [&](std::size_t i) { return uint32_t(want[2 * i]) | uint32_t(want[2 * i + 1]) << 16; });
}

float as_float(__half v) { return __half2float(v); }
float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }
float as_float(Tf32 v) { return v.v; }
float as_float(signed char v) { return v; }
float as_float(unsigned char v) { return v; }
float as_float(E4m3 v) { return v.v == 0 ? 0.0f : (v.v & 0x80 ? -1.0f : 1.0f) * std::ldexp(1.0f + (v.v & 7) / 8.0f, (v.v >> 3 & 15) - 7); }
void set(__half& v, int i) { v = __float2half(float(i)); }
void set(__nv_bfloat16& v, int i) { v = __float2bfloat16(float(i)); }
void set(Tf32& v, int i) { v.v = float(i); }
void set(signed char& v, int i) { v = static_cast<signed char>(i); }
void set(unsigned char& v, int i) { v = static_cast<unsigned char>(i & 7); }
void set(E4m3& v, int i) { v.v = static_cast<unsigned char>(i == 0 ? 0 : 0x38 + (i & 7) + (i < 0 ? 0x80 : 0)); }

template <typename T, typename S, int kRows, int kK>
void try_product(const char* name) {
  Buffer<T> a(kRows * kK), b(8 * kK);
  Buffer<S> out(kRows * 8);
  uint32_t state = kK;
  for (T& v : a.host) set(v, int(next_number(state) % 15) - 7);
  for (T& v : b.host) set(v, int(next_number(state) % 15) - 7);
  for (S& v : out.host) v = S(int(next_number(state) % 1000) - 500);
  const std::vector<S> c = out.host;
  a.up(), b.up(), out.up();
  product<T, S, kRows, kK><<<1, 32>>>(a.device, b.device, out.device);
  check(name, out, [&](std::size_t i) {
    double sum = double(c[i]);
    for (int k = 0; k < kK; ++k)
      sum += double(as_float(a.host[i / 8 * kK + k])) * double(as_float(b.host[i % 8 * kK + k]));
    return sum;
  });
}

template <int kRows, int kK>
void try_doubles(const char* name) {
  Buffer<double> a(kRows * kK), b(8 * kK), out(kRows * 8);
  uint32_t state = kK;
  for (double& v : a.host) v = int(next_number(state) % 1001) - 500;
  for (double& v : b.host) v = int(next_number(state) % 1001) - 500;
  for (double& v : out.host) v = int(next_number(state) % 1001) - 500;
  const std::vector<double> c = out.host;
  a.up(), b.up(), out.up();
  product_double<kRows, kK><<<1, 32>>>(a.device, b.device, out.device);
  check(name, out, [&](std::size_t i) {
    double sum = c[i];
    for (int k = 0; k < kK; ++k) sum += a.host[i / 8 * kK + k] * b.host[i % 8 * kK + k];
    return sum;
  });
}

/// n x n times n x n; b_of(k, column) reads B.
template <typename T, typename S, typename Launch>
void try_tiles(const char* name, int n, bool b_by_columns, Launch launch) {
  Buffer<T> a(n * n), b(n * n);
  Buffer<S> c(n * n);
  std::vector<int> ia(n * n), ib(n * n);
  uint32_t state = 7;
  for (int i = 0; i < n * n; ++i) {
    ia[i] = int(next_number(state) % 5) - 2, ib[i] = int(next_number(state) % 5) - 2;
    a.host[i] = static_cast<T>(static_cast<float>(ia[i])), b.host[i] = static_cast<T>(static_cast<float>(ib[i]));
  }
  a.up(), b.up();
  launch(a.device, b.device, c.device);
  check(name, c, [&](std::size_t i) {
    int sum = 0;
    const int row = int(i) / n, column = int(i) % n;
    for (int k = 0; k < n; ++k) sum += ia[row * n + k] * (b_by_columns ? ib[column * n + k] : ib[k * n + column]);
    return sum;
  });
}

int main() {
  const auto pattern = [](auto row) {
    std::vector<int> rows(32);
    for (int l = 0; l < 32; ++l) rows[l] = row(l);
    return rows;
  };
  const auto every = [&](int step) { return pattern([step](int l) { return step * l; }); };
  const auto side_by_side = every(1), two_way = every(2), four_way = every(4), eight_way = every(8), padded = every(9);
  const auto same = every(0), pairs = pattern([](int l) { return 8 * (l / 2); });
  const auto pairs_of_two = pattern([](int l) { return 8 * (l / 4 * 2 + l % 2); });
  const auto crossed = pattern([](int l) { return l % 8 * 4 + l / 8; }), backwards = pattern([](int l) { return 31 - l; });
  uint32_t state = 3;
  const auto random = pattern([&](int) { return int(next_number(state) % 64); });
  const auto shuffled = pattern([&](int l) { return 32 * int(next_number(state) % 8) + l * 5 % 32; });
  try_load<1, false>("x1", side_by_side);
  try_load<2, false>("x2", side_by_side);
  try_load<4, false>("x4", side_by_side);
  try_load<1, true>("x1.trans", side_by_side);
  try_load<4, true>("x4.trans", side_by_side);
  try_load<4, false>("x4 two rows in a bank", two_way);
  try_load<4, false>("x4 four rows in a bank", four_way);
  try_load<4, false>("x4 eight rows in a bank", eight_way);
  try_load<4, true>("x4.trans eight rows in a bank", eight_way);
  try_load<2, false>("x2 eight rows in a bank", eight_way);
  try_load<1, false>("x1 eight rows in a bank", eight_way);
  try_load<4, false>("x4 padded", padded);
  try_load<4, false>("x4 one row", same);
  try_load<4, false>("x4 pairs of lanes", pairs);
  try_load<4, false>("x4 pairs two apart", pairs_of_two);
  try_load<4, false>("x4 crossed", crossed);
  try_load<4, false>("x4 backwards", backwards);
  try_load<4, false>("x4 random", random);
  try_load<2, true>("x2.trans random", random);
  try_load<4, false>("x4 shuffled", shuffled);
  try_store<1, false>("store x1", side_by_side);
  try_store<2, false>("store x2", side_by_side);
  try_store<4, false>("store x4", side_by_side);
  try_store<4, true>("store x4.trans", side_by_side);
  try_store<4, false>("store x4 two rows in a bank", two_way);
  try_store<4, false>("store x4 eight rows in a bank", eight_way);
  try_store<2, false>("store x2 eight rows in a bank", eight_way);
  try_store<4, false>("store x4 padded", padded);
  try_store<4, false>("store x4 shuffled", shuffled);
  {
    Buffer<uint32_t> out(32);
    transpose_in_registers<<<1, 32>>>(out.device);
    check("movmatrix", out, [](std::size_t i) {
      const uint32_t g = uint32_t(i / 4), t = uint32_t(i % 4);
      return (16 * t + g) | (16 * t + 8 + g) << 16;
    });
  }
  try_product<__half, float, 16, 8>("half k8");
  try_product<__half, float, 16, 16>("half k16");
  try_product<__nv_bfloat16, float, 16, 8>("bfloat k8");
  try_product<__nv_bfloat16, float, 16, 16>("bfloat k16");
  try_product<Tf32, float, 16, 4>("tf32 k4");
  try_product<Tf32, float, 16, 8>("tf32 k8");
  try_product<signed char, int, 8, 16>("byte 8x16");
  try_product<signed char, int, 16, 16>("byte k16");
  try_product<signed char, int, 16, 32>("byte k32");
  try_product<unsigned char, int, 16, 32>("unsigned byte k32");
  try_product<E4m3, float, 16, 32>("e4m3 k32");
  try_doubles<8, 4>("double 8x4");
  try_doubles<16, 8>("double 16x8");
  try_doubles<16, 16>("double 16x16");
  const int n = 96;
  const dim3 of_32(n / 32, n / 32), of_16(n / 16, n / 16), of_8(n / 8, n / 8);
  try_tiles<__half, float>("ldmatrix, pitch 32", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_by_ldmatrix<32><<<of_32, 128>>>(n, a, b, c);
  });
  try_tiles<__half, float>("ldmatrix, pitch 40", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_by_ldmatrix<40><<<of_32, 128>>>(n, a, b, c);
  });
  using nvcuda::wmma::col_major;
  using nvcuda::wmma::row_major;
  try_tiles<__half, float>("wmma half", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_by_wmma<__half, float, row_major><<<of_16, 32>>>(n, a, b, c);
  });
  try_tiles<__half, float>("wmma half, b by columns", n, true, [&](auto* a, auto* b, auto* c) {
    tiles_by_wmma<__half, float, col_major><<<of_16, 32>>>(n, a, b, c);
  });
  try_tiles<__nv_bfloat16, float>("wmma bfloat", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_by_wmma<__nv_bfloat16, float, row_major><<<of_16, 32>>>(n, a, b, c);
  });
  try_tiles<signed char, int>("wmma bytes", n, true, [&](auto* a, auto* b, auto* c) {
    tiles_by_wmma<signed char, int, col_major><<<of_16, 32>>>(n, a, b, c);
  });
  try_tiles<__half, __half>("wmma half sums", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_by_shared_wmma<<<of_16, 32>>>(n, a, b, c);
  });
  try_tiles<double, double>("wmma double", n, false, [&](auto* a, auto* b, auto* c) {
    tiles_of_doubles<<<of_8, 32>>>(n, a, b, c);
  });
  try_tiles<float, float>("wmma tf32", n, true, [&](auto* a, auto* b, auto* c) {
    tiles_of_tf32<<<of_16, 32>>>(n, a, b, c);
  });
  return finish();
}
