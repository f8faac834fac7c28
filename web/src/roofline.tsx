// The roofline of a run: operations per byte against operations per second. Where no time is predicted a kernel stands
// on the roof at its intensity: drawn hollow, for it is no prediction.
import { scaleLog } from "d3-scale";
import { countOf, type Report } from "./data";
import { baseName, fixed, short } from "./format";
import { dramBytes, flops, time, type Sums } from "./kernels";

/** Multiply-adds of single precision per SM and cycle: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
 * Instructions". */
const fp32PerSm: Record<string, number> = {
  "5.0": 128, "5.2": 128, "5.3": 128, "6.0": 64, "6.1": 128, "6.2": 128, "7.0": 64, "7.2": 64, "7.5": 64, "8.0": 64,
  "8.6": 128, "8.7": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128,
};

interface Point {
  name: string;
  label: string;
  intensity: number;
  rate: number | undefined; // operations per second, where time is predicted
  operations: number;
  bytes: number;
  launches: number;
}

export function Roofline({ report, sums, onOpen }: { report: Report; sums: Sums[]; onOpen: (kernel: string) => void }) {
  const { limits } = report.gpu;
  const bandwidth = limits.memory_bandwidth_gbs ? limits.memory_bandwidth_gbs * 1e9 : undefined;
  const perSm = fp32PerSm[report.gpu.cc];
  const peak = perSm && limits.sm_count && limits.clock_mhz ? perSm * 2 * limits.sm_count * limits.clock_mhz * 1e6 : undefined;
  const points: Point[] = [];
  let measured = false;
  for (const { kernel } of sums) {
    let operations = 0;
    let moved = 0;
    let seconds = 0;
    let timed = true;
    for (const { kind } of kernel.launches) {
      operations += flops(kind.metrics);
      const dram = countOf(kind.metrics, ...dramBytes);
      moved += dram > 0 ? dram : 32 * kind.traffic;
      if (dram > 0) measured = true;
      const ns = kind.metrics.get(time)?.value;
      if (ns === undefined) timed = false;
      else seconds += ns * 1e-9;
    }
    if (operations > 0 && moved > 0)
      points.push({
        name: kernel.name, label: baseName(kernel.name), intensity: operations / moved, operations, bytes: moved,
        rate: timed && seconds > 0 ? operations / seconds : undefined, launches: kernel.launches.length,
      });
  }
  if (bandwidth === undefined) return <p class="empty">The bandwidth of this GPU's memory is not known: no roof to draw.</p>;
  if (points.length === 0)
    return <p class="empty">No kernel of this run computed with floating-point numbers: there is no intensity to plot.</p>;

  const width = 560, height = 300, left = 62, right = 14, top = 14, bottom = 42;
  const ridge = peak ? peak / bandwidth : 16;
  const low = Math.min(ridge / 100, ...points.map((p) => p.intensity)) / 1.6;
  const high = Math.max(ridge * 8, ...points.map((p) => p.intensity)) * 1.6;
  const roof = (intensity: number) => Math.min(intensity * bandwidth, peak ?? Infinity);
  const x = scaleLog([low, high], [left, width - right]);
  const rates = points.map((p) => p.rate ?? roof(p.intensity));
  const y = scaleLog(
    [Math.min(roof(low), ...rates) / 1.5, Math.max(roof(high), ...rates) * 2], [height - bottom, top]);
  const path = peak ? `M${x(low)},${y(roof(low))}L${x(ridge)},${y(peak)}L${x(high)},${y(peak)}`
    : `M${x(low)},${y(roof(low))}L${x(high)},${y(roof(high))}`;
  const decades = (scale: typeof x) =>
    scale.ticks(8).filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9);
  const timed = points.some((p) => p.rate !== undefined);
  // Labels that would lie on each other are left out; the table below the plot has them all.
  const placed: { x: number; y: number }[] = [];
  return (
    <figure class="roofline">
      <svg viewBox={`0 0 ${width} ${height}`} role="img"
        aria-label={`Roofline: ${points.length} kernels, memory roof ${short(bandwidth)} byte per second`}>
        {decades(x).map((t) => (
          <g><line class="grid" x1={x(t)} x2={x(t)} y1={top} y2={height - bottom} />
            <text class="tick" x={x(t)} y={height - bottom + 15} text-anchor="middle">{fixed(t, 2)}</text></g>
        ))}
        {decades(y as typeof x).map((t) => (
          <g><line class="grid" x1={left} x2={width - right} y1={y(t)} y2={y(t)} />
            <text class="tick" x={left - 6} y={y(t) + 4} text-anchor="end">{short(t)}</text></g>
        ))}
        <path class="roof" d={path} />
        <text class="roof-label" x={x(low * 2.2)} y={y(roof(low * 2.2)) - 10}
          transform={`rotate(${-(Math.atan2(y(roof(low)) - y(roof(low * 4)), x(low * 4) - x(low)) * 180) / Math.PI} ${x(low * 2.2)} ${y(roof(low * 2.2)) - 10})`}>
          device memory {short(bandwidth)}B/s</text>
        {peak && <text class="roof-label" x={x(high) - 4} y={y(peak) - 6} text-anchor="end">single precision {short(peak)}FLOP/s</text>}
        {points.map((p) => {
          const at = { x: x(p.intensity), y: y(p.rate ?? roof(p.intensity)) };
          const free = placed.every((o) => Math.abs(o.x - at.x) > 74 || Math.abs(o.y - at.y) > 12);
          if (free) placed.push(at);
          const flip = at.x > width - 130;
          const what = `${p.label}: ${fixed(p.intensity, 3)} operations per byte, ${p.rate ? `${short(p.rate)}FLOP/s` : `${short(roof(p.intensity))}FLOP/s if device memory alone set the pace`}`;
          return (
            <a href={`#kernel=${encodeURIComponent(p.name)}`} aria-label={what}
              onClick={(e) => { e.preventDefault(); onOpen(p.name); }}>
              <title>{what}</title>
              {p.rate === undefined && <line class="bound" x1={at.x} x2={at.x} y1={at.y} y2={height - bottom} />}
              <circle class={p.rate === undefined ? "point hollow" : "point"} cx={at.x} cy={at.y} r={5} />
              {free && <text class="point-label" x={at.x + (flip ? -8 : 8)} y={at.y + 16} text-anchor={flip ? "end" : "start"}>{p.label.slice(0, 22)}</text>}
            </a>
          );
        })}
        <text class="axis" x={(left + width - right) / 2} y={height - 6} text-anchor="middle">
          floating-point operations per byte {measured ? "of device memory" : "of global and local memory requested of L1"}</text>
        <text class="axis" transform={`translate(12 ${(top + height - bottom) / 2}) rotate(-90)`} text-anchor="middle">FLOP/s</text>
      </svg>
      <figcaption>
        {timed ? "● predicted. " : ""}
        {points.some((p) => p.rate === undefined) &&
          <>○ Time is <b>not modelled yet</b>. A kernel stands where it would be if device memory moved {measured ? "its bytes" : "every sector it asks for"} at
            full speed and nothing else took time: whatever does moves it down{measured ? "." : ", and what L1 and L2 keep, which is not modelled yet either, moves it to the right."}</>}
      </figcaption>
    </figure>
  );
}
