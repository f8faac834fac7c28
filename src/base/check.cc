#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muscope {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "muscope: internal error at %s:%d: %s\nThis is a bug in muscope; please report it.\n", file,
               line, condition);
  std::abort();
}

}  // namespace muscope
