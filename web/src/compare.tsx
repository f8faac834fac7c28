// Two reports side by side: what moved, kernel by kernel, and the metrics of one kernel.
import { useMemo, useState } from "preact/hooks";
import { countOf, valueOf, type Kernel, type Metrics, type Report } from "./data";
import { baseName, count, fixed, percent, plural, short } from "./format";
import { conflictsOf, sumsOf } from "./kernels";
import { go } from "./route";
import { Table, type Column } from "./table";
import { Card, KernelName, NotModelled, Panel } from "./widgets";

interface Pair {
  before?: Kernel;
  after?: Kernel;
  name: string;
  verdict?: string;
}

/** Pairs as `muscope diff` made them, with its verdicts. */
function pairsBy(verdicts: [string, string, string][], before: Report, after: Report): Pair[] {
  const kernel = (report: Report, name: string) => report.kernels.find((k) => k.name === name);
  return verdicts.map(([a, b, verdict]) => ({ before: kernel(before, a), after: kernel(after, b), name: a || b, verdict }));
}

/** Same name; then same name without parameters and template arguments, where it stands once on each side. */
export function pairsOf(before: Report, after: Report): Pair[] {
  const pairs: Pair[] = [];
  const left = new Map(after.kernels.map((k) => [k.name, k]));
  const rest: Kernel[] = [];
  for (const kernel of before.kernels) {
    const same = left.get(kernel.name);
    if (same) {
      pairs.push({ before: kernel, after: same, name: kernel.name });
      left.delete(kernel.name);
    } else rest.push(kernel);
  }
  for (const kernel of rest) {
    const alike = [...left.values()].filter((k) => baseName(k.name) === baseName(kernel.name));
    const mine = rest.filter((k) => baseName(k.name) === baseName(kernel.name));
    if (alike.length === 1 && mine.length === 1) {
      pairs.push({ before: kernel, after: alike[0], name: kernel.name });
      left.delete(alike[0]!.name);
    } else pairs.push({ before: kernel, name: kernel.name });
  }
  for (const kernel of left.values()) pairs.push({ after: kernel, name: kernel.name });
  return pairs;
}

interface Sides { before?: number; after?: number }

function Change({ before, after, lower = true, text = short }: Sides & { lower?: boolean; text?: (n: number) => string }) {
  if (before === undefined && after === undefined) return <>-</>;
  if (before === undefined) return <span>{text(after!)}</span>;
  if (after === undefined) return <span class="dim">{text(before)}</span>;
  if (before === after) return <span class="dim">= {text(before)}</span>;
  const better = lower ? after < before : after > before;
  const factor = before === 0 ? " (from 0)" : ` (${after > before ? "+" : "−"}${percent(Math.abs(after - before), before)})`;
  return (
    <span class={better ? "better" : "worse"}>{text(before)} → {text(after)}<span class="delta"> {better ? "▼ better" : "▲ worse"}{factor}</span></span>
  );
}

function total(kernel: Kernel | undefined, of: (m: Metrics) => number): number | undefined {
  return kernel?.launches.reduce((all, l) => all + of(l.kind.metrics), 0);
}

export function Compare({ before, after, verdicts }: { before: Report; after: Report; verdicts?: [string, string, string][] }) {
  const [filter, setFilter] = useState("");
  const [chosen, setChosen] = useState<string | undefined>();
  const pairs = useMemo(() => (verdicts?.length ? pairsBy(verdicts, before, after) : pairsOf(before, after)), [before, after]);
  const [oneSided, setOneSided] = useState(false);
  const matched = pairs.filter((p) => p.before && p.after).length;
  const unrelated = pairs.length > 2 && 2 * matched < pairs.length;
  const rows = useMemo(() => pairs.filter((p) => p.name.toLowerCase().includes(filter.toLowerCase()) &&
    (!unrelated || oneSided || (p.before && p.after))), [pairs, filter, oneSided]);
  const sums = (kernel: Kernel | undefined) => (kernel ? sumsOf(kernel) : undefined);
  const relative = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? undefined : b - a);
  const column = (key: string, title: string, of: (k: Kernel | undefined) => number | undefined, more: { lower?: boolean; text?: (n: number) => string } = {}): Column<Pair> => ({
    key, title, value: (p) => relative(of(p.before), of(p.after)), cell: (p) => <Change before={of(p.before)} after={of(p.after)} {...more} />,
  });
  const columns: Column<Pair>[] = [
    { key: "name", title: "Kernel", left: true, value: (p) => p.name,
      cell: (p) => <><KernelName name={p.name} />{!p.before && <span class="tag">new</span>}{!p.after && <span class="tag">gone</span>}</> },
    { key: "verdict", title: "Verdict", left: true, help: "by sectors, shared wavefronts and constant replays, as in the text of muscope diff",
      value: (p) => p.verdict, cell: (p) => <span class={`verdict ${p.verdict === "better" || p.verdict === "worse" ? p.verdict : ""}`}>{p.verdict ?? ""}</span> },
    column("launches", "Launches", (k) => k?.launches.length, { text: count }),
    column("traffic", "Sectors", (k) => sums(k)?.traffic),
    column("waste", "Wasted", (k) => sums(k)?.wasteShare, { text: (n) => percent(n) }),
    column("conflicts", "Bank conflicts", (k) => total(k, conflictsOf)),
    column("instructions", "Instructions", (k) => sums(k)?.instructions),
    column("occupancy", "Occupancy", (k) => sums(k)?.occupancy, { lower: false, text: (n) => `${n.toFixed(1)} %` }),
  ];
  const all = (r: Report, of: (m: Metrics) => number) => r.launches.reduce((sum, l) => sum + of(l.kind.metrics), 0);
  const trafficOf = (r: Report) => r.launches.reduce((sum, l) => sum + l.kind.traffic, 0);
  const wasteOf = (r: Report) => r.launches.reduce((sum, l) => sum + l.kind.waste, 0);
  const pair = pairs.find((p) => p.name === chosen);
  const differs = before.gpu.name !== after.gpu.name || before.program.toolchain !== after.program.toolchain;
  return (
    <div class="page">
      <div class="page-title"><h1>Before and after</h1>
        <p class="dim">before: <code>{before.program.argv.join(" ")}</code> · after: <code>{after.program.argv.join(" ")}</code></p></div>
      {differs && <p class="alert warning">The two were not made alike: {before.gpu.full_name} with {before.program.toolchain || "an unknown toolchain"}, then {after.gpu.full_name} with {after.program.toolchain || "an unknown toolchain"}. Differences may come from that.</p>}
      {unrelated && <p class="alert warning">{plural(matched, "kernel is", "kernels are")} in both reports, {count(pairs.length - matched)} in one only: these look like different programs. Only kernels of both are listed <button type="button" class="quiet" onClick={() => setOneSided(!oneSided)}>{oneSided ? "without the others" : "with the others"}</button></p>}
      <div class="cards changes">
        <Card title="Sectors"><Change before={trafficOf(before)} after={trafficOf(after)} /></Card>
        <Card title="Wasted units"><Change before={wasteOf(before)} after={wasteOf(after)} /></Card>
        <Card title="Bank conflicts"><Change before={all(before, conflictsOf)} after={all(after, conflictsOf)} /></Card>
        <Card title="Instructions"><Change before={all(before, (m) => countOf(m, "smsp__inst_executed.sum"))} after={all(after, (m) => countOf(m, "smsp__inst_executed.sum"))} /></Card>
        <Card title="L1 and L2 hit rates, time"><NotModelled /></Card>
      </div>
      <Panel title="Kernels" side={<input type="search" placeholder="filter   /" aria-label="Filter kernels by name" value={filter} onInput={(e) => setFilter((e.target as HTMLInputElement).value)} />}>
        <Table rows={rows} columns={columns} sort="traffic" caption="Kernels of both reports" rowKey={(p) => p.name} selected={chosen} onRow={(p) => setChosen(p.name)} />
        <p class="dim hint">A row shows below what moved in that kernel. Kernels are matched by name.</p>
      </Panel>
      {pair && <PairMetrics pair={pair} before={before} after={after} />}
    </div>
  );
}

function PairMetrics({ pair, before, after }: { pair: Pair; before: Report; after: Report }) {
  const [everything, setEverything] = useState(false);
  const a = pair.before?.launches[0], b = pair.after?.launches[0];
  type Row = { name: string; text: string } & Sides;
  const rows = useMemo(() => {
    const names = new Set([...(a?.kind.metrics.keys() ?? []), ...(b?.kind.metrics.keys() ?? [])]);
    return [...names].sort().map((name): Row => {
      const metric = a?.kind.metrics.get(name) ?? b?.kind.metrics.get(name);
      const absent = metric?.unit === "%" || name.endsWith(".ratio") || name.endsWith(".pct") ? undefined : 0;
      return { name, text: metric?.text ?? "", before: a ? valueOf(a.kind.metrics, name) ?? absent : undefined, after: b ? valueOf(b.kind.metrics, name) ?? absent : undefined };
    }).filter((r) => everything || r.before !== r.after);
  }, [pair, everything]);
  const columns: Column<Row>[] = [
    { key: "name", title: "Metric", left: true, value: (r) => r.name, cell: (r) => <code class="wrap" title={r.text}>{r.name}</code> },
    { key: "before", title: "Before", value: (r) => r.before, cell: (r) => (r.before === undefined ? "-" : fixed(r.before, 2)) },
    { key: "after", title: "After", value: (r) => r.after, cell: (r) => (r.after === undefined ? "-" : fixed(r.after, 2)) },
    { key: "change", title: "Change", value: (r) => (r.before && r.after !== undefined ? (r.after - r.before) / r.before : undefined),
      cell: (r) => (r.before && r.after !== undefined && r.after !== r.before ? `${r.after > r.before ? "+" : "−"}${percent(Math.abs(r.after - r.before), r.before)}` : "") },
  ];
  return (
    <Panel title={<>What moved in <KernelName name={pair.name} /></>} side={
      <>
        <button type="button" class="quiet" onClick={() => setEverything(!everything)}>{everything ? "only what differs" : "all metrics"}</button>
        {a && <button type="button" class="quiet" onClick={() => go({ view: "kernel", report: before.number, kernel: pair.before!.name, launch: a.index })}>open before</button>}
        {b && <button type="button" class="quiet" onClick={() => go({ view: "kernel", report: after.number, kernel: pair.after!.name, launch: b.index })}>open after</button>}
      </>}>
      <p class="dim">The first launch of each.</p>
      <Table rows={rows} columns={columns} sort="name" caption="Metrics before and after" rowKey={(r) => r.name} />
    </Panel>
  );
}
