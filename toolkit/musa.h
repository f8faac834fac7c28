// MUSA's driver types: CUDA's, with MU for CU.
#ifndef MUSCOPE_MUSA_H
#define MUSCOPE_MUSA_H

#include "cuda.h"

#define MUSA_VERSION 40300

typedef CUdeviceptr MUdeviceptr;
typedef CUdevice MUdevice;
typedef CUcontext MUcontext;
typedef CUmodule MUmodule;
typedef CUfunction MUfunction;
typedef CUarray MUarray;
typedef CUevent MUevent;
typedef CUstream MUstream;
typedef CUtexObject MUtexObject;
typedef CUsurfObject MUsurfObject;
typedef CUresult MUresult;

#endif
