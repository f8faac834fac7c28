// Rows of the metric table: executed instructions, launch attributes and occupancy.
#include "report/metric_formulas.h"
#include "report/metric_tables.h"

namespace muscope::report {
namespace {

using namespace formulas;
using enum MetricGroup;
using enum Aggregation;
using enum GradeRule;
using K = views::InstructionKind;

Value warp_instructions(const Counts& counts) {
  if (counts.warp_instructions() == 0) return {};
  return counts.warp_instructions();
}

Value thread_instructions(const Counts& counts) {
  if (counts.thread_instructions() == 0) return {};
  return counts.thread_instructions();
}

Value lanes_per_instruction(const Counts& counts) {
  if (counts.warp_instructions() == 0) return {};
  return static_cast<double>(counts.thread_instructions()) / static_cast<double>(counts.warp_instructions());
}

constexpr MetricRow kRows[] = {
    {"smsp__inst_executed.sum", "inst_executed", "inst", "warp instructions executed",
     "executions of every PTX instruction that makes machine code", kInstructions, kAdditive, kExecuted,
     warp_instructions},
    {"smsp__thread_inst_executed_pred_on.sum", "thread_inst_executed", "inst",
     "thread instructions executed, guard true", "active lanes with a true guard, summed over warp instructions",
     kInstructions, kAdditive, kExecuted, thread_instructions},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "warp_nonpred_execution_efficiency", "thread/inst",
     "lanes at work per warp instruction, of 32", "thread instructions / warp instructions", kInstructions, kRatio,
     kExecuted, lanes_per_instruction},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "flop_count_sp_add", "inst",
     "thread instructions: single-precision add and subtract",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp32Add>},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "flop_count_sp_mul", "inst",
     "thread instructions: single-precision multiply",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp32Mul>},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "flop_count_sp_fma", "inst",
     "thread instructions: single-precision fused multiply-add",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp32Fma>},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "flop_count_dp_add", "inst",
     "thread instructions: double-precision add and subtract",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp64Add>},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "flop_count_dp_mul", "inst",
     "thread instructions: double-precision multiply",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp64Mul>},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "flop_count_dp_fma", "inst",
     "thread instructions: double-precision fused multiply-add",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp64Fma>},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "flop_count_hp_add", "inst",
     "thread instructions: half-precision add and subtract",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp16Add, K::kFp16AddMove>},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "flop_count_hp_mul", "inst",
     "thread instructions: half-precision multiply",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp16Mul>},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "flop_count_hp_fma", "inst",
     "thread instructions: half-precision fused multiply-add",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kFp16Fma, K::kFp16FmaMove>},
    {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "inst_integer", "inst",
     "thread instructions: integer arithmetic and comparison",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kInteger>},
    {"smsp__sass_thread_inst_executed_op_bit_pred_on.sum", "", "inst", "thread instructions: bit operations and shifts",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kBit>},
    {"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "inst_bit_convert", "inst",
     "thread instructions: conversions between types",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kConvert>},
    {"smsp__sass_thread_inst_executed_op_control_pred_on.sum", "inst_control", "inst",
     "thread instructions: branches, calls, exits, barriers",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kControl>},
    {"smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "inst_compute_ld_st", "inst",
     "thread instructions: loads, stores, atomics, texture fetches",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kMemory>},
    {"smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum", "inst_inter_thread_communication",
     "inst", "thread instructions: shuffles, votes, matches, barriers",
     "executed lanes of that kind; ptxas may fuse or replace instructions", kInstructions, kAdditive, kExecuted,
     threads<K::kCommunicate>},
    {"smsp__sass_thread_inst_executed_op_misc_pred_on.sum", "inst_misc", "inst",
     "thread instructions: moves and all others", "executed lanes of that kind; ptxas may fuse or replace instructions",
     kInstructions, kAdditive, kExecuted, threads<K::kMove, K::kOther>},
    {"muscope__thread_inst_executed_op_other_float.sum", "", "inst",
     "thread instructions: other floating point (min, max, compare, divide, special functions)", "executed lanes",
     kInstructions, kAdditive, kExecuted, threads<K::kOtherFloat>},
    {"muscope__thread_inst_executed_op_half_move.sum", "", "inst",
     "thread instructions: half-precision adds and multiply-adds that only move: with zeros for operands, as ptxas "
     "sets "
     "registers to constants and converts halves",
     "executed lanes; part of op_hadd and op_hfma, which go by the instruction's name, and of no count of operations",
     kInstructions, kAdditive, kExecuted, threads<K::kFp16FmaMove, K::kFp16AddMove>},
    {"muscope__flops_fp32.sum", "flop_count_sp", "flop", "floating-point operations in single precision",
     "adds + multiplies + 2 x fused multiply-adds", kInstructions, kAdditive, kExecuted,
     flops<K::kFp32Add, K::kFp32Mul, K::kFp32Fma>},
    {"muscope__flops_fp64.sum", "flop_count_dp", "flop", "floating-point operations in double precision",
     "adds + multiplies + 2 x fused multiply-adds", kInstructions, kAdditive, kExecuted,
     flops<K::kFp64Add, K::kFp64Mul, K::kFp64Fma>},
    {"muscope__flops_fp16.sum", "flop_count_hp", "flop", "floating-point operations in half precision",
     "adds + multiplies + 2 x fused multiply-adds, without those that only move a value", kInstructions, kAdditive,
     kExecuted, flops<K::kFp16Add, K::kFp16Mul, K::kFp16Fma>},
    {"launch__grid_size", "", "", "blocks of the launch", "grid x * y * z", kLaunch, kPerLaunch, kGiven, nullptr},
    {"launch__block_size", "", "", "threads of one block", "block x * y * z", kLaunch, kPerLaunch, kGiven, nullptr},
    {"launch__thread_count", "", "thread", "threads of the launch", "grid size x block size", kLaunch, kPerLaunch,
     kGiven, nullptr},
    {"launch__registers_per_thread", "", "register/thread", "registers allocated to one thread",
     "from the cubin, or an estimate of live values (the report says which); Hopper's driver gives at least 16, which "
     "is what the hardware reports and this metric holds; reports show the kernel's own number too, and call this one "
     "allocated",
     kLaunch, kPerLaunch, kRegisterCount, nullptr},
    {"launch__shared_mem_per_block_static", "", "byte/block", "shared memory that the code declares, per block",
     ".shared variables of the kernel", kLaunch, kPerLaunch, kGiven, nullptr},
    {"launch__shared_mem_per_block_dynamic", "", "byte/block", "shared memory that the launch asks for, per block",
     "third argument of <<<>>>", kLaunch, kPerLaunch, kGiven, nullptr},
    {"smsp__warps_launched.sum", "", "warp", "warps of the launch", "grid size x ceil(block size / warp size)", kLaunch,
     kPerLaunch, kGiven, nullptr},
    {"muscope__managed_first_touch_pages.sum", "", "page",
     "pages of managed memory that this launch was the first to touch after the host",
     "4 KiB pages; the driver migrates in larger blocks", kHost, kPerLaunch, kManagedRule, nullptr},
    {"launch__occupancy_limit_blocks", "", "block", "blocks per SM that the limit on blocks allows", "of the GPU",
     kOccupancy, kPerLaunch, kGiven, nullptr},
    {"launch__occupancy_limit_warps", "", "block", "blocks per SM that the limit on warps allows",
     "floor(warps per SM / warps per block)", kOccupancy, kPerLaunch, kGiven, nullptr},
    {"launch__occupancy_limit_registers", "", "block", "blocks per SM that the register file allows",
     "registers per warp rounded up to the allocation unit, warps spread over the partitions", kOccupancy, kPerLaunch,
     kRegisterCount, nullptr},
    {"launch__occupancy_limit_shared_mem", "", "block", "blocks per SM that shared memory allows",
     "floor(carve-out that the driver chooses / (static + dynamic + reserved, rounded up))", kOccupancy, kPerLaunch,
     kCarveoutRule, nullptr},
    {"launch__occupancy_limit_barriers", "", "block", "blocks per SM that named barriers allow",
     "of the GPU (9.0 and later)", kOccupancy, kPerLaunch, kGiven, nullptr},
    {"muscope__blocks_per_multiprocessor", "", "block", "blocks that one SM holds at once", "the least of the limits",
     kOccupancy, kPerLaunch, kRegisterCount, nullptr},
    {"sm__maximum_warps_avg_per_active_cycle", "", "warp", "warps that one SM holds at once",
     "blocks per SM x warps per block", kOccupancy, kPerLaunch, kRegisterCount, nullptr},
    {"sm__maximum_warps_per_active_cycle_pct", "", "%",
     "theoretical occupancy: warps that an SM holds of those it could hold", "100 x warps per SM / limit on warps",
     kOccupancy, kPerLaunch, kRegisterCount, nullptr},
    {"launch__waves_per_multiprocessor", "", "", "rounds of blocks until the grid is done",
     "grid size / (SMs x blocks per SM)", kOccupancy, kPerLaunch, kRegisterCount, nullptr},
};

}  // namespace

std::span<const MetricRow> instruction_metric_rows() { return kRows; }

}  // namespace muscope::report
