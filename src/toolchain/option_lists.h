// How nvcc reads the values of its options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muscope::toolchain {

/// Splits at commas that no backslash escapes, as nvcc does for list-valued options. Empty parts are dropped.
std::vector<std::string> split_list(std::string_view text);

/// A list whose parts may hold several words: nvcc hands them to the host compiler through a shell.
std::vector<std::string> split_list_words(std::string_view text);

/// The words of an options file (--options-file, @file). Throws Error D405 when it cannot be read.
std::vector<std::string> read_options_file(const std::string& path);

}  // namespace muscope::toolchain
