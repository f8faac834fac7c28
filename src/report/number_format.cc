#include "report/number_format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace muscope::report {
namespace {

std::string with_separators(std::string digits) {
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, 1, ',');
  return digits;
}

}  // namespace

std::string grouped(std::uint64_t number) { return with_separators(std::to_string(number)); }

std::string grouped(double number, int decimals) {
  if (!std::isfinite(number)) return "-";
  const std::string text = fmt::format("{:.{}f}", std::fabs(number), decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  return fmt::format("{}{}{}", std::signbit(number) ? "-" : "", with_separators(text.substr(0, point)),
                     text.substr(point));
}

std::string format_value(const Metric& metric) {
  if (const auto* count = std::get_if<std::uint64_t>(&metric.value)) return grouped(*count);
  return grouped(std::get<double>(metric.value), metric.unit == "%" ? 1 : 2);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string average_text(std::uint64_t sum, std::uint64_t count) {
  if (count == 0) return "-";
  const double value = static_cast<double>(sum) / static_cast<double>(count);
  const bool whole = std::fabs(value - std::round(value)) < 0.005;
  return grouped(value, whole ? 0 : 2);
}

std::string times_text(std::uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", grouped(count)); }

std::string of_blocks_text(std::uint64_t some, std::uint64_t all) {
  return all == 1 ? "the only block" : fmt::format("{} of {} blocks", grouped(some), grouped(all));
}

std::string counted_noun(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", grouped(count), count == 1 ? singular : plural);
}

}  // namespace muscope::report
