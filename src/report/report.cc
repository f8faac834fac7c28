#include "report/report.h"

namespace muscope::report {

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::kCounted:
      return "counted";
    case Grade::kModelled:
      return "modelled";
    case Grade::kEstimated:
      break;
  }
  return "estimated";
}

double Metric::as_double() const {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

}  // namespace muscope::report
