// Inside a multiprocessor: bank conflicts, atomics, constants.
#include "onchip.cuh"

namespace {

using onchip::Lab;
using onchip::Row;
using onchip::Strict;
using onchip::Word;

// ---- shared memory --------------------------------------------------------------------------------------------------

/// Lane l reads the words of kBytes that begin at word l * stride. Sums keep the loads alive and can be checked.
template <int kBytes>
__global__ void __launch_bounds__(256) bank_kernel(Word* out, int repeats, unsigned stride) {
  struct __align__(kBytes) Vector {
    Word w[kBytes / 4];
  };
  __shared__ __align__(16) Word words[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += 256) words[i] = lab::mixed(i);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  unsigned at = lane * stride;
  Word sum = 0;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const Vector v = *reinterpret_cast<const Vector*>(words + ((at + k * 32 * (kBytes / 4)) & 8191));
#pragma unroll
      for (int j = 0; j < kBytes / 4; ++j) sum += v.w[j];
    }
    at += 256 * (kBytes / 4);
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
struct BankSums {
  const Word* out;
  unsigned stride, bytes;
  int repeats;
  __device__ bool operator()(std::size_t i) const {
    const unsigned lane = static_cast<unsigned>(i) % 32;
    Word sum = 0;
    for (int r = 0; r < repeats; ++r)
      for (unsigned k = 0; k < 8; ++k)
        for (unsigned j = 0; j < bytes / 4; ++j)
          sum += lab::mixed(((lane * stride + (static_cast<unsigned>(r) * 256 + k * 32) * (bytes / 4)) & 8191) + j);
    return out[i] == sum;
  }
};

// ---- atomics --------------------------------------------------------------------------------------------------------

/// Every lane adds one, `repeats` times: lane l of warp w at word (l / lanes_per_word * spread + w % warps_apart *
/// 1024).
template <bool kUsed>
__global__ void __launch_bounds__(256)
    global_atomics(Word* words, int repeats, unsigned lanes_per_word, unsigned spread, unsigned apart, Word* out) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * 256 + threadIdx.x) / 32;
  Word* const p = words + lane / lanes_per_word * spread + warp % apart * 1024;
  Word sum = 0;
  for (int r = 0; r < repeats; ++r) {
    if (kUsed)
      sum += atomicAdd(p, 1u);
    else
      atomicAdd(p, 1u);
  }
  if (kUsed && sum == lab::kNever) out[0] = sum;
}
__global__ void __launch_bounds__(256)
    float_atomics(float* words, int repeats, unsigned lanes_per_word, unsigned spread, unsigned apart) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * 256 + threadIdx.x) / 32;
  float* const p = words + lane / lanes_per_word * spread + warp % apart * 1024;
  for (int r = 0; r < repeats; ++r) atomicAdd(p, 1.0f);
}
__global__ void __launch_bounds__(256)
    shared_atomics(Word* out, int repeats, unsigned lanes_per_word, unsigned spread) {
  __shared__ Word words[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += 256) words[i] = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int r = 0; r < repeats; ++r) atomicAdd(words + ((lane / lanes_per_word * spread + warp * 1024) & 8191), 1u);
  __syncthreads();
  Word sum = 0;
  for (unsigned i = threadIdx.x; i < 8192; i += 256) sum += words[i];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// ---- constants ----------------------------------------------------------------------------------------------------

__constant__ Word constants[1024];

template <bool kConstant>
__global__ void __launch_bounds__(256) lookup_kernel(Word* out, const Word* table, int repeats, unsigned distinct) {
  unsigned i = threadIdx.x % distinct;
  Word sum = 0;
  for (int r = 0; r < repeats; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += kConstant ? constants[(i + k * 32) & 255] : __ldg(table + ((i + k * 32) & 255));
    i += 1;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
struct LookupSums {
  const Word* out;
  unsigned distinct;
  int repeats;
  __device__ bool operator()(std::size_t i) const {
    Word sum = 0;
    for (int r = 0; r < repeats; ++r)
      for (unsigned k = 0; k < 8; ++k)
        sum += lab::mixed((static_cast<unsigned>(i) % 256 % distinct + static_cast<unsigned>(r) + k * 32) & 255);
    return out[i] == sum;
  }
};
// ---- experiments --------------------------------------------------------------------------------------------------

class Accesses : public onchip::OnChip {
 public:
  using OnChip::OnChip;

  void banks() {
    if (!lab_.wanted("bank-conflicts")) return;
    const int repeats = static_cast<int>(lab_.pick(256, 64, 2));
    std::vector<Row> rows;
    const auto add = [&](auto number, unsigned stride, double degree, const char* why) {
      constexpr int kBytes = decltype(number)::value;
      Row r = row(
          std::to_string(kBytes) + " B per lane, stride " + std::to_string(stride) + " words", degree,
          8.0 * repeats * 256 * blocks_ * kBytes, "", why,
          [=](cudaStream_t t) { bank_kernel<kBytes><<<blocks_, 256, 0, t>>>(out_, repeats, stride); },
          BankSums{out_, stride, kBytes, repeats}, 256u * blocks_);
      r.x_unit = "ways";
      rows.push_back(r);
    };
    const std::integral_constant<int, 4> four;
    add(four, 0, 1, "one word for all lanes: a broadcast");
    for (const unsigned s : {1u, 2u, 4u, 8u, 16u, 32u})
      add(four, s, s, s == 1 ? "32 lanes in 32 banks" : "lanes share banks: as many passes as lanes per bank");
    add(four, 3, 1, "an odd stride meets every bank once"), add(four, 33, 1, "one word of padding per row of 32");
    add(std::integral_constant<int, 8>{}, 2, 2, "half a warp per pass"),
        add(std::integral_constant<int, 8>{}, 4, 4, "two lanes of each half share banks");
    add(std::integral_constant<int, 16>{}, 4, 4, "a quarter of a warp per pass"),
        add(std::integral_constant<int, 16>{}, 8, 8, "two lanes of each quarter share banks");
    lab_.run("bank-conflicts", rows);
  }

  void atomics() {
    const int repeats = static_cast<int>(lab_.pick(32, 16, 2));
    const double operations = 256.0 * blocks_ * repeats;
    if (lab_.wanted("atomics-global")) {
      std::vector<Row> rows;
      const auto add = [&](const char* name, double x, const char* why, unsigned lanes, unsigned spread, unsigned apart,
                           int kind) {
        Word* const words = out_;
        Row r = row(
            name, x, operations, "", why,
            [=](cudaStream_t t) {
              if (kind == 0) global_atomics<false><<<blocks_, 256, 0, t>>>(words, repeats, lanes, spread, apart, words);
              if (kind == 1) global_atomics<true><<<blocks_, 256, 0, t>>>(words, repeats, lanes, spread, apart, words);
              if (kind == 2)
                float_atomics<<<blocks_, 256, 0, t>>>(reinterpret_cast<float*>(words), repeats, lanes, spread, apart);
            },
            Strict{}, 0);
        r.work = "op";
        r.x_unit = "lanes per word";
        const std::size_t span = 4096u * std::max(apart, 8u);
        r.poison = [=] { LAB_CHECK(cudaMemset(words, 0, span)); };
        r.verified = [=] {  // nothing lost: the sum over all words is the number of operations
          std::vector<Word> all(span / 4);
          LAB_CHECK(cudaMemcpy(all.data(), words, span, cudaMemcpyDeviceToHost));
          double sum = 0;
          for (const Word w : all) {
            float f;
            std::memcpy(&f, &w, 4);
            sum += kind == 2 ? static_cast<double>(f) : static_cast<double>(w);
          }
          return sum == operations;
        };
        rows.push_back(r);
      };
      add("all lanes of all warps on one word", 32,
          "one address: a warp's lanes are added up first, warps wait for each other", 32, 1, 1, 0);
      add("all lanes on one word, with the result", 32, "each lane needs the sum before it", 32, 1, 1, 1);
      add("all lanes of a warp on one word, 1024 words", 32, "warps on different words", 32, 1, 1024, 0);
      add("32 words of one line, the same for all warps", 1, "the L2 does a line's words together, warp after warp", 1,
          1, 1, 0);
      add("32 words of one line, 1024 lines", 1, "whole sectors per request", 1, 1, 1024, 0);
      add("32 words of 32 sectors, 1024 lines apart", 1, "a sector for each lane", 1, 8, 1024, 0);
      add("float: all lanes of all warps on one word", 32,
          "no adding up in advance that would change rounding: lane after lane", 32, 1, 1, 2);
      add("float: 32 words of one line, 1024 lines", 1, "whole sectors per request", 1, 1, 1024, 2);
      lab_.run("atomics-global", rows);
    }
    if (lab_.wanted("atomics-shared")) {
      std::vector<Row> rows;
      for (const unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u})
        rows.push_back(shared_row(std::to_string(lanes) + " lanes per word", lanes,
                                  lanes == 1 ? "no two lanes on one word" : "lanes on one word take turns", lanes, 1,
                                  repeats));
      rows.push_back(shared_row("32 words of one bank", 32, "bank conflicts: lane after lane", 1, 32, repeats));
      lab_.run("atomics-shared", rows);
    }
  }

  void lookups() {
    if (!lab_.wanted("constant-divergence")) return;
    std::vector<Word> words(1024);
    for (unsigned i = 0; i < 1024; ++i) words[i] = lab::mixed(i);
    LAB_CHECK(cudaMemcpyToSymbol(constants, words.data(), 4096));
    const int repeats = static_cast<int>(lab_.pick(64, 16, 1));
    std::vector<Row> rows;
    for (const unsigned distinct : {1u, 2u, 4u, 8u, 16u, 32u}) {
      for (const bool constant : {true, false}) {
        Row r = row(
            std::string(constant ? "constant" : "global") + " memory, " + std::to_string(distinct) +
                (distinct == 1 ? " word" : " words") + " per warp",
            distinct, 32.0 * repeats * 256 * blocks_, "",
            constant ? (distinct == 1 ? "one word for all lanes in one pass" : "a pass per different word")
                     : "words of a line come together",
            [=](cudaStream_t t) {
              if (constant)
                lookup_kernel<true><<<blocks_, 256, 0, t>>>(out_, in_, repeats, distinct);
              else
                lookup_kernel<false><<<blocks_, 256, 0, t>>>(out_, in_, repeats, distinct);
            },
            LookupSums{out_, distinct, repeats}, 256u * blocks_);
        r.x_unit = "words per warp";
        rows.push_back(r);
      }
    }
    lab_.run("constant-divergence", rows);
  }

 private:
  Row shared_row(const std::string& name, double x, const char* why, unsigned lanes, unsigned spread, int repeats) {
    Row r = row(
        name, x, 256.0 * blocks_ * repeats, "", why,
        [=](cudaStream_t t) { shared_atomics<<<blocks_, 256, 0, t>>>(out_, repeats, lanes, spread); }, Strict{}, 0);
    r.work = "op";
    r.x_unit = "lanes per word";
    Word* const out = out_;
    const std::size_t count = 256u * blocks_;
    const double operations = 256.0 * blocks_ * repeats;
    r.verified = [=] {
      std::vector<Word> all(count);
      LAB_CHECK(cudaMemcpy(all.data(), out, 4 * count, cudaMemcpyDeviceToHost));
      double sum = 0;
      for (const Word w : all) sum += w;
      return sum == operations;
    };
    return r;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return onchip::run<Accesses>(argc, argv, "onchip", [](Accesses& all) {
    all.banks();
    all.atomics();
    all.lookups();
  });
}
