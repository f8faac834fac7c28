// The two halves of the L2 cache: every multiprocessor is attached to one of them, every line lies in one of them.
// Which is which is found by timing loads of each line from each multiprocessor.
#pragma once

#include "chase.cuh"

namespace halves {

using Word = std::uint32_t;

/// Cycles of single loads of each line by each block's multiprocessor, past the L1. cycles[block * lines + line]
__global__ void every_line(const std::uint64_t* zeros, int lines, unsigned* cycles, unsigned* where) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  where[blockIdx.x] = sm;
  for (int line = 0; line < lines; ++line) {
    const std::uint64_t* const p = zeros + line * (chase::kLine / 8);
    std::uint64_t at = __ldcg(reinterpret_cast<const unsigned long long*>(p));
    const long long start = clock64() + static_cast<long long>(at);
#pragma unroll
    for (int k = 0; k < 8; ++k) at = __ldcg(reinterpret_cast<const unsigned long long*>(p + at));
    cycles[blockIdx.x * lines + line] = static_cast<unsigned>(clock64() - start + static_cast<long long>(at)) / 8;
  }
}

/// What each multiprocessor saw of each line, in the order of the multiprocessors' numbers.
struct Seen {
  std::vector<unsigned> cycles, sm;
  int lines = 0, sms = 0;
  unsigned at(int block, int line) const { return cycles[static_cast<std::size_t>(block * lines + line)]; }
};

inline Seen look(lab::Lab& lab, std::uint64_t* zeros, int lines) {
  Seen seen;
  seen.lines = lines;
  seen.sms = lab.counting() ? 2 : lab.multiprocessors();
  lab.fill(zeros, static_cast<std::size_t>(lines) * chase::kLine, chase::Zero{});
  unsigned *cycles = nullptr, *where = nullptr;
  seen.cycles.resize(static_cast<std::size_t>(lines * seen.sms));
  seen.sm.resize(static_cast<std::size_t>(seen.sms));
  LAB_CHECK(cudaMalloc(&cycles, sizeof(unsigned) * seen.cycles.size()));
  LAB_CHECK(cudaMalloc(&where, sizeof(unsigned) * seen.sm.size()));
  const int shared = lab.counting() ? 0 : 128 << 10;  // one block per multiprocessor
  LAB_CHECK(cudaFuncSetAttribute(every_line, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int warm = 0; warm < (lab.counting() ? 1 : 2); ++warm)
    every_line<<<static_cast<unsigned>(seen.sms), 1, static_cast<std::size_t>(shared)>>>(zeros, lines, cycles, where);
  LAB_CHECK(cudaMemcpy(seen.cycles.data(), cycles, sizeof(unsigned) * seen.cycles.size(), cudaMemcpyDeviceToHost));
  LAB_CHECK(cudaMemcpy(seen.sm.data(), where, sizeof(unsigned) * seen.sm.size(), cudaMemcpyDeviceToHost));
  LAB_CHECK(cudaFree(cycles));
  LAB_CHECK(cudaFree(where));
  return seen;
}

inline void latency(lab::Lab& lab) {
  if (!lab.wanted("latency-l2-halves")) return;
  const int lines = static_cast<int>(lab.pick(512, 256, 4));
  auto* const zeros = lab.memory<std::uint64_t>(static_cast<std::size_t>(lines) * chase::kLine);
  const Seen seen = look(lab, zeros, lines);
  // Of every line: the quarter of the multiprocessors that is nearest, and the one that is farthest.
  std::vector<double> nearest, farthest;
  for (int line = 0; line < lines && !lab.counting(); ++line) {
    std::vector<unsigned> one;
    for (int block = 0; block < seen.sms; ++block) one.push_back(seen.at(block, line));
    std::sort(one.begin(), one.end());
    nearest.push_back(one[one.size() / 8]);
    farthest.push_back(one[one.size() - 1 - one.size() / 8]);
  }
  lab::Row row;
  row.unit = "cycles";
  row.own = [] { return 0.0; };
  row.name = "a line, from multiprocessors that are near it (12 % quantile)";
  row.why = "the line lies in the half of the L2 cache that this multiprocessor is attached to";
  lab.report("latency-l2-halves", row, nearest);
  row.launches = 0;
  row.name = "a line, from multiprocessors that are far from it (88 % quantile)";
  row.why = "the request crosses to the other half";
  lab.report("latency-l2-halves", row, farthest);
}

enum class Which : int { kNear, kFar, kAll };

/// lists[side]: the lines of that half, count[side] of them; lists[2]: all lines.
struct Sides {
  const unsigned* lists[3];
  const unsigned char* of_sm;
  unsigned count[3];
  __host__ __device__ unsigned pick(Which which, unsigned sm) const {
    return which == Which::kAll ? 2u : of_sm[sm] ^ static_cast<unsigned>(which);
  }
};

/// Splits blocks and lines into two groups each, so that a block sees lines of its own group sooner: by the signs of
/// the first singular vectors of what is left of the times without the means of blocks and of lines (some lines are far
/// from all, some multiprocessors too). Gives how many cycles sooner.
inline double separate(const Seen& seen, std::vector<unsigned char>& block_side,
                       std::vector<unsigned char>& line_side) {
  const std::size_t blocks = static_cast<std::size_t>(seen.sms), lines = static_cast<std::size_t>(seen.lines);
  std::vector<double> of_block(blocks), of_line(lines), v(blocks), u(lines);
  double mean = 0;
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t line = 0; line < lines; ++line) {
      const double x = seen.cycles[b * lines + line];
      of_block[b] += x / static_cast<double>(lines), of_line[line] += x / static_cast<double>(blocks);
    }
  for (const double x : of_block) mean += x / static_cast<double>(blocks);
  const auto rest = [&](std::size_t b, std::size_t line) {
    return seen.cycles[b * lines + line] - of_block[b] - of_line[line] + mean;
  };
  const auto lines_from_blocks = [&](std::size_t count) {
    std::fill(u.begin(), u.end(), 0.0);
    for (std::size_t b = 0; b < blocks; ++b)
      for (std::size_t line = 0; line < count; ++line) u[line] += v[b] * rest(b, line);
  };
  for (std::size_t b = 0; b < blocks; ++b) v[b] = static_cast<double>(lab::mixed(static_cast<Word>(b)) % 1000) - 499.5;
  const std::size_t some = std::min<std::size_t>(lines, 4096);
  for (int turn = 0; turn < 30; ++turn) {
    lines_from_blocks(some);
    double length = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      v[b] = 0;
      for (std::size_t line = 0; line < some; ++line) v[b] += u[line] * rest(b, line);
      length += v[b] * v[b];
    }
    for (double& x : v) x /= std::sqrt(length) + 1e-300;
  }
  lines_from_blocks(lines);
  block_side.resize(blocks), line_side.resize(lines);
  for (std::size_t b = 0; b < blocks; ++b) block_side[b] = v[b] > 0;
  for (std::size_t line = 0; line < lines; ++line) line_side[line] = u[line] < 0;  // sooner seen from side 1
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t line = 0; line < lines; ++line) {
      const bool far = block_side[b] != line_side[line];
      sum[far] += rest(b, line), ++count[far];
    }
  return count[0] > 0 && count[1] > 0 ? sum[1] / count[1] - sum[0] / count[0] : 0;
}

/// Eight lanes read a line past the L1, of the half that is near their multiprocessor, the other, or both. All blocks
/// are at different lines at a time: requests for the same one would be joined before they reach the cache.
__global__ void __launch_bounds__(1024)
    read_half(const uint4* data, Sides sides, Which which, int repeats, Word* out, unsigned* where) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) where[blockIdx.x] = sm;
  const unsigned picked = sides.pick(which, sm), count = sides.count[picked];
  const unsigned* const list = sides.lists[picked];
  const unsigned step = gridDim.x * 128 % count;
  unsigned at = (blockIdx.x * 128 + threadIdx.x / 8) % count;
  Word sum = 0;
  for (int r = 0; r < repeats; ++r) {
    unsigned line[4];
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      line[k] = __ldg(list + at);
      at += step;
      if (at >= count) at -= count;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = __ldcg(data + line[k] * std::size_t{8} + threadIdx.x % 8);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += lab::sum_of(v[k]);
  }
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}
struct HalfSums {
  const Word* out;
  const unsigned* where;
  Sides sides;
  Which which;
  int repeats;
  unsigned blocks;
  __device__ bool operator()(std::size_t i) const {
    const unsigned picked = sides.pick(which, where[i / 1024]), count = sides.count[picked];
    Word sum = 0;
    for (unsigned r = 0; r < 4 * static_cast<unsigned>(repeats); ++r) {
      const unsigned at = (static_cast<unsigned>(i / 8) + r * (blocks * 128 % count)) % count;
      for (unsigned w = 0; w < 4; ++w)
        sum += lab::mixed(sides.lists[picked][at] * 32u + static_cast<unsigned>(i) % 8 * 4 + w);
    }
    return out[i] == sum;
  }
};

inline void bandwidth(lab::Lab& lab) {
  if (!lab.wanted("bandwidth-l2-halves")) return;
  const int lines = static_cast<int>(lab.pick(1 << 17, 1 << 17, 64));
  const std::size_t bytes = static_cast<std::size_t>(lines) * chase::kLine;
  auto* const data = lab.memory<std::uint64_t>(bytes);
  std::vector<unsigned char> block_side(2), line_side(static_cast<std::size_t>(lines)), of_sm(4096);
  if (lab.counting()) {
    for (int line = 0; line < lines; ++line) line_side[static_cast<std::size_t>(line)] = line % 2;
  } else {
    const Seen seen = look(lab, data, lines);
    const double sooner = separate(seen, block_side, line_side);
    const auto members = static_cast<std::size_t>(std::count(block_side.begin(), block_side.end(), 1));
    lab.fact("multiprocessors of the halves of the L2",
             std::to_string(block_side.size() - members) + " and " + std::to_string(members));
    if (sooner < 5 || std::min(members, block_side.size() - members) < block_side.size() / 8)
      return lab.skipped("bandwidth-l2-halves", "all multiprocessors see all lines alike: this L2 cache has no halves");
    for (std::size_t b = 0; b < seen.sm.size(); ++b) of_sm[seen.sm[b] % of_sm.size()] = block_side[b];
  }
  lab.fill(data, bytes, lab::internal::MixedWord{0});
  Sides sides{};
  std::vector<unsigned> lists[3];
  for (int line = 0; line < lines; ++line)
    for (const unsigned s : {static_cast<unsigned>(line_side[static_cast<std::size_t>(line)]), 2u})
      lists[s].push_back(static_cast<unsigned>(line));
  for (unsigned s = 0; s < 3; ++s) {
    auto* const list = lab.memory<unsigned>(4 * lists[s].size());
    LAB_CHECK(cudaMemcpy(list, lists[s].data(), 4 * lists[s].size(), cudaMemcpyHostToDevice));
    sides.lists[s] = list;
    sides.count[s] = static_cast<unsigned>(lists[s].size());
  }
  auto* const device_sides = lab.memory<unsigned char>(of_sm.size());
  LAB_CHECK(cudaMemcpy(device_sides, of_sm.data(), of_sm.size(), cudaMemcpyHostToDevice));
  sides.of_sm = device_sides;
  const unsigned blocks = lab.counting() ? 2 : 2 * static_cast<unsigned>(lab.multiprocessors());
  const int repeats = static_cast<int>(lab.pick(64, 64, 2));
  auto* const out = lab.memory<Word>(std::size_t{4096} * blocks);
  auto* const where = lab.memory<unsigned>(std::size_t{4} * blocks);
  std::vector<lab::Row> rows;
  for (const Which which : {Which::kNear, Which::kFar, Which::kAll}) {
    lab::Row row;
    row.name = which == Which::kNear  ? "lines of the near half"
               : which == Which::kFar ? "lines of the far half"
                                      : "lines of both halves";
    row.why = which == Which::kNear  ? "all multiprocessors read what lies in the half that they are attached to: of "
                                       "their ways to the cache, half"
              : which == Which::kFar ? "all that is read crosses from the other half"
                                     : "both ways at once: every second line crosses";
    row.bytes = 1024.0 * blocks * repeats * 4 * 16;
    row.flush = lab::Flush::kWarm;
    row.call = [=](cudaStream_t s) {
      read_half<<<blocks, 1024, 0, s>>>(reinterpret_cast<const uint4*>(data), sides, which, repeats, out, where);
    };
    row.poison = [=] { LAB_CHECK(cudaMemset(out, 0xff, std::size_t{4096} * blocks)); };
    lab::Lab* const l = &lab;
    row.verified = [=] {
      return l->check(std::size_t{1024} * blocks, HalfSums{out, where, sides, which, repeats, blocks});
    };
    rows.push_back(row);
  }
  lab.run("bandwidth-l2-halves", rows);
}

}  // namespace halves
