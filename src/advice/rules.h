// The rules of this folder; each in a file of its own, listed with its code in registry.cc.
#pragma once

#include <vector>

#include "report/report.h"

namespace muscope::advice {

class Context;
using Advices = std::vector<report::AdviceReport>;

void find_strided(const Context& context, Advices& out);
void find_swapped(const Context& context, Advices& out);
void find_misaligned(const Context& context, Advices& out);
void find_shared_tile(const Context& context, Advices& out);
void find_vectorisable(const Context& context, Advices& out);
void find_redundant_loads(const Context& context, Advices& out);
void find_thin_blocks(const Context& context, Advices& out);
void find_read_only_path(const Context& context, Advices& out);
void find_gathers(const Context& context, Advices& out);
void find_mixed_widths(const Context& context, Advices& out);
void find_rewritten_symbols(const report::Report& report, std::size_t process, Advices& out);
void find_few_bytes_in_flight(const Context& context, Advices& out);
void find_split_by_branches(const Context& context, Advices& out);
void find_private_shared(const Context& context, Advices& out);
void find_needless_barriers(const Context& context, Advices& out);
void find_bank_conflicts(const Context& context, Advices& out);
void find_divergent_constant(const Context& context, Advices& out);
void find_uniform_global(const Context& context, Advices& out);
void find_local_arrays(const Context& context, Advices& out);
void find_spills(const Context& context, Advices& out);
void find_low_occupancy(const Context& context, Advices& out);
void find_idle_sms(const Context& context, Advices& out);
void find_atomic_contention(const Context& context, Advices& out);
void find_pageable_copies(const report::Report& report, std::size_t process, Advices& out);
void find_zero_copy(const Context& context, Advices& out);
void find_first_touch(const Context& context, Advices& out);

}  // namespace muscope::advice
