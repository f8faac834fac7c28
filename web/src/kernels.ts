// Sums over the launches of a kernel, and what a launch moved: used by the overview, the list beside it and comparisons.
import { countOf, valueOf, type Grade, type Kernel, type Metrics } from "./data";

export const globalSectors = [
  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
  "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
];
export const sharedConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
export const occupancyPercent = "sm__maximum_warps_per_active_cycle_pct";

export const time = "gpu__time_duration.sum";
export const dramBytes = ["dram__bytes_read.sum", "dram__bytes_write.sum"];

/** Floating-point operations of all widths: an fma is two. Half precision counts per lane and instruction; what only moves
 * a constant to a register by a half-precision instruction is no operation. */
export function flops(metrics: Metrics): number {
  return countOf(metrics, "muscope__flops_fp16.sum", "muscope__flops_fp32.sum", "muscope__flops_fp64.sum");
}

export function conflictsOf(metrics: Metrics): number {
  return countOf(metrics, sharedConflicts);
}

export interface Sums {
  kernel: Kernel;
  launches: number;
  traffic: number; // sectors of global and local memory
  waste: number; // sectors of global and local memory, wavefronts and constant requests beyond the ideal
  wasteShare: number;
  conflicts: number;
  replays: number;
  instructions: number;
  occupancy: number | undefined; // the lowest
  grade: Grade;
  failed: number;
  advice: number;
  seconds: number | undefined;
  dram: number | undefined;
}

/** Of one launch, as of all of a kernel. */
export function sumsOf(kernel: Kernel): Sums {
  const sums: Sums = {
    kernel, launches: kernel.launches.length, traffic: 0, waste: 0, wasteShare: 0, conflicts: 0, replays: 0,
    instructions: 0, occupancy: undefined, grade: "counted", failed: 0, advice: 0, seconds: undefined, dram: undefined,
  };
  let excess = 0;
  const order: Grade[] = ["counted", "modelled", "estimated"];
  const rules = new Set<string>();
  for (const { kind } of kernel.launches) {
    sums.traffic += kind.traffic;
    sums.waste += kind.waste;
    excess += kind.wasted_sectors;
    sums.conflicts += conflictsOf(kind.metrics);
    sums.replays += countOf(kind.metrics, "muscope__constant_replays.sum");
    sums.instructions += countOf(kind.metrics, "smsp__inst_executed.sum");
    const occupancy = valueOf(kind.metrics, occupancyPercent);
    if (occupancy !== undefined) sums.occupancy = Math.min(sums.occupancy ?? 100, occupancy);
    if (order.indexOf(kind.traffic_grade.grade) > order.indexOf(sums.grade)) sums.grade = kind.traffic_grade.grade;
    if (kind.state !== "finished") ++sums.failed;
    for (const advice of kind.advice) rules.add(`${advice.code} ${advice.at?.file}:${advice.at?.line}`);
    const ns = valueOf(kind.metrics, time);
    if (ns !== undefined) sums.seconds = (sums.seconds ?? 0) + ns * 1e-9;
    if (dramBytes.some((name) => kind.metrics.has(name))) sums.dram = (sums.dram ?? 0) + countOf(kind.metrics, ...dramBytes);
  }
  sums.advice = rules.size;
  sums.wasteShare = sums.traffic > 0 ? excess / sums.traffic : 0;
  return sums;
}
