// The memory hierarchy: what each level takes to answer one dependent load, and what it gives to all multiprocessors.
#include "ceilings.cuh"
#include "chase.cuh"
#include "halves.cuh"

namespace {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;

// ---- bandwidth ------------------------------------------------------------------------------------------------------

/// Reads `count` vectors again and again past the L1 cache.
struct ReadL2 {
  const uint4* in;
  std::size_t count;
  int repeats;
  __device__ Word operator()() const {
    Word sum = 0;
    const std::size_t step = gridDim.x * std::size_t{1024};
    for (int r = 0; r < repeats; ++r) {
      // Another multiprocessor reads a line in the next pass, so that nothing above the L2 could keep it.
      const std::size_t first = ((blockIdx.x + r) % gridDim.x) * std::size_t{1024} + threadIdx.x;
      for (std::size_t i = first; i < count; i += 4 * step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = i + k * step < count ? __ldcg(in + i + k * step) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += lab::sum_of(v[k]);
      }
    }
    return sum;
  }
};
struct L2Sums {
  const Word* in;
  std::size_t count;
  int repeats;
  __device__ Word operator()(unsigned block, unsigned thread, unsigned blocks) const {
    Word sum = 0;
    for (int r = 0; r < repeats; ++r)
      for (std::size_t i = (block + static_cast<unsigned>(r)) % blocks * std::size_t{1024} + thread; i < count;
           i += blocks * std::size_t{1024})
        for (int k = 0; k < 4; ++k) sum += in[4 * i + static_cast<std::size_t>(k)];
    return sum;
  }
};

template <typename Vector>
__device__ Word sum_of_words(Vector v) {
  Word sum = 0;
#pragma unroll
  for (unsigned w = 0; w < sizeof(Vector) / 4; ++w) sum += reinterpret_cast<const Word*>(&v)[w];
  return sum;
}

/// All blocks read the same few vectors through the L1 cache: eight different places per step.
template <typename Vector>
struct ReadL1 {
  const Vector* in;
  unsigned count;  ///< a power of two
  int repeats;
  __device__ Word operator()() const {
    Word sum = 0;
    unsigned i = threadIdx.x;
    for (int r = 0; r < repeats; ++r, i += 32) {
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += sum_of_words(__ldca(in + ((i + k * (count / 8)) & (count - 1))));
    }
    return sum;
  }
};
template <typename Vector>
struct ReadShared {
  static constexpr unsigned kCount = 32768 / sizeof(Vector);
  int repeats;
  __device__ Word operator()() const {
    __shared__ Vector data[kCount];
    for (unsigned i = threadIdx.x; i < 8192; i += 1024) reinterpret_cast<Word*>(data)[i] = lab::mixed(i);
    __syncthreads();
    Word sum = 0;
    unsigned i = threadIdx.x;
    for (int r = 0; r < repeats; ++r, i += 32) {
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += sum_of_words(data[(i + k * (kCount / 8)) % kCount]);
    }
    return sum;
  }
};
/// Of ReadL1 and ReadShared: vectors of `per` words that are mixed(place).
struct EightPlaces {
  unsigned count, per;
  int repeats;
  __device__ Word operator()(unsigned, unsigned thread, unsigned) const {
    Word sum = 0;
    for (int r = 0; r < repeats; ++r)
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned w = 0; w < per; ++w)
          sum += lab::mixed((thread + static_cast<unsigned>(r) * 32 + k * (count / 8)) % count * per + w);
    return sum;
  }
};

/// Three operands and a result in registers per instruction; values change their signs and nothing else.
struct MultiplyAdd {
  int repeats;
  float a;  ///< -2
  __device__ Word operator()() const {
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = static_cast<float>(threadIdx.x + k);
    for (int r = 0; r < repeats; ++r) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = fmaf(v[k], a, v[k]);
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k];
    return __float_as_uint(sum);
  }
};
struct SignsChanged {  // an even number of times
  __device__ Word operator()(unsigned, unsigned thread, unsigned) const {
    return __float_as_uint(static_cast<float>(8 * thread + 28));
  }
};

struct ReadConstant {
  unsigned mask;
  int repeats;
  __device__ Word operator()() const {
    Word sum = 0;
    unsigned i = 0;
    for (int r = 0; r < repeats; ++r, i += 32) {
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += chase::constant_chain[(i + k * 4) & mask];
    }
    return sum;
  }
};
struct ConstantSums {
  unsigned mask;
  int repeats;
  __device__ Word operator()(unsigned, unsigned, unsigned) const {
    Word sum = 0;
    for (unsigned n = 0; n < 8u * static_cast<unsigned>(repeats); ++n)
      sum += lab::mixed((n / 8 * 32 + n % 8 * 4) & mask);
    return sum;
  }
};

struct ReadTexture {
  cudaTextureObject_t texture;
  unsigned mask;
  int repeats;
  __device__ Word operator()() const {
    Word sum = 0;
    unsigned i = threadIdx.x;
    for (int r = 0; r < repeats; ++r, i += 1024 * 8 + 32) {
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += tex1Dfetch<unsigned>(texture, static_cast<int>((i + k * 1024) & mask));
    }
    return sum;
  }
};
struct TextureSums {
  unsigned mask;
  int repeats;
  __device__ Word operator()(unsigned, unsigned thread, unsigned) const {
    Word sum = 0;
    for (int r = 0; r < repeats; ++r)
      for (unsigned k = 0; k < 8; ++k) sum += lab::mixed((thread + static_cast<unsigned>(r) * 8224 + k * 1024) & mask);
    return sum;
  }
};

// One kernel per level, by its own name for who reads profiles.
__global__ void __launch_bounds__(1024) read_l2(ReadL2 body, unsigned* never) { lab::keep(body(), never); }
template <typename Vector>
__global__ void __launch_bounds__(1024) read_l1(ReadL1<Vector> body, unsigned* never) {
  lab::keep(body(), never);
}
template <typename Vector>
__global__ void __launch_bounds__(1024) read_shared(ReadShared<Vector> body, unsigned* never) {
  lab::keep(body(), never);
}
__global__ void __launch_bounds__(1024) multiply_add(MultiplyAdd body, unsigned* never) { lab::keep(body(), never); }
__global__ void __launch_bounds__(1024) read_constant(ReadConstant body, unsigned* never) { lab::keep(body(), never); }
__global__ void __launch_bounds__(1024) read_texture(ReadTexture body, unsigned* never) { lab::keep(body(), never); }

/// `body` in `kernel`; `expected` says what its sums are.
template <typename Body, typename Expected>
Row level_row(Lab& lab, const std::string& name, std::size_t size, double bytes, const char* why, unsigned blocks,
              void (*kernel)(Body, unsigned*), Body body, Expected expected) {
  Row row;
  row.name = name;
  row.x = static_cast<double>(size);
  row.x_unit = "B";
  row.bytes = bytes;
  row.why = why;
  row.flush = lab::Flush::kWarm;
  unsigned* const never = lab.never();
  row.call = [=](cudaStream_t s) { kernel<<<blocks, 1024, 0, s>>>(body, never); };
  Lab* const l = &lab;
  row.verified = [=] { return l->sums_up(blocks, 1024, body, expected); };
  return row;
}

template <typename Vector>
Row l1_row(Lab& lab, double lanes, unsigned blocks, const char* data, int repeats) {
  constexpr unsigned kBytes = sizeof(Vector);
  return level_row(lab, "loads of " + std::to_string(kBytes) + " B, 64 KiB", kBytes, kBytes * lanes,
                   "64 KiB stay in the L1 cache", blocks, read_l1<Vector>,
                   ReadL1<Vector>{reinterpret_cast<const Vector*>(data), 65536 / kBytes, repeats},
                   EightPlaces{65536 / kBytes, kBytes / 4, repeats});
}
template <typename Vector>
Row shared_row(Lab& lab, double lanes, unsigned blocks, int repeats, const char* why) {
  constexpr unsigned kBytes = sizeof(Vector);
  return level_row(lab, "loads of " + std::to_string(kBytes) + " B", kBytes, kBytes * lanes, why, blocks,
                   read_shared<Vector>, ReadShared<Vector>{repeats}, EightPlaces{32768 / kBytes, kBytes / 4, repeats});
}

void level_bandwidths(Lab& lab) {
  const unsigned blocks = lab.counting() ? 2 : 2 * static_cast<unsigned>(lab.multiprocessors());
  const int repeats = static_cast<int>(lab.pick(512, 128, 2));
  const double lanes = 1024.0 * blocks * repeats * 8;
  if (lab.wanted("bandwidth-registers")) {
    Row row = level_row(lab, "fused multiply-add, 3 operands and a result", 0, lanes * 8 * 16,
                        "16 bytes of registers per lane and instruction", blocks, multiply_add,
                        MultiplyAdd{repeats, -2.0f}, SignsChanged{});
    row.x_unit = "";
    lab.run("bandwidth-registers", {row});
  }
  if (lab.wanted("bandwidth-shared"))
    lab.run("bandwidth-shared",
            {shared_row<unsigned>(lab, lanes, blocks, repeats, "32 banks of 4 bytes: 128 bytes per clock"),
             shared_row<uint2>(lab, lanes, blocks, repeats, "two wavefronts per request"),
             shared_row<uint4>(lab, lanes, blocks, repeats, "four wavefronts per request")});
  if (lab.wanted("bandwidth-l1")) {
    const char* const data = lab.memory(65536);
    lab.run("bandwidth-l1",
            {l1_row<unsigned>(lab, lanes, blocks, data, repeats), l1_row<uint2>(lab, lanes, blocks, data, repeats),
             l1_row<uint4>(lab, lanes, blocks, data, repeats)});
  }
  if (lab.wanted("bandwidth-constant")) {
    std::vector<unsigned> words(16384);
    for (unsigned i = 0; i < 16384; ++i) words[i] = lab::mixed(i);
    LAB_CHECK(cudaMemcpyToSymbol(chase::constant_chain, words.data(), 65536));
    std::vector<Row> rows;
    for (unsigned size = 1024; size <= 65536; size *= 4)
      rows.push_back(level_row(
          lab, "one word for all lanes, " + lab::size_text(size), size, 4 * lanes,
          size <= 2048 ? "in the multiprocessor's constant cache" : "more than the first constant cache holds", blocks,
          read_constant, ReadConstant{size / 4 - 1, repeats}, ConstantSums{size / 4 - 1, repeats}));
    lab.run("bandwidth-constant", rows);
  }
  if (lab.wanted("bandwidth-texture")) {
    char* data = lab.memory(65536);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
    resource.res.linear.sizeInBytes = 65536;
    cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    LAB_CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    lab.run("bandwidth-texture",
            {level_row(lab, "texel fetches of 4 B, 64 KiB", 4, 4 * lanes, "texel fetches that hit in the L1 cache",
                       blocks, read_texture, ReadTexture{texture, 16383, repeats}, TextureSums{16383, repeats})});
  }
}

void sweep(Lab& lab) {
  if (!lab.wanted("bandwidth-l2-dram")) return;
  const std::size_t largest = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 16);
  const std::size_t total = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 16);
  const unsigned blocks = lab.counting() ? 4 : 2 * static_cast<unsigned>(lab.multiprocessors());
  char* data = lab.memory(largest);
  std::vector<Row> rows;
  for (std::size_t size = lab.counting() ? largest : std::size_t{1} << 20; size <= largest; size *= 2) {
    for (const std::size_t part : {size, size + size / 2}) {
      if (part > largest || (part != size && (size < (16u << 20) || size > (64u << 20)))) continue;
      const int repeats = static_cast<int>(std::max<std::size_t>(1, total / part));
      const std::size_t l2 = static_cast<std::size_t>(lab.device().l2CacheSize);
      rows.push_back(level_row(lab, "read again and again, " + lab::size_text(part), part,
                               static_cast<double>(part) * repeats,
                               part <= l2 / 2 ? "fits in each half of the L2 cache"
                               : part <= l2   ? "fits in the L2 cache, not in a half of it"
                                              : "more than the L2 cache holds: DRAM",
                               blocks, read_l2, ReadL2{reinterpret_cast<const uint4*>(data), part / 16, repeats},
                               L2Sums{reinterpret_cast<const Word*>(data), part / 16, repeats}));
    }
  }
  lab.run("bandwidth-l2-dram", rows);
  LAB_CHECK(cudaFree(data));
}

void all_ceilings(Lab& lab) {
  if (!lab.wanted("ceilings") && !lab.wanted("cache-state")) return;
  const std::size_t largest = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 18);
  char* out = lab.memory(largest);
  char* a = lab.memory(largest, 17);
  char* b = lab.memory(largest, 4711);
  if (lab.wanted("ceilings")) {
    for (std::size_t size = largest; size >= (lab.counting() ? largest : std::size_t{1} << 20); size /= 4)
      lab.run("ceilings", ceilings::rows(lab, out, a, b, size, lab::Flush::kClean));
  }
  if (lab.wanted("cache-state")) {
    std::vector<Row> rows;
    for (std::size_t size = lab.counting() ? largest : std::size_t{1} << 22; size <= largest; size *= 8) {
      for (const lab::Flush flush : {lab::Flush::kClean, lab::Flush::kDirty, lab::Flush::kWarm}) {
        for (Row& row : ceilings::rows(lab, out, a, b, size, flush)) {
          if (row.name.find("4 x 16 B") == std::string::npos) continue;
          row.name += flush == lab::Flush::kClean   ? ", clean L2"
                      : flush == lab::Flush::kDirty ? ", dirty L2"
                                                    : ", warm L2";
          row.why = flush == lab::Flush::kClean   ? "the L2 holds other data, unmodified"
                    : flush == lab::Flush::kDirty ? "modified lines of others are written back in this row's time"
                                                  : "the L2 holds what this row used before";
          if (flush != lab::Flush::kClean) row.mix = "";
          rows.push_back(row);
        }
      }
    }
    lab.run("cache-state", rows);
  }
  for (char* p : {out, a, b}) LAB_CHECK(cudaFree(p));
}

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "memory");
  all_ceilings(lab);
  chase::latencies(lab);
  halves::latency(lab);
  level_bandwidths(lab);
  sweep(lab);
  halves::bandwidth(lab);
  return lab.finish();
}
