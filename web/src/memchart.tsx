// The memory chart: what the instructions of a launch asked for, on its way through L1, shared memory, L2 and device
// memory. Numbers that this report does not have say so.
import { countOf, gradeOf, valueOf, type Kind } from "./data";
import { bytes, short } from "./format";
import { dramBytes, globalSectors } from "./kernels";
import { GradeMark } from "./widgets";

interface Flow {
  name: string;
  requests: string[]; // metrics
  sectors: string[];
  unit: string;
  ideal?: number;
  waste?: number;
}

const lsu = (space: string, what: string, ops: string[]) =>
  ops.map((op) => `l1tex__t_${what}_pipe_lsu_mem_${space}_op_${op}.sum`);

function flowsOf(kind: Kind): (Flow & { asked: number; moved: number })[] {
  const m = kind.metrics;
  const flows: Flow[] = [
    { name: "global load", requests: lsu("global", "requests", ["ld"]), sectors: lsu("global", "sectors", ["ld"]), unit: "sectors" },
    { name: "global store", requests: lsu("global", "requests", ["st"]), sectors: lsu("global", "sectors", ["st"]), unit: "sectors" },
    { name: "global atomic", requests: lsu("global", "requests", ["red", "atom"]), sectors: lsu("global", "sectors", ["red", "atom"]), unit: "sectors" },
    { name: "local load", requests: lsu("local", "requests", ["ld"]), sectors: lsu("local", "sectors", ["ld"]), unit: "sectors" },
    { name: "local store", requests: lsu("local", "requests", ["st"]), sectors: lsu("local", "sectors", ["st"]), unit: "sectors" },
    { name: "texture", requests: ["l1tex__texin_requests.sum", "l1tex__t_requests_pipe_tex_mem_texture.sum"], sectors: [], unit: "requests" },
    { name: "shared load", requests: ["smsp__inst_executed_op_shared_ld.sum"], sectors: ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], unit: "wavefronts" },
    { name: "shared store", requests: ["smsp__inst_executed_op_shared_st.sum"], sectors: ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], unit: "wavefronts" },
    { name: "shared atomic", requests: ["smsp__inst_executed_op_shared_atom.sum"], sectors: ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"], unit: "wavefronts" },
    { name: "constant", requests: ["muscope__constant_loads.sum"], sectors: ["muscope__constant_requests.sum"], unit: "requests" },
  ];
  return flows
    .map((flow) => ({ ...flow, asked: countOf(m, ...flow.requests), moved: countOf(m, ...flow.sectors) }))
    .filter((flow) => flow.asked > 0 || flow.moved > 0);
}

const boxes = { sm: 2, l1: 250, l2: 558, dram: 768 };

export function MemoryChart({ kind }: { kind: Kind }) {
  const m = kind.metrics;
  const flows = flowsOf(kind);
  if (flows.length === 0) return <p class="empty">This launch accessed no memory.</p>;
  const past = flows.filter((f) => f.unit === "sectors").length;
  const row = 34, top = 38;
  const height = Math.max(past > 0 ? 130 : 60, top + flows.length * row + 10);
  const most = Math.log2(2 + Math.max(...flows.map((f) => Math.max(f.moved, f.asked))));
  const weight = (value: number) => (value > 0 ? 1.5 + (10 * Math.log2(1 + value)) / most : 1);
  const requested = countOf(m, ...globalSectors, ...lsu("local", "sectors", ["ld", "st"]));
  const hit = m.get("l1tex__t_sector_hit_rate.pct");
  const l2Hit = m.get("lts__t_sector_hit_rate.pct");
  const toL2 = m.has("lts__t_sectors_op_read.sum") || m.has("lts__t_sectors_op_write.sum")
    ? countOf(m, "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum") : undefined;
  const dram = dramBytes.some((n) => m.has(n)) ? countOf(m, ...dramBytes) : undefined;
  const dramGrade = gradeOf(m, ...dramBytes);
  const middle = top + (past > 0 ? (past * row) / 2 : row);
  const host = valueOf(m, "muscope__host_sectors.sum");
  return (
    <div class="memchart-wrap">
      <svg class="memchart" viewBox={`0 0 880 ${height}`} role="img" aria-label={
        flows.map((f) => `${f.name}: ${f.asked} requests, ${f.moved} ${f.unit}`).join("; ")}>
        <g class="mem-box"><rect x={boxes.sm} y={4} width={126} height={height - 8} rx={6} /><text class="mem-title" x={boxes.sm + 63} y={22} text-anchor="middle">SM: instructions</text></g>
        {past > 0 && <g class="mem-box"><rect x={boxes.l1} y={4} width={132} height={top + past * row - 6} rx={6} /><text class="mem-title" x={boxes.l1 + 66} y={22} text-anchor="middle">L1</text></g>}
        {past > 0 && (
          <g class="mem-box"><rect x={boxes.l2} y={4} width={106} height={Math.max(120, top + past * row - 6)} rx={6} />
            <text class="mem-title" x={boxes.l2 + 53} y={22} text-anchor="middle">L2</text>
            <text class={l2Hit ? "mem-value" : "mem-none"} x={boxes.l2 + 53} y={middle + 4} text-anchor="middle">{l2Hit ? `${l2Hit.value.toFixed(1)} % hits` : "hits: not"}</text>
            {!l2Hit && <text class="mem-none" x={boxes.l2 + 53} y={middle + 20} text-anchor="middle">modelled yet</text>}
          </g>
        )}
        {past > 0 && (
          <g class="mem-box"><rect x={boxes.dram} y={4} width={108} height={Math.max(120, top + past * row - 6)} rx={6} />
            <text class="mem-title" x={boxes.dram + 54} y={22} text-anchor="middle">device memory</text>
            <text class={dram === undefined ? "mem-none" : "mem-value"} x={boxes.dram + 54} y={middle + 4} text-anchor="middle">{dram === undefined ? "bytes: not" : bytes(dram)}</text>
            {dram === undefined && <text class="mem-none" x={boxes.dram + 54} y={middle + 20} text-anchor="middle">modelled yet</text>}
          </g>
        )}
        {flows.map((f, i) => {
          const y = top + i * row + row / 2;
          const global = f.unit === "sectors";
          const grade = gradeOf(m, ...f.sectors, ...f.requests);
          const ratio = f.asked > 0 ? f.moved / f.asked : 0;
          return (
            <g class="flow">
              <title>{`${f.name}: ${f.asked.toLocaleString("en-US")} requests, ${f.moved.toLocaleString("en-US")} ${f.unit}${grade ? `, ${grade.grade}` : ""}`}</title>
              <text class="mem-label" x={boxes.sm + 10} y={y + 4}>{f.name}</text>
              <line class={`mem-flow ${/store|atomic/.test(f.name) ? "write" : "read"}`} x1={boxes.sm + 126} x2={boxes.l1} y1={y} y2={y} stroke-width={weight(f.asked)} />
              <text class="mem-number" x={(boxes.sm + 126 + boxes.l1) / 2} y={y - 7} text-anchor="middle">{short(f.asked)} requests</text>
              {global ? (
                <>
                  <text class="mem-value" x={boxes.l1 + 66} y={y + 4} text-anchor="middle">{ratio.toFixed(2)} per request</text>
                  <line class={`mem-flow ${/store|atomic/.test(f.name) ? "write" : "read"} unsure`} x1={boxes.l1 + 132} x2={boxes.l2} y1={y} y2={y} stroke-width={weight(f.moved)} />
                  <text class="mem-number" x={(boxes.l1 + 132 + boxes.l2) / 2} y={y - 7} text-anchor="middle">{/load/.test(f.name) && !hit ? "at most " : ""}{short(f.moved)} sectors</text>
                </>
              ) : (
                <>
                  <rect class="mem-small" x={boxes.l1} y={y - 13} width={260} height={26} rx={5} />
                  <text class="mem-value" x={boxes.l1 + 12} y={y + 4}>
                    {f.moved > 0 ? `${short(f.moved)} ${f.unit}, ${ratio.toFixed(2)} per request` : "requests counted; sectors not modelled"}</text>
                </>
              )}
            </g>
          );
        })}
        {past > 0 && (
          <>
            <line class="mem-flow read unsure" x1={boxes.l2 + 106} x2={boxes.dram} y1={middle} y2={middle} stroke-width={dram === undefined ? 1.5 : weight(dram / 32)} />
          </>
        )}
      </svg>
      <p class="legend">
        <span>{short(requested)} sectors ({bytes(32 * requested)}) are requested of L1 <GradeMark {...(gradeOf(m, ...globalSectors, ...lsu("local", "sectors", ["ld", "st"])) ?? {})} /></span>
        <span>L1 hit rate: {hit ? <>{hit.value.toFixed(1)} % <GradeMark grade={hit.grade} reason={hit.reason} /></> : <span class="not-modelled">not modelled yet</span>}</span>
        <span>L1 to L2: {toL2 === undefined ? <span class="not-modelled">at most the sectors shown, what hits in L1 is not modelled yet</span> : `${short(toL2)} sectors`}</span>
        {dram !== undefined && <span>device memory {bytes(dram)} <GradeMark {...(dramGrade ?? {})} /></span>}
        {host ? <span>{short(host)} sectors live in host memory</span> : null}
      </p>
    </div>
  );
}
