// Global memory: the cases P-G1 to P-G12, P-N3, P-T1, P-A2, P-A3 as small kernels.
#include "case.h"

// A tile of the same shape with 16 or 4 bytes per lane at the same distance.
__global__ void g1_wide(const float4* in, float* out) {
  out[threadIdx.x] = load(in + threadIdx.x).x;
}
__global__ void g1_narrow(const float* in, float* out) {
  const float v = load(in + 4 * threadIdx.x);  //! P-G1 global load sectors=16 lines=4 eff=25 advice=A101 after=4
  out[threadIdx.x] = v;
}

struct alignas(16) Aligned { float x, y, z, w; };
struct Loose { float x, y, z, w; };
__global__ void g2_aligned(const float4* in, float* out) {
  out[threadIdx.x] = load(in + threadIdx.x).y;
}
__global__ void g2_loose(const Loose* in, float* out) {
  const Loose* p = in + threadIdx.x;
  const float v = load(&p->x) + load(&p->y) + load(&p->z) + load(&p->w);  //! P-G2 global load sectors=16 eff=25 requests=4 advice=A105 says="__align__(16)"
  out[threadIdx.x] = v;
}

__global__ void g3_stride(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = load(in + i);  //! P-G3 global load sectors=4 eff=100 not=A101
}
__global__ void g3_stride2(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = load(in + 2 * i);  //! P-G3 global load sectors=8 eff=50 advice=A101 after=4
}
__global__ void g3_stride32(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = load(in + 32 * i);  //! P-G3 global load sectors=32 eff=12.5 advice=A101 after=4
}

constexpr int kPitch = 4096;
__global__ void g4_row_from_x(const float* a, const float* b, float* c, int k_end) {
  const int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < k_end; ++k) {
    const float x = load(a + row * kPitch + k);  //! P-G4 global load sectors=32 eff=12.5 advice=A102
    const float y = load(b + k * kPitch + col);  //! P-G4 global load sectors=1
    sum += x * y;
  }
  store(c + row * kPitch + col, sum);  //! P-G4 global store sectors=32 eff=12.5 advice=A102 says="swap the roles"
}
__global__ void g4_row_from_y(const float* a, const float* b, float* c, int k_end) {
  const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < k_end; ++k) {
    const float x = load(a + row * kPitch + k);  //! P-G4 global load sectors=1 not=A102
    const float y = load(b + k * kPitch + col);  //! P-G4 global load sectors=4 eff=100
    sum += x * y;
  }
  store(c + row * kPitch + col, sum);  //! P-G4 global store sectors=4 eff=100
}

template <int kShift>
__global__ void g5_shifted(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if constexpr (kShift == 0) v = load(in + i);  //! P-G5 global load sectors=4 lines=1 eff=100 advice=none
  if constexpr (kShift == 1) v = load(in + i + 1);  //! P-G5 global load sectors=5 lines=2 eff=80 advice=A103 after=4 says="L1 look-ups"
  if constexpr (kShift == 8) v = load(in + i + 8);  //! P-G5 global load sectors=4 lines=2 eff=100 not=A103
  if constexpr (kShift == 17) v = load(in + i + 17);  //! P-G5 global load sectors=5 lines=2 eff=80 advice=A103 after=4
  out[i] = v;
}

__global__ void g6_copy(const float* in, float* out) {
  const float v = load(in + threadIdx.x);  //! P-G6 global load sectors=4 eff=100 advice=none
  store(out + threadIdx.x, v);  //! P-G6 global store sectors=4 eff=100 advice=none
}

__global__ void g7_channel(const unsigned char* in, float* out) {
  const int i = 3 * threadIdx.x;
  const int r = load(in + i);      //! P-G7 global load sectors=3 lines=1 eff=33.3 advice=A101 says="32-bit words"
  const int g = load(in + i + 1);  //! P-G7 global load sectors=3 lines=1 eff=33.3
  const int b = load(in + i + 2);  //! P-G7 global load sectors=3 lines=1 eff=33.3
  out[threadIdx.x] = r + g + b;
}
__global__ void g7_words(const unsigned* in, unsigned* out) {
  if (threadIdx.x < 24) {
    const unsigned v = load(in + threadIdx.x);  //! P-G7 global load sectors=3 eff=100 not=A101
    store(out + threadIdx.x, v);
  }
}

__global__ void g8_two_regions(const double* in, double* out) {
  const int lane = threadIdx.x;
  const double v = load(in + (lane < 16 ? lane : 4096 + lane));  //! P-G8 global load sectors=8 lines=2 eff=100 not=A101
  out[lane] = v;
}
__global__ void g8_shifted_regions(const double* in, double* out) {
  const int lane = threadIdx.x;
  const double v = load(in + (lane < 16 ? 8 + lane : 4096 - 16 + 12 + lane));  //! P-G8 global load sectors=8 lines=4 eff=100 not=A103
  out[lane] = v;
}

__global__ void g9_transpose(const float* in, float* out, int nx, int ny) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float v = load(in + x * ny + y);  //! P-G9 global load sectors=16 eff=25 advice=A104 after=4 not=A102
  store(out + y * nx + x, v);  //! P-G9 global store sectors=4 eff=100
}

struct Five { double f[5]; };
__global__ void g10_one(const Five* in, double* out) {
  const double v = load(&in[threadIdx.x].f[2]);  //! P-G10 global load sectors=32 lines=10 eff=25 advice=A101 after=8
  out[threadIdx.x] = v;
}
__global__ void g10_all(const Five* in, double* out) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 5; ++k) sum += load(&in[threadIdx.x].f[k]);  //! P-G10 global load requests=5 sectors=32 eff=25 advice=A101 after=8 says="L1 look-ups only"
  out[threadIdx.x] = sum;
}

__global__ void g11_cells(const int* in, int* out) {
  const int* cell = in + 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int v = load(cell) + load(cell + 1) + load(cell + 2) + load(cell + 3);  //! P-G11 global load sectors=16 eff=25 advice=A105
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void g11_arrays(const int* a, const int* b, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = load(a + i) + load(b + i);  //! P-G11 global load sectors=4 eff=100 not=A101
  out[i] = v;
}

__global__ void g12_tile(const float* in, float* out, int width) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float v = load(in + y * width + x);  //! P-G12 global load sectors=4 lines=2 eff=100 advice=A107 says="32 threads" not=A101
  store(out + y * width + x, v);
}

__global__ void n3_copy(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = load(in + i);  //! P-N3 global load sectors=4 lines=1 eff=100
  out[i] = v;
}

__global__ void t1_by_load(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = load(in + i + 3);  //! P-T1 global load sectors=5 advice=A103
  out[i] = v;
}

// One global atomic per byte of uniformly distributed data: here of a generator that gives each bin as often.
__global__ void a2_histogram(const unsigned char* in, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned v = load(in + i);  //! P-A2 global load sectors=1
    atomicAdd(bins + v, 1u);  //! P-A2 global red distinct=20.4~0.4 advice=A501 says="privatisation"
  }
}

// Sorted keys: all lanes of a warp at one address.
__global__ void a3_row_sums(const float* in, float* sums, int row_length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = load(in + i);
  atomicAdd(sums + i / row_length, v);  //! P-A3 global red lanes_per_address=32 advice=A501 says="segmented sum"
}

int main() {
  float* in = device_array<float>(1 << 20);
  float* out = device_array<float>(1 << 20);
  float* more = device_array<float>(1 << 20);
  g1_wide<<<1, 32>>>(reinterpret_cast<float4*>(in), out);
  g1_narrow<<<1, 32>>>(in, out);
  g2_aligned<<<1, 32>>>(reinterpret_cast<float4*>(in), out);
  g2_loose<<<1, 32>>>(reinterpret_cast<Loose*>(in), out);
  g3_stride<<<16, 256>>>(in, out, 4096);
  g3_stride2<<<16, 256>>>(in, out, 4096);
  g3_stride32<<<16, 256>>>(in, out, 4096);
  g4_row_from_x<<<dim3(2, 2), dim3(32, 32)>>>(in, more, out, 4);
  g4_row_from_y<<<dim3(2, 2), dim3(32, 32)>>>(in, more, out, 4);
  g5_shifted<0><<<8, 128>>>(in, out);
  g5_shifted<1><<<8, 128>>>(in, out);
  g5_shifted<8><<<8, 128>>>(in, out);
  g5_shifted<17><<<8, 128>>>(in, out);
  g6_copy<<<1, 32>>>(in, out);
  g7_channel<<<1, 32>>>(reinterpret_cast<unsigned char*>(in), out);
  g7_words<<<1, 32>>>(reinterpret_cast<unsigned*>(in), reinterpret_cast<unsigned*>(out));
  g8_two_regions<<<1, 32>>>(reinterpret_cast<double*>(in), reinterpret_cast<double*>(out));
  g8_shifted_regions<<<1, 32>>>(reinterpret_cast<double*>(in), reinterpret_cast<double*>(out));
  g9_transpose<<<dim3(8, 8), dim3(16, 16)>>>(in, out, 128, 128);
  g10_one<<<1, 32>>>(reinterpret_cast<Five*>(in), reinterpret_cast<double*>(out));
  g10_all<<<1, 32>>>(reinterpret_cast<Five*>(in), reinterpret_cast<double*>(out));
  g11_cells<<<4, 128>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out));
  g11_arrays<<<4, 128>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(more), reinterpret_cast<int*>(out));
  g12_tile<<<dim3(8, 8), dim3(16, 16)>>>(in, out, 1024);
  n3_copy<<<16, 256>>>(in, out);
  t1_by_load<<<16, 256>>>(in, out);
  {
    constexpr int kBytes = 1 << 16;
    static unsigned char bytes[kBytes];
    unsigned long long state = 88172645463325252ull;  // xorshift64 (Marsaglia)
    for (unsigned char& b : bytes) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      b = static_cast<unsigned char>(state >> 32);
    }
    cudaMemcpy(in, bytes, kBytes, cudaMemcpyHostToDevice);
    a2_histogram<<<16, 256>>>(reinterpret_cast<unsigned char*>(in), reinterpret_cast<unsigned*>(out), kBytes);
  }
  a3_row_sums<<<16, 256>>>(in, out, 1024);
  finish();
}
