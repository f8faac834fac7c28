// Occupancy by the rules of src/model/occupancy.cc (cuda_occupancy.h of CUDA 13.0). web/test/occupancy.test.mjs holds it
// against `muscope occupancy`.
import type { Limits } from "./data";

export interface Shape {
  threads: number;
  registers: number; // per thread; 0: not known, does not limit
  shared: number; // static and dynamic, bytes per block
  barriers?: number;
}

export type Limiter = "warps" | "registers" | "shared memory" | "blocks" | "barriers";

export interface Occupancy {
  warpsPerBlock: number;
  blocks: number;
  warps: number;
  maxWarps: number;
  percent: number;
  limits: Record<Limiter, number>; // blocks per SM if nothing else limited; Infinity: the rule does not apply
  limiters: Limiter[];
  registersPerBlock: number;
  sharedPerBlock: number;
  needsOptin: boolean;
  impossible: string;
}

const roundUp = (value: number, unit: number) => (unit <= 1 ? value : Math.ceil(value / unit) * unit);
const known = (limits: Limits, name: string, otherwise: number) => limits[name] ?? otherwise;

function registerLimit(limits: Limits, registers: number, warps: number, cc: string): number {
  if (registers <= 0) return Infinity;
  const within = (parts: number) => {
    const perWarp = roundUp(registers * known(limits, "warp_size", 32), known(limits, "register_allocation_unit", 256));
    if (perWarp * roundUp(warps, parts) > known(limits, "registers_per_block", 65536)) return 0;
    if (registers > known(limits, "max_registers_per_thread", 255)) return 0;
    return Math.floor(
      (Math.floor(Math.floor(known(limits, "registers_per_sm", 65536) / parts) / perWarp) * parts) / warps);
  };
  const limit = within(Math.max(1, known(limits, "register_subpartitions", 4)));
  return cc === "6.0" && limit > 0 && within(4) === 0 ? 0 : limit;
}

export function occupancy(limits: Limits, shape: Shape, cc = ""): Occupancy {
  const warp = Math.max(1, known(limits, "warp_size", 32));
  const maxWarps = Math.floor(known(limits, "max_threads_per_sm", 2048) / warp);
  const maxBlocks = known(limits, "max_blocks_per_sm", 32);
  const warps = Math.max(1, Math.ceil(shape.threads / warp));
  const reserved = known(limits, "shared_reserved_per_block", 0);
  const optin = limits.shared_per_block_optin ?? limits.shared_per_block ?? 49152;
  const allocated = roundUp(shape.shared + reserved, known(limits, "shared_allocation_unit", 256));
  const barriers = shape.barriers ?? 1;
  const most = known(limits, "max_threads_per_block", 1024);
  const all: Record<Limiter, number> = {
    warps: shape.threads > most ? 0 : Math.floor(maxWarps / warps),
    registers: registerLimit(limits, shape.registers, warps, cc),
    "shared memory": allocated > optin + reserved ? 0
      : allocated === 0 ? Infinity
      : Math.floor(known(limits, "shared_per_sm", 49152) / allocated),
    blocks: maxBlocks,
    barriers: limits.barriers_per_sm && barriers > 0
      ? Math.min(Math.floor(limits.barriers_per_sm / barriers), maxBlocks) : Infinity,
  };
  const blocks = Math.min(...Object.values(all));
  const names = Object.keys(all) as Limiter[];
  let impossible = "";
  if (all.warps === 0) impossible = `${shape.threads} threads exceed the ${most} that a block may have`;
  else if (all.registers === 0) impossible = `${shape.registers} registers for each of ${shape.threads} threads exceed what a block may have`;
  else if (all["shared memory"] === 0) impossible = `${shape.shared} bytes of shared memory exceed the ${optin} that a block may have`;
  return {
    warpsPerBlock: warps,
    blocks,
    warps: blocks * warps,
    maxWarps,
    percent: maxWarps > 0 ? (100 * blocks * warps) / maxWarps : 0,
    limits: all,
    // Barriers are at most the block limit by definition: they are named only when they bind by themselves.
    limiters: names.filter((n) => all[n] === blocks && !(n === "barriers" && all[n] === maxBlocks)),
    registersPerBlock:
      warps * roundUp(shape.registers * warp, known(limits, "register_allocation_unit", 256)),
    sharedPerBlock: allocated,
    needsOptin: shape.shared > known(limits, "shared_per_block", 49152),
    impossible,
  };
}
