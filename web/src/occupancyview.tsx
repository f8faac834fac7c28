// Occupancy what-if: registers, block size and shared memory as sliders; what limits, and what one step up would take.
import { useMemo, useState } from "preact/hooks";
import { valueOf, type Kind, type Report } from "./data";
import { bytes, count, extent } from "./format";
import { occupancyPercent } from "./kernels";
import { occupancy, type Limiter, type Shape } from "./occupancy";
import { Bar, GradeMark, Panel } from "./widgets";

function Slider({ label, value, min, max, step, unit, now, onChange }: {
  label: string; value: number; min: number; max: number; step: number; unit: string; now: number; onChange: (value: number) => void;
}) {
  const id = `slider-${label.replaceAll(" ", "-")}`;
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <input id={id} type="range" min={min} max={max} step={step} value={value}
        onInput={(e) => onChange(Number((e.target as HTMLInputElement).value))} />
      <input type="number" aria-label={`${label}, exact`} min={min} max={max} step={1} value={value}
        onChange={(e) => {
          const typed = Number((e.target as HTMLInputElement).value);
          if (Number.isFinite(typed)) onChange(Math.max(min, Math.min(max, Math.round(typed))));
        }} />
      <span class="dim">{unit}{value !== now && <button type="button" class="quiet" onClick={() => onChange(now)}>reset to {count(now)}</button>}</span>
    </div>
  );
}

/** Occupancy over one quantity, the others as they are; the present value is marked. */
function Curve({ title, points, at, unit, onPick }: {
  title: string; points: [number, number][]; at: number; unit: string; onPick: (x: number) => void;
}) {
  const width = 300, height = 120, left = 44, bottom = 24, top = 8, right = 8;
  const xs = points.map(([x]) => x);
  const low = Math.min(...xs), high = Math.max(...xs);
  const x = (v: number) => left + ((v - low) / Math.max(1, high - low)) * (width - left - right);
  const y = (v: number) => top + (1 - v / 100) * (height - top - bottom);
  const d = points.map(([px, py], i) => `${i ? `H${x(px)}V${y(py)}` : `M${x(px)},${y(py)}`}`).join("");
  const value = [...points].reverse().find(([px]) => px <= at)?.[1] ?? points[0]?.[1] ?? 0;
  return (
    <figure class="curve">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: ${value.toFixed(1)} % at ${at}`}
        onClick={(e) => {
          const box = (e.currentTarget as SVGSVGElement).getBoundingClientRect();
          const v = low + ((((e.clientX - box.left) / box.width) * width - left) / (width - left - right)) * (high - low);
          const near = xs.reduce((best, c) => (Math.abs(c - v) < Math.abs(best - v) ? c : best), xs[0]!);
          onPick(near);
        }}>
        {[0, 50, 100].map((t) => <g><line class="grid" x1={left} x2={width - right} y1={y(t)} y2={y(t)} /><text class="tick" x={left - 5} y={y(t) + 4} text-anchor="end">{t} %</text></g>)}
        <path class="curve-line" d={d} />
        <line class="now" x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} />
        <circle class="point" cx={x(at)} cy={y(value)} r={4} />
        <text class="tick" x={left} y={height - 8}>{count(low)}</text>
        <text class="tick" x={width - right} y={height - 8} text-anchor="end">{count(high)} {unit}</text>
      </svg>
    </figure>
  );
}

export function OccupancyTab({ report, kind }: { report: Report; kind: Kind }) {
  const { limits, cc } = report.gpu;
  const launched: Shape = {
    threads: kind.block[0] * kind.block[1] * kind.block[2],
    registers: valueOf(kind.metrics, "launch__registers_per_thread") ?? kind.registers.value,
    shared: kind.shared.static + kind.shared.dynamic,
  };
  const [shape, setShape] = useState<Shape>(launched);
  const now = useMemo(() => occupancy(limits, launched, cc), [kind]);
  const then = useMemo(() => occupancy(limits, shape, cc), [shape, limits]);
  const reported = kind.metrics.get(occupancyPercent);
  const warp = limits.warp_size ?? 32;
  const mostThreads = limits.max_threads_per_block ?? 1024;
  const mostRegisters = limits.max_registers_per_thread ?? 255;
  const mostShared = limits.shared_per_block_optin ?? limits.shared_per_block ?? 49152;
  const of = (change: Partial<Shape>) => occupancy(limits, { ...shape, ...change }, cc).percent;
  const blocks = kind.grid[0] * kind.grid[1] * kind.grid[2];
  const perWave = then.blocks * (limits.sm_count ?? 0);
  const changed = shape.threads !== launched.threads || shape.registers !== launched.registers || shape.shared !== launched.shared;
  // With another block size the same threads make another number of blocks.
  const newBlocks = Math.ceil((blocks * launched.threads) / shape.threads);
  const lift = (): string[] => {
    const out: string[] = [];
    if (then.impossible || then.percent >= 100) return out;
    for (let r = shape.registers - 1; r >= 16 && then.limiters.includes("registers"); --r) {
      const o = occupancy(limits, { ...shape, registers: r }, cc);
      if (o.blocks > then.blocks) { out.push(`${r} registers or fewer: ${o.blocks} blocks, ${o.percent.toFixed(1)} %`); break; }
    }
    if (then.limiters.includes("shared memory")) {
      const unit = limits.shared_allocation_unit ?? 128;
      for (let s = shape.shared - 1; s >= 0; s -= Math.max(1, s % unit || unit)) {
        const o = occupancy(limits, { ...shape, shared: s }, cc);
        if (o.blocks > then.blocks) { out.push(`${count(s)} bytes of shared memory or fewer: ${o.blocks} blocks, ${o.percent.toFixed(1)} %`); break; }
      }
    }
    const sizes: number[] = [];
    let best = then.warps;
    for (let t = warp; t <= mostThreads; t += warp) {
      const o = occupancy(limits, { ...shape, threads: t }, cc);
      if (o.warps > best) { best = o.warps; sizes.length = 0; }
      if (o.warps === best && best > then.warps) sizes.push(t);
    }
    if (sizes.length) out.push(`a block of ${sizes.slice(0, 5).join(", ")} threads${sizes.length > 5 ? ", ..." : ""}: ${((100 * best) / then.maxWarps).toFixed(1)} %`);
    return out;
  };
  const range = (low: number, high: number, step: number) => Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => low + i * step);
  const lifts = lift();
  return (
    <div class="occupancy">
      <Panel title="Occupancy: what if" side={changed && <button type="button" class="quiet" onClick={() => setShape(launched)}>back to the launch</button>}>
        <div class="occupancy-grid">
          <div>
            <Slider label="threads per block" value={shape.threads} min={warp} max={mostThreads} step={warp} unit={shape.threads === launched.threads ? `(${extent(kind.block)})` : ""} now={launched.threads}
              onChange={(threads) => setShape({ ...shape, threads })} />
            <Slider label="registers per thread" value={shape.registers} min={0} max={mostRegisters} step={1} unit="" now={launched.registers}
              onChange={(registers) => setShape({ ...shape, registers })} />
            <Slider label="shared memory" value={shape.shared} min={0} max={mostShared} step={256} unit="bytes per block" now={launched.shared}
              onChange={(shared) => setShape({ ...shape, shared })} />
            <p class="dim">The launch: {count(launched.threads)} threads, {launched.registers ? `${launched.registers} registers` : "registers not known"} <GradeMark grade={kind.registers.grade} reason={kind.registers.reason ?? kind.registers.source} />, {bytes(launched.shared)} shared memory
              {kind.shared.dynamic > 0 && ` (${bytes(kind.shared.dynamic)} dynamic)`}.</p>
          </div>
          <div class="occupancy-result" aria-live="polite">
            <div class="big" data-test="occupancy">{then.impossible ? "cannot run" : `${then.percent.toFixed(1)} %`}</div>
            {then.impossible ? <p class="alert error">{then.impossible}</p> : (
              <p>{count(then.blocks)} blocks, {count(then.warps)} of {count(then.maxWarps)} warps per SM
                {changed && <span class="dim"> (the launch: {now.percent.toFixed(1)} %)</span>}</p>
            )}
            <WarpSlots warps={then.warps} max={then.maxWarps} perBlock={then.warpsPerBlock} />
            <table class="plain">
              <caption class="sr-only">Blocks per SM that each resource allows</caption>
              <tbody>
                {(Object.entries(then.limits) as [Limiter, number][]).map(([name, n]) => (
                  <tr class={then.limiters.includes(name) ? "limits" : ""}>
                    <th scope="row">{name}</th>
                    <td><Bar share={Number.isFinite(n) ? Math.min(1, n / Math.max(1, limits.max_blocks_per_sm ?? 32)) : 1} label={Number.isFinite(n) ? `${count(n)} blocks` : "no limit"} /></td>
                    <td>{then.limiters.includes(name) && then.percent < 100 ? "◀ limits" : ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {perWave > 0 && <p class="dim">{count(shape.threads === launched.threads ? blocks : newBlocks)} blocks are {((shape.threads === launched.threads ? blocks : newBlocks) / perWave).toFixed(2)} waves over {limits.sm_count} SMs.</p>}
            {then.needsOptin && <p class="dim">More than {bytes(limits.shared_per_block ?? 49152)}: the program has to ask with cudaFuncSetAttribute.</p>}
          </div>
        </div>
        {lifts.length > 0 && <div class="lifts"><b>What would lift it:</b><ul>{lifts.map((l) => <li>{l}</li>)}</ul></div>}
        <div class="curves">
          <Curve title="over registers per thread" at={shape.registers} unit="" points={range(16, mostRegisters, 1).map((r) => [r, of({ registers: r })])} onPick={(registers) => setShape({ ...shape, registers })} />
          <Curve title="over threads per block" at={shape.threads} unit="" points={range(warp, mostThreads, warp).map((t) => [t, of({ threads: t })])} onPick={(threads) => setShape({ ...shape, threads })} />
          <Curve title="over shared memory per block" at={shape.shared} unit="bytes" points={range(0, mostShared, 1024).map((s) => [s, of({ shared: s })])} onPick={(shared) => setShape({ ...shape, shared })} />
        </div>
        <p class="dim hint">Theoretical occupancy by the rules of cuda_occupancy.h, as <code>muscope occupancy</code> has them.
          {reported && <> The report says {reported.value.toFixed(1)} % for this launch <GradeMark grade={reported.grade} reason={reported.reason} />.</>} More warps help only while they hide latency. Achieved occupancy is <span class="not-modelled">not modelled yet</span>.</p>
      </Panel>
    </div>
  );
}

function WarpSlots({ warps, max, perBlock }: { warps: number; max: number; perBlock: number }) {
  if (max <= 0 || max > 128) return null;
  return (
    <div class="slots" role="img" aria-label={`${warps} of ${max} warp slots in use`}>
      {Array.from({ length: max }, (_, i) => <i class={i < warps ? (Math.floor(i / perBlock) % 2 ? "on odd" : "on") : ""} />)}
    </div>
  );
}
