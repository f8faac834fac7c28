// The memory hierarchy: what each level takes to answer one dependent load, and what it gives to all multiprocessors.
#include "ceilings.cuh"
#include "chase.cuh"

namespace {

using lab::Lab;
using lab::Row;

// ---- bandwidth ------------------------------------------------------------------------------------------------------

/// Reads `count` vectors again and again past the L1 cache.
__global__ void __launch_bounds__(1024) read_l2(const uint4* in, std::size_t count, int repeats, unsigned* never) {
  unsigned sum = 0;
  const std::size_t step = gridDim.x * std::size_t{1024};
  for (int r = 0; r < repeats; ++r) {
    // Another multiprocessor reads a line in the next pass, so that nothing above the L2 could keep it.
    const std::size_t first = ((blockIdx.x + r) % gridDim.x) * std::size_t{1024} + threadIdx.x;
    for (std::size_t i = first; i < count; i += 4 * step) {
      uint4 v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = i + k * step < count ? __ldcg(in + i + k * step) : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum |= v[k].x & v[k].y & v[k].z & v[k].w;
    }
  }
  if (sum == lab::kNever && never[1] == lab::kNever) *never = sum;
}

/// All blocks read the same few vectors through the L1 cache.
template <typename Vector>
__global__ void __launch_bounds__(1024) read_l1(const Vector* in, unsigned mask, int repeats, unsigned* never) {
  unsigned sum = 0, i = threadIdx.x;
  const unsigned step = (mask + 1) / 8;  // eight different places
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const Vector v = __ldca(in + ((i + k * step) & mask));
#pragma unroll
      for (unsigned w = 0; w < sizeof(Vector) / 4; ++w) sum ^= reinterpret_cast<const unsigned*>(&v)[w];
    }
    i += 32;
  }
  if (sum == lab::kNever && never[1] == lab::kNever) *never = sum;
}

template <typename Vector>
__global__ void __launch_bounds__(1024) read_shared(int repeats, unsigned* never) {
  constexpr unsigned kCount = 32768 / sizeof(Vector), kWords = sizeof(Vector) / 4;
  __shared__ Vector data[kCount];
  for (unsigned i = threadIdx.x; i < 8192; i += 1024) reinterpret_cast<unsigned*>(data)[i] = lab::mixed(i);
  __syncthreads();
  unsigned sum = 0, i = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const Vector v = data[(i + k * (kCount / 8)) % kCount];
#pragma unroll
      for (unsigned w = 0; w < kWords; ++w) sum ^= reinterpret_cast<const unsigned*>(&v)[w];
    }
    i += 32;
  }
  if (sum == lab::kNever && never[1] == lab::kNever) *never = sum;
}

/// Three operands and a result in registers per instruction.
__global__ void __launch_bounds__(1024) multiply_add(int repeats, float a, unsigned* never) {
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
  if (__float_as_uint(sum) == lab::kNever && never[1] == lab::kNever) *never = 1;
}

__global__ void __launch_bounds__(1024) read_constant(unsigned mask, int repeats, unsigned* never) {
  unsigned sum = 0, i = 0;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) sum ^= chase::constant_chain[(i + k * 4) & mask];
    i += 32;
  }
  if (sum == lab::kNever && never[1] == lab::kNever) *never = sum;
}

__global__ void __launch_bounds__(1024)
    read_texture(cudaTextureObject_t texture, unsigned mask, int repeats, unsigned* never) {
  unsigned sum = 0, i = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) sum ^= tex1Dfetch<unsigned>(texture, static_cast<int>((i + k * 1024) & mask));
    i += 1024 * 8 + 32;
  }
  if (sum == lab::kNever && never[1] == lab::kNever) *never = sum;
}

Row level_row(const std::string& name, std::size_t size, double bytes, const char* why,
              std::function<void(cudaStream_t)> call) {
  Row row;
  row.name = name;
  row.x = static_cast<double>(size);
  row.x_unit = "B";
  row.bytes = bytes;
  row.why = why;
  row.flush = lab::Flush::kWarm;
  row.call = std::move(call);
  return row;
}

void level_bandwidths(Lab& lab) {
  const unsigned sms = static_cast<unsigned>(lab.multiprocessors());
  const unsigned blocks = lab.counting() ? 2 : 2 * sms;
  const int repeats = static_cast<int>(lab.pick(512, 128, 2));
  unsigned* never = lab.never();
  const double lanes = 1024.0 * blocks * repeats * 8;
  if (lab.wanted("bandwidth-registers")) {
    Row row = level_row("fused multiply-add, 3 operands and a result", 0, lanes * 8 * 16,
                        "16 bytes of registers per lane and instruction",
                        [=](cudaStream_t s) { multiply_add<<<blocks, 1024, 0, s>>>(repeats, 0.5f, never); });
    row.x_unit = "";
    lab.run("bandwidth-registers", {row});
  }
  if (lab.wanted("bandwidth-shared")) {
    lab.run("bandwidth-shared",
            {level_row("loads of 4 B", 4, 4 * lanes, "32 banks of 4 bytes: 128 bytes per clock",
                       [=](cudaStream_t s) { read_shared<unsigned><<<blocks, 1024, 0, s>>>(repeats, never); }),
             level_row("loads of 8 B", 8, 8 * lanes, "two wavefronts per request",
                       [=](cudaStream_t s) { read_shared<uint2><<<blocks, 1024, 0, s>>>(repeats, never); }),
             level_row("loads of 16 B", 16, 16 * lanes, "four wavefronts per request",
                       [=](cudaStream_t s) { read_shared<uint4><<<blocks, 1024, 0, s>>>(repeats, never); })});
  }
  if (lab.wanted("bandwidth-l1")) {
    char* data = lab.memory(65536);
    lab.run("bandwidth-l1",
            {level_row("loads of 4 B, 64 KiB", 4, 4 * lanes, "64 KiB stay in the L1 cache",
                       [=](cudaStream_t s) {
                         read_l1<unsigned>
                             <<<blocks, 1024, 0, s>>>(reinterpret_cast<unsigned*>(data), 16383, repeats, never);
                       }),
             level_row("loads of 8 B, 64 KiB", 8, 8 * lanes, "64 KiB stay in the L1 cache",
                       [=](cudaStream_t s) {
                         read_l1<uint2><<<blocks, 1024, 0, s>>>(reinterpret_cast<uint2*>(data), 8191, repeats, never);
                       }),
             level_row("loads of 16 B, 64 KiB", 16, 16 * lanes, "64 KiB stay in the L1 cache", [=](cudaStream_t s) {
               read_l1<uint4><<<blocks, 1024, 0, s>>>(reinterpret_cast<uint4*>(data), 4095, repeats, never);
             })});
  }
  if (lab.wanted("bandwidth-constant")) {
    std::vector<unsigned> words(16384);
    for (unsigned i = 0; i < 16384; ++i) words[i] = lab::mixed(i);
    LAB_CHECK(cudaMemcpyToSymbol(chase::constant_chain, words.data(), 65536));
    std::vector<Row> rows;
    for (unsigned size = 1024; size <= 65536; size *= 4)
      rows.push_back(level_row(
          "one word for all lanes, " + lab::size_text(size), size, 4 * lanes,
          size <= 2048 ? "in the multiprocessor's constant cache" : "more than the first constant cache holds",
          [=](cudaStream_t s) { read_constant<<<blocks, 1024, 0, s>>>(size / 4 - 1, repeats, never); }));
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
            {level_row("texel fetches of 4 B, 64 KiB", 4, 4 * lanes, "texel fetches that hit in the L1 cache",
                       [=](cudaStream_t s) { read_texture<<<blocks, 1024, 0, s>>>(texture, 16383, repeats, never); })});
  }
}

void sweep(Lab& lab) {
  if (!lab.wanted("bandwidth-l2-dram")) return;
  const std::size_t largest = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 16);
  const std::size_t total = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 16);
  const unsigned blocks = lab.counting() ? 4 : 2 * static_cast<unsigned>(lab.multiprocessors());
  char* data = lab.memory(largest);
  unsigned* never = lab.never();
  std::vector<Row> rows;
  for (std::size_t size = lab.counting() ? largest : std::size_t{1} << 20; size <= largest; size *= 2) {
    for (const std::size_t part : {size, size + size / 2}) {
      if (part > largest || (part != size && (size < (16u << 20) || size > (64u << 20)))) continue;
      const int repeats = static_cast<int>(std::max<std::size_t>(1, total / part));
      rows.push_back(level_row(
          "read again and again, " + lab::size_text(part), part, static_cast<double>(part) * repeats,
          part <= static_cast<std::size_t>(lab.device().l2CacheSize) / 2 ? "fits in each half of the L2 cache"
          : part <= static_cast<std::size_t>(lab.device().l2CacheSize)   ? "fits in the L2 cache, not in a half of it"
                                                                         : "more than the L2 cache holds: DRAM",
          [=](cudaStream_t s) {
            read_l2<<<blocks, 1024, 0, s>>>(reinterpret_cast<uint4*>(data), part / 16, repeats, never);
          }));
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
  level_bandwidths(lab);
  sweep(lab);
  return lab.finish();
}
