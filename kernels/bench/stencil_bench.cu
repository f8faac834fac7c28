// Convolutions against cuDNN, misaligned and strided copies against cudaMemcpyAsync, and n-body, on a GPU.
#include "../convolution.cuh"
#include "../copy.cuh"
#include "../nbody.cuh"

#include "dnn.h"
#include "harness.cuh"

namespace mk = muscope::kernels;
using bench::Case;
using bench::Role;

namespace {

constexpr std::size_t kBuffer = (std::size_t{5} << 28) + 4096;
constexpr std::size_t kGuard = 256;

struct Memory {
  char *in, *out, *reference;
};

// ---- convolutions --------------------------------------------------------------------------------------------------

template <int K>
struct Weights {
  float w[K * K];
};

template <int K>
__global__ void slow_convolution(float* out, const float* in, long long width, long long height, long long images,
                                 int border, Weights<K> f) {
  const long long count = width * height * images;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long image = i / (width * height), y = i / width % height, x = i % width;
    float sum = 0;
    for (int r = 0; r < K; ++r) {
      for (int c = 0; c < K; ++c) {
        long long yy = y + r - K / 2, xx = x + c - K / 2;
        if (border == 0 && (yy < 0 || yy >= height || xx < 0 || xx >= width)) continue;
        if (border == 1) yy = min(max(yy, 0ll), height - 1), xx = min(max(xx, 0ll), width - 1);
        if (border == 2) yy = (yy + height) % height, xx = (xx + width) % width;
        sum = fmaf(f.w[r * K + c], in[(image * height + yy) * width + xx], sum);
      }
    }
    out[i] = sum;
  }
}

__global__ void far_off(const float* a, const float* b, std::size_t n, unsigned* found) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    if (!(fabsf(a[i] - b[i]) <= 1e-5f)) atomicAdd(found, 1u);
  }
}

bool near(const float* a, const float* b, std::size_t n) {
  static unsigned* found = bench::device_memory<unsigned>(4);
  CHECK(cudaMemset(found, 0, 4));
  far_off<<<1056, 256>>>(a, b, n, found);
  unsigned host = 0;
  CHECK(cudaMemcpy(&host, found, 4, cudaMemcpyDeviceToHost));
  return host == 0;
}

template <int K, int kStep, int R, int kAhead, int kWarps, int kBlocks>
void convolution_variant(Case& c, const char* name, const mk::detail::ConvolutionArgs& a, std::size_t images,
                         const mk::detail::FullFilter<K>& f, const std::function<bool()>& verified) {
  c.contenders.push_back(
      {Role::kOurs, name,
       [=](cudaStream_t s) {
         return mk::detail::launch_convolution<K, kStep, R, kAhead, kWarps, kBlocks, mk::Border::kZero>(a, images, f,
                                                                                                        s);
       },
       verified});
}

template <int K>
void convolutions(bench::Harness& harness, Memory m, bench::Dnn& dnn, std::size_t images, std::size_t height,
                  std::size_t width, mk::Border border = mk::Border::kZero, bool separable = false,
                  bool tuning = false) {
  const char* const borders[] = {"", ", clamped", ", wrapped"};
  const std::string shape = std::to_string(images) + " of " + std::to_string(height) + "x" + std::to_string(width) +
                            ", " + std::to_string(K) + "x" + std::to_string(K) + (separable ? " separable" : "") +
                            borders[static_cast<int>(border)];
  if (!harness.wanted("convolution " + shape)) return;
  const std::size_t pixels = images * height * width;
  const auto* const in = reinterpret_cast<const float*>(m.in);
  auto* const out = reinterpret_cast<float*>(m.out);
  auto* const want = reinterpret_cast<float*>(m.reference);
  Weights<K> f;
  float across[K], down[K];
  for (int i = 0; i < K; ++i)
    across[i] = 0.1f + 0.07f * static_cast<float>(i), down[i] = 0.3f - 0.05f * static_cast<float>(i);
  for (int i = 0; i < K * K; ++i) f.w[i] = down[i / K] * across[i % K];
  static float* device_weights = bench::device_memory<float>(1024);
  CHECK(cudaMemcpy(device_weights, f.w, sizeof f.w, cudaMemcpyHostToDevice));
  slow_convolution<K><<<4224, 256>>>(want, in, static_cast<long long>(width), static_cast<long long>(height),
                                     static_cast<long long>(images), static_cast<int>(border), f);
  const auto verified = [=] { return near(out, want, pixels); };
  mk::ImageShape s;
  s.width = width, s.height = height, s.images = images;
  Case c{"convolution", shape, 8 * pixels, [=] { CHECK(cudaMemset(out, 0xff, pixels * 4)); }, {}};
  if (separable) {
    c.contenders.push_back(
        {Role::kOurs, "convolve_separable",
         [=](cudaStream_t st) { return mk::convolve_separable<K>(out, in, s, across, down, border, st); }, verified});
  } else {
    c.contenders.push_back({Role::kOurs, "convolve",
                            [=](cudaStream_t st) { return mk::convolve<K>(out, in, s, f.w, border, st); }, verified});
  }
  if (tuning) {
    mk::detail::ConvolutionArgs a{};
    a.out = out, a.in = in;
    a.width = static_cast<long long>(width), a.height = static_cast<long long>(height);
    a.in_pitch = a.out_pitch = a.width;
    a.in_image = a.out_image = a.width * a.height;
    mk::detail::FullFilter<K> filter;
    for (int i = 0; i < K * K; ++i) filter.w[i] = f.w[i];
    if (width % 4 == 0) {
      convolution_variant<K, 0, 2, 0, 8, 6>(c, "2 rows", a, images, filter, verified);
      convolution_variant<K, 0, 4, 0, 8, 4>(c, "4 rows", a, images, filter, verified);
      convolution_variant<K, 0, 4, 3, 4, 8>(c, "4 rows; 3 ahead", a, images, filter, verified);
      convolution_variant<K, 0, 8, 0, 8, 3>(c, "8 rows", a, images, filter, verified);
    }
    convolution_variant<K, mk::detail::kAnyStep, 4, 0, 8, 3>(c, "any step; 4 rows", a, images, filter, verified);
  }
  if (border == mk::Border::kZero && dnn.ready &&
      dnn.prepare(static_cast<int>(images), static_cast<int>(height), static_cast<int>(width), K)) {
    c.contenders.push_back(
        {Role::kPeer, "cuDNN", [=, &dnn](cudaStream_t) { return dnn(out, in, device_weights); }, verified});
  }
  bench::add_copy_ceilings(c, m.out, m.in, pixels * 4);
  harness.run(c);
}

// ---- copies --------------------------------------------------------------------------------------------------------

__global__ void slow_rows(char* out, std::size_t out_pitch, const char* in, std::size_t in_pitch, std::size_t width,
                          std::size_t height) {
  const std::size_t count = width * height;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    out[i / width * out_pitch + i % width] = in[i / width * in_pitch + i % width];
  }
}

/// A copy's ceiling is the aligned one of as many bytes; where a row's ends lie inside sectors, of the sectors.
void rows(bench::Harness& harness, Memory m, std::size_t width, std::size_t height, std::size_t in_pitch,
          std::size_t out_pitch, std::size_t in_offset, std::size_t out_offset) {
  const std::string shape = std::to_string(height) + " rows of " + std::to_string(width) + " bytes, pitch " +
                            std::to_string(in_pitch) + " to " + std::to_string(out_pitch) + ", begin +" +
                            std::to_string(in_offset) + " to +" + std::to_string(out_offset);
  if (!harness.wanted("copy " + shape)) return;
  const char* const in = m.in + kGuard + in_offset;
  char* const out = m.out + kGuard + out_offset;
  const std::size_t all = out_pitch * (height - 1) + width + out_offset + 2 * kGuard;
  CHECK(cudaMemset(m.reference, 0xff, all));
  slow_rows<<<4224, 256>>>(m.reference + kGuard + out_offset, out_pitch, in, in_pitch, width, height);
  const auto verified = [=] { return bench::differences(m.out, m.reference, all) == 0; };
  Case c{"copy", shape, 2 * width * height, [=] { CHECK(cudaMemset(m.out, 0xff, all)); }, {}};
  const bool flat = height == 1;
  c.contenders.push_back({Role::kOurs, flat ? "copy_bytes" : "copy_rows",
                          [=](cudaStream_t s) {
                            return flat ? mk::copy_bytes(out, in, width, s)
                                        : mk::copy_rows(out, out_pitch, in, in_pitch, width, height, s);
                          },
                          verified});
  c.contenders.push_back({Role::kPeer, flat ? "cudaMemcpyAsync" : "cudaMemcpy2DAsync",
                          [=](cudaStream_t s) {
                            return flat ? cudaMemcpyAsync(out, in, width, cudaMemcpyDeviceToDevice, s)
                                        : cudaMemcpy2DAsync(out, out_pitch, in, in_pitch, width, height,
                                                            cudaMemcpyDeviceToDevice, s);
                          },
                          verified});
  bench::add_copy_ceilings(c, m.out, m.in, width * height);
  harness.run(c);
}

// ---- n-body --------------------------------------------------------------------------------------------------------

__global__ void slow_bodies(float4* out, const float4* bodies, unsigned n, float softening2, unsigned step) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * step;
  if (i >= n) return;
  double x = 0, y = 0, z = 0;
  for (unsigned j = 0; j < n; ++j) {
    const double dx = double(bodies[j].x) - bodies[i].x, dy = double(bodies[j].y) - bodies[i].y,
                 dz = double(bodies[j].z) - bodies[i].z;
    const double r2 = dx * dx + dy * dy + dz * dz + double(softening2), r = sqrt(r2), s = bodies[j].w / (r2 * r);
    x += dx * s, y += dy * s, z += dz * s;
  }
  out[i] = make_float4(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), 0);
}

template <int kTargets, int kUnroll, int kBlocks>
void nbody_variant(Case& c, const char* name, float4* out, const float4* in, unsigned n, float s2,
                   const std::function<bool()>& verified) {
  c.contenders.push_back(
      {Role::kOurs, name,
       [=](cudaStream_t s) { return mk::detail::launch_nbody<kTargets, kUnroll, kBlocks>(out, in, n, s2, s); },
       verified});
}

void nbody(bench::Harness& harness, Memory m, unsigned n) {
  const std::string shape = std::to_string(n) + " bodies";
  if (!harness.wanted("n-body " + shape)) return;
  const auto* const in = reinterpret_cast<const float4*>(m.in);
  auto* const out = reinterpret_cast<float4*>(m.out);
  auto* const want = reinterpret_cast<float4*>(m.reference);
  const float softening = 0.01f;
  const unsigned step = n / 2048 + 1;  // so many are checked in double
  slow_bodies<<<(n / step + 128) / 128, 128>>>(want, in, n, softening * softening, step);
  const auto verified = [=] {
    std::vector<float4> a(n), b(n);
    CHECK(cudaMemcpy(a.data(), out, n * 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), want, n * 16, cudaMemcpyDeviceToHost));
    double off = 0, size = 0;
    for (unsigned i = 0; i < n; ++i) {
      if (!(std::fabs(a[i].x) < 1e30f)) return false;
      if (i % step != 0) continue;
      off += std::pow(double(a[i].x) - b[i].x, 2) + std::pow(double(a[i].y) - b[i].y, 2) +
             std::pow(double(a[i].z) - b[i].z, 2);
      size += std::pow(double(b[i].x), 2) + std::pow(double(b[i].y), 2) + std::pow(double(b[i].z), 2);
    }
    return std::sqrt(off) <= 1e-4 * std::sqrt(size);
  };
  Case c{"n-body", shape, std::size_t{20} * n * n, [=] { CHECK(cudaMemset(out, 0xff, std::size_t{16} * n)); }, {}};
  c.contenders.push_back({Role::kOurs, "accelerations",
                          [=](cudaStream_t s) { return mk::accelerations(out, in, n, softening, s); }, verified});
  const float s2 = softening * softening;
  nbody_variant<1, 8, 4>(c, "1 target; unroll 8", out, in, n, s2, verified);
  nbody_variant<2, 8, 3>(c, "2 targets; unroll 8", out, in, n, s2, verified);
  nbody_variant<4, 8, 2>(c, "4 targets; unroll 8", out, in, n, s2, verified);
  nbody_variant<6, 4, 2>(c, "6 targets; unroll 4", out, in, n, s2, verified);
  harness.run(c);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Harness harness(argc, argv);
  bench::Dnn dnn;
  const Memory m = {bench::device_memory(kBuffer), bench::device_memory(kBuffer), bench::device_memory(kBuffer)};
  bench::fill(m.in, kBuffer, bench::Fill::kUnit);
  for (const std::size_t n : {512u, 1024u, 2048u, 4096u, 8192u, 16384u})
    convolutions<3>(harness, m, dnn, 1, n, n, mk::Border::kZero, false, n >= 2048);
  convolutions<3>(harness, m, dnn, 1, 2047, 2049, mk::Border::kZero, false, true);
  convolutions<3>(harness, m, dnn, 1, 8191, 8193, mk::Border::kZero, false, true);
  convolutions<3>(harness, m, dnn, 1, 4096, 4098, mk::Border::kZero, false, true);
  convolutions<3>(harness, m, dnn, 64, 512, 512, mk::Border::kZero, false, true);
  convolutions<3>(harness, m, dnn, 1, 8192, 8192, mk::Border::kClamp);
  convolutions<3>(harness, m, dnn, 1, 8192, 8192, mk::Border::kWrap);
  convolutions<5>(harness, m, dnn, 1, 4096, 4096, mk::Border::kZero, false, true);
  convolutions<5>(harness, m, dnn, 1, 8192, 8192, mk::Border::kZero, false, true);
  convolutions<5>(harness, m, dnn, 1, 8191, 8193, mk::Border::kZero, false, false);
  convolutions<3>(harness, m, dnn, 1, 8192, 8192, mk::Border::kZero, true);
  convolutions<5>(harness, m, dnn, 1, 8192, 8192, mk::Border::kZero, true);
  for (int k = 22; k <= 30; k += 2) {
    const std::size_t n = std::size_t{1} << k;
    rows(harness, m, n, 1, n, n, 0, 0);
    rows(harness, m, n, 1, n, n, 4, 4);
    rows(harness, m, n, 1, n, n, 4, 0);
    rows(harness, m, n, 1, n, n, 0, 1);
    rows(harness, m, n, 1, n, n, 3, 6);
  }
  rows(harness, m, 4096, 65536, 8192, 4096, 0, 0);
  rows(harness, m, 4092, 65536, 4096, 4092, 0, 0);
  rows(harness, m, 4000, 65536, 4100, 4004, 0, 4);
  rows(harness, m, 1000, 262144, 1024, 1000, 0, 0);
  rows(harness, m, 1001, 262144, 1003, 1007, 1, 3);
  rows(harness, m, 256, 1 << 20, 512, 256, 0, 0);
  rows(harness, m, 100, 1 << 21, 128, 100, 0, 0);
  rows(harness, m, 64, 1 << 22, 128, 64, 0, 0);
  rows(harness, m, 16, 1 << 24, 64, 16, 0, 0);
  rows(harness, m, 4, 1 << 24, 8, 4, 0, 0);
  rows(harness, m, 4, 1 << 24, 64, 4, 0, 0);
  for (const unsigned n : {16384u, 65536u, 262144u, 405504u}) nbody(harness, m, n);
  return harness.failures() == 0 ? 0 : 1;
}
