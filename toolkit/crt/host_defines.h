// The name under which some programs reach for what every .cu file has.
#ifndef MUSCOPE_CRT_HOST_DEFINES_H
#define MUSCOPE_CRT_HOST_DEFINES_H

#include "../host_defines.h"

#endif
