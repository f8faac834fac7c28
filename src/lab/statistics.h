// What samples say: medians with intervals that assume no distribution, and the line through a sweep of sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace muscope::lab {

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double low = 0,
         high = 0;  ///< 95 % interval of the median, by order statistics (normal approximation of the binomial)
  double min = 0, p95 = 0;
  double deviation = 0;  ///< median absolute deviation from the median
};

/// Nothing for no samples, or when one is not finite.
std::optional<Summary> summarise(std::vector<double> samples);

/// time = overhead + bytes / bandwidth
struct Fit {
  double overhead_us = 0;
  double gb_per_s = 0;     ///< 10^9 bytes per second
  double worst_error = 0;  ///< largest relative difference between a time and the line
};

struct Point {
  double bytes, us;
};

/// Least squares of relative errors (each point weighs by 1 / time^2, so that small sizes count as much as large ones).
/// Nothing for fewer than three sizes or a line that does not rise. Source of the form: T = a + V / b as in stream
/// benchmarks of many authors.
std::optional<Fit> fit(const std::vector<Point>& points);

}  // namespace muscope::lab
