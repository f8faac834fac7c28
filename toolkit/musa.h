// MUSA's driver API: CUDA's, with mu for cu, MU for CU and MUSA for CUDA in every name.
#ifndef MUSCOPE_MUSA_H
#define MUSCOPE_MUSA_H

#include "cuda.h"

#include "muscope/musa/driver_codes.h"
#include "muscope/musa/driver_names.h"
#include "muscope/musa/driver_values.h"

// Both names of the version stand in public programs.
#define MUSA_VERSION 40300
#define MUSA_COMP_VERSION 40300

#endif
