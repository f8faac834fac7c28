// What one warp access asks of the memory: sectors and lines, passes over banks, distinct words, rows of local memory.
// The rules are those of src/model/ (sectors.h, banks.h, constant.h, local.h); web/test/access.test.mjs holds the counts
// against those of a report.
import { addressesOf, type Example } from "./data";

export const sectorBytes = 32;
export const lineBytes = 128;

/** Lanes that a step serves, and what it takes: a line with its sectors, a pass over the banks, a word. */
export interface Step {
  title: string;
  lanes: number[];
  /** Cells in use: sector (0 to 3), or bank. The value names the lanes. */
  cells: Map<number, number[]>;
  /** Global and local: bytes asked for, 128 entries of 0 or 1. */
  asked?: Uint8Array;
  address?: number;
}

export interface Picture {
  kind: "lines" | "banks" | "words" | "rows";
  steps: Step[];
  cost: number; // sectors, wavefronts or requests
  ideal: number;
  unit: string;
  /** The step that serves each lane (the last one where there are several), from 0; -1: inactive. */
  stepOf: number[];
  addresses: (number | undefined)[];
  bytes: number; // per lane
}

export type Rules = { banks: number; bankBytes: number };

const activeLanes = (addresses: (number | undefined)[]) =>
  addresses.flatMap((address, lane) => (address === undefined ? [] : [{ lane, address }]));

function lines(addresses: (number | undefined)[], bytes: number): Picture {
  const byLine = new Map<number, Step>();
  const stepOf: number[] = addresses.map(() => -1);
  const sectors = new Set<number>();
  for (const { lane, address } of activeLanes(addresses)) {
    for (let at = address; at < address + bytes; ++at) {
      const line = Math.floor(at / lineBytes);
      let step = byLine.get(line);
      if (!step) {
        step = { title: "", lanes: [], cells: new Map(), asked: new Uint8Array(lineBytes), address: line * lineBytes };
        byLine.set(line, step);
      }
      if (step.lanes.at(-1) !== lane) step.lanes.push(lane);
      step.asked![at - line * lineBytes] = 1;
      const sector = Math.floor(at / sectorBytes);
      sectors.add(sector);
      const lanes = step.cells.get(sector % 4) ?? [];
      if (lanes.at(-1) !== lane) lanes.push(lane);
      step.cells.set(sector % 4, lanes);
    }
  }
  const steps = [...byLine.values()].sort((a, b) => a.address! - b.address!);
  steps.forEach((step, i) => {
    step.title = `line ${i + 1} of ${steps.length}`;
    for (const lane of step.lanes) stepOf[lane] = i;
  });
  const lanes = activeLanes(addresses).length;
  return {
    kind: "lines", steps, cost: sectors.size, stepOf, addresses, bytes, unit: "sector",
    ideal: Math.min(sectors.size, Math.ceil((lanes * bytes) / sectorBytes)),
  };
}

/** Local memory: word w of lane l lies at 128 w + 4 l. */
function rows(addresses: (number | undefined)[], bytes: number): Picture {
  const byRow = new Map<number, Step>();
  const stepOf: number[] = addresses.map(() => -1);
  for (const { lane, address } of activeLanes(addresses))
    for (let word = Math.floor(address / 4); word <= Math.floor((address + bytes - 1) / 4); ++word) {
      const step = byRow.get(word) ??
        { title: "", lanes: [] as number[], cells: new Map<number, number[]>(), asked: new Uint8Array(lineBytes), address: word * 4 };
      byRow.set(word, step);
      if (step.lanes.at(-1) !== lane) step.lanes.push(lane);
      step.asked!.fill(1, lane * 4, lane * 4 + 4);
      step.cells.set(Math.floor(lane / 8), [...(step.cells.get(Math.floor(lane / 8)) ?? []), lane]);
    }
  const steps = [...byRow.values()].sort((a, b) => a.address! - b.address!);
  let cost = 0;
  steps.forEach((step, i) => {
    step.title = `row ${i + 1} of ${steps.length}`;
    cost += step.cells.size;
    for (const lane of step.lanes) stepOf[lane] = i;
  });
  const lanes = activeLanes(addresses).length;
  return {
    kind: "rows", steps, cost, stepOf, addresses, bytes, unit: "sector",
    ideal: Math.min(cost, Math.ceil((lanes * bytes) / sectorBytes)),
  };
}

function pairsEqual(addresses: (number | undefined)[], distance: number): boolean {
  return addresses.every((address, lane) => {
    const other = addresses[lane ^ distance];
    return address === undefined || other === undefined || address === other;
  });
}

function banks(addresses: (number | undefined)[], bytes: number, kind: string, rules: Rules): Picture {
  const atomic = kind === "red" || kind === "atom";
  let group = bytes <= 4 || atomic ? 32 : Math.max(1, 128 / bytes);
  if (kind === "load" && group < 32 && (pairsEqual(addresses, 1) || pairsEqual(addresses, 2))) group *= 2;
  const steps: Step[] = [];
  const stepOf: number[] = addresses.map(() => -1);
  let ideal = 0;
  for (let first = 0; first < 32; first += group) {
    const start = steps.length;
    const wordsOfBank = new Map<number, number[]>();
    const lanes = activeLanes(addresses).filter(({ lane }) => lane >= first && lane < first + group);
    if (lanes.length > 0) ++ideal;
    for (const { lane, address } of lanes) {
      const last = atomic ? address : address + bytes - 1;
      for (let word = Math.floor(address / rules.bankBytes); word <= Math.floor(last / rules.bankBytes); ++word) {
        const bank = word % rules.banks;
        const words = wordsOfBank.get(bank) ?? [];
        wordsOfBank.set(bank, words);
        // Atomics: a pass for each lane; others: lanes with equal words share one.
        let pass = atomic ? -1 : words.indexOf(word);
        if (pass < 0) pass = words.push(word) - 1;
        const step = (steps[start + pass] ??= { title: "", lanes: [], cells: new Map() });
        if (step.lanes.at(-1) !== lane) step.lanes.push(lane);
        const served = step.cells.get(bank) ?? [];
        if (served.at(-1) !== lane) served.push(lane);
        step.cells.set(bank, served);
        stepOf[lane] = Math.max(stepOf[lane]!, start + pass);
      }
    }
  }
  steps.forEach((step, i) => (step.title = `pass ${i + 1} of ${steps.length}`));
  return { kind: "banks", steps, cost: steps.length, ideal, stepOf, addresses, bytes, unit: "wavefront" };
}

function words(addresses: (number | undefined)[], bytes: number): Picture {
  const unit = Math.max(4, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
  const byWord = new Map<number, Step>();
  const stepOf: number[] = addresses.map(() => -1);
  for (const { lane, address } of activeLanes(addresses)) {
    const word = Math.floor(address / unit);
    const step: Step = byWord.get(word) ?? { title: "", lanes: [], cells: new Map(), address: word * unit };
    byWord.set(word, step);
    step.lanes.push(lane);
  }
  const steps = [...byWord.values()];
  steps.forEach((step, i) => {
    step.title = `word ${i + 1} of ${steps.length}`;
    for (const lane of step.lanes) stepOf[lane] = i;
  });
  return { kind: "words", steps, cost: steps.length, ideal: Math.min(1, steps.length), stepOf, addresses, bytes, unit: "request" };
}

/** Of the accesses that an advice is about, the one with the costliest request; the first of equals. */
export function costliest<S extends { worst?: Example }>(sites: (S | undefined)[]): S | undefined {
  let found: S | undefined;
  for (const site of sites)
    if (site?.worst && (!found || (site.worst.cost ?? 0) > (found.worst!.cost ?? 0))) found = site;
  return found;
}

/** Nothing for what has no picture: textures. */
export function pictureOf(
  example: Example, space: string, kind: string, bytes: number, rules: Rules): Picture | undefined {
  const addresses = addressesOf(example);
  const width = Math.max(1, bytes);
  switch (space) {
    case "shared": return banks(addresses, width, kind, rules);
    case "const": return words(addresses, width);
    case "local": return rows(addresses, width);
    case "global": return lines(addresses, width);
    default: return undefined;
  }
}

/** "0-7, 12": lanes in short. */
export function laneList(lanes: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < lanes.length; ++i) {
    let end = i;
    while (end + 1 < lanes.length && lanes[end + 1] === lanes[end]! + 1) ++end;
    parts.push(end > i ? `${lanes[i]}-${lanes[end]}` : `${lanes[i]}`);
    i = end;
  }
  return parts.join(", ");
}
