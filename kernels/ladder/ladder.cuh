// What ladders share: rungs of one primitive, the first naive, the last the library's call. `muscope run FILE.cu` shows
// what each rung changes; `muscope lab --only ladder` times them on a GPU.
#pragma once

#include "../../lab/ceilings.cuh"
#include "../common.cuh"

namespace ladder {

using Word = std::uint32_t;

class Ladder {
 public:
  Ladder(lab::Lab& lab, const char* experiment) : lab_(lab), experiment_(experiment) {}

  /// The rows that follow move `bytes` and are held against the ceiling of `mix`. `what` names the data.
  void begin(std::string what, double bytes, const char* mix, const char* work = "byte") {
    what_ = std::move(what), bytes_ = bytes, mix_ = mix, work_ = work;
    rung_ = 0;
  }
  /// The next rung. `kernels`: launches per call.
  void rung(const char* name, const char* why, int kernels, std::function<void(cudaStream_t)> call,
            std::function<void()> poison, std::function<bool()> verified) {
    lab::Row row;
    row.name = std::to_string(++rung_) + " " + name + (what_.empty() ? "" : "; " + what_);
    row.x = rung_;
    row.x_unit = "rung";
    row.bytes = bytes_;
    row.mix = mix_;
    row.work = work_;
    row.why = why;
    row.launches = kernels;
    row.call = std::move(call);
    row.poison = std::move(poison);
    row.verified = std::move(verified);
    rows_.push_back(row);
  }
  void run() {
    lab_.run(experiment_, rows_);
    rows_.clear();
  }

 private:
  lab::Lab& lab_;
  const char* experiment_;
  std::string what_;
  double bytes_ = 0;
  const char *mix_ = "", *work_ = "byte";
  int rung_ = 0;
  std::vector<lab::Row> rows_;
};

inline std::function<void()> poisoned(void* out, std::size_t bytes) {
  return [=] { LAB_CHECK(cudaMemset(out, 0xff, bytes)); };
}

/// Workspace that prepare_workspace() made ready.
inline void* workspace(std::size_t bytes) {
  void* p = nullptr;
  LAB_CHECK(cudaMalloc(&p, bytes));
  LAB_CHECK(cudaMemset(p, 0, bytes));
  return p;
}

/// Integers below 100: sums of them are exact in any order.
__host__ __device__ inline int small(std::size_t i) { return static_cast<int>(lab::mixed(static_cast<Word>(i)) % 100); }
struct Small {
  __device__ Word operator()(std::size_t i) const { return static_cast<Word>(small(i)); }
};

}  // namespace ladder
