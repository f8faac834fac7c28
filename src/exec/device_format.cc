#include "exec/device_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdio>

namespace muscope::exec {
namespace {

constexpr int kMaxWidth = 4096;

/// One conversion: flags, width and precision as text, then the length modifier and the letter.
struct Conversion {
  std::string prefix = "%";
  int longs = 0;   ///< 0 int, 1 long, 2 long long
  int shorts = 0;  ///< 1 short, 2 char
  char letter = 0;
};

class Arguments {
 public:
  explicit Arguments(const FormatReader& reader) : reader_(reader) {}
  std::uint64_t integer(unsigned bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    if (!reader_.argument(offset_, &value, bytes)) value = 0;
    offset_ += bytes;
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  const FormatReader& reader_;
  std::uint64_t offset_ = 0;
  int count_ = 0;
};

template <typename T>
std::string print(const std::string& format, T value) {
  std::array<char, 512> small;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = std::snprintf(small.data(), small.size(), format.c_str(), value);
  if (n < 0) return {};
  if (static_cast<std::size_t>(n) < small.size()) return std::string(small.data(), static_cast<std::size_t>(n));
  std::string big(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(big.data(), big.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  big.pop_back();
  return big;
}

std::string convert(const Conversion& c, Arguments& arguments, const FormatReader& reader) {
  switch (c.letter) {
    case 'd':
    case 'i': {
      const std::uint64_t raw = arguments.integer(c.longs > 0 ? 8 : 4);
      long long v = c.longs > 0 ? static_cast<long long>(raw) : static_cast<std::int32_t>(raw);
      if (c.shorts == 1) v = static_cast<short>(v);
      if (c.shorts == 2) v = static_cast<signed char>(v);
      return print(c.prefix + "ll" + c.letter, v);
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      const std::uint64_t raw = arguments.integer(c.longs > 0 ? 8 : 4);
      unsigned long long v = c.longs > 0 ? raw : static_cast<std::uint32_t>(raw);
      if (c.shorts == 1) v = static_cast<unsigned short>(v);
      if (c.shorts == 2) v = static_cast<unsigned char>(v);
      return print(c.prefix + "ll" + c.letter, v);
    }
    case 'c':
      return print(c.prefix + 'c', static_cast<int>(arguments.integer(4)));
    case 'p':
      return print(c.prefix + 'p', reinterpret_cast<void*>(arguments.integer(8)));
    case 's':
      return print(c.prefix + 's', reader.string(arguments.integer(8)).c_str());
    default:
      return print(c.prefix + c.letter, std::bit_cast<double>(arguments.integer(8)));
  }
}

}  // namespace

std::string format_device_text(const std::string& format, const FormatReader& reader, int& count) {
  std::string out;
  Arguments arguments(reader);
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const std::size_t start = i++;
    if (i < format.size() && format[i] == '%') {
      out += '%';
      continue;
    }
    Conversion c;
    while (i < format.size() && std::string_view("-+ #0").find(format[i]) != std::string_view::npos)
      c.prefix += format[i++];
    const auto number = [&] {
      if (i < format.size() && format[i] == '*') {
        ++i;
        c.prefix += std::to_string(std::clamp(static_cast<int>(arguments.integer(4)), -kMaxWidth, kMaxWidth));
        return;
      }
      int value = 0;
      bool any = false;
      for (; i < format.size() && std::isdigit(static_cast<unsigned char>(format[i])); ++i)
        value = std::min(value * 10 + (format[i] - '0'), kMaxWidth), any = true;
      if (any) c.prefix += std::to_string(value);
    };
    number();
    if (i < format.size() && format[i] == '.') {
      const std::string before = c.prefix;
      c.prefix += format[i++];
      number();
      if (c.prefix.size() > before.size() + 1 && c.prefix[before.size() + 1] == '-')
        c.prefix = before;  // negative: as if absent
    }
    for (; i < format.size() && std::string_view("hlLqjzt").find(format[i]) != std::string_view::npos; ++i) {
      if (format[i] == 'h')
        ++c.shorts;
      else
        c.longs += format[i] == 'L' ? 0 : 1;
    }
    if (i >= format.size() || std::string_view("diuxXocpsfFeEgGaA").find(format[i]) == std::string_view::npos) {
      out += format.substr(start, i - start + 1);
      continue;
    }
    c.letter = format[i];
    out += convert(c, arguments, reader);
  }
  count = arguments.count();
  return out;
}

}  // namespace muscope::exec
