// Compiler checks of CUDA's own headers; nothing to check here.
#ifndef MUSCOPE_HOST_CONFIG_H
#define MUSCOPE_HOST_CONFIG_H

#include "host_defines.h"

#endif
