// BarrierWatch: which __syncthreads() of a block keep accesses of different warps apart. Between two accesses to the
// same bytes by different warps, one of them a write, stand some barriers: one of these must stay.
#pragma once

#include <cstdint>
#include <vector>

#include "views/samples.h"

namespace muscope::views {

/// Who touched one word or sector last, and between which barriers.
struct LastTouches {
  std::uint32_t written = 0;         ///< interval of the last write
  std::uint32_t read[2] = {0, 0};    ///< the last reads since then, of two different warps, newest first
  std::uint16_t reader[2] = {0, 0};  ///< warps plus 1
  std::uint16_t writer = 0;          ///< likewise; kMany: several in one interval
  bool atomic = false;               ///< the last write
  std::uint32_t earlier = 0;         ///< interval of the last write before those of interval `written`
  std::uint16_t earlier_writer = 0;  ///< who did that, as `writer`
  static constexpr std::uint16_t kMany = 0xffff;
};

/// Intervals are what a block executes between two barriers, counted from 0. Chains of accesses need only neighbours: a
/// pair further apart has at least the barriers of the pairs between.
class BarrierWatch {
 public:
  void pass(std::uint32_t op, bool plain);
  /// `warp`: plus 1. `exact`: the bytes are the same, not only near each other: two warps in one interval race.
  void touch(LastTouches& last, bool write, bool atomic, std::uint16_t warp, bool exact) {
    const bool other_wrote = last.writer != 0 && last.writer != warp;
    bool together = other_wrote && last.written == interval_;
    if (other_wrote && last.written != interval_) need(last.written);
    const bool meet = !exact || (atomic && last.atomic);  // several warps may be at it between two barriers
    if (together && !meet) needs_.known = false;
    // What the others of this interval hide: the write before them.
    if (last.written == interval_ && last.earlier_writer != 0 && last.earlier_writer != warp) need(last.earlier);
    if (!write) return read(last, warp);
    const std::size_t other = last.reader[0] != warp ? 0 : 1;
    if (last.reader[other] != 0) {
      if (last.read[other] != interval_) {
        need(last.read[other]);
      } else {
        together = true;
        if (exact) needs_.known = false;
      }
    }
    if (last.written != interval_) last.earlier = last.written, last.earlier_writer = last.writer;
    last.writer = together ? LastTouches::kMany : warp;
    last.written = interval_;
    last.atomic = atomic;
    // Where others may write in the same interval, they too came after these reads.
    if (exact && !atomic) last.reader[0] = last.reader[1] = 0;
  }
  /// Something orders the warps, or touches memory, that is not followed.
  void give_up() { needs_.known = false; }
  BarrierNeeds finish() const;

 private:
  void read(LastTouches& last, std::uint16_t warp) const {
    if (last.reader[0] != warp) {
      last.reader[1] = last.reader[0];
      last.read[1] = last.read[0];
      last.reader[0] = warp;
    }
    last.read[0] = interval_;
  }
  void need(std::uint32_t since) {
    if (since != asked_since_ || interval_ != asked_at_) add_need(since);
  }
  void add_need(std::uint32_t since);

  std::uint32_t interval_ = 0;
  std::uint32_t asked_since_ = 0, asked_at_ = 0;
  std::vector<std::uint32_t> last_passed_;  ///< by barrier: the interval that it began last
  BarrierNeeds needs_;                      ///< barriers in order of first occurrence
  static constexpr std::size_t kMostSets = 256;
};

}  // namespace muscope::views
