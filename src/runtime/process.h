// What this process may do with the emulated GPU, across fork and exit. Nothing here runs before the first CUDA call:
// the library is loaded into every process of a run, shells included.
#pragma once

namespace muscope::runtime {

/// To be called first in every API function; a few instructions after the first time. The first call of a process
/// registers fork and exit hooks, opens the spool and installs the signal handlers (signals.h).
/// False in a child forked by a process that had used CUDA: the caller returns cudaErrorInitializationError, as CUDA
/// does (CUDA C++ Programming Guide, "the CUDA runtime does not survive fork"), and touches nothing else.
bool enter_process();

/// True once enter_process() has returned true in this process.
bool process_uses_cuda();

/// True in a child forked by a process that had used CUDA.
bool forked_from_user();

/// True when the process runs its exit handlers or destructors of other libraries.
bool process_is_exiting();

}  // namespace muscope::runtime
