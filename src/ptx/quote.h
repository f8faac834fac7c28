// How pieces of untrusted PTX text appear in messages.
#pragma once

#include <string>
#include <string_view>

namespace muscope::ptx {

/// `text` in single quotes, cut at 100 characters, with anything unprintable replaced.
std::string quote(std::string_view text);

}  // namespace muscope::ptx
