// Counter rules: how far a counter of a real GPU may be from muscope's number without being wrong, and why. One table,
// with the source of every tolerance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muscope::verify {

enum class CounterKind {
  kAddresses,  ///< follows from addresses and executed instructions: equal or wrong
  kNoisy,      ///< the hardware adds or loses a little: equal within a tolerance
  kState,      ///< depends on caches, timing or other work: shown, never judged
};
std::string_view name_of(CounterKind kind);

struct CounterRule {
  std::string_view pattern;  ///< of metric names: `*` any characters
  CounterKind kind = CounterKind::kAddresses;
  double below = 0, above = 0;  ///< what the GPU may read below and above muscope's number, as a fraction of it
  double count = 0;             ///< or in counts, whichever is more
  /// Metric whose value the fractions are of, where that is another one: `*` stands for what it matched in `pattern`.
  std::string_view share_of;
  std::string_view why;     ///< for the reader of a difference
  std::string_view source;  ///< where the numbers come from
};

/// In the order in which they are tried.
std::span<const CounterRule> counter_rules();

/// The rule of a metric (name with suffix). Names that no row knows are kState.
const CounterRule& rule_of(std::string_view metric);

/// The metric that the rule's fractions are of: `metric` itself or what `share_of` makes of it.
std::string share_metric(const CounterRule& rule, std::string_view metric);

}  // namespace muscope::verify
