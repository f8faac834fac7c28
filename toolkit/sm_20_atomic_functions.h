// Atomic functions: device code has them without an include.
#ifndef MUSCOPE_SM_20_ATOMIC_FUNCTIONS_H
#define MUSCOPE_SM_20_ATOMIC_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
