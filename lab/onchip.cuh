// What the programs about multiprocessors share: two buffers with data, and rows that write to one of them.
#pragma once

#include "ceilings.cuh"

namespace onchip {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;

/// For rows that are verified on the host, or have nothing to verify.
struct Strict {
  __device__ bool operator()(std::size_t) const { return true; }
};

class OnChip {
 public:
  OnChip(Lab& lab, char* in, char* out, std::size_t bytes)
      : lab_(lab),
        in_(reinterpret_cast<Word*>(in)),
        out_(reinterpret_cast<Word*>(out)),
        bytes_(bytes),
        blocks_(lab.counting() ? 2 : 8 * static_cast<unsigned>(lab.multiprocessors())) {}

 protected:
  template <typename Right>
  Row row(const std::string& name, double x, double bytes, const char* mix, const char* why,
          std::function<void(cudaStream_t)> call, Right right, std::size_t count) {
    Row r;
    r.name = name;
    r.x = x;
    r.bytes = bytes;
    r.mix = mix;
    r.why = why;
    r.call = std::move(call);
    Lab* const lab = &lab_;
    Word* const out = out_;
    const std::size_t all = bytes_;
    r.poison = [=] { LAB_CHECK(cudaMemset(out, 0xff, all)); };
    r.verified = [=] { return lab->check(count, right); };
    if (*mix == 0) r.flush = lab::Flush::kWarm;
    return r;
  }

  Lab& lab_;
  Word *in_, *out_;
  std::size_t bytes_;
  unsigned blocks_;
};

/// Makes the buffers, measures the ceilings and runs `experiments` of a class that is made from them.
template <typename Class, typename Experiments>
int run(int argc, char** argv, const char* program, Experiments experiments) {
  Lab lab(argc, argv, program);
  std::size_t bytes = 0;
  char *in = nullptr, *out = nullptr;
  if (!lab.listing()) {
    bytes = lab.pick(std::size_t{256} << 20, std::size_t{64} << 20, 1 << 18);
    in = lab.memory(bytes);
    out = lab.memory(std::max<std::size_t>(bytes, 8 << 20), 99);
    lab.run("ceilings", ceilings::rows(lab, out, in, in + bytes / 2, bytes / 2, lab::Flush::kClean));
  }
  Class all(lab, in, out, bytes);
  experiments(all);
  return lab.finish();
}

}  // namespace onchip
