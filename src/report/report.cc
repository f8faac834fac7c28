#include "report/report.h"

namespace muscope::report {

double Metric::as_double() const {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

}  // namespace muscope::report
