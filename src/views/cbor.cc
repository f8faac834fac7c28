#include "views/cbor.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

#include "base/diagnostic.h"

namespace muscope::views {

void CborWriter::head(unsigned major, std::uint64_t value) {
  const auto first = [&](unsigned low) { return static_cast<char>(major << 5 | low); };
  if (value < 24) {
    out_.push_back(first(static_cast<unsigned>(value)));
    return;
  }
  const unsigned size_code = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffffu ? 2 : 3;
  char bytes[9] = {first(24 + size_code)};
  const unsigned size = 1u << size_code;
  for (unsigned i = 0; i < size; ++i) bytes[1 + i] = static_cast<char>(value >> (8 * (size - 1 - i)));
  out_.append(bytes, 1 + size);
}

void CborWriter::text(std::string_view value) {
  head(3, value.size());
  out_.append(value);
}

void CborWriter::real(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  char bytes[9] = {static_cast<char>(0xfb)};
  for (unsigned i = 0; i < 8; ++i) bytes[1 + i] = static_cast<char>(bits >> (8 * (7 - i)));
  out_.append(bytes, sizeof bytes);
}

void CborReader::bad(std::string_view what) const {
  fail("D733", fmt::format("damaged record: {} at byte {} of {}", what, at_, bytes_.size()));
}

std::uint64_t CborReader::argument(unsigned first) {
  const unsigned low = first & 31;
  if (low < 24) return low;
  if (low > 27) bad("unsupported length code");
  const std::size_t size = std::size_t{1} << (low - 24);
  if (bytes_.size() - at_ < size) bad("item is cut off");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
  at_ += size;
  return value;
}

std::uint64_t CborReader::head(unsigned major) {
  if (at_ >= bytes_.size()) bad("item is missing");
  const unsigned first = static_cast<unsigned char>(bytes_[at_]);
  if (first >> 5 != major) bad("item of another kind");
  ++at_;
  return argument(first);
}

std::uint64_t CborReader::unsigned_integer() { return head(0); }

std::int64_t CborReader::integer() {
  const bool negative = at_ < bytes_.size() && static_cast<unsigned char>(bytes_[at_]) >> 5 == 1;
  const std::uint64_t value = head(negative ? 1 : 0);
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) bad("integer out of range");
  return negative ? -1 - static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::string_view CborReader::text() {
  const std::uint64_t size = head(3);
  if (size > bytes_.size() - at_) bad("text is cut off");
  const std::string_view value = bytes_.substr(at_, size);
  at_ += size;
  return value;
}

bool CborReader::boolean() {
  if (at_ >= bytes_.size()) bad("item is missing");
  const unsigned first = static_cast<unsigned char>(bytes_[at_]);
  if (first != 0xf4 && first != 0xf5) bad("item of another kind");
  ++at_;
  return first == 0xf5;
}

double CborReader::real() {
  if (at_ >= bytes_.size()) bad("item is missing");
  if (static_cast<unsigned char>(bytes_[at_]) != 0xfb) bad("item of another kind");
  ++at_;
  return std::bit_cast<double>(argument(27));
}

std::size_t CborReader::array() {
  const std::uint64_t length = head(4);
  if (length > bytes_.size() - at_) bad("array is longer than the record");
  return length;
}

void CborReader::array_of(std::size_t length) {
  if (array() != length) bad("array of another length");
}

int CborReader::positive_int() {
  const std::uint64_t value = unsigned_integer();
  if (value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) bad("integer out of range");
  return static_cast<int>(value);
}

void CborReader::expect_end() const {
  if (!at_end()) bad("bytes after the record");
}

}  // namespace muscope::views
