// "Did you mean": the names nearest to a misspelt one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::arch {

/// At most `count` of `names`, nearest first, by edit distance; only those near enough to be what was meant.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& names, std::size_t count);

/// Control characters and bytes that are not ASCII replaced by '?', at most 80 characters: safe to print in a message.
std::string printable(std::string_view text);

}  // namespace muscope::arch
