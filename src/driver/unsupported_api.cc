// The functions of the driver that muscope does not have: each says so and returns CUDA_ERROR_NOT_SUPPORTED.
#include "driver/entry.h"

#define MUSCOPE_DRIVER(symbol, base, since, target)
#define MUSCOPE_DRIVER_MISSING(symbol, base, since) \
  MUSCOPE_EXPORT CUresult muscope_##symbol##_missing() { return muscope::driver::not_supported(#symbol); }
#include "driver/api.inc"
