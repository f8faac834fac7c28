// Cooperative groups: blocks, tiles, coalesced groups, the grid.
#ifndef MUSCOPE_COOPERATIVE_GROUPS_H
#define MUSCOPE_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#include "muscope/groups/block.h"
#include "muscope/groups/coalesced.h"
#include "muscope/groups/grid.h"
#include "muscope/groups/partition.h"
#include "muscope/groups/tile.h"

#endif
