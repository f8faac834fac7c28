// Rows of the metric table: shared, constant and host memory.
#include "report/metric_formulas.h"
#include "report/metric_tables.h"

namespace muscope::report {
namespace {

using namespace formulas;
using enum MetricGroup;
using enum Aggregation;
using enum GradeRule;
using A = AccessSums;

constexpr AccessClass kGlobalAll = in(Space::kGlobal), kSharedAll = in(Space::kShared), kConst = in(Space::kConst);
constexpr AccessClass kSharedLoad = in(Space::kShared, Kind::kLoad), kSharedStore = in(Space::kShared, Kind::kStore),
                      kSharedAtom = in(Space::kShared, kAtomics);
constexpr AccessClass kMatrixLoad = in(Space::kShared, Kind::kLoadMatrix),
                      kMatrixStore = in(Space::kShared, Kind::kStoreMatrix);
// The hardware's own counters do not tell matrix accesses from others (ncu's samples divide them by both).
constexpr AccessClass kAnyLoad = in(Space::kShared, bit(Kind::kLoad) | bit(Kind::kLoadMatrix)),
                      kAnyStore = in(Space::kShared, bit(Kind::kStore) | bit(Kind::kStoreMatrix));

Value host_sectors(const Counts& counts) {
  const std::uint64_t sum = counts.of(kGlobalAll).host_sectors;
  if (sum == 0) return {};
  return sum;
}

constexpr MetricRow kRows[] = {
    {"smsp__inst_executed_op_shared_ld.sum", "inst_executed_shared_loads", "inst", "warp instructions: shared loads",
     "executions, wherever the code names shared memory; generic instructions are counted apart", kShared, kAdditive,
     kExecuted, total<named(kSharedLoad), &A::executed>},
    {"smsp__inst_executed_op_shared_st.sum", "inst_executed_shared_stores", "inst", "warp instructions: shared stores",
     "executions, wherever the code names shared memory; generic instructions are counted apart", kShared, kAdditive,
     kExecuted, total<named(kSharedStore), &A::executed>},
    {"smsp__inst_executed_op_shared_atom.sum", "inst_executed_shared_atomics", "inst",
     "warp instructions: shared atomics",
     "executions, wherever the code names shared memory; generic instructions are counted apart", kShared, kAdditive,
     kExecuted, total<named(kSharedAtom), &A::executed>},
    {"smsp__inst_executed_op_ldsm.sum", "", "inst", "warp instructions: matrix loads (LDSM)", "executions", kShared,
     kAdditive, kExecuted, total<kMatrixLoad, &A::executed>},
    {"smsp__inst_executed_op_shared_stsm.sum", "", "inst", "warp instructions: matrix stores (STSM)", "executions",
     kShared, kAdditive, kExecuted, total<kMatrixStore, &A::executed>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", "", "wavefront", "wavefronts of matrix loads",
     "per matrix the most distinct words in one bank, summed", kShared, kAdditive, kMatrixRule,
     total<kMatrixLoad, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum", "", "wavefront", "wavefronts of matrix stores",
     "per matrix the most distinct words in one bank, summed", kShared, kAdditive, kMatrixRule,
     total<kMatrixStore, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum", "", "", "bank conflicts of matrix loads",
     "wavefronts beyond one per matrix", kShared, kAdditive, kMatrixRule, total<kMatrixLoad, &A::conflicts>},
    {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum", "", "", "bank conflicts of matrix stores",
     "wavefronts beyond one per matrix", kShared, kAdditive, kMatrixRule, total<kMatrixStore, &A::conflicts>},
    {"smsp__sass_data_bytes_mem_shared_op_ldsm.sum", "", "byte", "bytes of the rows of matrix loads",
     "16 x distinct rows of each execution, summed", kShared, kAdditive, kExecuted, total<kMatrixLoad, &A::bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_stsm.sum", "", "byte", "bytes of the rows of matrix stores",
     "16 x rows, summed", kShared, kAdditive, kExecuted, total<kMatrixStore, &A::bytes>},
    {"muscope__shared_requests_op_ld.sum", "", "request", "shared loads with at least one active lane",
     "executions with at least one active lane", kShared, kAdditive, kExecuted, total<kSharedLoad, &A::requests>},
    {"muscope__shared_requests_op_st.sum", "", "request", "shared stores with at least one active lane",
     "executions with at least one active lane", kShared, kAdditive, kExecuted, total<kSharedStore, &A::requests>},
    {"muscope__shared_requests_op_atom.sum", "", "request", "shared atomics with at least one active lane",
     "executions with at least one active lane", kShared, kAdditive, kExecuted, total<kSharedAtom, &A::requests>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", "wavefront",
     "wavefronts of shared loads, as ncu counts them in software",
     "per group of lanes the most distinct words in one bank, summed; groups of a load with equal addresses in pairs "
     "of "
     "lanes are joined only where one wavefront serves them",
     kShared, kAdditive, kBankRule, total<kSharedLoad, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", "wavefront",
     "wavefronts of shared stores, as ncu counts them in software",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kBankRule, total<kSharedStore, &A::sass_wavefronts>},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "", "wavefront",
     "wavefronts of shared atomics, as ncu counts them in software",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kBankRule, total<kSharedAtom, &A::sass_wavefronts>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared_load_transactions", "wavefront",
     "wavefronts of shared loads",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kBankRuleRaw, total<kAnyLoad, &A::wavefronts>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared_store_transactions", "wavefront",
     "wavefronts of shared stores",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kBankRuleRaw, total<kAnyStore, &A::wavefronts>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "", "wavefront", "wavefronts of shared atomics",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kBankRuleRaw, total<kSharedAtom, &A::wavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared_ld_bank_conflict", "",
     "bank conflicts of shared loads", "wavefronts beyond the least that this width and these lanes need", kShared,
     kAdditive, kBankRuleRaw, total<kAnyLoad, &A::conflicts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared_st_bank_conflict", "",
     "bank conflicts of shared stores", "wavefronts beyond the least that this width and these lanes need", kShared,
     kAdditive, kBankRuleRaw, total<kAnyStore, &A::conflicts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "", "", "bank conflicts of shared atomics",
     "wavefronts beyond the least that this width and these lanes need", kShared, kAdditive, kBankRuleRaw,
     total<kSharedAtom, &A::conflicts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", "", "bank conflicts of all shared accesses",
     "wavefronts beyond the least, loads, stores and atomics", kShared, kAdditive, kBankRuleRaw,
     total<kSharedAll, &A::conflicts>},
    {"memory_l1_wavefronts_shared", "", "wavefront", "wavefronts of all shared accesses, as ncu counts them per line",
     "per group of lanes the most distinct words in one bank, summed (4-byte atomics: lanes instead of words)", kShared,
     kAdditive, kAllBankRule, total<kSharedAll, &A::sass_wavefronts>},
    {"memory_l1_wavefronts_shared_ideal", "", "wavefront", "the least wavefronts that these accesses could have taken",
     "min(wavefronts, ceil(active lanes x bytes / 128)) of each request, summed; of the swaps in loops it is not known",
     kShared, kAdditive, kAllBankRule, total<kSharedAll, &A::sass_ideal_wavefronts>},
    {"derived__memory_l1_wavefronts_shared_excessive", "", "wavefront",
     "wavefronts beyond the ideal: bank conflicts without arbitration noise", "memory_l1_wavefronts_shared - ..._ideal",
     kShared, kAdditive, kAllBankRule, total<kSharedAll, &A::sass_conflicts>},
    {"derived__memory_l1_conflicts_shared_nway", "", "",
     "wavefronts per shared instruction; 1 is free of conflicts for 4-byte lanes", "wavefronts / executed instructions",
     kShared, kRatio, kAllBankRule, ratio<kSharedAll, &A::sass_wavefronts, &A::executed>},
    {"muscope__shared_wavefronts_per_request_op_ld.ratio", "shared_load_transactions_per_request", "wavefront/request",
     "wavefronts per request: shared loads", "wavefronts / requests", kShared, kRatio, kBankRule,
     ratio<kSharedLoad, &A::wavefronts, &A::requests>},
    {"muscope__shared_wavefronts_per_request_op_st.ratio", "shared_store_transactions_per_request", "wavefront/request",
     "wavefronts per request: shared stores", "wavefronts / requests", kShared, kRatio, kBankRule,
     ratio<kSharedStore, &A::wavefronts, &A::requests>},
    {"smsp__sass_data_bytes_mem_shared_op_ld.sum", "", "byte", "bytes that the lanes asked for: shared loads",
     "active lanes x bytes per lane, summed", kShared, kAdditive, kExecuted, total<kSharedLoad, &A::bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_st.sum", "", "byte", "bytes that the lanes asked for: shared stores",
     "active lanes x bytes per lane, summed", kShared, kAdditive, kExecuted, total<kSharedStore, &A::bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_atom.sum", "", "byte", "bytes that the lanes asked for: shared atomics",
     "active lanes x bytes per lane, summed", kShared, kAdditive, kExecuted, total<kSharedAtom, &A::bytes>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "shared_efficiency", "%",
     "efficiency: bytes asked for per byte that a wavefront can move", "100 x bytes / (128 x wavefronts)", kShared,
     kRatio, kAllBankRule, ratio<kSharedAll, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_ld.pct", "", "%",
     "efficiency: bytes asked for per byte that a wavefront can move: shared loads", "100 x bytes / (128 x wavefronts)",
     kShared, kRatio, kBankRule, ratio<kSharedLoad, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_st.pct", "", "%",
     "efficiency: bytes asked for per byte that a wavefront can move: shared stores",
     "100 x bytes / (128 x wavefronts)", kShared, kRatio, kBankRule,
     ratio<kSharedStore, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_atom.pct", "", "%",
     "efficiency: bytes asked for per byte that a wavefront can move: shared atomics",
     "100 x bytes / (128 x wavefronts)", kShared, kRatio, kBankRule,
     ratio<kSharedAtom, &A::bytes, &A::sass_wavefronts, 100, 128>},
    {"muscope__constant_loads.sum", "", "inst", "warp instructions that load constant memory",
     "executions of ld.const; ptxas makes some of them operands c[bank][offset], LDC or LDCU, which PTX does not show",
     kConstant, kAdditive, kConstantRule, total<kConst, &A::executed>},
    {"muscope__constant_requests.sum", "", "request",
     "requests to the constant cache, as if every load were indexed (compare idc__requests)",
     "distinct 4-byte words of each load, summed", kConstant, kAdditive, kConstantRule, total<kConst, &A::requests>},
    {"idc__requests.sum", "", "request", "requests to the indexed constant cache (LDC, loads of parameters included)",
     "distinct 4-byte words of each LDC, summed; has a value where machine code was counted", kConstant, kAdditive,
     kMachineConstantRule, total<kConst, &A::requests>},
    {"smsp__inst_executed_op_ldc.sum", "", "inst", "warp instructions: LDC",
     "executions of LDC; has a value where machine code was counted", kConstant, kAdditive, kMachineConstantRule,
     total<kConst, &A::executed>},
    {"muscope__constant_replays.sum", "", "request",
     "requests beyond one per load: lanes that read different words are served one word at a time",
     "requests - loads, per instruction of the code", kConstant, kAdditive, kConstantRule, total<kConst, &A::replays>},
    {"muscope__constant_requests_per_load.ratio", "", "request/inst",
     "requests per constant load; 1 when every lane reads the same word", "requests / loads", kConstant, kRatio,
     kConstantRule, ratio<kConst, &A::requests, &A::executed>},
    {"muscope__global_sectors_host_memory.sum", "", "sector",
     "sectors of global accesses that live in host memory (zero-copy): they cross the bus",
     "those of the sectors whose bytes are mapped host memory", kHost, kAdditive, kGlobalRule, host_sectors},
};

}  // namespace

std::span<const MetricRow> shared_metric_rows() { return kRows; }

}  // namespace muscope::report
