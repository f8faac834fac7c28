// Every metric of a launch, under Nsight Compute's names.
import { useMemo, useState } from "preact/hooks";
import type { Metric, Metrics } from "./data";
import { fixed } from "./format";
import { Table, type Column } from "./table";
import { GradeMark, Panel } from "./widgets";

type Row = [string, Metric];

const columns: Column<Row>[] = [
  { key: "name", title: "Metric", left: true, value: ([name]) => name, cell: ([name]) => <code class="wrap">{name}</code> },
  { key: "value", title: "Value", value: ([, m]) => m.value, cell: ([, m]) => fixed(m.value, 3) },
  { key: "unit", title: "Unit", left: true, value: ([, m]) => m.unit, cell: ([, m]) => m.unit },
  { key: "grade", title: "Grade", left: true, value: ([, m]) => m.grade, cell: ([, m]) => <GradeMark grade={m.grade} reason={m.reason} word /> },
  { key: "text", title: "What it is", left: true, value: ([, m]) => m.text, cell: ([, m]) => <span class="dim">{m.text}{m.reason && <span class="reason"> {m.grade}: {m.reason}</span>}</span> },
];

export function MetricsTab({ metrics }: { metrics: Metrics }) {
  const [filter, setFilter] = useState("");
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = useMemo(
    () => [...metrics].filter(([name, m]) => words.every((w) => name.toLowerCase().includes(w) || m.text.toLowerCase().includes(w))),
    [metrics, filter]);
  return (
    <Panel title="Metrics" side={<input type="search" placeholder="filter   /" aria-label="Filter metrics" value={filter} onInput={(e) => setFilter((e.target as HTMLInputElement).value)} />}>
      <Table rows={rows} columns={columns} sort="name" caption="Metrics" rowKey={([name]) => name} />
      <p class="dim hint">Names are Nsight Compute's where it has one. A count that is not listed is zero. <code>muscope explain NAME</code> says how each is computed.</p>
    </Panel>
  );
}
