// Threads and what they share: textures and their cache, divergent paths, occupancy, registers.
#include "onchip.cuh"

namespace {

using onchip::Lab;
using onchip::Row;
using onchip::Strict;
using onchip::Word;

/// One texel or filtered value per thread. Blocks of x * y threads; `scale` and `shift` place the sample in the texel.
template <bool kFetch>
__global__ void texture_kernel(float* out, cudaTextureObject_t texture, unsigned width, unsigned height, float shift,
                               bool across) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned x = across ? j : i, y = across ? i : j;
  if (x >= width || y >= height) return;
  out[j * static_cast<std::size_t>(across ? height : width) + i] =
      tex2D<float>(texture, static_cast<float>(x) + shift, static_cast<float>(y) + shift);
}
__global__ void plain_kernel(float* out, const float* in, unsigned width, unsigned height, bool across) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned x = across ? j : i, y = across ? i : j;
  if (x >= width || y >= height) return;
  out[j * static_cast<std::size_t>(across ? height : width) + i] = in[y * static_cast<std::size_t>(width) + x];
}
struct Unit {
  __device__ std::uint32_t operator()(std::size_t i) const {
    return __float_as_uint(static_cast<float>(lab::mixed(static_cast<Word>(i)) >> 8));
  }
};
struct Texels {
  const float* out;
  unsigned width, height;
  bool across, between;
  __device__ static float value(std::size_t i) { return static_cast<float>(lab::mixed(static_cast<Word>(i)) >> 8); }
  __device__ bool operator()(std::size_t i) const {
    const unsigned a = static_cast<unsigned>(i % (across ? height : width)),
                   b = static_cast<unsigned>(i / (across ? height : width));
    const std::size_t x = across ? b : a, y = across ? a : b;
    if (!between) return out[i] == value(y * width + x);
    // Half way between four texels; what is outside is clamped. Filters weigh with 8 bits of fraction: halves are
    // exact.
    const std::size_t right = x + 1 < width ? x + 1 : x, below = y + 1 < height ? y + 1 : y;
    const float mean = 0.25f * (value(y * width + x) + value(y * width + right) + value(below * width + x) +
                                value(below * width + right));
    return fabsf(out[i] - mean) <= 1e-4f * fabsf(mean) + 64.0f;
  }
};

/// `paths` groups of lanes take different branches of equal work.
__global__ void __launch_bounds__(256) divergence_kernel(Word* out, int repeats, unsigned paths) {
  const unsigned path = threadIdx.x % paths;
  Word v = lab::mixed(threadIdx.x);
  for (unsigned p = 0; p < paths; ++p) {
    if (p != path) continue;
    for (int r = 0; r < repeats; ++r) v = v * 1664525u + 1013904223u + p;
  }
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
struct Diverged {
  const Word* out;
  unsigned paths;
  int repeats;
  __device__ bool operator()(std::size_t i) const {
    const unsigned thread = static_cast<unsigned>(i) % 256;
    Word v = lab::mixed(thread);
    for (int r = 0; r < repeats; ++r) v = v * 1664525u + 1013904223u + thread % paths;
    return out[i] == v;
  }
};

// ---- occupancy and registers ----------------------------------------------------------------------------------------

/// A sum over kFlight vectors per step. Shared memory that is asked for and not used limits the blocks per
/// multiprocessor.
template <int kFlight>
struct Occupied {
  const uint4* in;
  std::size_t count;
  __device__ Word operator()() const {
    Word sum = 0;
    for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{256 * kFlight}) {
      uint4 v[kFlight];
#pragma unroll
      for (int k = 0; k < kFlight; ++k) {
        const std::size_t at = i + k * (gridDim.x * std::size_t{256});
        v[k] = at < count ? in[at] : make_uint4(0, 0, 0, 0);
      }
#pragma unroll
      for (int k = 0; k < kFlight; ++k) sum += lab::sum_of(v[k]);
    }
    return sum;
  }
};
template <int kFlight>
__global__ void __launch_bounds__(256) occupied_kernel(Occupied<kFlight> body, unsigned* never) {
  lab::keep(body(), never);
}
/// Of every vector, by any number of loads in flight.
struct OccupiedSums {
  const Word* in;
  std::size_t count;
  __device__ Word operator()(unsigned block, unsigned thread, unsigned blocks) const {
    Word sum = 0;
    for (std::size_t i = block * std::size_t{256} + thread; i < count; i += blocks * std::size_t{256})
      for (int k = 0; k < 4; ++k) sum += in[4 * i + static_cast<std::size_t>(k)];
    return sum;
  }
};

/// 64 values per thread are alive at a time. What the bound leaves no registers for goes to local memory.
template <int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) pressure_kernel(Word* out, const Word* in, std::size_t threads) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i >= threads) return;
  Word v[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) v[k] = in[k * threads + i];
#pragma unroll 1
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int k = 0; k < 64; ++k) v[k] = v[k] * 3 + v[(k + 17) % 64];
  }
#pragma unroll
  for (int k = 0; k < 64; ++k) out[k * threads + i] = v[k];
}
struct Pressed {
  const Word* out;
  std::size_t threads;
  __device__ bool operator()(std::size_t i) const {
    Word v[64];
    for (int k = 0; k < 64; ++k) v[k] = lab::mixed(static_cast<Word>(k * threads + i));
    for (int r = 0; r < 4; ++r)
      for (int k = 0; k < 64; ++k) v[k] = v[k] * 3 + v[(k + 17) % 64];
    for (int k = 0; k < 64; ++k)
      if (out[k * threads + i] != v[k]) return false;
    return true;
  }
};

// ---- experiments --------------------------------------------------------------------------------------------------

class Threads : public onchip::OnChip {
 public:
  using OnChip::OnChip;

  void textures() {
    if (!lab_.wanted("texture-locality")) return;
    const unsigned side = static_cast<unsigned>(lab_.pick(8192, 2048, 128));
    const std::size_t count = std::size_t{side} * side;
    cudaArray_t array = nullptr;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    LAB_CHECK(cudaMallocArray(&array, &channel, side, side));
    lab_.fill(in_, 4 * count, Unit{});
    LAB_CHECK(cudaMemcpy2DToArray(array, 0, 0, in_, 4 * side, 4 * side, side, cudaMemcpyDeviceToDevice));
    cudaTextureObject_t textures[2];
    for (int linear = 0; linear < 2; ++linear) {
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array;
      cudaTextureDesc description{};
      description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
      description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
      LAB_CHECK(cudaCreateTextureObject(&textures[linear], &resource, &description, nullptr));
    }
    std::vector<Row> rows;
    float* const out = reinterpret_cast<float*>(out_);
    const float* const in = reinterpret_cast<const float*>(in_);
    for (const bool across : {false, true}) {
      for (const dim3 block : {dim3(32, 8), dim3(8, 32), dim3(256, 1)}) {
        const dim3 grid(lab::blocks_for(side, block.x), lab::blocks_for(side, block.y));
        const std::string shape = std::string(across ? "down columns" : "along rows") + ", blocks of " +
                                  std::to_string(block.x) + " x " + std::to_string(block.y);
        const cudaTextureObject_t point = textures[0], linear = textures[1];
        const auto add = [&](const char* name, const char* why, bool between, auto call) {
          rows.push_back(
              row(name + shape, 0, 8.0 * count, "copy", why, call, Texels{out, side, side, across, between}, count));
        };
        add("texture, ", "texels near each other in both directions share a line", false, [=](cudaStream_t t) {
          texture_kernel<false><<<grid, block, 0, t>>>(out, point, side, side, 0.5f, across);
        });
        add("global memory, ", across ? "a sector per lane" : "whole lines", false,
            [=](cudaStream_t t) { plain_kernel<<<grid, block, 0, t>>>(out, in, side, side, across); });
        if (!across && block.x == 32)
          add("texture, four texels filtered, ", "the filter costs little: the texels are in the L1", true,
              [=](cudaStream_t t) {
                texture_kernel<false><<<grid, block, 0, t>>>(out, linear, side, side, 1.0f, across);
              });
      }
    }
    lab_.run("texture-locality", rows);
    for (const cudaTextureObject_t t : textures) LAB_CHECK(cudaDestroyTextureObject(t));
    LAB_CHECK(cudaFreeArray(array));
    lab_.fill(in_, 4 * count, lab::internal::MixedWord{0});
  }

  void divergence() {
    if (!lab_.wanted("divergence")) return;
    const int repeats = static_cast<int>(lab_.pick(2048, 512, 8));
    std::vector<Row> rows;
    for (const unsigned paths : {1u, 2u, 4u, 8u, 16u, 32u}) {
      Row r = row(
          std::to_string(paths) + (paths == 1 ? " path" : " paths") + " per warp", paths, 2.0 * repeats * 256 * blocks_,
          "", "paths of a warp run one after the other",
          [=](cudaStream_t t) { divergence_kernel<<<blocks_, 256, 0, t>>>(out_, repeats, paths); },
          Diverged{out_, paths, repeats}, 256u * blocks_);
      r.work = "op";
      r.x_unit = "paths";
      rows.push_back(r);
    }
    lab_.run("divergence", rows);
  }

  void occupancy() {
    if (!lab_.wanted("occupancy")) return;
    std::vector<Row> rows;
    const std::size_t bytes = lab_.pick(bytes_, bytes_, bytes_ / 4), count = bytes / 16;
    const uint4* const in = reinterpret_cast<const uint4*>(in_);
    unsigned* const never = lab_.never();
    const std::size_t most = lab_.device().sharedMemPerMultiprocessor;
    const auto add = [&](auto number, unsigned blocks) {
      constexpr int kFlight = decltype(number)::value;
      // With 1 KiB that the system takes per block, so that one block more does not fit.
      const int shared =
          lab_.counting()
              ? 0
              : static_cast<int>(std::min<std::size_t>(most / blocks - 1024, lab_.device().sharedMemPerBlockOptin) /
                                 128 * 128);
      if (blocks == 1)
        LAB_CHECK(cudaFuncSetAttribute(occupied_kernel<kFlight>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
      const unsigned grid = lab_.counting() ? 4 : blocks * static_cast<unsigned>(lab_.multiprocessors());
      const Occupied<kFlight> body{in, count};
      Row r = row(
          std::to_string(kFlight) + " x 16 B in flight, " + std::to_string(blocks) + " blocks per multiprocessor",
          12.5 * blocks, static_cast<double>(bytes), "read", "bytes in flight per multiprocessor: threads x loads x 16",
          [=](cudaStream_t t) { occupied_kernel<kFlight><<<grid, 256, shared, t>>>(body, never); }, Strict{}, 0);
      r.x_unit = "% occupancy";
      r.poison = {};
      r.verified = [=] { return lab_.sums_up(grid, 256, body, OccupiedSums{in_, count}); };
      rows.push_back(r);
    };
    for (const unsigned blocks : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
      add(std::integral_constant<int, 1>{}, blocks);
      if ((blocks & (blocks - 1)) == 0) add(std::integral_constant<int, 4>{}, blocks);
    }
    lab_.run("occupancy", rows);
  }

  void registers() {
    if (!lab_.wanted("register-pressure")) return;
    const std::size_t threads = bytes_ / 4 / 64;
    std::vector<Row> rows;
    const auto add = [&](auto kernel, unsigned block, double limit, const char* why) {
      Row r = row(
          "64 values per thread, at most " + std::to_string(static_cast<int>(limit)) + " registers", limit,
          2.0 * bytes_, "copy", why,
          [=](cudaStream_t t) { kernel<<<lab::blocks_for(threads, block), block, 0, t>>>(out_, in_, threads); },
          Pressed{out_, threads}, threads);
      r.x_unit = "registers";
      rows.push_back(r);
    };
    add(pressure_kernel<256, 2>, 256, 128, "everything stays in registers"),
        add(pressure_kernel<256, 3>, 256, 80, "a few values are spilled; more warps"),
        add(pressure_kernel<256, 4>, 256, 64, "some values are spilled to local memory");
    add(pressure_kernel<256, 5>, 256, 48, "spills to local memory"),
        add(pressure_kernel<256, 8>, 256, 32, "most values live in local memory: more traffic than the kernel's own");
    lab_.run("register-pressure", rows);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return onchip::run<Threads>(argc, argv, "threads", [](Threads& all) {
    all.textures();
    all.divergence();
    all.occupancy();
    all.registers();
  });
}
