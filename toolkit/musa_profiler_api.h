// Starting and stopping a profiler from within the program.
#ifndef MUSCOPE_MUSA_PROFILER_API_H
#define MUSCOPE_MUSA_PROFILER_API_H

#include "cuda_profiler_api.h"
#include "musa_runtime.h"

#endif
