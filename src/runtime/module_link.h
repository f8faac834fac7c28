// Links the PTX modules of a program's translation units (nvcc -rdc=true) into one.
#pragma once

#include <string>
#include <vector>

#include "ptx/module.h"

namespace muscope::runtime {

/// Names that are visible outside their module mean the same thing everywhere: a definition takes the place of
/// declarations, of several weak or common definitions the first one stays. Internal names that occur twice get a
/// suffix. Never fails: what nobody defines stays a declaration, and loading the module tells it where it matters. One
/// module is returned as it is.
ptx::Module link_modules(std::vector<ptx::Module> modules, const std::string& name);

}  // namespace muscope::runtime
