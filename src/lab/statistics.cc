#include "lab/statistics.h"

#include <algorithm>
#include <cmath>

namespace muscope::lab {
namespace {

double middle(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

}  // namespace

std::optional<Summary> summarise(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  if (!std::all_of(samples.begin(), samples.end(), [](double s) { return std::isfinite(s); })) return std::nullopt;
  Summary s;
  s.count = samples.size();
  s.median = middle(samples);
  const double n = static_cast<double>(s.count), half = 0.98 * std::sqrt(n);
  const auto at = [&](double i) { return samples[static_cast<std::size_t>(std::clamp(i, 0.0, n - 1))]; };
  s.low = at(std::floor(n / 2 - half));
  s.high = at(std::ceil(n / 2 + half));
  s.min = samples.front();
  s.p95 = at(std::ceil(0.95 * n) - 1);
  std::vector<double> away;
  for (const double x : samples) away.push_back(std::fabs(x - s.median));
  s.deviation = middle(away);
  return s;
}

std::optional<Fit> fit(const std::vector<Point>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  std::vector<double> sizes;
  for (const Point& p : points) {
    if (!(p.us > 0) || !(p.bytes > 0) || !std::isfinite(p.us) || !std::isfinite(p.bytes)) return std::nullopt;
    const double weight = 1 / (p.us * p.us);
    w += weight, wx += weight * p.bytes, wy += weight * p.us;
    wxx += weight * p.bytes * p.bytes, wxy += weight * p.bytes * p.us;
    if (std::find(sizes.begin(), sizes.end(), p.bytes) == sizes.end()) sizes.push_back(p.bytes);
  }
  if (sizes.size() < 3) return std::nullopt;
  const double determinant = w * wxx - wx * wx;
  if (!(determinant > 0)) return std::nullopt;
  const double slope = (w * wxy - wx * wy) / determinant;
  if (!(slope > 0) || !std::isfinite(slope)) return std::nullopt;
  Fit f;
  f.overhead_us = (wy - slope * wx) / w;
  f.gb_per_s = 1 / slope / 1e3;
  for (const Point& p : points) {
    const double line = f.overhead_us + slope * p.bytes;
    f.worst_error = std::max(f.worst_error, std::fabs(line - p.us) / p.us);
  }
  return f;
}

}  // namespace muscope::lab
