#include "toolchain/option_lists.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/diagnostic.h"
#include "toolchain/process.h"
#include "toolchain/read_file.h"

namespace muscope::toolchain {

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  std::erase_if(parts, [](const std::string& part) { return part.empty(); });
  return parts;
}

std::vector<std::string> split_list_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& part : split_list(text)) {
    for (std::string& word : split_words(part)) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> read_options_file(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) fail("D405", fmt::format("cannot read the options file '{}'", path));
  return split_words(*text);
}

}  // namespace muscope::toolchain
