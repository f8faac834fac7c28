#include "code/constants.h"

namespace muscope::code {

Place ConstantPool::add(ConstSlot slot, bool two_slots) {
  slot.place = used_;
  used_ += two_slots ? 2 * kSlotBytes : kSlotBytes;
  slots_.push_back(slot);
  return Place{(std::uint32_t{kConstBank} << Place::kBankShift) | slot.place};
}

Place ConstantPool::literal(std::uint64_t bits, unsigned lane_bytes) {
  if (lane_bytes < 2) lane_bytes = 2;
  if (lane_bytes < 8) bits &= (std::uint64_t{1} << (lane_bytes * 8)) - 1;
  auto [at, fresh] = known_.try_emplace(Key{0, bits, lane_bytes, 0, false});
  if (fresh) {
    ConstSlot slot;
    slot.bits = bits;
    slot.bytes = slot.lane_bytes = static_cast<std::uint8_t>(lane_bytes);
    at->second = add(slot, lane_bytes == 8);
  }
  return at->second;
}

Place ConstantPool::parameter(std::uint32_t offset, unsigned bytes, bool sign_extend, unsigned lane_bytes) {
  auto [at, fresh] = known_.try_emplace(Key{1, offset, lane_bytes, bytes, sign_extend});
  if (fresh) {
    ConstSlot slot;
    slot.is_param = true;
    slot.param_offset = offset;
    slot.bytes = static_cast<std::uint8_t>(bytes);
    slot.sign_extend = sign_extend;
    slot.lane_bytes = static_cast<std::uint8_t>(lane_bytes);
    at->second = add(slot, lane_bytes == 8);
  }
  return at->second;
}

Place ConstantPool::launch(ConstSlot::Launch what) {
  auto [at, fresh] = known_.try_emplace(Key{2, static_cast<std::uint64_t>(what), 4, 0, false});
  if (fresh) {
    ConstSlot slot;
    slot.launch = what;
    at->second = add(slot, false);
  }
  return at->second;
}

Place ConstantPool::words(const std::vector<ConstSlot>& slots) {
  std::vector<std::pair<int, std::uint64_t>> key;
  for (const ConstSlot& s : slots)
    key.push_back({s.is_param ? -1 : static_cast<int>(s.launch), s.is_param ? s.param_offset : s.bits});
  auto [at, fresh] = known_words_.try_emplace(std::move(key));
  if (fresh) {
    at->second = Place{(std::uint32_t{kConstBank} << Place::kBankShift) | used_};
    for (const ConstSlot& s : slots) add(s, false);
  }
  return at->second;
}

}  // namespace muscope::code
