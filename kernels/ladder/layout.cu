// Structures to arrays (AoS to SoA), rung by rung: three words per structure, and eight, where shared memory has
// conflicts.
#include "../layout.cuh"

#include "ladder.cuh"

namespace {

using Word = std::uint32_t;

/// A thread per structure.
template <int kFields>
__global__ void __launch_bounds__(256) direct(Word* out, const Word* in, std::size_t structs) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
#pragma unroll
  for (int f = 0; f < kFields; ++f) out[f * structs + i] = in[i * kFields + f];
}
/// A thread per word: reads in order, writes to another array than its neighbours.
template <int kFields>
__global__ void __launch_bounds__(256) scattered(Word* out, const Word* in, std::size_t structs) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  out[i % kFields * structs + i / kFields] = in[i];
}
/// 256 structures by way of shared memory, word by word; kPad: words of padding per structure.
template <int kFields, int kPad>
__global__ void __launch_bounds__(256) strip(Word* out, const Word* in, std::size_t structs) {
  __shared__ Word words[256 * (kFields + kPad)];
  const std::size_t first = blockIdx.x * std::size_t{256};
#pragma unroll
  for (int k = 0; k < kFields; ++k) {
    const unsigned w = k * 256 + threadIdx.x;
    words[w / kFields * (kFields + kPad) + w % kFields] = in[first * kFields + w];
  }
  __syncthreads();
#pragma unroll
  for (int f = 0; f < kFields; ++f) out[f * structs + first + threadIdx.x] = words[threadIdx.x * (kFields + kPad) + f];
}
/// 1024 structures, 16 bytes per lane on both sides.
template <int kFields>
__global__ void __launch_bounds__(256) vectors(Word* out, const uint4* in, std::size_t structs) {
  __shared__ uint4 shared[256 * kFields];
  const std::size_t first = blockIdx.x * std::size_t{256} * kFields;
  uint4 v[kFields];
#pragma unroll
  for (int k = 0; k < kFields; ++k) v[k] = in[first + k * 256 + threadIdx.x];
#pragma unroll
  for (int k = 0; k < kFields; ++k) shared[k * 256 + threadIdx.x] = v[k];
  __syncthreads();
  Word mine[4 * kFields];
#pragma unroll
  for (int k = 0; k < kFields; ++k) reinterpret_cast<uint4*>(mine)[k] = shared[threadIdx.x * kFields + k];
#pragma unroll
  for (int f = 0; f < kFields; ++f)
    reinterpret_cast<uint4*>(out + f * structs + blockIdx.x * std::size_t{1024})[threadIdx.x] =
        make_uint4(mine[f], mine[kFields + f], mine[2 * kFields + f], mine[3 * kFields + f]);
}

struct Right {
  const Word* out;
  std::size_t structs, fields;
  __device__ bool operator()(std::size_t i) const {
    return out[i % fields * structs + i / fields] == lab::mixed(static_cast<Word>(i));
  }
};

template <int kFields>
void rungs(lab::Lab& lab, ladder::Ladder& ladder, Word* out, const Word* in, std::size_t words) {
  const std::size_t structs = words / kFields / 1024 * 1024, used = structs * kFields;
  ladder.begin(std::to_string(kFields) + " words, " + std::to_string(structs) + " structures",
               8.0 * static_cast<double>(used), "copy");
  const auto add = [&](const char* name, const char* why, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, 1, std::move(call), ladder::poisoned(out, 4 * used),
                [=, &lab] { return lab.check(used, Right{out, structs, kFields}); });
  };
  const unsigned each = static_cast<unsigned>(structs / 256);
  add("a thread per structure", "loads that leave out words between lanes; what is left over waits in the L1",
      [=](cudaStream_t s) { direct<kFields><<<each, 256, 0, s>>>(out, in, structs); });
  add("a thread per word", "loads in order, but stores to several arrays at once, in short runs",
      [=](cudaStream_t s) { scattered<kFields><<<each * kFields, 256, 0, s>>>(out, in, structs); });
  add("shared strip",
      kFields % 2 ? "whole sectors on both sides; an odd number of words has no bank conflicts"
                  : "whole sectors on both sides; lanes that are an even number of words apart share banks",
      [=](cudaStream_t s) { strip<kFields, 0><<<each, 256, 0, s>>>(out, in, structs); });
  if (kFields % 2 == 0)
    add("padding", "one word more per structure: as many passes as without it",
        [=](cudaStream_t s) { strip<kFields, 1><<<each, 256, 0, s>>>(out, in, structs); });
  add("16 bytes per lane", "a quarter of the requests; four structures turned in registers", [=](cudaStream_t s) {
    vectors<kFields><<<each / 4, 256, 0, s>>>(out, reinterpret_cast<const uint4*>(in), structs);
  });
  add("aos_to_soa()", "swizzled, any number of fields, any alignment",
      [=](cudaStream_t s) { muscope::kernels::aos_to_soa(out, structs, in, structs, kFields, s); });
}

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-layout");
  if (!lab.wanted("ladder-layout")) return lab.finish();
  const std::size_t words = lab.pick(std::size_t{64} << 20, std::size_t{16} << 20, 3 << 15);
  auto* const in = lab.memory<Word>(4 * words);
  auto* const out = lab.memory<Word>(4 * words, 9);
  lab.run("ceilings", ceilings::rows(lab, reinterpret_cast<char*>(out), reinterpret_cast<char*>(in),
                                     reinterpret_cast<char*>(in), 4 * words, lab::Flush::kClean));
  ladder::Ladder ladder(lab, "ladder-layout");
  rungs<3>(lab, ladder, out, in, words);
  rungs<8>(lab, ladder, out, in, words);
  ladder.run();
  return lab.finish();
}
