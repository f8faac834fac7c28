// The ceilings of access mixes: plain kernels that read, write or both, as fast as they can. Every program measures
// them at the size of its own rows, in the same process; the fastest of a mix is what rows are held against.
#pragma once

#include "lab.cuh"
#include "plain.cuh"

namespace ceilings {

struct AllRead {
  const std::uint32_t* in;
  std::size_t words;
  __device__ std::uint32_t operator()(unsigned block, unsigned thread, unsigned blocks) const {
    std::uint32_t sum = 0;
    for (std::size_t piece = block; piece * 8192 < words; piece += blocks)
      for (std::size_t k = 0; k < 16; ++k) {
        const std::size_t at = piece * 8192 + k / 4 * 2048 + thread * 4 + k % 4;
        if (at < words) sum += in[at];
      }
    return sum;
  }
};
struct SameWords {
  const std::uint32_t* out;
  const std::uint32_t* in;
  __device__ bool operator()(std::size_t i) const { return out[i] == in[i]; }
};
struct WrittenWords {
  const std::uint32_t* out;
  __device__ bool operator()(std::size_t i) const { return out[i] == 77 + i % 4; }
};
struct SetWords {
  const std::uint32_t* out;
  __device__ bool operator()(std::size_t i) const { return out[i] == 0x5a5a5a5au; }
};
struct TriadWords {
  const std::uint32_t *out, *a, *b;
  __device__ bool operator()(std::size_t i) const { return out[i] == a[i] + 3 * b[i]; }
};

/// Rows for buffers of `bytes` (useful bytes of a copy: twice that). `a` and `b` hold data; without a triad when they
/// overlap.
inline std::vector<lab::Row> rows(lab::Lab& lab, char* out, const char* a, const char* b, std::size_t bytes,
                                  lab::Flush flush) {
  const std::size_t count = bytes / 16;
  const double whole = static_cast<double>(bytes);
  auto* o = reinterpret_cast<uint4*>(out);
  const auto* va = reinterpret_cast<const uint4*>(a);
  const auto* vb = reinterpret_cast<const uint4*>(b);
  const auto* words = reinterpret_cast<const std::uint32_t*>(out);
  const auto* wa = reinterpret_cast<const std::uint32_t*>(a);
  const auto* wb = reinterpret_cast<const std::uint32_t*>(b);
  unsigned* never = lab.never();
  const auto grid = [count](int vectors) { return lab::blocks_for(count, 512 * static_cast<unsigned>(vectors)); };
  const unsigned waves =
      static_cast<unsigned>(std::min<std::size_t>(4 * static_cast<unsigned>(lab.multiprocessors()), grid(4)));
  const std::string size = ", " + lab::size_text(bytes);
  std::vector<lab::Row> made;
  const auto add = [&](const std::string& name, double moved, const char* mix, std::function<void(cudaStream_t)> call,
                       std::function<bool()> verified, int launches = 1) {
    lab::Row row;
    row.name = name + size;
    row.call = std::move(call);
    row.x = whole;
    row.x_unit = "B";
    row.bytes = moved;
    row.mix = mix;
    row.flush = flush;
    row.launches = launches;
    if (verified) row.poison = [out, bytes] { LAB_CHECK(cudaMemset(out, 0xff, bytes)); };
    row.verified = std::move(verified);
    row.why = "a ceiling: whole vectors in order, nothing else to do";
    made.push_back(row);
  };
  lab::Lab* l = &lab;
  const auto same = [=] { return l->check(bytes / 4, SameWords{words, wa}); };
  add(
      "read, 4 x 16 B per lane", whole, "read",
      [=](cudaStream_t s) { read_all<false><<<waves, 512, 0, s>>>(ReadAll<false>{va, count}, never); },
      [=] { return l->sums_up(waves, 512, ReadAll<false>{va, count}, AllRead{wa, bytes / 4}); });
  add(
      "read, streaming loads", whole, "read",
      [=](cudaStream_t s) { read_all<true><<<waves, 512, 0, s>>>(ReadAll<true>{va, count}, never); },
      [=] { return l->sums_up(waves, 512, ReadAll<true>{va, count}, AllRead{wa, bytes / 4}); });
  add(
      "write, 4 x 16 B per lane", whole, "write",
      [=](cudaStream_t s) { write_all<false><<<grid(4), 512, 0, s>>>(o, count, 77); },
      [=] { return l->check(bytes / 4, WrittenWords{words}); });
  add(
      "write, streaming stores", whole, "write",
      [=](cudaStream_t s) { write_all<true><<<grid(4), 512, 0, s>>>(o, count, 77); },
      [=] { return l->check(bytes / 4, WrittenWords{words}); });
  add(
      "cudaMemsetAsync", whole, "write", [=](cudaStream_t s) { cudaMemsetAsync(out, 0x5a, bytes, s); },
      [=] { return l->check(bytes / 4, SetWords{words}); }, 0);
  add(
      "copy, 4 x 16 B per lane", 2 * whole, "copy",
      [=](cudaStream_t s) { copy_all<4, false><<<grid(4), 512, 0, s>>>(o, va, count); }, same);
  add(
      "copy, streaming", 2 * whole, "copy",
      [=](cudaStream_t s) { copy_all<4, true><<<grid(4), 512, 0, s>>>(o, va, count); }, same);
  add(
      "copy, 16 B per lane", 2 * whole, "copy",
      [=](cudaStream_t s) { copy_all<1, false><<<grid(1), 512, 0, s>>>(o, va, count); }, same);
  add(
      "cudaMemcpyAsync", 2 * whole, "copy",
      [=](cudaStream_t s) { cudaMemcpyAsync(out, a, bytes, cudaMemcpyDeviceToDevice, s); }, same, 0);
  // Of one input, the second read would be answered by a cache.
  if (a < b + bytes && b < a + bytes) return made;
  add(
      "triad, 2 x 16 B per lane", 3 * whole, "triad",
      [=](cudaStream_t s) { triad_all<2><<<grid(2), 512, 0, s>>>(o, va, vb, count); },
      [=] { return l->check(bytes / 4, TriadWords{words, wa, wb}); });
  return made;
}

}  // namespace ceilings
