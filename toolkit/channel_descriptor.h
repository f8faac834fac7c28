// cudaCreateChannelDesc by type.
#ifndef MUSCOPE_CHANNEL_DESCRIPTOR_H
#define MUSCOPE_CHANNEL_DESCRIPTOR_H

#include "cuda_runtime.h"

#endif
