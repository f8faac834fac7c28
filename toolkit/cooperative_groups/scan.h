#ifndef MUSCOPE_COOPERATIVE_GROUPS_SCAN_H
#define MUSCOPE_COOPERATIVE_GROUPS_SCAN_H

#include "../cooperative_groups.h"
#include "../muscope/groups/scan.h"

#endif
