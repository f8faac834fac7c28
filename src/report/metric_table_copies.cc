// Rows of the metric table: asynchronous copies from global to shared memory (LDGSTS), by the rules of
// model/async_copy.h. An execution in which no lane reads, only zeros are written, is a request to hardware but not to
// Nsight Compute's software (tests/counters/kernels/async.cu, copyZerosAtEdge).
#include "report/metric_formulas.h"
#include "report/metric_tables.h"

namespace muscope::report {
namespace {

using namespace formulas;
using enum MetricGroup;
using enum Aggregation;
using enum GradeRule;
using A = AccessSums;

constexpr AccessClass kGlobalAll = in(Space::kGlobal, kAsyncCopies), kGlobalThrough = in(Space::kGlobal, Kind::kCopy),
                      kGlobalAround = in(Space::kGlobal, Kind::kCopyAround);
constexpr AccessClass kSharedAll = in(Space::kShared, kAsyncCopies), kSharedThrough = in(Space::kShared, Kind::kCopy),
                      kSharedAround = in(Space::kShared, Kind::kCopyAround);

Value predicated_off(const Counts& counts) {
  const AccessSums sums = counts.of(kSharedAll);
  if (sums.executed == 0) return {};
  return sums.executed - sums.requests;
}

/// Every request is at least one pass.
Value set_conflicts(const Counts& counts) {
  const AccessSums writes = counts.of(kSharedThrough);
  if (writes.executed == 0) return {};
  const std::uint64_t passes = counts.of(kGlobalThrough).t_wavefronts;
  return passes > writes.requests ? passes - writes.requests : 0;
}

Value sectors_per_request(const Counts& counts) {
  const AccessSums writes = counts.of(kSharedThrough);
  if (writes.requests == 0) return {};
  return static_cast<double>(counts.of(kGlobalThrough).sectors) / static_cast<double>(writes.requests);
}

constexpr MetricRow kRows[] = {
    {"smsp__inst_executed_op_ldgsts.sum", "", "inst",
     "warp instructions: asynchronous copies from global to shared memory (LDGSTS)",
     "executions, those with every lane predicated off included", kCopies, kAdditive, kExecuted,
     total<kGlobalAll, &A::executed>},
    {"smsp__inst_executed_op_ldgsts_pred_on_any.sum", "", "inst",
     "warp instructions: asynchronous copies with at least one active lane", "executions with at least one active lane",
     kCopies, kAdditive, kExecuted, total<kSharedAll, &A::requests>},
    {"smsp__inst_executed_op_ldgsts_pred_off_all.sum", "", "inst",
     "warp instructions: asynchronous copies with every lane predicated off", "executions without an active lane",
     kCopies, kAdditive, kExecuted, predicated_off},
    {"smsp__sass_inst_executed_op_ldgsts.sum", "", "inst", "warp instructions: asynchronous copies, all",
     "executions with at least one active lane", kCopies, kAdditive, kExecuted, total<kSharedAll, &A::requests>},
    {"smsp__sass_inst_executed_op_ldgsts_cache_access.sum", "", "inst",
     "warp instructions: asynchronous copies, through L1 (cp.async.ca)", "executions with at least one active lane",
     kCopies, kAdditive, kExecuted, total<kSharedThrough, &A::requests>},
    {"smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum", "", "inst",
     "warp instructions: asynchronous copies, past L1 (cp.async.cg)", "executions with at least one active lane",
     kCopies, kAdditive, kExecuted, total<kSharedAround, &A::requests>},
    {"smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum", "", "request",
     "requests of asynchronous copies, all", "executions in which a lane reads global memory", kCopies, kAdditive,
     kCopyRule, total<kGlobalAll, &A::requests>},
    {"smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "request",
     "requests of asynchronous copies, through L1 (cp.async.ca)", "executions in which a lane reads global memory",
     kCopies, kAdditive, kCopyRule, total<kGlobalThrough, &A::requests>},
    {"smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum", "", "request",
     "requests of asynchronous copies, past L1 (cp.async.cg)", "executions in which a lane reads global memory",
     kCopies, kAdditive, kCopyRule, total<kGlobalAround, &A::requests>},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "", "sector",
     "sectors that asynchronous copies read, all", "sectors through L1 + past L1", kCopies, kAdditive, kCopyRule,
     total<kGlobalAll, &A::distinct_sectors>},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "sector",
     "sectors that asynchronous copies read, through L1 (cp.async.ca)",
     "distinct 32-byte sectors of each request, summed", kCopies, kAdditive, kCopyRule,
     total<kGlobalThrough, &A::distinct_sectors>},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum", "", "sector",
     "sectors that asynchronous copies read, past L1 (cp.async.cg)",
     "distinct pairs of a sector read and a sector written, and whether their 16-byte halves change places, summed",
     kCopies, kAdditive, kCopyRule, total<kGlobalAround, &A::distinct_sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "request",
     "requests of asynchronous copies through L1", "executions with at least one active lane, reading or not", kCopies,
     kAdditive, kExecuted, total<kSharedThrough, &A::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "sector",
     "sectors of asynchronous copies through L1", "distinct 32-byte sectors of each request, summed", kCopies,
     kAdditive, kCopyRule, total<kGlobalThrough, &A::sectors>},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "byte",
     "bytes of the sectors of asynchronous copies through L1", "32 x sectors", kCopies, kAdditive, kCopyRule,
     total<kGlobalThrough, &A::sectors, 32>},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "wavefront",
     "passes of L1's tag stage of asynchronous copies through L1",
     "per request the most distinct 128-byte lines in one of 4 sets, as of loads; one where no lane reads", kCopies,
     kAdditive, kTagStageRule, total<kGlobalThrough, &A::t_wavefronts>},
    {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "",
     "lines that asynchronous copies through L1 look up", "distinct 128-byte lines of each request, summed", kCopies,
     kAdditive, kCopyRule, total<kGlobalThrough, &A::lines>},
    {"l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "", "",
     "passes of L1's tag stage beyond one for each asynchronous copy through L1", "passes - requests", kCopies,
     kAdditive, kTagStageRule, set_conflicts},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ldgsts_cache_access.ratio", "", "sector/request",
     "sectors per request of asynchronous copies through L1", "sectors / requests", kCopies, kRatio, kCopyRule,
     sectors_per_request},
    {"smsp__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass.sum", "", "sector",
     "sectors that asynchronous copies past L1 get from L2", "as the sectors that they read", kCopies, kAdditive,
     kCopyRule, total<kGlobalAround, &A::distinct_sectors>},
    {"smsp__sass_l1tex_average_t_sectors_per_request_pipe_lsu_mem_global_op_ldgsts.ratio", "", "sector/request",
     "sectors per request of asynchronous copies, all", "sectors / requests", kCopies, kRatio, kCopyRule,
     ratio<kGlobalAll, &A::distinct_sectors, &A::requests>},
    {"smsp__sass_l1tex_average_t_sectors_per_request_pipe_lsu_mem_global_op_ldgsts_cache_access.ratio", "",
     "sector/request", "sectors per request of asynchronous copies, through L1 (cp.async.ca)", "sectors / requests",
     kCopies, kRatio, kCopyRule, ratio<kGlobalThrough, &A::distinct_sectors, &A::requests>},
    {"smsp__sass_l1tex_average_t_sectors_per_request_pipe_lsu_mem_global_op_ldgsts_cache_bypass.ratio", "",
     "sector/request", "sectors per request of asynchronous copies, past L1 (cp.async.cg)", "sectors / requests",
     kCopies, kRatio, kCopyRule, ratio<kGlobalAround, &A::distinct_sectors, &A::requests>},
    {"smsp__sass_data_bytes_mem_global_op_ldgsts.sum", "", "byte",
     "bytes that the lanes of asynchronous copies asked for, all",
     "lanes that read x bytes per lane, summed; what several lanes share counts once", kCopies, kAdditive, kCopyRule,
     total<kGlobalAll, &A::bytes>},
    {"smsp__sass_data_bytes_mem_global_op_ldgsts_cache_access.sum", "", "byte",
     "bytes that the lanes of asynchronous copies asked for, through L1 (cp.async.ca)",
     "lanes that read x bytes per lane, summed; what several lanes share counts once", kCopies, kAdditive, kCopyRule,
     total<kGlobalThrough, &A::bytes>},
    {"smsp__sass_data_bytes_mem_global_op_ldgsts_cache_bypass.sum", "", "byte",
     "bytes that the lanes of asynchronous copies asked for, past L1 (cp.async.cg)",
     "lanes that read x bytes per lane, summed; what several lanes share counts once", kCopies, kAdditive, kCopyRule,
     total<kGlobalAround, &A::bytes>},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct", "", "%",
     "efficiency of asynchronous copies, all: bytes asked for per byte of sector", "100 x bytes / (32 x sectors)",
     kCopies, kRatio, kCopyRule, ratio<kGlobalAll, &A::bytes, &A::distinct_sectors, 100, 32>},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts_cache_access.pct", "", "%",
     "efficiency of asynchronous copies, through L1 (cp.async.ca): bytes asked for per byte of sector",
     "100 x bytes / (32 x sectors)", kCopies, kRatio, kCopyRule,
     ratio<kGlobalThrough, &A::bytes, &A::distinct_sectors, 100, 32>},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts_cache_bypass.pct", "", "%",
     "efficiency of asynchronous copies, past L1 (cp.async.cg): bytes asked for per byte of sector",
     "100 x bytes / (32 x sectors)", kCopies, kRatio, kCopyRule,
     ratio<kGlobalAround, &A::bytes, &A::distinct_sectors, 100, 32>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", "", "wavefront",
     "wavefronts in which asynchronous copies write shared memory, all", "wavefronts through L1 + past L1", kCopies,
     kAdditive, kCopyPacketRule, total<kSharedAll, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts_cache_access.sum", "", "wavefront",
     "wavefronts in which asynchronous copies write shared memory, through L1 (cp.async.ca)",
     "per group of lanes the most lanes that share the bank of one lane, read or written, summed", kCopies, kAdditive,
     kCopyRule, total<kSharedThrough, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts_cache_bypass.sum", "", "wavefront",
     "wavefronts in which asynchronous copies write shared memory, past L1 (cp.async.cg)",
     "groups of sectors that go from one line to one line in the same way, summed; with zeros twice", kCopies,
     kAdditive, kCopyPacketRule, total<kSharedAround, &A::sass_wavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "", "", "bank conflicts of asynchronous copies",
     "through L1: wavefronts beyond one for each group of lanes of each pass of the tag stage", kCopies, kAdditive,
     kTagStageRule, total<kSharedAll, &A::conflicts>},
    {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "", "",
     "bank conflicts of asynchronous copies, all, as ncu counts them in software",
     "wavefronts beyond one for each group of lanes; past L1 there are none", kCopies, kAdditive, kCopyRule,
     total<kSharedAll, &A::bank_conflicts>},
    {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts_cache_access.sum", "", "",
     "bank conflicts of asynchronous copies, through L1 (cp.async.ca), as ncu counts them in software",
     "wavefronts beyond one for each group of lanes", kCopies, kAdditive, kCopyRule,
     total<kSharedThrough, &A::bank_conflicts>},
    {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts_cache_bypass.sum", "", "",
     "bank conflicts of asynchronous copies, past L1 (cp.async.cg), as ncu counts them in software",
     "none; ncu counts no conflicts past L1", kCopies, kAdditive, kCopyRule, total<kSharedAround, &A::bank_conflicts>},
    {"smsp__sass_data_bytes_mem_shared_op_ldgsts.sum", "", "byte",
     "bytes that asynchronous copies write to shared memory, all",
     "distinct places written x bytes per lane, zeros included, summed", kCopies, kAdditive, kCopyBytesRule,
     total<kSharedAll, &A::bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_ldgsts_cache_access.sum", "", "byte",
     "bytes that asynchronous copies write to shared memory, through L1 (cp.async.ca)",
     "distinct places written x bytes per lane, zeros included, summed", kCopies, kAdditive, kCopyBytesRule,
     total<kSharedThrough, &A::bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_ldgsts_cache_bypass.sum", "", "byte",
     "bytes that asynchronous copies write to shared memory, past L1 (cp.async.cg)",
     "distinct places written x bytes per lane, zeros included, summed", kCopies, kAdditive, kCopyBytesRule,
     total<kSharedAround, &A::bytes>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_ldgsts.pct", "", "%",
     "efficiency of asynchronous copies, all: bytes written per byte that a wavefront can move",
     "100 x bytes / (128 x wavefronts)", kCopies, kRatio, kCopyBytesRule,
     ratio<kSharedAll, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_ldgsts_cache_access.pct", "", "%",
     "efficiency of asynchronous copies, through L1 (cp.async.ca): bytes written per byte that a wavefront can move",
     "100 x bytes / (128 x wavefronts)", kCopies, kRatio, kCopyBytesRule,
     ratio<kSharedThrough, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_ldgsts_cache_bypass.pct", "", "%",
     "efficiency of asynchronous copies, past L1 (cp.async.cg): bytes written per byte that a wavefront can move",
     "100 x bytes / (128 x wavefronts)", kCopies, kRatio, kCopyBytesRule,
     ratio<kSharedAround, &A::bytes, &A::sass_wavefronts, 100, 128>},
};

}  // namespace

std::span<const MetricRow> copy_metric_rows() { return kRows; }

}  // namespace muscope::report
