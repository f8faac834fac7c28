// The access view: 32 lanes above, what they touch below (sectors of 128-byte lines, banks, words), lines between them.
// Stepping shows the passes one by one.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Example, Report, Site } from "./data";
import { laneList, pictureOf, type Picture, type Step } from "./access";
import { count, hex, plural } from "./format";
import { Choice } from "./widgets";

const laneColours = 8;

/** Lanes in a row, each in the tone of its step, and the shape of the access in one glance. */
export function LaneMap({ picture, compact, step, lane, onLane }: {
  picture: Picture; compact?: boolean; step?: number; lane?: number; onLane?: (lane: number) => void;
}) {
  const size = 20, gap = 2;
  const width = 32 * (size + gap) - gap;
  const shown = compact ? picture.steps.slice(0, 8) : picture.steps;
  const rowHeight = compact ? 14 : 18;
  const top = 42;
  const cells = picture.kind === "banks" ? 32 : picture.kind === "words" ? 1 : 4;
  const label = picture.kind === "words" ? 0 : 0;
  const cellWidth = (width - label) / cells;
  const rows = shown.length;
  const height = top + rows * (rowHeight + 3) + (compact && picture.steps.length > shown.length ? 16 : 0);
  const visible = (i: number) => step === undefined || step === i;
  return (
    <svg class={`lane-map ${compact ? "compact" : ""}`} viewBox={`-2 -2 ${width + 4} ${height + 4}`} role="img"
      aria-label={`${picture.addresses.filter((a) => a !== undefined).length} active lanes, ${plural(picture.cost, picture.unit)}`}>
      {picture.addresses.map((address, i) => {
        const own = picture.stepOf[i]!;
        const dim = step !== undefined && !picture.steps[step]?.lanes.includes(i);
        return (
          <g class={`lane ${address === undefined ? "off" : ""} ${dim ? "dimmed" : ""} ${lane === i ? "chosen" : ""}`}
            onClick={onLane && (() => onLane(i))}>
            <title>{address === undefined ? `lane ${i}: inactive` : `lane ${i}: ${hex(address)}, ${picture.steps[own]?.title}`}</title>
            <rect class={`tone-${address === undefined ? "off" : own % laneColours}`} x={i * (size + gap)} y={0} width={size} height={16} rx={2} />
            <text x={i * (size + gap) + size / 2} y={12} text-anchor="middle">{i}</text>
          </g>
        );
      })}
      {shown.map((s, row) => {
        const y = top + row * (rowHeight + 3);
        return (
          <g class={visible(row) ? "" : "dimmed"}>
            {[...s.cells.entries()].map(([cell, lanes]) => {
              const middle = label + cell * cellWidth + cellWidth / 2;
              return (lane === undefined ? (visible(row) && (!compact || lanes.length <= 8) ? lanes : []) : lanes.filter((l) => l === lane))
                .map((l) => <line class={`wire tone-line-${row % laneColours}`} x1={l * (size + gap) + size / 2} y1={16}
                  x2={picture.kind === "lines" || picture.kind === "rows" ? middle + ((l % 8) - 3.5) * (cellWidth / 10) : middle} y2={y} />);
            })}
            {Array.from({ length: cells }, (_, cell) => {
              const lanes = s.cells.get(cell) ?? (picture.kind === "words" ? s.lanes : undefined);
              const words = s.asked && Array.from({ length: 8 }, (_, w) => {
                let asked = 0;
                for (let b = 0; b < 4; ++b) asked += s.asked![cell * 32 + w * 4 + b]!;
                return asked;
              });
              return (
                <g class={`cell ${lanes ? "used" : ""}`}>
                  <title>{cellTitle(picture, s, cell, lanes)}</title>
                  <rect class={lanes ? `tone-${row % laneColours}` : "tone-off"} x={label + cell * cellWidth} y={y} width={cellWidth - 2} height={rowHeight} rx={2} />
                  {words && lanes && words.map((asked, w) => asked < 4 && (
                    <rect class="unused" x={label + cell * cellWidth + (w * (cellWidth - 2)) / 8} y={y + 1} width={(cellWidth - 2) / 8} height={rowHeight - 2} />
                  ))}
                  {picture.kind === "banks" && lanes && !compact && (
                    <text x={label + cell * cellWidth + (cellWidth - 2) / 2} y={y + 13} text-anchor="middle">{lanes[0]}{lanes.length > 1 ? "+" : ""}</text>
                  )}
                  {picture.kind === "words" && (
                    <text x={8} y={y + rowHeight - 5}>{hex(s.address ?? 0)}: {s.lanes.length === 1 ? "lane" : "lanes"} {laneList(s.lanes)}</text>
                  )}
                </g>
              );
            })}
          </g>
        );
      })}
      {compact && picture.steps.length > shown.length && (
        <text class="tick" x={width / 2} y={height - 3} text-anchor="middle">and {picture.steps.length - shown.length} more</text>
      )}
    </svg>
  );
}

function cellTitle(picture: Picture, step: Step, cell: number, lanes?: number[]): string {
  const who = lanes ? `lanes ${laneList(lanes)}` : "not touched";
  if (picture.kind === "banks") return `${step.title}, bank ${cell}: ${who}`;
  if (picture.kind === "words") return `${hex(step.address ?? 0)}: ${who}`;
  return `sector ${cell} of ${picture.kind === "rows" ? "the row" : `line ${hex(step.address ?? 0)}`}: ${who}`;
}

function stepText(picture: Picture, step: Step): string {
  const lanes = `${step.lanes.length === 1 ? "lane" : "lanes"} ${laneList(step.lanes)}`;
  if (picture.kind === "banks") {
    const shared = [...step.cells.values()].filter((l) => l.length > 1).length;
    return `${lanes}; ${plural(step.cells.size, "bank")} busy${shared ? `, ${plural(shared, "word")} given to several lanes` : ""}`;
  }
  if (picture.kind === "words") return `${hex(step.address ?? 0)} for ${lanes}`;
  const asked = step.asked?.reduce((a, b) => a + b, 0) ?? 0;
  return `${lanes}; ${plural(step.cells.size, "sector")} moved, ${asked} of ${32 * step.cells.size} bytes asked for`;
}

export function AccessView({ report, site }: { report: Report; site: Site }) {
  const examples: [string, string, Example][] = [];
  if (site.worst) examples.push(["worst", "worst request", site.worst]);
  if (site.typical) examples.push(["typical", "typical request", site.typical]);
  const [which, setWhich] = useState("worst");
  const [step, setStep] = useState<number>(-1); // -1: all
  const [lane, setLane] = useState<number | undefined>();
  useEffect(() => {
    setStep(-1);
    setLane(undefined);
  }, [site, which]);
  const chosen = examples.find(([key]) => key === which) ?? examples[0];
  const rules = { banks: report.gpu.shared_banks || 32, bankBytes: report.gpu.shared_bank_bytes || 4 };
  const picture = useMemo(
    () => chosen && pictureOf(chosen[2], site.space, site.kind, site.lane_bytes ?? 4, rules), [chosen?.[2], site]);
  if (!chosen || !picture)
    return <p class="empty">{site.space === "texture" ? "The layout of textures in memory is not documented: no picture of the lanes." : "No request of this instruction had an active lane."}</p>;
  const example = chosen[2];
  const steps = picture.steps.length;
  const move = (by: number) => setStep((s) => Math.max(-1, Math.min(steps - 1, s + by)));
  const cost = example.cost ?? picture.cost;
  const parts: string[] = [];
  if (example.block !== undefined) parts.push(`block ${count(example.block)}, warp ${example.warp}`);
  if (example.count) parts.push(`${count(example.count)}${example.of ? ` of ${count(example.of)}` : ""} requests are like this`);
  const what = { banks: ["pass", "passes"], lines: ["line", "lines"], rows: ["row", "rows"], words: ["word", "words"] }[picture.kind];
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowRight" || e.key === "ArrowLeft") move(e.key === "ArrowRight" ? 1 : -1);
    else if (e.key === "Home") setStep(-1);
    else if (e.key === "End") setStep(steps - 1);
    else if (e.key === "ArrowDown") setLane((l) => (l === undefined ? 0 : (l + 1) % 32));
    else if (e.key === "ArrowUp") setLane((l) => (l === undefined ? 31 : (l + 31) % 32));
    else if (e.key === "Escape") { setLane(undefined); setStep(-1); }
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const address = lane === undefined ? undefined : picture.addresses[lane];
  return (
    <div class="access" tabIndex={0} onKeyDown={onKey} aria-label="Access view: left and right step through passes, up and down through lanes">
      <div class="access-head">
        {examples.length > 1
          ? <Choice label="Request" value={chosen[0]} options={examples.map(([key, text]) => [key, text])} onChange={setWhich} />
          : <b>{chosen[1]}</b>}
        <span class="dim">{parts.join(", ")}</span>
      </div>
      <p class="access-cost">
        <b>{plural(cost, picture.unit)}</b> where {picture.ideal} would do
        {cost !== picture.cost && <span class="dim"> (the picture shows addresses: {picture.cost})</span>}
        {" "}<span class="dim">· {plural(steps, what[0]!, what[1])}</span>
      </p>
      <div class="stepper" role="group" aria-label="Steps">
        <button type="button" onClick={() => move(-1)} disabled={step < 0} aria-label="previous step">◀</button>
        <output aria-live="polite" data-test="step">{step < 0 ? `all ${plural(steps, what[0]!, what[1])}` : `${picture.steps[step]!.title}: ${stepText(picture, picture.steps[step]!)}`}</output>
        <button type="button" onClick={() => move(1)} disabled={step >= steps - 1} aria-label="next step">▶</button>
      </div>
      <div class="lane-scroll">
        <LaneMap picture={picture} step={step < 0 ? undefined : step} lane={lane} onLane={(l) => setLane(l === lane ? undefined : l)} />
      </div>
      <p class="dim hint" data-test="lane">
        {lane !== undefined
          ? address === undefined ? `lane ${lane} is inactive` : `lane ${lane}: ${hex(address)} (${count(address)}), ${site.lane_bytes ?? 4} bytes${site.space === "shared" ? `, bank ${Math.floor(address / rules.bankBytes) % rules.banks}` : ""}`
          : picture.kind === "lines" || picture.kind === "rows" ? "Each row is 128 bytes: four sectors of eight words. Hatched words were moved but not asked for."
          : picture.kind === "banks" ? "Each row is a pass over the 32 banks; the number is the lane served, + marks a word that several lanes get."
          : "Each row is a request of the constant cache."}
      </p>
      <details class="addresses"><summary>addresses of the lanes</summary>
        <ol start={0}>{picture.addresses.map((a) => <li>{a === undefined ? "-" : hex(a)}</li>)}</ol>
      </details>
    </div>
  );
}
