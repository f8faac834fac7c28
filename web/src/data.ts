// The data of the page: what stands in its script elements, and how it is unfolded. docs/report-schema.md has the format.

export type Grade = "counted" | "modelled" | "estimated";

export interface Metric {
  value: number;
  unit: string;
  grade: Grade;
  reason: string;
  text: string;
}
export type Metrics = Map<string, Metric>;
type ShortMetrics = [number, number, number][];

export interface Position {
  file: string;
  line: number;
  column: number;
  function?: string;
}

export interface Message {
  severity: "note" | "warning" | "error";
  code: string;
  text: string;
  help?: string;
  at?: Position;
}

/** One warp access: lanes, their addresses, and where it happened. */
export interface Example {
  mask: number;
  first?: number;
  stride?: number;
  addresses?: number[];
  cost?: number;
  block?: number;
  warp?: number;
  /** Of a typical one: how many requests look like this, and of how many. */
  count?: number;
  of?: number;
}

export interface Site {
  instruction: string;
  site: number;
  space: string;
  kind: string;
  ptx_line?: number;
  pc?: number;
  column?: number;
  local_use?: string;
  lane_bytes?: number;
  executed?: number;
  lanes?: number;
  requests?: number;
  sectors?: number;
  ideal_sectors?: number;
  lines?: number;
  bytes?: number;
  wavefronts?: number;
  ideal_wavefronts?: number;
  host_sectors?: number;
  waste?: number;
  cause?: string;
  worst?: Example;
  typical?: Example;
}

export interface Line extends Position {
  inlined_at?: Position[];
  metrics: Metrics;
  sites: Site[];
}

export interface CodeChange {
  at: Position;
  inlined_at?: Position[];
  kind: string;
  space: string;
  access: string;
  text: string;
}

/** [byte offset, text, line: index into Body.lines or -1] */
export type Instruction = [number, string, number];

export interface Body {
  lines: Line[];
  code?: { frame_bytes: number; stack_bytes: number; changes: CodeChange[] };
  listing?: Instruction[];
}

export interface Picture {
  space: string;
  after_space?: string;
  kind?: string;
  lane_bytes: number;
  after_lane_bytes?: number;
  before?: Example;
  after?: Example;
}

export interface Advice {
  code: string;
  title?: string;
  text: string;
  change?: string;
  bound?: string;
  unit?: string;
  before?: number;
  after?: number;
  grade?: Grade;
  reason?: string;
  saves?: number;
  at?: Position;
  inlined_at?: Position[];
  sites?: number[];
  picture?: Picture;
}

/** What launches of one kind share. */
export interface Kind {
  kernel: string;
  mangled: string;
  grid: [number, number, number];
  block: [number, number, number];
  shared: { static: number; dynamic: number };
  registers: { value: number; grade: Grade; source: string; reason?: string };
  state: "finished" | "faulted" | "stopped";
  counted_from: { source: string; grade: Grade; problem?: string };
  occupancy_limit: string;
  metrics: Metrics;
  advice: Advice[];
  diagnostics: Message[];
  fault?: Message & { source: Position; instruction: string; ptx_line: number; block: number[]; thread: number[] };
  traffic: number;
  waste: number;
  /** Sectors of global and local memory beyond the ideal, atomics and reductions included. */
  wasted_sectors: number;
  /** The weakest grade of what `traffic` and `wasted_sectors` are summed from. */
  traffic_grade: { grade: Grade; reason: string };
}

export interface Launch {
  index: number;
  process: number;
  stream: number;
  device: number;
  kindNumber: number;
  kind: Kind;
}

export type Limits = Record<string, number | null>;

export interface Transfer {
  kind: string;
  host_memory: string;
  async: boolean;
  count: number;
  bytes: number;
  api: string;
  caller: string;
}

export interface Process {
  index: number;
  parent: number | null;
  argv: string[];
  truncated: boolean;
  transfers: Transfer[];
  diagnostics: Message[];
}

/** Launches of one kernel, in their order. */
export interface Kernel {
  name: string;
  launches: Launch[];
}

export interface Source {
  file: string;
  shown: string;
  system: boolean;
  /** Text by line number; lines that are not in the page are missing. */
  text: Map<number, string>;
}

export interface Report {
  number: number;
  tool: { name: string; version: string };
  program: { argv: string[]; exit: number; exit_text: string; toolchain: string };
  gpu: {
    name: string;
    full_name: string;
    architecture: string;
    cc: string;
    sm_count: number | null;
    warp_size: number | null;
    shared_banks: number;
    shared_bank_bytes: number;
    limits: Limits;
  };
  notes: string[];
  diagnostics: Message[];
  processes: Process[];
  kinds: Kind[];
  launches: Launch[];
  kernels: Kernel[];
  sources: Map<string, Source>;
}

export interface Page {
  reports: Report[];
  /** Of two reports: the name of a kernel before and after ("" where it is missing) and what `muscope diff` says of it. */
  verdicts?: [string, string, string][];
  error?: string;
}

interface RawPage {
  format: string;
  metrics: [string, string, string][];
  grades: [Grade, string][];
  verdicts?: [string, string, string][];
  reports: (Omit<Report, "launches" | "sources" | "kernels" | "number" | "kinds"> & {
    launches: [number, number, number, number, number][];
    kinds: (Omit<Kind, "metrics"> & { metrics: ShortMetrics })[];
    sources: { file: string; shown: string; system?: boolean; excerpts?: [number, string][] }[];
  })[];
}

let raw: RawPage;
const bodies = new Map<string, Body>();

function parsed<T>(id: string): T | undefined {
  const text = document.getElementById(id)?.textContent;
  return text ? (JSON.parse(text) as T) : undefined;
}

function unfold(short: ShortMetrics): Metrics {
  const metrics: Metrics = new Map();
  for (const [metric, value, grade] of short) {
    const [name, unit, text] = raw.metrics[metric]!;
    const [word, reason] = raw.grades[grade]!;
    metrics.set(name, { value, unit, grade: word, reason, text });
  }
  return metrics;
}

function sourcesOf(list: RawPage["reports"][number]["sources"]): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const { file, shown, system, excerpts } of list) {
    const text = new Map<number, string>();
    for (const [first, lines] of excerpts ?? [])
      lines.split("\n").forEach((line, i, all) => {
        if (i + 1 < all.length) text.set(first + i, line);
      });
    sources.set(file, { file, shown, system: system ?? false, text });
  }
  return sources;
}

export function loadPage(): Page {
  try {
    raw = parsed<RawPage>("muscope-data")!;
    if (raw?.format !== "muscope.page/1") return { reports: [], error: "This page holds no report." };
  } catch (e) {
    return { reports: [], error: `The data of this page are damaged: ${e}` };
  }
  const reports = raw.reports.map((report, number): Report => {
    const kinds = report.kinds.map((kind): Kind => ({ ...kind, metrics: unfold(kind.metrics) }));
    const launches = report.launches.map(
      ([index, process, stream, device, kind]): Launch =>
        ({ index, process, stream, device, kindNumber: kind, kind: kinds[kind]! }));
    const kernels = new Map<string, Kernel>();
    for (const launch of launches) {
      const known = kernels.get(launch.kind.kernel);
      if (known) known.launches.push(launch);
      else kernels.set(launch.kind.kernel, { name: launch.kind.kernel, launches: [launch] });
    }
    return {
      ...report, number, kinds, launches, kernels: [...kernels.values()], sources: sourcesOf(report.sources),
    };
  });
  return { reports, verdicts: raw.verdicts };
}

/** Lines and instructions of a launch, read when they are first asked for. */
export function bodyOf(report: Report, launch: Launch): Body {
  const id = `muscope-${report.number}-${launch.kindNumber}`;
  let body = bodies.get(id);
  if (!body) {
    const found = parsed<Omit<Body, "lines"> & { lines: (Omit<Line, "metrics"> & { metrics: ShortMetrics })[] }>(id);
    body = {
      ...found,
      lines: (found?.lines ?? []).map((line): Line => ({ ...line, metrics: unfold(line.metrics) })),
    };
    bodies.set(id, body);
  }
  return body;
}

export function valueOf(metrics: Metrics, name: string): number | undefined {
  return metrics.get(name)?.value;
}

/** Counts that are absent are zero. */
export function countOf(metrics: Metrics, ...names: string[]): number {
  let sum = 0;
  for (const name of names) sum += metrics.get(name)?.value ?? 0;
  return sum;
}

/** The weakest grade of these metrics; undefined when the launch has none of them. */
export function gradeOf(metrics: Metrics, ...names: string[]): { grade: Grade; reason: string } | undefined {
  const order: Grade[] = ["counted", "modelled", "estimated"];
  let worst: { grade: Grade; reason: string } | undefined;
  for (const name of names) {
    const metric = metrics.get(name);
    if (metric && (!worst || order.indexOf(metric.grade) > order.indexOf(worst.grade))) worst = metric;
  }
  return worst;
}

/** Addresses of the 32 lanes; undefined for lanes that take no part. */
export function addressesOf(example: Example): (number | undefined)[] {
  const lanes: (number | undefined)[] = [];
  let taken = 0;
  let lowest = -1;
  for (let lane = 0; lane < 32; ++lane) {
    if (!((example.mask >>> lane) & 1)) {
      lanes.push(undefined);
      continue;
    }
    if (lowest < 0) lowest = lane;
    lanes.push(
      example.addresses
        ? example.addresses[taken]
        : (example.first ?? 0) + (example.stride ?? 0) * (lane - lowest));
    ++taken;
  }
  return lanes;
}
