// Source with heat per line, the instructions it became, and beside them the access view of the chosen instruction.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countOf, type Body, type CodeChange, type Launch, type Line, type Position, type Report, type Site } from "./data";
import { AccessView } from "./accessview";
import { baseName, count, fileName, fixed, percent, short } from "./format";
import { highlightInstruction, highlightLines } from "./highlight";
import { globalSectors } from "./kernels";
import { go, type Route } from "./route";
import { Bar, Choice, GradeMark, Panel, usePrinting } from "./widgets";

/** What a line is measured by. */
type Heat = "waste" | "sectors" | "shared" | "instructions";
const heats: [Heat, string][] = [["waste", "waste"], ["sectors", "sectors"], ["shared", "shared"], ["instructions", "instructions"]];

export const wavefronts = ["ld", "st", "atom"].map((op) => `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_${op}.sum`);
const sectors = [...globalSectors, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"];

function heatOf(line: Line, by: Heat): number {
  switch (by) {
    case "waste": return line.sites.reduce((all, s) => all + (s.waste ?? 0), 0);
    case "sectors": return countOf(line.metrics, ...sectors);
    case "shared": return countOf(line.metrics, ...wavefronts);
    case "instructions": return countOf(line.metrics, "smsp__inst_executed.sum");
  }
}

/** A line of the program with all code that belongs to it: its own, and what toolkit headers brought there. */
export interface Place {
  file: string;
  line: number;
  parts: Line[];
}

export function placesOf(report: Report, body: Body): Place[] {
  const places = new Map<string, Place>();
  for (const line of body.lines) {
    let at: Position = line;
    for (const position of [line, ...(line.inlined_at ?? [])])
      if (!report.sources.get(position.file)?.system) {
        at = position;
        break;
      }
    const key = `${at.file}\n${at.line}`;
    const place = places.get(key) ?? { file: at.file, line: at.line, parts: [] };
    place.parts.push(line);
    places.set(key, place);
  }
  return [...places.values()].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

function chainText(report: Report, line: Line): string {
  const place = (p: Position) => `${fileName(report.sources.get(p.file)?.shown ?? p.file) || "PTX"}:${p.line}`;
  const chain = (line.inlined_at ?? []).map((p, i) => `${i === 0 ? "inlined at" : "from"} ${place(p)}`);
  const system = report.sources.get(line.file)?.system ? ` (${place(line)})` : "";
  return `${line.function ? `${baseName(line.function)}()${system} ` : ""}${chain.join(", ")}`;
}

const around = 3; // lines of context
const gap = 8; // longer stretches without code are folded

interface Row { line: number; html: string; place?: Place }
type Item = { row: Row } | { fold: [number, number] };

function SourceFile({ report, file, places, heat, most, selected, grade, onSelect }: {
  report: Report; file: string; places: Place[]; heat: Heat; most: number; selected?: Place; grade: string;
  onSelect: (place: Place) => void;
}) {
  const source = report.sources.get(file);
  const [open, setOpen] = useState<Set<number>>(new Set());
  const html = useMemo(() => {
    const numbers = [...(source?.text.keys() ?? [])];
    const lines = highlightLines(numbers.map((n) => source!.text.get(n)!));
    return new Map(numbers.map((n, i) => [n, lines[i]!]));
  }, [source]);
  const items = useMemo(() => {
    const byLine = new Map(places.map((p) => [p.line, p]));
    const used = [...byLine.keys()].filter((n) => n > 0);
    const items: Item[] = [];
    const row = (line: number) => items.push({ row: { line, html: html.get(line) ?? "", place: byLine.get(line) } });
    if (byLine.has(0)) items.push({ row: { line: 0, html: "<i>instructions without a source position</i>", place: byLine.get(0) } });
    const shown = new Set<number>();
    for (const n of used)
      for (let l = n - around; l <= n + around; ++l) if (html.has(l) || byLine.has(l)) shown.add(l);
    const list = [...shown].sort((a, b) => a - b);
    list.forEach((n, i) => {
      const before = list[i - 1];
      if (before !== undefined && n > before + 1) {
        const whole = Array.from({ length: n - before - 1 }, (_, k) => before + 1 + k).every((l) => html.has(l));
        if (whole && (n - before - 1 <= gap || open.has(before))) for (let l = before + 1; l < n; ++l) row(l);
        else items.push({ fold: [before + 1, n - 1] });
      }
      row(n);
    });
    return items;
  }, [places, html, open]);
  return (
    <div class="source-file">
      <h3 title={file}>{file ? source?.shown ?? file : "PTX (the program has no line information)"}
        {file && html.size === 0 && <span class="dim"> - the text could not be read when this report was made</span>}</h3>
      <table class="code" aria-label={`Source of ${fileName(file) || "PTX"}`}>
        <tbody>
          {items.map((item) => {
            if ("fold" in item) {
              const [first, last] = item.fold;
              return (
                <tr class="fold"><td colSpan={3}>
                  {html.has(first)
                    ? <button type="button" onClick={() => setOpen(new Set([...open, first - 1]))}>⋯ lines {first} to {last}</button>
                    : <span class="dim">⋯</span>}
                </td></tr>
              );
            }
            const { line, html: text, place } = item.row;
            const value = place ? place.parts.reduce((all, p) => all + heatOf(p, heat), 0) : 0;
            const share = most > 0 ? value / most : 0;
            const causes = place ? [...new Set(place.parts.flatMap((p) => p.sites.filter((s) => s.waste && s.cause).map((s) => s.cause!)))] : [];
            return (
              <>
                <tr class={`${place ? "has" : ""} ${selected === place && place ? "selected" : ""}`} data-line={line}
                  tabIndex={place ? 0 : undefined} aria-selected={selected === place && !!place}
                  onClick={() => place && onSelect(place)}
                  onKeyDown={(e) => {
                    if (place && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); onSelect(place); }
                  }}>
                  <td class="line-no">{line || ""}</td>
                  <td class="heat" title={place ? `${count(value)} ${heat}, ${grade}` : undefined}>
                    {place && value > 0 && <Bar share={share} tone={heat === "waste" ? "waste" : undefined} label={short(value)} />}
                  </td>
                  <td class="text"><code dangerouslySetInnerHTML={{ __html: text || " " }} /></td>
                </tr>
                {causes.slice(0, 2).map((cause) => (
                  <tr class="cause"><td class="line-no" /><td class="heat" /><td class="text"><span class="cause-text"><span aria-hidden="true">▲ </span>{cause}</span></td></tr>
                ))}
                {place && place.parts.length > 1 && selected === place && place.parts.map((p) => p.inlined_at?.length ? (
                  <tr class="chain"><td class="line-no" /><td class="heat">{short(heatOf(p, heat))}</td><td class="text dim">{chainText(report, p)}</td></tr>
                ) : null)}
              </>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface InstructionRow { pc: number; ptx: number; text: string; site?: Site; line?: Line }

function instructionRows(body: Body): InstructionRow[] {
  const rows: InstructionRow[] = [];
  const sites = new Map<number, { site: Site; line: Line }>();
  for (const line of body.lines)
    for (const site of line.sites) {
      if (site.pc !== undefined) sites.set(site.pc, { site, line });
      if (!body.listing) rows.push({ pc: site.pc ?? -1, ptx: site.ptx_line ?? 0, text: site.instruction, site, line });
    }
  for (const [pc, text, line] of body.listing ?? []) {
    const known = sites.get(pc);
    rows.push({ pc, ptx: 0, text, site: known?.site, line: known?.line ?? body.lines[line] });
  }
  return rows.sort((a, b) => a.pc - b.pc || a.ptx - b.ptx);
}

/** What a request of this instruction is made of. */
export function passesOf(site: Site): [number, number, string] {
  if (site.space === "shared") return [site.wavefronts ?? 0, site.ideal_wavefronts ?? 0, "wavefronts"];
  if (site.space === "const") return [site.requests ?? 0, site.executed ?? 0, "requests"];
  return [site.sectors ?? 0, site.ideal_sectors ?? 0, "sectors"];
}

function Instructions({ body, places, selected, site, onSite }: {
  body: Body; places: Place[]; selected?: Place; site?: Site; onSite: (site: Site) => void;
}) {
  const rows = useMemo(() => instructionRows(body), [body]);
  const ofLine = useMemo(() => {
    const map = new Map<Line, Place>();
    for (const place of places) for (const part of place.parts) map.set(part, place);
    return map;
  }, [places]);
  const machine = rows.some((r) => r.pc >= 0);
  const oneFile = new Set(rows.map((r) => r.line?.file ?? "")).size <= 1;
  const most = Math.max(0, ...rows.map((r) => (r.site ? passesOf(r.site)[0] : 0)));
  return (
    <div class="source-file">
      <h3>{machine ? body.listing ? "machine code" : "memory instructions of the machine code" : "memory instructions of the PTX"}</h3>
      <table class="code sass" aria-label="Instructions">
        <thead><tr><th>{machine ? "address" : "PTX line"}</th><th class="left">instruction</th><th>executed</th><th>passes</th><th class="left">line</th></tr></thead>
        <tbody>
          {rows.map((r) => {
            const mine = r.line && selected && ofLine.get(r.line) === selected;
            return (
              <tr class={`${r.site ? "has" : ""} ${mine ? "of-line" : ""} ${r.site && r.site === site ? "selected" : ""}`} data-pc={r.pc}
                tabIndex={r.site ? 0 : undefined}
                onClick={() => r.site && onSite(r.site)}
                onKeyDown={(e) => { if (r.site && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); onSite(r.site); } }}>
                <td class="line-no">{r.pc >= 0 ? r.pc.toString(16).padStart(4, "0") : r.ptx}</td>
                <td class="text"><code dangerouslySetInnerHTML={{ __html: highlightInstruction(r.text) }} />
                  {r.site?.local_use === "spill" && <span class="tag">spill</span>}</td>
                <td class="num">{r.site ? short(r.site.executed ?? 0) : ""}</td>
                <td class="heat">{r.site && r.site.space !== "texture" && passesOf(r.site)[0] > 0 && <Bar share={most ? passesOf(r.site)[0] / most : 0} tone={r.site.waste ? "waste" : undefined} label={short(passesOf(r.site)[0])} />}</td>
                <td class="left dim">{r.line?.file ? `${oneFile ? "" : fileName(r.line.file)}:${r.line.line}` : ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {!body.listing && <p class="dim hint">Only memory instructions are in this report.</p>}
    </div>
  );
}

function SiteFacts({ site, grade, reason }: { site: Site; grade: Launch["kind"]["counted_from"]["grade"]; reason: string }) {
  const [passes, ideal, unit] = passesOf(site);
  const asks = site.space === "const" ? site.executed ?? 0 : site.requests ?? 0;
  const facts: [string, string][] = [
    ["executed", count(site.executed ?? 0)],
    ["lanes", site.executed ? `${fixed((site.lanes ?? 0) / site.executed)} of 32` : "-"],
    ["bytes per lane", String(site.lane_bytes ?? "-")],
  ];
  if (site.space !== "texture") {
    facts.push([unit, count(passes)], [`ideal ${unit}`, count(ideal)]);
    if (asks > 0) facts.push(["per request", fixed(passes / asks)]);
  }
  if (site.host_sectors) facts.push(["in host memory", count(site.host_sectors)]);
  return (
    <dl class="facts">
      {facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}
      <dt>grade</dt><dd><GradeMark grade={grade} reason={reason} word /></dd>
    </dl>
  );
}

function changesOf(body: Body, place: Place): CodeChange[] {
  return (body.code?.changes ?? []).filter((c) => c.at.file === place.file && c.at.line === place.line);
}

export function SourceTab({ report, launch, body, route }: { report: Report; launch: Launch; body: Body; route: Route }) {
  const places = useMemo(() => placesOf(report, body), [report, body]);
  const files = useMemo(() => [...new Set(places.map((p) => p.file))], [places]);
  const allSites = useMemo(() => body.lines.flatMap((l) => l.sites), [body]);
  const available = heats.filter(([key]) => body.lines.some((l) => heatOf(l, key) > 0));
  const [heat, setHeat] = useState<Heat>(available[0]?.[0] ?? "instructions");
  const by: Heat = available.some(([key]) => key === heat) ? heat : available[0]?.[0] ?? "instructions";
  const [view, setView] = useState<"source" | "code" | "both">(files.some((f) => f !== "") ? "source" : "code");
  const machine = useMemo(() => !!body.listing || allSites.some((s) => s.pc !== undefined), [body]);
  const printing = usePrinting();
  const box = useRef<HTMLDivElement>(null);

  const heatOfPlace = (p: Place) => p.parts.reduce((all, part) => all + heatOf(part, by), 0);
  const most = Math.max(0, ...places.map(heatOfPlace));
  const hottest = useMemo(
    () => [...places].filter((p) => p.parts.some((l) => l.sites.length > 0)).sort((a, b) => heatOfPlace(b) - heatOfPlace(a))[0] ?? places[0],
    [places, by]);
  const fromSite = route.site === undefined ? undefined : places.find((p) => p.parts.some((l) => l.sites.some((s) => s.site === route.site)));
  const fromLine = route.line === undefined ? undefined
    : places.find((p) => p.line === route.line && (route.file === undefined || p.file === route.file || fileName(p.file) === route.file));
  const selected = fromLine ?? fromSite ?? hottest;
  const sites = selected?.parts.flatMap((p) => p.sites) ?? [];
  const site = sites.find((s) => s.site === route.site)
    ?? [...sites].sort((a, b) => (b.waste ?? 0) - (a.waste ?? 0) || passesOf(b)[0] - passesOf(a)[0])[0];
  const base = { view: "kernel" as const, report: report.number, kernel: launch.kind.kernel, launch: launch.index, tab: "source" as const };
  const selectPlace = (p: Place) => go({ ...base, line: p.line, file: p.file ? fileName(p.file) : undefined }, true);
  const selectSite = (s: Site) => {
    const p = places.find((q) => q.parts.some((l) => l.sites.includes(s)));
    go({ ...base, line: p?.line, file: p?.file ? fileName(p.file) : undefined, site: s.site }, true);
  };
  useEffect(() => {
    if (route.line === undefined) return;
    box.current?.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
  }, [route.line, launch]);
  useEffect(() => {
    // Beside the source the instructions of the chosen line come into view.
    const row = view === "both" ? box.current?.querySelector<HTMLElement>("[data-pane=code] tr.of-line") : null;
    const pane = row?.closest<HTMLElement>(".pane");
    if (row && pane) pane.scrollTop = Math.max(0, row.offsetTop - pane.clientHeight / 3);
  }, [view, selected]);
  const step = (by: number) => {
    const withSites = places.filter((p) => p.parts.some((l) => l.sites.length));
    const at = withSites.indexOf(selected!);
    const next = withSites[at + by];
    if (next) selectPlace(next);
  };
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if ((e.target as HTMLElement).matches?.("input, textarea, select") || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "n" || e.key === "p") { e.preventDefault(); step(e.key === "n" ? 1 : -1); }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  const totalWaste = places.reduce((all, p) => all + p.parts.reduce((sum, l) => sum + heatOf(l, "waste"), 0), 0);
  const wasted = selected ? selected.parts.reduce((sum, l) => sum + heatOf(l, "waste"), 0) : 0;
  const showSource = view !== "code" || printing;
  const showCode = view !== "source" || printing;
  if (places.length === 0) return <p class="empty">No instruction of this launch was counted.</p>;
  return (
    <div class={`source-tab view-${printing ? "both" : view}`} ref={box}>
      <Panel title="Source" class="source-panel" side={
        <>
          <Choice label="Heat" value={by} options={available.length ? available : [["instructions", "instructions"]]} onChange={setHeat} />
          <Choice label="View" value={view} options={[["source", "source"], ["code", machine ? "machine code" : "PTX"], ["both", "side by side"]]} onChange={setView} />
        </>}>
        <div class="panes">
          {showSource && (
            <div class="pane" data-pane="source">
              {files.map((file) => (
                <SourceFile report={report} file={file} places={places.filter((p) => p.file === file)} heat={by} most={most}
                  selected={selected} grade={launch.kind.counted_from.grade} onSelect={selectPlace} />
              ))}
            </div>
          )}
          {showCode && (
            <div class="pane" data-pane="code">
              <Instructions body={body} places={places} selected={selected} site={site} onSite={selectSite} />
            </div>
          )}
        </div>
      </Panel>
      <aside class="inspector">
        <Panel title={selected ? selected.file ? `${fileName(selected.file)}:${selected.line}` : selected.line ? `PTX line ${selected.line}` : "no position" : "Nothing chosen"}
          side={<span class="dim">{totalWaste > 0 ? `${percent(wasted, totalWaste)} of the launch's waste` : ""}</span>}>
          {selected && (
            <>
              {selected.parts.filter((p) => p.inlined_at?.length).slice(0, 6).map((p) => <p class="dim chain-line">{chainText(report, p)}</p>)}
              {changesOf(body, selected).map((c) => <p class="dim">ptxas: {c.text}</p>)}
              {sites.length === 0 && <p class="empty">This line accesses no memory. {count(selected.parts.reduce((all, p) => all + heatOf(p, "instructions"), 0))} warp instructions.</p>}
              {sites.length > 0 && (
                <ul class="sites" role="listbox" aria-label="Memory instructions of this line">
                  {sites.map((s) => (
                    <li role="option" aria-selected={s === site}>
                      <button type="button" data-site={s.site} class={s === site ? "chosen" : ""} onClick={() => selectSite(s)}>
                        <code dangerouslySetInnerHTML={{ __html: highlightInstruction(s.instruction) }} />
                        <span class="dim">{s.space} {s.kind}{s.waste ? <>, <span class="waste-text">{short(s.waste)} wasted</span></> : null}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              )}
            </>
          )}
        </Panel>
        {site && (
          <Panel title={`Access: ${site.space} ${site.kind}`}>
            {site.cause && site.waste ? <p class="alert warning">{site.cause}</p> : null}
            <AccessView report={report} site={site} />
            <SiteFacts site={site} grade={launch.kind.counted_from.grade} reason={launch.kind.counted_from.source} />
          </Panel>
        )}
        {!site && allSites.length > 0 && selected && <p class="dim hint">Keys n and p go to the next and previous line that accesses memory.</p>}
      </aside>
    </div>
  );
}
