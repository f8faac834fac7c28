// What the advice engine says about a launch: what was seen, what to change, what it would gain, pictures where the
// addresses are known.
import type { Advice, Body, Kind, Report, Site } from "./data";
import { pictureOf } from "./access";
import { LaneMap } from "./accessview";
import { fileName, fixed, percent, plural, short } from "./format";
import { Bar, GradeMark, Panel } from "./widgets";

const higherIsBetter = (unit: string) => /occupancy|hit/.test(unit);

export function AdviceHead({ advice }: { advice: Advice }) {
  const { before, after, unit } = advice;
  return (
    <>
      <code class="rule">{advice.code}</code> <span>{advice.title || advice.text}</span>
      {unit && before !== undefined && after !== undefined && before !== after && (
        <span class="gain"> {short(before)} → {short(after)} {unit}</span>
      )}
    </>
  );
}

function BeforeAfter({ advice }: { advice: Advice }) {
  const { before, after, unit } = advice;
  if (!unit || before === undefined || after === undefined || before === after) return null;
  const most = Math.max(before, after);
  const better = higherIsBetter(unit);
  const change = better ? after - before : before > 0 ? (before - after) / before : 0;
  return (
    <div class="before-after" role="img" aria-label={`${unit}: ${fixed(before)} before, ${fixed(after)} after`}>
      <span class="ba-name">now</span><Bar share={before / most} tone={better ? undefined : "waste"} label={`${fixed(before, 1)} ${unit}`} />
      <span class="ba-name">after</span><Bar share={after / most} tone="good"
        label={<>{fixed(after, 1)} <GradeMark grade={advice.grade} reason={advice.reason} /> <span class="dim">{better ? `+${fixed(change, 1)}` : `${percent(change)} less`}</span></>} />
    </div>
  );
}

/** Pictures of these rules are of a warp of a block, whose threads are dealt to lanes anew. */
const ofBlock = new Set(["A102", "A104", "A107"]);

function Pictures({ report, advice, body }: { report: Report; advice: Advice; body: Body }) {
  const rules = { banks: report.gpu.shared_banks || 32, bankBytes: report.gpu.shared_bank_bytes || 4 };
  const sites = new Map<number, Site>();
  for (const line of body.lines) for (const site of line.sites) if (!sites.has(site.site)) sites.set(site.site, site);
  const site = (advice.sites ?? []).map((n) => sites.get(n)).find((s) => s?.worst);
  const space = advice.picture?.space ?? site?.space;
  const kind = advice.picture?.kind ?? site?.kind ?? "load";
  const width = advice.picture?.lane_bytes ?? site?.lane_bytes ?? 4;
  const before = advice.picture?.before ?? site?.typical ?? site?.worst;
  const after = advice.picture?.after;
  if (!space || !before) return null;
  const now = pictureOf(before, space, kind, width, rules);
  const then = after && pictureOf(after, advice.picture?.after_space ?? space, kind, advice.picture?.after_lane_bytes ?? width, rules);
  if (!now) return null;
  return (
    <div class={`pictures ${then ? "both" : ""}`}>
      <figure><figcaption>now: {plural(now.cost, now.unit)} for {advice.picture && ofBlock.has(advice.code) ? "the first warp of a recorded block" : advice.picture || site?.typical ? "the most frequent request" : "the costliest request"}</figcaption><LaneMap picture={now} compact /></figure>
      {then && <figure><figcaption>after: {plural(then.cost, then.unit)}</figcaption><LaneMap picture={then} compact /></figure>}
    </div>
  );
}

export function AdviceList({ report, kind, body, onPlace }: {
  report: Report; kind: Kind; body: Body; onPlace: (file: string, line: number) => void;
}) {
  if (kind.advice.length === 0) return null;
  return (
    <Panel title="Advice" side={<span class="dim">best first</span>}>
      <ol class="advice">
        {kind.advice.map((a) => (
          <li id={`advice-${a.code}`}>
            <div class="advice-title"><code class="rule">{a.code}</code> <b>{a.title ?? ""}</b>
              {a.at && a.at.line > 0 && a.at.file && (
                <button type="button" class="place" onClick={() => onPlace(a.at!.file, a.at!.line)}>{fileName(a.at.file)}:{a.at.line}</button>
              )}
            </div>
            <p>{a.text}</p>
            {a.change && <p class="change"><b>Change:</b> {a.change}</p>}
            <BeforeAfter advice={a} />
            {a.bound && <p class="dim">Limit of the gain: {a.bound}</p>}
            <Pictures report={report} advice={a} body={body} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}
