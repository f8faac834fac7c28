#ifndef MUSCOPE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MUSCOPE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../muscope/groups/memcpy_async.h"

#endif
