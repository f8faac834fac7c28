// What the files that write and read records share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "views/cbor.h"
#include "views/records.h"

namespace muscope::views {

// A negative line or device would be a bug of the writer; it must not make the record unreadable.
inline std::uint64_t not_negative(int value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

inline void put(CborWriter& w, const std::vector<std::string>& values) {
  w.array(values.size());
  for (const std::string& v : values) w.text(v);
}

/// Runs `read` on each element of an array and collects what it gives.
template <typename T, typename Read>
std::vector<T> get_list(CborReader& r, Read read) {
  const std::size_t size = r.array();
  std::vector<T> values;
  values.reserve(std::min<std::size_t>(size, 4096));  // the length is a claim until the elements were read
  for (std::size_t i = 0; i < size; ++i) values.push_back(read(r));
  return values;
}

inline std::vector<std::string> get_texts(CborReader& r) {
  return get_list<std::string>(r, [](CborReader& in) { return std::string(in.text()); });
}

/// kNoFrame is 0 in a record, frame i is i + 1.
inline void put_frame_index(CborWriter& w, std::uint32_t frame) {
  w.unsigned_integer(frame == kNoFrame ? 0 : std::uint64_t{frame} + 1);
}

inline std::uint32_t get_frame_index(CborReader& r) {
  const std::uint64_t value = r.unsigned_integer();
  if (value > kNoFrame) r.bad("frame index out of range");
  return value == 0 ? kNoFrame : static_cast<std::uint32_t>(value - 1);
}

/// Null: none were taken.
void put(CborWriter& w, const std::shared_ptr<const LaunchSamples>& samples);
std::shared_ptr<const LaunchSamples> get_samples(CborReader& r);
/// True when every site and frame that is named exists.
bool fits(const LaunchSamples& samples, const KernelInfo& kernel);

void put(CborWriter& w, const KernelInfo& kernel);
KernelInfo get_kernel(CborReader& r);

}  // namespace muscope::views
