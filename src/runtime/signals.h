// Signals of the emulated program. Handlers are installed at the first CUDA call and only where the disposition is the
// default, so a program that has its own keeps them; one that installs its own later replaces ours.
#pragma once

#include <cstdint>

namespace muscope::runtime {

/// SIGSEGV and SIGBUS: a host access to device memory is recorded as finding D590 with the address and the function,
/// then the default action follows. SIGINT, SIGTERM, SIGHUP: while a launch runs, the stop flag is set and the signal
/// takes effect when the launch has been recorded; otherwise at once. Called by enter_process().
void install_signal_handlers();

/// The reserved range of device addresses (memory::AddressSpace), for the crash handler. Several devices share one
/// range.
void set_device_range(std::uint64_t base, std::uint64_t bytes);

/// Raises a signal that was held back because a launch was running. Called by Spool::launch().
void deliver_held_signal();

}  // namespace muscope::runtime
