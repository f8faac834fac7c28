// The parts of the metric table; metric_rows() joins them in this order.
#pragma once

#include <span>

#include "report/metrics.h"

namespace muscope::report {

std::span<const MetricRow> global_metric_rows();        ///< global and local memory
std::span<const MetricRow> shared_metric_rows();        ///< shared, constant, host memory
std::span<const MetricRow> texture_metric_rows();       ///< texture fetches, accesses of surfaces
std::span<const MetricRow> copy_metric_rows();          ///< asynchronous copies
std::span<const MetricRow> instruction_metric_rows();   ///< executed instructions, launch attributes, occupancy
std::span<const MetricRow> not_modelled_metric_rows();  ///< known names that muscope has no number for

}  // namespace muscope::report
