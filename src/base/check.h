// MUSCOPE_CHECK: for our own bugs. Input errors are Diagnostics, faults of the emulated program are values.
#pragma once

namespace muscope {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}

#define MUSCOPE_CHECK(condition) \
  (__builtin_expect(!!(condition), 1) ? static_cast<void>(0) : ::muscope::check_failed(__FILE__, __LINE__, #condition))
