// The name under which some programs reach for what every .cu file has.
#ifndef MUSCOPE_CRT_COMMON_FUNCTIONS_H
#define MUSCOPE_CRT_COMMON_FUNCTIONS_H

#include "../cuda_runtime.h"

#endif
