// The const bank of a kernel: one slot per distinct literal, parameter and launch constant.
#pragma once

#include <map>
#include <tuple>

#include "code/kernel.h"

namespace muscope::code {

class ConstantPool {
 public:
  /// A literal in lanes of `lane_bytes` (1 is widened to 2; 2, 4 or 8).
  Place literal(std::uint64_t bits, unsigned lane_bytes);
  /// `bytes` of the kernel's parameters at `offset`, widened to lanes of `lane_bytes`.
  Place parameter(std::uint32_t offset, unsigned bytes, bool sign_extend, unsigned lane_bytes);
  Place launch(ConstSlot::Launch what);
  /// Words of 4 bytes a lane in slots in a row, for values of machine code.
  Place words(const std::vector<ConstSlot>& slots);

  std::vector<ConstSlot> take() { return std::move(slots_); }
  std::uint32_t bytes() const { return used_; }

 private:
  Place add(ConstSlot slot, bool two_slots);
  using Key = std::tuple<int, std::uint64_t, unsigned, unsigned, bool>;
  std::map<Key, Place> known_;
  std::map<std::vector<std::pair<int, std::uint64_t>>, Place> known_words_;
  std::vector<ConstSlot> slots_;
  std::uint32_t used_ = 0;
};

}  // namespace muscope::code
