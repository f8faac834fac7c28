// Bank conflicts of loops: the same pattern of lanes again and again, at other places.
#pragma once

#include <array>

#include "model/banks.h"

namespace muscope::model {

/// count_banks() that remembers the last scattered load or store of a full warp. A pattern that is moved by a multiple
/// of 16 bytes, the widest access, meets the same words in other banks: its counts are the same.
class BankMemo {
 public:
  BankCounts count(const trace::WarpAccess& access) {
    const bool plain = access.kind == trace::Kind::kLoad || access.kind == trace::Kind::kStore;
    if (access.shape != trace::Shape::kScattered || access.mask != kAllLanes || !plain || access.swap)
      return count_banks(access);
    const std::uint64_t first = access.addresses[0];
    std::uint64_t differs = (first ^ low_) & 15;
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) differs |= (access.addresses[lane] - first) ^ relative_[lane];
    if (differs == 0 && access.bytes == bytes_ && access.kind == kind_) return counts_;
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) relative_[lane] = access.addresses[lane] - first;
    low_ = first;
    bytes_ = access.bytes;
    kind_ = access.kind;
    return counts_ = count_banks(access);
  }

 private:
  std::array<std::uint64_t, kGroupLanes> relative_{};  ///< to the first lane's address
  std::uint64_t low_ = 0;                              ///< the first lane's address: its lower bits count
  std::uint32_t bytes_ = 0;                            ///< none remembered yet
  trace::Kind kind_ = trace::Kind::kLoad;
  BankCounts counts_;
};

}  // namespace muscope::model
