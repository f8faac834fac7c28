// What cuLinkComplete gives the program in place of a cubin: a fat binary container with the PTX of each input, which
// is linked when it is loaded (runtime/module_link.h, ptxas and nvlink). Copies and files of it load as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cubin/fatbin.h"

namespace muscope::driver {

/// The container. Each unit holds the entries of one input; stored bytes are taken over as they are, PTX decompressed.
std::string make_link_image(const std::vector<std::vector<cubin::FatbinEntry>>& units);

/// Gives an image that make_link_image() made of several inputs its units back; leaves all others as they are.
void separate_units(cubin::Fatbin& image);

/// The device code in a host object file (.o, .nv_fatbin or __nv_relfatbin), or in an archive of such (.a). The entries
/// point into `bytes`. Throws Error D206 for device code that cannot be read; nothing for files without.
std::vector<std::vector<cubin::FatbinEntry>> device_code_of(std::span<const std::uint8_t> bytes);

}  // namespace muscope::driver
