// The first page: what ran, what it moved, where the waste is.
import { useMemo, useState } from "preact/hooks";
import type { Advice, Kernel, Launch, Report } from "./data";
import { countOf } from "./data";
import { AdviceHead } from "./advice";
import { bytes, count, extent, percent, plural, short } from "./format";
import { sumsOf, type Sums } from "./kernels";
import { Roofline } from "./roofline";
import { go, type Tab } from "./route";
import { Table, type Column } from "./table";
import { Bar, Card, Choice, GradeMark, KernelName, Messages, NotModelled, Panel } from "./widgets";

export function openKernel(report: Report, kernel: string, more: { launch?: number; tab?: Tab; line?: number; file?: string; site?: number } = {}) {
  go({ view: "kernel", report: report.number, kernel, ...more });
}

function columnsOf(all: number, any: { conflicts: boolean; replays: boolean; time: boolean; dram: boolean; several: boolean }): Column<Sums>[] {
  const columns: (Column<Sums> | false)[] = [
    { key: "name", title: "Kernel", left: true, value: (s) => s.kernel.name,
      cell: (s) => <><KernelName name={s.kernel.name} />{s.failed > 0 && <span class="tag error">fault</span>}</> },
    { key: "launches", title: "Launches", value: (s) => s.launches, cell: (s) => count(s.launches) },
    { key: "traffic", title: "Sectors", help: "32-byte sectors of global and local memory that all launches requested of L1",
      value: (s) => s.traffic, cell: (s) => <span title={`${count(s.traffic)} sectors, ${bytes(32 * s.traffic)}`}>{short(s.traffic)}</span> },
    { key: "share", title: "Share", help: "of the sectors of the whole run", value: (s) => s.traffic,
      cell: (s) => <Bar share={all ? s.traffic / all : 0} label={percent(s.traffic, all)} /> },
    { key: "waste", title: "Wasted", help: "sectors beyond the least that the bytes asked for need", value: (s) => s.wasteShare,
      cell: (s) => <Bar share={s.wasteShare} tone="waste" label={percent(s.wasteShare)} /> },
    any.conflicts && { key: "conflicts", title: "Bank conflicts", help: "extra passes of shared memory", value: (s) => s.conflicts,
      cell: (s) => (s.conflicts ? short(s.conflicts) : "-") },
    any.replays && { key: "replays", title: "Const. replays", help: "extra requests of the constant cache", value: (s) => s.replays,
      cell: (s) => (s.replays ? short(s.replays) : "-") },
    { key: "instructions", title: "Instructions", help: "executed by warps", value: (s) => s.instructions, cell: (s) => short(s.instructions) },
    { key: "occupancy", title: "Occupancy", help: "theoretical; the lowest of the launches", value: (s) => s.occupancy,
      cell: (s) => (s.occupancy === undefined ? "-" : `${s.occupancy.toFixed(1)} %`) },
    any.dram && { key: "dram", title: "Device memory", help: "bytes moved between L2 and device memory", value: (s) => s.dram, cell: (s) => bytes(s.dram) },
    any.time && { key: "time", title: "Time", value: (s) => s.seconds, cell: (s) => (s.seconds === undefined ? "-" : `${(s.seconds * 1e6).toFixed(1)} µs`) },
    { key: "grade", title: "Grade", help: "how far the counts can be trusted", value: (s) => s.grade, cell: (s) => <GradeMark grade={s.grade} word /> },
  ];
  return columns.filter((c): c is Column<Sums> => c !== false);
}

const launchColumns: Column<Launch>[] = [
  { key: "index", title: "#", value: (l) => l.index, cell: (l) => l.index },
  { key: "name", title: "Kernel", left: true, value: (l) => l.kind.kernel,
    cell: (l) => <><KernelName name={l.kind.kernel} />{l.kind.state !== "finished" && <span class="tag error">{l.kind.state}</span>}</> },
  { key: "grid", title: "Grid", value: (l) => l.kind.grid[0] * l.kind.grid[1] * l.kind.grid[2], cell: (l) => extent(l.kind.grid) },
  { key: "block", title: "Block", value: (l) => l.kind.block[0] * l.kind.block[1] * l.kind.block[2], cell: (l) => extent(l.kind.block) },
  { key: "traffic", title: "Sectors", value: (l) => l.kind.traffic, cell: (l) => count(l.kind.traffic) },
  { key: "waste", title: "Wasted units", help: "sectors, wavefronts and constant requests beyond the ideal", value: (l) => l.kind.waste, cell: (l) => count(l.kind.waste) },
  { key: "stream", title: "Stream", value: (l) => l.stream, cell: (l) => l.stream },
];

/** The best advice of the run, one line for each rule, kernel and place. */
function bestAdvice(report: Report): { kernel: Kernel; launch: Launch; advice: Advice; times: number }[] {
  const found = new Map<string, { kernel: Kernel; launch: Launch; advice: Advice; times: number; saves: number }>();
  // Two accesses of one line may get the same advice: they are told apart by their instructions.
  for (const kernel of report.kernels)
    for (const launch of kernel.launches)
      for (const advice of launch.kind.advice) {
        const key = `${kernel.name} ${advice.code} ${advice.at?.file}:${advice.at?.line} ${advice.unit} ${advice.sites?.join()}`;
        const known = found.get(key);
        if (known) {
          ++known.times;
          known.saves += advice.saves ?? 0;
        } else {
          found.set(key, { kernel, launch, advice, times: 1, saves: advice.saves ?? 0 });
        }
      }
  return [...found.values()].sort((a, b) => b.saves - a.saves);
}

export function Overview({ report }: { report: Report }) {
  const [filter, setFilter] = useState("");
  const [by, setBy] = useState<"kernels" | "launches">("kernels");
  const [more, setMore] = useState(false);
  const sums = useMemo(() => report.kernels.map(sumsOf), [report]);
  const advice = useMemo(() => bestAdvice(report), [report]);
  const matches = (name: string) => name.toLowerCase().includes(filter.trim().toLowerCase());
  const rows = useMemo(() => sums.filter((s) => matches(s.kernel.name)), [sums, filter]);
  const launches = useMemo(() => report.launches.filter((l) => matches(l.kind.kernel)), [report, filter]);
  const traffic = sums.reduce((all, s) => all + s.traffic, 0);
  const wasted = sums.reduce((all, s) => all + s.wasteShare * s.traffic, 0);
  const conflicts = sums.reduce((all, s) => all + s.conflicts, 0);
  const columns = useMemo(() => columnsOf(traffic, {
    conflicts: conflicts > 0, replays: sums.some((s) => s.replays > 0), time: sums.some((s) => s.seconds !== undefined),
    dram: sums.some((s) => s.dram !== undefined), several: sums.some((s) => s.launches > 1),
  }), [sums]);
  const failed = sums.reduce((all, s) => all + s.failed, 0);
  const seconds = sums.some((s) => s.seconds !== undefined) ? sums.reduce((all, s) => all + (s.seconds ?? 0), 0) : undefined;
  const worst = [...sums].filter((s) => s.wasteShare * s.traffic > 0)
    .sort((a, b) => b.wasteShare * b.traffic - a.wasteShare * a.traffic)[0];
  const grades = new Set(sums.map((s) => s.grade));
  return (
    <div class="page">
      <div class="page-title">
        <h1>{report.program.argv[0]?.replace(/^.*\//, "") || "Report"}</h1>
        <p class="dim"><code>{report.program.argv.join(" ")}</code> {report.program.exit_text} · {report.gpu.full_name || report.gpu.name}
          {report.gpu.cc !== "0.0" && ` (sm_${report.gpu.cc.replace(".", "")})`}{report.program.toolchain && ` · ${report.program.toolchain}`}</p>
      </div>
      {failed > 0 && <p class="alert error" role="alert"><b>{plural(failed, "launch", "launches")} ended early.</b> The kernels are marked in the table.</p>}
      <Messages list={report.diagnostics} />
      <div class="cards">
        <Card title="Kernels" note={`${plural(report.launches.length, "launch", "launches")}${report.processes.length > 1 ? ` in ${report.processes.length} processes` : ""}`}>{count(report.kernels.length)}</Card>
        <Card title="Requested of L1" note={`${short(traffic)} sectors of global and local memory`}>{bytes(32 * traffic)}</Card>
        <Card title="Wasted sectors" note={worst ? <>most by <a href={`#kernel=${encodeURIComponent(worst.kernel.name)}`} onClick={(e) => { e.preventDefault(); openKernel(report, worst.kernel.name); }}><KernelName name={worst.kernel.name} /></a></> : "every sector was asked for"}>
          {percent(wasted, traffic)}</Card>
        <Card title="Bank conflicts" note={conflicts ? "extra passes of shared memory" : "none counted"}>{short(conflicts)}</Card>
        <Card title="Predicted time" note={seconds === undefined ? "needs a model of caches and time" : "of all launches"}>
          {seconds === undefined ? <NotModelled /> : `${(seconds * 1e6).toFixed(1)} µs`}</Card>
      </div>
      {advice.length > 0 && (
        <Panel title="What to change first" side={advice.length > 4 && <button type="button" class="quiet" onClick={() => setMore(!more)}>{more ? "fewer" : `all ${advice.length}`}</button>}>
          <ul class="advice-brief">
            {(more ? advice : advice.slice(0, 4)).map(({ kernel, launch, advice: a, times }) => (
              <li>
                <a href={`#kernel=${encodeURIComponent(kernel.name)}&launch=${launch.index}`}
                  onClick={(e) => { e.preventDefault(); openKernel(report, kernel.name, { launch: launch.index }); }}>
                  <AdviceHead advice={a} /></a>
                <span class="dim"> in <KernelName name={kernel.name} />{a.at?.line ? `, line ${a.at.line}` : ""}{times > 1 ? `, ${times} launches` : ""}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title={by === "kernels" ? "Kernels by traffic and waste" : "Launches"} side={
        <>
          <input id="filter" type="search" placeholder="filter   /" aria-label="Filter kernels by name" value={filter}
            onInput={(e) => setFilter((e.target as HTMLInputElement).value)} />
          <Choice label="Rows" value={by} options={[["kernels", "kernels"], ["launches", "launches"]]} onChange={setBy} />
        </>}>
        {by === "kernels"
          ? <Table rows={rows} columns={columns} sort="-traffic" caption="Kernels" rowKey={(s) => s.kernel.name}
              onRow={(s) => openKernel(report, s.kernel.name)} />
          : <Table rows={launches} columns={launchColumns} sort="index" caption="Launches" rowKey={(l) => String(l.index)}
              onRow={(l) => openKernel(report, l.kind.kernel, { launch: l.index })} />}
      </Panel>
      <div class="two">
        <Panel title="Traffic and waste"><TrafficChart report={report} sums={sums} /></Panel>
        <Panel title="Roofline"><Roofline report={report} sums={sums} onOpen={(k) => openKernel(report, k)} /></Panel>
      </div>
      <Panel title="How to read this report">
        <p class="legend">
          <span><GradeMark grade="counted" word /> follows from executed addresses and equals the hardware's counter</span>
          <span><GradeMark grade="modelled" word /> rests on a documented model</span>
          <span><GradeMark grade="estimated" word /> a bound or a guess, with its reason</span>
        </p>
        {grades.size > 0 && report.notes.map((note) => <p class="dim">{note}</p>)}
      </Panel>
    </div>
  );
}

const chartRows = 14;

function TrafficChart({ report, sums }: { report: Report; sums: Sums[] }) {
  const top = [...sums].filter((s) => s.traffic > 0).sort((a, b) => b.traffic - a.traffic);
  if (top.length === 0) return <p class="empty">No kernel accessed global or local memory.</p>;
  const most = top[0]!.traffic;
  return (
    <div class="hbars" role="list" aria-label="Sectors of the kernels with most traffic">
      {top.slice(0, chartRows).map((s) => (
        <a class="hbar" role="listitem" href={`#kernel=${encodeURIComponent(s.kernel.name)}`}
          onClick={(e) => { e.preventDefault(); openKernel(report, s.kernel.name); }}
          title={`${s.kernel.name}: ${count(s.traffic)} sectors, ${percent(s.wasteShare)} wasted`}>
          <span class="hbar-name"><KernelName name={s.kernel.name} /></span>
          <span class="hbar-track">
            <span class="hbar-used" style={{ width: `${(100 * s.traffic * (1 - s.wasteShare)) / most}%` }} />
            <span class="hbar-waste" style={{ width: `${(100 * s.traffic * s.wasteShare) / most}%` }} />
          </span>
          <span class="hbar-value">{short(s.traffic)}</span>
        </a>
      ))}
      <p class="legend"><span><i class="swatch used" /> needed for the bytes asked for</span><span><i class="swatch wasted" /> wasted</span>
        {top.length > chartRows && <span class="dim">{top.length - chartRows} smaller kernels are in the table</span>}</p>
    </div>
  );
}

function limitName(name: string): string {
  return name.replace(/_gbs$/, " (GB/s)").replace(/_mhz$/, " (MHz)").replaceAll("_", " ")
    .replace(/\bsm\b/, "SM").replace(/^l(\d)/, "L$1").replace("optin", "with opt-in");
}

/** Copies, notes and messages of the run. */
export function RunPage({ report }: { report: Report }) {
  const rows = report.processes.flatMap((process) => process.transfers.map((transfer, i) => ({ process, transfer, i })));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { key: "api", title: "Call", left: true, value: (r) => r.transfer.api, cell: (r) => <code>{r.transfer.api}</code> },
    { key: "kind", title: "What", left: true, value: (r) => r.transfer.kind, cell: (r) => r.transfer.kind },
    { key: "memory", title: "Host memory", left: true, value: (r) => r.transfer.host_memory, cell: (r) => (r.transfer.host_memory === "none" ? "-" : r.transfer.host_memory) },
    { key: "count", title: "Calls", value: (r) => r.transfer.count, cell: (r) => count(r.transfer.count) },
    { key: "bytes", title: "Bytes", value: (r) => r.transfer.bytes, cell: (r) => <span title={count(r.transfer.bytes)}>{bytes(r.transfer.bytes)}</span> },
    { key: "caller", title: "From", left: true, value: (r) => r.transfer.caller, cell: (r) => <code class="wrap">{r.transfer.caller || "-"}</code> },
    ...(report.processes.length > 1 ? [{ key: "process", title: "Process", value: (r: Row) => r.process.index, cell: (r: Row) => r.process.index }] : []),
  ];
  const instructions = report.launches.reduce((all, l) => all + countOf(l.kind.metrics, "smsp__inst_executed.sum"), 0);
  return (
    <div class="page">
      <div class="page-title"><h1>The run</h1>
        <p class="dim">{plural(report.launches.length, "launch", "launches")}, {short(instructions)} warp instructions, {report.tool.name} {report.tool.version}</p></div>
      <Messages list={report.diagnostics} />
      {report.processes.map((p) => (
        <Panel title={report.processes.length > 1 ? `Process ${p.index}` : "Program"}>
          <p><code class="wrap">{p.argv.join(" ")}</code></p>
          {p.truncated && <p class="alert warning">This process was killed while it wrote its records; the last one is lost.</p>}
          <Messages list={p.diagnostics} />
        </Panel>
      ))}
      <Panel title="Copies and memsets">
        <Table rows={rows} columns={columns} sort="-bytes" caption="Copies and memsets" rowKey={(r) => `${r.process.index}-${r.i}`} />
      </Panel>
      <Panel title="GPU">
        <dl class="facts">
          <dt>name</dt><dd>{report.gpu.full_name || report.gpu.name}</dd>
          <dt>architecture</dt><dd>{report.gpu.architecture}, compute capability {report.gpu.cc}</dd>
          {Object.entries(report.gpu.limits).map(([name, value]) => <><dt>{limitName(name)}</dt><dd>{value === null ? "not known" : count(value)}</dd></>)}
        </dl>
      </Panel>
      <Panel title="Notes">{report.notes.map((n) => <p>{n}</p>)}</Panel>
    </div>
  );
}
