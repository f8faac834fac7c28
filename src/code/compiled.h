// What ptxas made of a kernel, by holding the memory accesses of its machine code against those of the PTX that they
// were made from. The cubin's table of PTX lines (-lineinfo) says which PTX instruction each machine instruction comes
// from; where it does not name a memory access for one, nothing is said about accesses of that kind.
//
//   PTX lines 40, 43, 46, 49: ld.global.f32 of main.cu:12      kJoined, main.cu:12, load, 4 of 4 bytes -> 1 of 16
//   0x90 LDG.E.128, PTX line 40
#pragma once

#include <string>

#include "cubin/code_image.h"
#include "cubin/cubin.h"
#include "ptx/module.h"
#include "views/records.h"

namespace muscope::code {

/// Fills info.compiled, calls_driver and the local_use of info.sites for the kernel info.mangled; lines that machine
/// code no longer has are added to info.frames. `module` is the PTX that the image was made from. Leaves `info` alone
/// when the image does not have the kernel.
void add_compiled_facts(views::KernelInfo& info, const ptx::Module& module, const cubin::CodeImage& image,
                        const cubin::CubinInfo& cubin);

}  // namespace muscope::code
