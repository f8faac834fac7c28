// The functions of the runtime that muscope does not have: each says so and returns cudaErrorNotSupported.
#include "runtime/entry.h"

#undef MUSCOPE_API
#define MUSCOPE_API(shims, name, target)
#define MUSCOPE_MISSING(shims, name) \
  MUSCOPE_EXPORT cudaError_t muscope_##name##_missing() { return muscope::runtime::not_supported(#name); }
#include "runtime/api.inc"
