#include "ptx/quote.h"

namespace muscope::ptx {

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string out;
  out += '\'';
  for (char c : text.substr(0, kLongest)) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > kLongest) out += "...";
  out += '\'';
  return out;
}

}  // namespace muscope::ptx
