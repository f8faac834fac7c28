// One launch of a kernel: summary with memory chart and advice, source and accesses, occupancy, all metrics.
import { useMemo } from "preact/hooks";
import { AdviceList } from "./advice";
import { bodyOf, countOf, gradeOf, valueOf, type Kind, type Launch, type Report } from "./data";
import { bytes, count, extent, fileName, percent, plural, short } from "./format";
import { conflictsOf, occupancyPercent } from "./kernels";
import { MemoryChart } from "./memchart";
import { MetricsTab } from "./metricsview";
import { OccupancyTab } from "./occupancyview";
import { go, launchOf, tabs, type Route, type Tab } from "./route";
import { SourceTab, wavefronts } from "./source";
import { Bar, Card, GradeMark, KernelName, Messages, NotModelled, Panel, usePrinting } from "./widgets";

const tabNames: Record<Tab, string> = {
  summary: "Summary", source: "Source & accesses", occupancy: "Occupancy", metrics: "Metrics",
};

export function KernelPage({ report, route }: { report: Report; route: Route }) {
  const launch = launchOf(report, route);
  const printing = usePrinting();
  if (!launch)
    return (
      <div class="page"><h1>No such kernel</h1>
        <p>This report has no launch {route.launch !== undefined ? `${route.launch} ` : ""}{route.kernel ? <>of a kernel named <code>{route.kernel}</code></> : ""}. The list has all that it holds.</p></div>
    );
  const kernel = report.kernels.find((k) => k.name === launch.kind.kernel)!;
  const at = kernel.launches.indexOf(launch);
  const open = (more: Partial<Route>) =>
    go({ view: "kernel", report: report.number, kernel: kernel.name, launch: launch.index, tab: route.tab, ...more });
  const body = bodyOf(report, launch);
  const { kind } = launch;
  const onTabKey = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    const next = tabs[(tabs.indexOf(route.tab) + by + tabs.length) % tabs.length]!;
    open({ tab: next });
    (e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  };
  const show = (tab: Tab) => printing || route.tab === tab;
  return (
    <div class="page">
      <div class="page-title">
        <h1 class="kernel-title"><KernelName name={kernel.name} full /></h1>
        <p class="dim">grid {extent(kind.grid)} · block {extent(kind.block)} · {registersText(kind)} <GradeMark grade={kind.registers.grade} reason={kind.registers.reason ?? kind.registers.source} />
          {" "}· {bytes(kind.shared.static + kind.shared.dynamic)} shared{launch.stream ? ` · stream ${launch.stream}` : ""}{launch.device ? ` · device ${launch.device}` : ""}
          {" "}· counted from {kind.counted_from.source} <GradeMark grade={kind.counted_from.grade} reason={kind.counted_from.problem ?? kind.counted_from.source} word /></p>
        {kernel.launches.length > 1 && (
          <div class="launch-nav" role="group" aria-label="Launches of this kernel">
            <button type="button" disabled={at === 0} onClick={() => open({ launch: kernel.launches[at - 1]!.index, line: undefined, site: undefined })} aria-label="previous launch">◀</button>
            <label>launch <select value={launch.index} onChange={(e) => open({ launch: Number((e.target as HTMLSelectElement).value) })}>
              {kernel.launches.slice(0, 2000).map((l) => <option value={l.index}>#{l.index}: {extent(l.kind.grid)} × {extent(l.kind.block)}, {short(l.kind.traffic)} sectors</option>)}
            </select> of {kernel.launches.length}</label>
            <button type="button" disabled={at === kernel.launches.length - 1} onClick={() => open({ launch: kernel.launches[at + 1]!.index, line: undefined, site: undefined })} aria-label="next launch">▶</button>
          </div>
        )}
      </div>
      {kind.fault && (
        <div class="alert error" role="alert">
          <b>{kind.state === "faulted" ? "This launch faulted." : "This launch was stopped."}</b> <code>{kind.fault.code}</code> {kind.fault.text}
          <div>block ({kind.fault.block.join(", ")}), thread ({kind.fault.thread.join(", ")}), <code>{kind.fault.instruction}</code>{" "}
            {kind.fault.source.file && <button type="button" class="place" onClick={() => open({ tab: "source", line: kind.fault!.source.line, file: fileName(kind.fault!.source.file) })}>{fileName(kind.fault.source.file)}:{kind.fault.source.line}</button>}</div>
          {kind.fault.help && <div class="dim">{kind.fault.help}</div>}
          <div class="dim">Counts hold what ran until then.</div>
        </div>
      )}
      <div class="tabs" role="tablist" aria-label="Views of this launch" onKeyDown={onTabKey}>
        {tabs.map((tab, i) => (
          <button type="button" role="tab" data-tab={tab} aria-selected={route.tab === tab} tabIndex={route.tab === tab ? 0 : -1}
            onClick={() => open({ tab })}><kbd>{i + 1}</kbd> {tabNames[tab]}
            {tab === "summary" && kind.advice.length > 0 && <span class="pill" title={plural(kind.advice.length, "piece of advice", "pieces of advice")}>{kind.advice.length}</span>}</button>
        ))}
      </div>
      <div role="tabpanel">
        {show("summary") && <Summary report={report} launch={launch} onPlace={(file, line) => open({ tab: "source", file: fileName(file), line })} />}
        {show("source") && <SourceTab report={report} launch={launch} body={body} route={route} />}
        {show("occupancy") && <OccupancyTab key={`${report.number}-${launch.kindNumber}`} report={report} kind={kind} />}
        {show("metrics") && <MetricsTab metrics={kind.metrics} />}
      </div>
    </div>
  );
}

/** What the code needs, and what the driver sets aside where that is more. */
function registersText(kind: Kind): string {
  const own = kind.registers.value;
  const allocated = kind.registers.grade === "estimated" ? 0 : valueOf(kind.metrics, "launch__registers_per_thread") ?? 0;
  if (!own) return "? registers";
  return `${plural(own, "register")}${allocated > own ? ` (${allocated} allocated)` : ""}`;
}

interface MemoryRow {
  name: string;
  requests: number;
  passes: number;
  ideal: number;
  bytes: number;
  full: number; // bytes of a pass
  unit: string;
  metrics: string[]; // whose grade the row has
}

/** The metric that holds the passes of such accesses. */
function passesMetric(space: string, kind: string): string[] {
  const ops: Record<string, string> = {
    load: "ld", store: "st", red: "red", atom: "atom", "matrix load": "ldsm", "matrix store": "stsm", "async copy": "ldgsts", "async copy past L1": "ldgsts",
  };
  const op = ops[kind];
  if (space === "shared") return [`smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_${op === "red" ? "atom" : op}.sum`];
  if (space === "const") return ["muscope__constant_requests.sum"];
  if (op === "ldgsts") return ["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"];
  if (space === "surface") return [`l1tex__t_sectors_pipe_tex_mem_surface_op_${op}.sum`];
  return [`l1tex__t_sectors_pipe_lsu_mem_${space}_op_${op}.sum`];
}

function memoryRows(report: Report, launch: Launch): MemoryRow[] {
  const rows = new Map<string, MemoryRow>();
  for (const line of bodyOf(report, launch).lines)
    for (const site of line.sites) {
      if (site.space === "texture") continue;
      const name = `${site.space === "const" ? "constant" : site.space} ${site.kind}`;
      const shared = site.space === "shared";
      const constant = site.space === "const";
      const row = rows.get(name) ?? {
        name, requests: 0, passes: 0, ideal: 0, bytes: 0, full: shared ? 128 : constant ? 0 : 32,
        unit: shared ? "wavefronts" : constant ? "requests" : "sectors", metrics: passesMetric(site.space, site.kind),
      };
      rows.set(name, row);
      row.requests += constant ? site.executed ?? 0 : site.requests ?? 0;
      row.passes += shared ? site.wavefronts ?? 0 : constant ? site.requests ?? 0 : site.sectors ?? 0;
      row.bytes += site.bytes ?? 0;
      row.ideal += shared ? site.ideal_wavefronts ?? 0 : constant ? site.executed ?? 0 : site.ideal_sectors ?? 0;
    }
  const order = ["global", "local", "surface", "shared", "constant"];
  return [...rows.values()].sort((a, b) => order.indexOf(a.name.split(" ")[0]!) - order.indexOf(b.name.split(" ")[0]!) || a.name.localeCompare(b.name));
}

function Summary({ report, launch, onPlace }: { report: Report; launch: Launch; onPlace: (file: string, line: number) => void }) {
  const { kind } = launch;
  const body = bodyOf(report, launch);
  const rows = useMemo(() => memoryRows(report, launch), [report, launch]);
  const occupancy = kind.metrics.get(occupancyPercent);
  const excess = kind.wasted_sectors;
  const conflicts = conflictsOf(kind.metrics);
  const waves = valueOf(kind.metrics, "launch__waves_per_multiprocessor");
  const lanes = kind.metrics.get("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio");
  const instructions = kind.metrics.get("smsp__inst_executed.sum");
  const time = kind.metrics.get("gpu__time_duration.sum");
  return (
    <>
      <div class="cards">
        <Card title="Sectors" note={`${bytes(32 * kind.traffic)} of global and local memory`}>{short(kind.traffic)} <GradeMark {...kind.traffic_grade} /></Card>
        <Card title="Wasted sectors" note={excess ? `${plural(excess, "sector")} beyond the least` : "no sector beyond the least"}>{percent(excess, kind.traffic)} <GradeMark {...kind.traffic_grade} /></Card>
        <Card title="Bank conflicts" note={conflicts ? `of ${short(countOf(kind.metrics, ...wavefronts))} passes of shared memory` : "no extra pass of shared memory"}>{short(conflicts)}</Card>
        <Card title="Occupancy" note={kind.occupancy_limit ? `limited by ${kind.occupancy_limit}` : waves ? `${waves.toFixed(2)} waves` : "nothing limits it"}>
          {occupancy ? <>{occupancy.value.toFixed(1)} % <GradeMark grade={occupancy.grade} reason={occupancy.reason} /></> : "-"}</Card>
        <Card title="Instructions" note={lanes ? `${lanes.value.toFixed(1)} of 32 lanes take part` : "by warps"}>{instructions ? <>{short(instructions.value)} <GradeMark grade={instructions.grade} reason={instructions.reason} /></> : "-"}</Card>
        <Card title="Predicted time" note={time ? undefined : "needs a model of caches and time"}>{time ? <>{(time.value / 1000).toFixed(1)} µs <GradeMark grade={time.grade} reason={time.reason} /></> : <NotModelled />}</Card>
      </div>
      <Messages list={kind.diagnostics.filter((d) => d.code !== kind.fault?.code)} />
      <AdviceList report={report} kind={kind} body={body} onPlace={onPlace} />
      <Panel title="Memory chart"><MemoryChart kind={kind} /></Panel>
      <Panel title="Memory by kind of access" side={<GradeMark {...(gradeOfRows(kind, rows))} word />}>
        <div class="table-wrap">
          <table>
            <caption class="sr-only">Memory by kind of access</caption>
            <thead><tr><th class="left">access</th><th>requests</th><th>passes</th><th class="left">unit</th><th>per request</th>
              <th title="the least passes that the bytes of the active lanes fill">ideal</th>
              <th title="passes beyond the ideal, of all passes">wasted</th>
              <th title="bytes that lanes asked for, of the bytes that moved for them">efficiency</th></tr></thead>
            <tbody>
              {rows.map((r) => (
                <tr>
                  <td class="left">{r.name} <GradeMark {...(gradeOf(kind.metrics, ...r.metrics) ?? {})} /></td><td>{count(r.requests)}</td><td>{count(r.passes)}</td><td class="left dim">{r.unit}</td>
                  <td>{r.requests ? (r.passes / r.requests).toFixed(2) : "-"}</td><td>{count(r.ideal)}</td>
                  <td>{r.passes > 0 ? <Bar share={wasteOf(r)} tone="waste" label={percent(wasteOf(r))} /> : "-"}</td>
                  <td>{r.passes > 0 && r.full > 0 ? percent(r.bytes, r.full * r.passes) : "-"}</td>
                </tr>
              ))}
              {rows.length === 0 && <tr><td class="left empty" colSpan={8}>This launch accessed no memory.</td></tr>}
            </tbody>
          </table>
        </div>
        <p class="dim explain"><b>Ideal</b>: the least passes that the bytes of the active lanes fill, were they packed (ceil(lanes × bytes / 32) sectors of a
          request). <b>Wasted</b>: passes beyond it. <b>Efficiency</b>: bytes that lanes asked for, of the bytes that moved (bytes / (32 × sectors)), as Nsight
          Compute has it. A broadcast of 4 bytes is 12.5 % efficient and wastes nothing: one sector is the least.</p>
      </Panel>
      <HotLines report={report} launch={launch} onPlace={onPlace} />
    </>
  );
}

/** The weakest of all rows. */
function gradeOfRows(kind: Kind, rows: MemoryRow[]) {
  return gradeOf(kind.metrics, ...rows.flatMap((r) => r.metrics)) ?? { grade: kind.counted_from.grade, reason: kind.counted_from.source };
}

const wasteOf = (row: MemoryRow) => (row.passes > 0 ? Math.max(0, row.passes - row.ideal) / row.passes : 0);

function HotLines({ report, launch, onPlace }: { report: Report; launch: Launch; onPlace: (file: string, line: number) => void }) {
  const body = bodyOf(report, launch);
  const lines = body.lines
    .map((line) => ({ line, waste: line.sites.reduce((all, s) => all + (s.waste ?? 0), 0) }))
    .filter((l) => l.waste > 0).sort((a, b) => b.waste - a.waste);
  const all = lines.reduce((sum, l) => sum + l.waste, 0);
  if (lines.length === 0 && body.lines.length === 0) return null;
  if (lines.length === 0)
    return <Panel title="Lines that waste most"><p class="good-text">No line wastes sectors, wavefronts or constant requests.</p></Panel>;
  return (
    <Panel title="Lines that waste most">
      <ul class="hot-lines">
        {lines.slice(0, 5).map(({ line, waste }) => {
          const source = report.sources.get(line.file);
          const at = source?.system ? (line.inlined_at ?? []).find((p) => !report.sources.get(p.file)?.system) ?? line : line;
          const text = report.sources.get(at.file)?.text.get(at.line)?.trim();
          const causes = [...new Set(line.sites.filter((s) => s.waste && s.cause).map((s) => s.cause!))];
          return (
            <li>
              <button type="button" class="place" onClick={() => onPlace(at.file, at.line)}>{at.file ? `${fileName(at.file)}:${at.line}` : `PTX line ${at.line}`}</button>
              <Bar share={waste / all} tone="waste" label={percent(waste, all)} />
              <code class="hot-text">{text ?? line.sites[0]?.instruction}</code>
              {causes.slice(0, 2).map((c) => <div class="cause-line">▲ {c}</div>)}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
