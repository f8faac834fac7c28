#ifndef MUSCOPE_COOPERATIVE_GROUPS_REDUCE_H
#define MUSCOPE_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"
#include "../muscope/groups/reduce.h"

#endif
