// Name patterns of the tables in data/port: literal characters, [classes] of one character and * for any text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muscope::port {

/// "cuda[A-Z]*" -> matches whole names. A class lists characters and ranges; [^...] is its opposite.
class Pattern {
 public:
  explicit Pattern(std::string_view text);
  bool matches(std::string_view name) const;
  const std::string& text() const { return text_; }
  /// The text before the first class or *.
  std::string_view literal_start() const { return std::string_view(text_).substr(0, literal_); }
  bool is_literal() const { return literal_ == text_.size(); }

 private:
  std::string text_;
  std::size_t literal_ = 0;
};

/// A path of a tree against a pattern of .gitignore without its ! and slashes at the ends: * and ? do not match '/', **
/// does.
bool glob_matches(std::string_view pattern, std::string_view path);

}  // namespace muscope::port
