// The few kinds of CBOR items (RFC 8949) that records use: integers, floats, booleans, text, arrays of known length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muscope::views {

/// Appends items to a string.
class CborWriter {
 public:
  explicit CborWriter(std::string& out) : out_(out) {}

  void unsigned_integer(std::uint64_t value) { head(0, value); }
  void integer(std::int64_t value) {
    value < 0 ? head(1, ~static_cast<std::uint64_t>(value)) : head(0, static_cast<std::uint64_t>(value));
  }
  void text(std::string_view value);  ///< any bytes; not checked for UTF-8
  void boolean(bool value) { out_.push_back(static_cast<char>(value ? 0xf5 : 0xf4)); }
  void real(double value);
  void array(std::uint64_t length) { head(4, length); }

 private:
  void head(unsigned major, std::uint64_t value);
  std::string& out_;
};

/// Reads items in order. Every function throws Error D733 when the next item is of another kind, or is cut off.
class CborReader {
 public:
  explicit CborReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t unsigned_integer();
  std::int64_t integer();
  std::string_view text();
  bool boolean();
  double real();
  /// Length of the array that begins here, at most the number of bytes left (an item has at least one byte).
  std::size_t array();
  /// An array that must have exactly this length.
  void array_of(std::size_t length);

  template <typename T>
  T unsigned_of() {
    const std::uint64_t value = unsigned_integer();
    if (value > static_cast<std::uint64_t>(static_cast<T>(~T{}))) bad("integer out of range");
    return static_cast<T>(value);
  }
  /// An enumerator in [0, last].
  template <typename E>
  E enumerator(E last) {
    const std::uint64_t value = unsigned_integer();
    if (value > static_cast<std::uint64_t>(last)) bad("unknown enumerator");
    return static_cast<E>(value);
  }
  int positive_int();  ///< an int of at least 0

  bool at_end() const { return at_ == bytes_.size(); }
  void expect_end() const;
  [[noreturn]] void bad(std::string_view what) const;

 private:
  std::uint64_t head(unsigned major);
  std::uint64_t argument(unsigned first);
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace muscope::views
