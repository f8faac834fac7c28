#include "port/result.h"

#include <algorithm>

namespace muscope::port {

std::string edited(std::string_view text, const std::vector<Edit>& edits) {
  std::string out;
  out.reserve(text.size() + edits.size());
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out += text.substr(at);
  return out;
}

void locate(std::string_view text, std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.code < b.code;
  });
  std::size_t at = 0;
  int line = 1, column = 1;
  const auto advance = [&](std::size_t to) {
    for (; at < std::min(to, text.size()); ++at) {
      if (text[at] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(text[at]) & 0xc0u) != 0x80u) {
        ++column;
      }
    }
  };
  for (Finding& finding : findings) {
    advance(finding.begin);
    finding.line = line;
    finding.column = column;
    const std::size_t stop = std::min(finding.end, text.size());
    int end = column;
    std::size_t i = finding.begin;
    for (; i < stop && text[i] != '\n'; ++i) end += (static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u ? 1 : 0;
    finding.end_column = end;
    finding.end_line = line;
    if (i < stop)
      finding.end_line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                      text.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
  }
}

}  // namespace muscope::port
