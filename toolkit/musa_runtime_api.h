// The MUSA runtime's declarations.
#ifndef MUSCOPE_MUSA_RUNTIME_API_H
#define MUSCOPE_MUSA_RUNTIME_API_H

#include "musa_runtime.h"

#endif
