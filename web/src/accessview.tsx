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
  const size = 13.4, gap = 1, label = 44;
  const width = label + 32 * (size + gap) - gap;
  const shown = compact ? picture.steps.slice(0, 8) : picture.steps;
  const rowHeight = compact ? 12 : 16;
  const wires = step !== undefined || lane !== undefined || shown.length <= 4 || compact;
  const top = (wires ? 44 : 24) + (picture.kind === "banks" && !compact ? 6 : 0);
  const cells = picture.kind === "banks" ? 32 : picture.kind === "words" ? 1 : 4;
  const cellWidth = (width - label + gap) / cells;
  const height = top + shown.length * (rowHeight + 3) + (compact && picture.steps.length > shown.length ? 14 : 0);
  const lines = picture.kind === "lines" || picture.kind === "rows";
  const origin = picture.steps[0]?.address ?? 0;
  const laneX = (l: number) => label + l * (size + gap) + size / 2;
  /** Where a wire of the lane ends: its bytes in the line, its bank, or the row. */
  const endX = (s: Step, cell: number, l: number) => {
    if (picture.kind === "rows") return label + ((l + 0.5) / 32) * (width - label);
    if (picture.kind === "lines") {
      const at = Math.max(0, picture.addresses[l]! - s.address!) + Math.min(picture.bytes, 32) / 2;
      return label + (Math.min(at, 127) / 128) * (width - label);
    }
    return label + cell * cellWidth + cellWidth / 2;
  };
  const rowLabel = (s: Step, row: number) =>
    lines ? `+${((s.address ?? 0) - origin).toLocaleString("en-US")}` : picture.kind === "banks" ? `pass ${row + 1}` : `${row + 1}`;
  return (
    <svg class={`lane-map ${compact ? "compact" : ""}`} viewBox={`-1 -1 ${width + 2} ${height + 2}`} role="img"
      aria-label={`${picture.addresses.filter((a) => a !== undefined).length} active lanes, ${plural(picture.cost, picture.unit)}`}>
      <defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="4" /></pattern></defs>
      <text class="row-label" x={0} y={10.5}>lane</text>
      {picture.addresses.map((address, i) => {
        const own = picture.stepOf[i]!;
        const dim = step !== undefined && !picture.steps[step]?.lanes.includes(i);
        return (
          <g class={`lane ${address === undefined ? "off" : ""} ${dim ? "dimmed" : ""} ${lane === i ? "chosen" : ""}`}
            onClick={onLane && (() => onLane(i))}>
            <title>{address === undefined ? `lane ${i}: inactive` : `lane ${i}: ${hex(address)}, ${picture.steps[own]?.title}`}</title>
            <rect class={`tone-${address === undefined ? "off" : own % laneColours}`} x={laneX(i) - size / 2} y={0} width={size} height={15} rx={2} />
            <text x={laneX(i)} y={10.5} text-anchor="middle">{i}</text>
          </g>
        );
      })}
      {picture.kind === "banks" && !compact && (
        <>
          <text class="row-label" x={0} y={top - 3}>bank</text>
          {Array.from({ length: 32 }, (_, bank) => <text class="row-label" x={laneX(bank)} y={top - 3} text-anchor="middle">{bank}</text>)}
        </>
      )}
      {shown.map((s, row) => {
        const y = top + row * (rowHeight + 3);
        const dimmed = (step !== undefined && step !== row) || (lane !== undefined && !s.lanes.includes(lane));
        const shownLanes = (lanes: number[]) => lane !== undefined ? lanes.filter((l) => l === lane) : step === undefined || step === row ? lanes : [];
        return (
          <g class={dimmed ? "dimmed" : ""} data-step={row}>
            {wires && picture.kind !== "words" && [...s.cells.entries()].map(([cell, lanes]) =>
              shownLanes(lanes).map((l) => <line class="wire" x1={laneX(l)} x2={endX(s, cell, l)} y1={15} y2={y - (picture.kind === "banks" && !compact && row === 0 ? 9 : 0)} />))}
            <text class="row-label" x={0} y={y + rowHeight - 4.5}>{rowLabel(s, row)}</text>
            {Array.from({ length: cells }, (_, cell) => {
              const lanes = s.cells.get(cell) ?? (picture.kind === "words" ? s.lanes : undefined);
              const words = s.asked && lanes && Array.from({ length: 8 }, (_, w) => {
                let asked = 0;
                for (let b = 0; b < 4; ++b) asked += s.asked![cell * 32 + w * 4 + b]!;
                return asked;
              });
              const x = label + cell * cellWidth;
              return (
                <g class={`cell ${lanes ? "used" : ""}`} data-cell={cell}>
                  <title>{cellTitle(picture, s, cell, lanes)}</title>
                  <rect class={lanes ? `tone-${row % laneColours}` : "tone-off"} x={x} y={y} width={cellWidth - gap} height={rowHeight} rx={2} />
                  {words?.map((asked, w) => asked < 4 && (
                    <>
                      <rect class="unused" x={x + (w * (cellWidth - gap)) / 8} y={y + 0.5} width={(cellWidth - gap) / 8} height={rowHeight - 1} />
                      <rect class="unused-hatch" fill="url(#hatch)" x={x + (w * (cellWidth - gap)) / 8} y={y + 0.5} width={(cellWidth - gap) / 8} height={rowHeight - 1} />
                    </>
                  ))}
                  {picture.kind === "banks" && lanes && !compact && (
                    <text x={x + (cellWidth - gap) / 2} y={y + 11.5} text-anchor="middle">{lanes[0]}{lanes.length > 1 ? "+" : ""}</text>
                  )}
                  {picture.kind === "words" && (
                    <text x={x + 6} y={y + rowHeight - 4.5}>{hex(s.address ?? 0)} for {s.lanes.length === 1 ? "lane" : "lanes"} {laneList(s.lanes)}</text>
                  )}
                </g>
              );
            })}
          </g>
        );
      })}
      {compact && picture.steps.length > shown.length && (
        <text class="row-label" x={width / 2} y={height - 3} text-anchor="middle">and {picture.steps.length - shown.length} more</text>
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
    return <p class="empty">{site.space === "texture" || site.space === "surface" ? "Textures and surfaces are stored in tiles: no picture of the lanes." : "No request of this instruction had an active lane."}</p>;
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
