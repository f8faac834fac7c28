// Shared memory and its neighbours: the cases P-S1 to P-S15, P-X1 to P-X3, P-A1, P-C1 as small kernels.
#include "case.h"

__device__ volatile float g_sink;

// Two blocks of 32: store s[global id], load s[4 * global id].
__global__ void s1_why_six(float* out) {
  __shared__ float s[256];
  const int gid = blockIdx.x * 32 + threadIdx.x;
  store(s + gid, 1.0f);  //! P-S1 shared store wf=1 cf=0
  __syncthreads();
  const float v = load(s + 4 * gid);  //! P-S1 shared load wf=4 total_conflicts=6
  out[gid] = v;
}

__global__ void s2_wide(float* out) {
  __shared__ __align__(128) float s[32 * 32];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(s));
  const float4 a = load_shared16(base + 128 * threadIdx.x);  //! P-S2 shared load wf=32 cf=28 advice=A201 after=9
  const float4 b = load_shared16(base + 16 * threadIdx.x);  //! P-S2 shared load wf=4 cf=0
  s[threadIdx.x] = 0;
  out[threadIdx.x] = a.x + b.y;
}

__global__ void s3_pairs(float* out) {
  __shared__ __align__(128) float s[128];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(s));
  const float4 a = load_shared16(base + 16 * (threadIdx.x % 4));  //! P-S3 shared load wf=4 cf=0
  const float4 b = load_shared16(base + 16 * (threadIdx.x / 8));  //! P-S3 shared load wf=2 cf=0
  s[threadIdx.x] = 0;
  out[threadIdx.x] = a.x + b.y;
}

// A tile of 16 rows and 32 columns, written by rows, read across.
template <int kPitch>
__global__ void s4_across(float* out) {
  __shared__ float s[16 * kPitch];
  const int t = threadIdx.y * 32 + threadIdx.x;
  if constexpr (kPitch == 33) {
    store(s + threadIdx.y * kPitch + threadIdx.x, 1.0f);  //! P-S4 shared store wf=1
    __syncthreads();
    out[t] = load(s + kPitch * (t % 16) + t / 16);  //! P-S4 shared load wf=2 cf=1 advice=A201 after=32 says="pitch of 34 instead of 33"
  } else {
    store(s + threadIdx.y * kPitch + threadIdx.x, 1.0f);  //! P-S4 shared store wf=1
    __syncthreads();
    out[t] = load(s + kPitch * (t % 16) + t / 16);  //! P-S4 shared load wf=1 cf=0 not=A201
  }
}

template <int kPitch>
__global__ void s5_column(float* out) {
  __shared__ float s[16 * kPitch + 16];
  const int t = threadIdx.x;
  store(s + t, 1.0f);
  __syncthreads();
  float v = 0;
  if constexpr (kPitch == 17) v = load(s + kPitch * (t % 16) + t / 16);  //! P-S5 shared load wf=2 cf=1
  if constexpr (kPitch == 16) v = load(s + kPitch * (t % 16) + t / 16);  //! P-S5 shared load wf=8 cf=7 advice=A201
  if constexpr (kPitch == 18) v = load(s + kPitch * (t % 16) + t / 16);  //! P-S5 shared load wf=1 cf=0 not=A201
  out[t] = v;
}
// Reader and writer of a block 16 wide: no padding frees both.
__global__ void s5_writer_and_reader(float* out) {
  __shared__ float s[16 * 17];
  const int t = threadIdx.x;
  store(s + 17 * (t / 16) + t % 16, 1.0f);  //! P-S5 shared store wf=2
  __syncthreads();
  out[t] = load(s + 17 * (t % 16) + t / 16);  //! P-S5 shared load wf=2
}

// Column c of row r at c ^ (r mod 2^bits).
template <int kBits>
__global__ void s6_swizzle(float* out) {
  __shared__ float s[32 * 32];
  const int row = threadIdx.x, column = threadIdx.y, place = column ^ (row & ((1 << kBits) - 1));
  if (threadIdx.y == 0) s[row] = 0;
  float v = 0;
  if constexpr (kBits == 5) v = load(s + 32 * row + place);  //! P-S6 shared load wf=1
  if constexpr (kBits == 3) v = load(s + 32 * row + place);  //! P-S6 shared load wf=4
  if constexpr (kBits == 2) v = load(s + 32 * row + place);  //! P-S6 shared load wf=8
  if constexpr (kBits == 0) v = load(s + 32 * row + place);  //! P-S6 shared load wf=32 advice=A201 after=33
  out[32 * column + row] = v;
}

// A buffer of 16 x 17 words, indexed as if it were 16 x 16.
__global__ void s7_declared_not_used(float* out) {
  __shared__ float s[16 * 17];
  const int t = threadIdx.x;
  out[t] = load(s + 16 * (t % 16) + t / 16);  //! P-S7 shared load wf=8 cf=7 advice=A201 after=16 says="i + 2 * (i / 32)"
  s[t] = 0;
}

template <int kBk, int kPitch>
__global__ void s8_transposed_store(float* out) {
  __shared__ float s[kBk * kPitch];
  constexpr int kPer = kBk / 4;
  const int t = threadIdx.x, row = t / kPer, k0 = 4 * (t % kPer);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* place = s + (k0 + i) * kPitch + row;
    if constexpr (kBk == 8 && kPitch == 128) store(place, 1.0f);   //! P-S8 shared store wf=2 advice=A201 after=40 says="pitch of 132 instead of 128"
    if constexpr (kBk == 8 && kPitch == 130) store(place, 1.0f);   //! P-S8 shared store wf=2
    if constexpr (kBk == 8 && kPitch == 132) store(place, 1.0f);   //! P-S8 shared store wf=1 not=A201
    if constexpr (kBk == 16 && kPitch == 128) store(place, 1.0f);  //! P-S8 shared store wf=4 advice=A201 after=80 says="pitch of 130 instead of 128"
    if constexpr (kBk == 16 && kPitch == 130) store(place, 1.0f);  //! P-S8 shared store wf=1 not=A201
    if constexpr (kBk == 16 && kPitch == 132) store(place, 1.0f);  //! P-S8 shared store wf=2
  }
  __syncthreads();
  out[t] = s[t];
}

template <int kPitch>
__global__ void s9_rows(unsigned* out) {
  __shared__ unsigned s[8 * kPitch / 4];
  const int t = threadIdx.x;
  const unsigned* place = s + kPitch / 4 * (t / 4) + t % 4;
  unsigned v = 0;
  if constexpr (kPitch == 128) v = load(place);  //! P-S9 shared load wf=8 cf=7 advice=A201 after=2
  if constexpr (kPitch == 144) v = load(place);  //! P-S9 shared load wf=1 cf=0
  if constexpr (kPitch == 136) v = load(place);  //! P-S9 shared load wf=2
  s[t] = 0;
  out[t] = v;
}

__global__ void s10_column(float* out, int c) {
  __shared__ float s[33 * 32];
  const float a = load(s + 32 * threadIdx.x + c);  //! P-S10 shared load wf=32 cf=31
  const float b = load(s + 33 * threadIdx.x + c);  //! P-S10 shared load wf=1 cf=0
  s[threadIdx.x] = 0;
  out[threadIdx.x] = a + b;
}

__global__ void s11_bytes(int* out) {
  __shared__ unsigned char s[128 * 32];
  const int i = threadIdx.x;
  const int a = load(s + i);        //! P-S11 shared load wf=1
  const int b = load(s + 4 * i);    //! P-S11 shared load wf=1
  const int c = load(s + 128 * i);  //! P-S11 shared load wf=32
  s[i] = 0;
  out[i] = a + b + c;
}

template <int kF>
__global__ void s12_runs(float* out) {
  __shared__ float s[32 * kF];
  for (int k = 0; k < kF; ++k) {
    float* place = s + kF * threadIdx.x + k;
    if constexpr (kF == 1) store(place, 1.0f);  //! P-S12 shared store wf=1
    if constexpr (kF == 2) store(place, 1.0f);  //! P-S12 shared store wf=2 advice=A201 after=3
    if constexpr (kF == 3) store(place, 1.0f);  //! P-S12 shared store wf=1 not=A201
    if constexpr (kF == 4) store(place, 1.0f);  //! P-S12 shared store wf=4 advice=A201 after=5
    if constexpr (kF == 8) store(place, 1.0f);  //! P-S12 shared store wf=8 advice=A201 after=9
  }
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void s13_halves(short* out) {
  __shared__ short s[16 * 32];
  const int t = threadIdx.x;
  store(s + 32 * (t % 16) + t / 16, static_cast<short>(t));  //! P-S13 shared store wf=8 cf=7
  __syncthreads();
  store(s + 32 * (t / 16) + t % 16, static_cast<short>(t));  //! P-S13 shared store wf=1
  __syncthreads();
  out[t] = s[t];
}

__global__ void s14_private_doubles(double* out) {
  __shared__ double s[8 * 32];
  const int l = threadIdx.x, e = 11 * l % 8;
  const double a = load(s + 32 * e + l);  //! P-S14 shared load wf=2 cf=0
  const double b = load(s + 8 * l + e);   //! P-S14 shared load wf=4 cf=2
  const double c = load(s + 8 * l);       //! P-S14 shared load wf=16 cf=14
  const double d = load(s + 8 * l + l / 2 % 8);  //! P-S14 shared load wf=2 cf=0
  s[l] = 0;
  out[l] = a + b + c + d;
}

__global__ void s15_two_lanes(int* out) {
  __shared__ unsigned char bytes[256];
  const int t = threadIdx.x;
  int v = 0;
  if (t < 2) {
    v += *reinterpret_cast<volatile int*>(bytes + 4 * t);    //! P-S15 shared load wf=1
    v += *reinterpret_cast<volatile int*>(bytes + 132 * t);  //! P-S15 shared load wf=1
    v += *reinterpret_cast<volatile int*>(bytes + 128 * t);  //! P-S15 shared load wf=2
    v += load(bytes + t);                                    //! P-S15 shared load wf=1
  }
  bytes[t] = 0;
  out[t] = v;
}

// Up-sweep of a work-efficient scan: the paddings that were published for it.
template <int kPad>
__device__ int padded(int index) {
  if constexpr (kPad == 5) return index + (index >> 5);
  if constexpr (kPad == 4) return index + (index >> 4);
  return index;
}
template <int kPad, int kOffset>
__device__ void sweep(float* s) {
  const float* place = s + padded<kPad>(kOffset * (2 * static_cast<int>(threadIdx.x) + 1) - 1);
  float v = 0;
  if constexpr (kPad == 0 && kOffset == 1) v = load(place);   //! P-X1 shared load wf=2
  if constexpr (kPad == 0 && kOffset == 2) v = load(place);   //! P-X1 shared load wf=4
  if constexpr (kPad == 0 && kOffset == 4) v = load(place);   //! P-X1 shared load wf=8
  if constexpr (kPad == 0 && kOffset == 8) v = load(place);   //! P-X1 shared load wf=16
  if constexpr (kPad == 0 && kOffset == 16) v = load(place);  //! P-X1 shared load wf=32 advice=A201 after=6 says="i + i / 32"
  if constexpr (kPad == 5) v = load(place);                   //! P-X1 shared load wf=1
  if constexpr (kPad == 4 && kOffset == 1) v = load(place);   //! P-X1 shared load wf=2
  if constexpr (kPad == 4 && kOffset == 2) v = load(place);   //! P-X1 shared load wf=2
  if constexpr (kPad == 4 && kOffset == 4) v = load(place);   //! P-X1 shared load wf=2
  if constexpr (kPad == 4 && kOffset == 8) v = load(place);   //! P-X1 shared load wf=1
  if constexpr (kPad == 4 && kOffset == 16) v = load(place);  //! P-X1 shared load wf=2
  g_sink = v;
}
template <int kPad>
__global__ void x1_scan() {
  __shared__ float s[1200];
  sweep<kPad, 1>(s);
  sweep<kPad, 2>(s);
  sweep<kPad, 4>(s);
  sweep<kPad, 8>(s);
  sweep<kPad, 16>(s);
  s[threadIdx.x] = 0;
}

template <int kD>
__device__ void reduce_step(float* s) {
  const float* place = s + 2 * kD * threadIdx.x;
  float v = 0;
  if constexpr (kD == 1) v = load(place);   //! P-X2 shared load wf=2
  if constexpr (kD == 2) v = load(place);   //! P-X2 shared load wf=4
  if constexpr (kD == 4) v = load(place);   //! P-X2 shared load wf=8
  if constexpr (kD == 8) v = load(place);   //! P-X2 shared load wf=16
  if constexpr (kD == 16) v = load(place);  //! P-X2 shared load wf=32 advice=A201
  v += load(s + threadIdx.x);       //! P-X2 shared load wf=1
  v += load(s + threadIdx.x + kD);  //! P-X2 shared load wf=1
  g_sink = v;
}
__global__ void x2_reduction() {
  __shared__ float s[1024];
  reduce_step<1>(s);
  reduce_step<2>(s);
  reduce_step<4>(s);
  reduce_step<8>(s);
  reduce_step<16>(s);
  s[threadIdx.x] = 0;
}

template <int kPitch>
__global__ void x3_transpose(const float* in, float* out, int n) {
  __shared__ float tile[32 * kPitch];
  const int x = threadIdx.x, y = threadIdx.y;
  const float v = load(in + (blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x);  //! P-X3 global load sectors=4
  store(tile + kPitch * y + x, v);  //! P-X3 shared store wf=1
  __syncthreads();
  float w = 0;
  if constexpr (kPitch == 33) w = load(tile + kPitch * x + y);  //! P-X3 shared load wf=1 not=A201
  if constexpr (kPitch == 32) w = load(tile + kPitch * x + y);  //! P-X3 shared load wf=32 advice=A201 after=1024 says="pitch of 33 instead of 32"
  store(out + (blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x, w);  //! P-X3 global store sectors=4
}

// 256 bins of a byte for each of 128 threads: the bank is the lane whatever the data.
__global__ void a1_byte_columns(const unsigned char* in, unsigned* out) {
  __shared__ unsigned char bins[256 * 128];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 16; ++i) {
    unsigned char* bin = bins + 128 * in[16 * threadIdx.x + i] + 4 * lane + warp;
    const unsigned char before = load(bin);  //! P-A1 shared load wf=1 cf=0
    store(bin, static_cast<unsigned char>(before + 1));  //! P-A1 shared store wf=1 cf=0
  }
  out[threadIdx.x] = bins[threadIdx.x];
}

__constant__ float table[64];
__global__ void c1_constant(float* out) {
  const int t = threadIdx.x;
  float v = load(table + blockIdx.x);  //! P-C1 const load words=1 not=A301
  v += load(table + t % 4);            //! P-C1 const load words=4 advice=A301 says=": 1 sector per load"
  v += load(table + t / 4);            //! P-C1 const load words=8 advice=A301 says=": 1 sector per load"
  v += load(table + t);                //! P-C1 const load words=32 advice=A301 says=": 4 sectors"
  out[t] = v;
}

int main() {
  float* in = device_array<float>(1 << 20);
  float* out = device_array<float>(1 << 20);
  auto* u = reinterpret_cast<unsigned*>(out);
  s1_why_six<<<2, 32>>>(out);
  s2_wide<<<1, 32>>>(out);
  s3_pairs<<<1, 32>>>(out);
  s4_across<33><<<1, dim3(32, 16)>>>(out);
  s4_across<34><<<1, dim3(32, 16)>>>(out);
  s5_column<17><<<1, 256>>>(out);
  s5_column<16><<<1, 256>>>(out);
  s5_column<18><<<1, 256>>>(out);
  s5_writer_and_reader<<<1, 256>>>(out);
  s6_swizzle<5><<<1, dim3(32, 32)>>>(out);
  s6_swizzle<3><<<1, dim3(32, 32)>>>(out);
  s6_swizzle<2><<<1, dim3(32, 32)>>>(out);
  s6_swizzle<0><<<1, dim3(32, 32)>>>(out);
  s7_declared_not_used<<<1, 256>>>(out);
  s8_transposed_store<8, 128><<<1, 256>>>(out);
  s8_transposed_store<8, 130><<<1, 256>>>(out);
  s8_transposed_store<8, 132><<<1, 256>>>(out);
  s8_transposed_store<16, 128><<<1, 512>>>(out);
  s8_transposed_store<16, 130><<<1, 512>>>(out);
  s8_transposed_store<16, 132><<<1, 512>>>(out);
  s9_rows<128><<<1, 32>>>(u);
  s9_rows<144><<<1, 32>>>(u);
  s9_rows<136><<<1, 32>>>(u);
  s10_column<<<1, 32>>>(out, 5);
  s11_bytes<<<1, 32>>>(reinterpret_cast<int*>(out));
  s12_runs<1><<<1, 32>>>(out);
  s12_runs<2><<<1, 32>>>(out);
  s12_runs<3><<<1, 32>>>(out);
  s12_runs<4><<<1, 32>>>(out);
  s12_runs<8><<<1, 32>>>(out);
  s13_halves<<<1, 256>>>(reinterpret_cast<short*>(out));
  s14_private_doubles<<<1, 32>>>(reinterpret_cast<double*>(out));
  s15_two_lanes<<<1, 32>>>(reinterpret_cast<int*>(out));
  x1_scan<0><<<1, 32>>>();
  x1_scan<5><<<1, 32>>>();
  x1_scan<4><<<1, 32>>>();
  x2_reduction<<<1, 32>>>();
  x3_transpose<33><<<dim3(4, 4), dim3(32, 32)>>>(in, out, 128);
  x3_transpose<32><<<dim3(4, 4), dim3(32, 32)>>>(in, out, 128);
  a1_byte_columns<<<1, 128>>>(reinterpret_cast<unsigned char*>(in), u);
  c1_constant<<<2, 32>>>(out);
  finish();
}
