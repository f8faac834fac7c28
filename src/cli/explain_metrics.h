// What `muscope explain` says of metrics in words, and the page docs/metrics.md, which lists them all. Both are made
// from the metric table (report/metrics.h) and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "report/metrics.h"

namespace muscope::cli {

/// Names of the pages about that kind of metric, comma-separated.
std::string_view pages_of(report::MetricGroup group);

/// When a metric is counted, modelled, estimated.
std::string_view grade_text(report::GradeRule rule);

/// docs/metrics.md: every metric by kind, in Markdown.
std::string metrics_page();

}  // namespace muscope::cli
