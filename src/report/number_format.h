// Numbers as the text report shows them.
#pragma once

#include <cstdint>
#include <string>

#include "report/report.h"

namespace muscope::report {

/// 1234567 -> "1,234,567"
std::string grouped(std::uint64_t number);
/// With that many decimals: 1234.5 -> "1,234.50". Numbers that are not finite: "-".
std::string grouped(double number, int decimals);
/// Integers grouped; percentages with one decimal, other ratios with two.
std::string format_value(const Metric& metric);
/// "512 B", "4.0 KiB", "1.5 GiB"
std::string format_bytes(std::uint64_t bytes);
/// sum / count: "16", "4.25"; "-" when count is 0
std::string average_text(std::uint64_t sum, std::uint64_t count);
/// "once", "63 times"
std::string times_text(std::uint64_t count);
/// "1 of 4 blocks"; "the only block" of one.
std::string of_blocks_text(std::uint64_t some, std::uint64_t all);
/// "1 launch", "63 launches"
std::string counted_noun(std::uint64_t count, std::string_view singular, std::string_view plural);

}  // namespace muscope::report
