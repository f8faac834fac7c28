// What the advice engine says about a launch: what was seen, what to change, what it would gain, pictures where the
// addresses are known.
import type { Advice, Body, Example, Kind, Report, Site } from "./data";
import { costliest, pictureOf, type Picture } from "./access";
import { LaneMap } from "./accessview";
import { fileName, fixed, gainText, moreIsBetter, plural, short } from "./format";
import { Bar, GradeMark, Panel } from "./widgets";

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
  const more = moreIsBetter(unit);
  return (
    <div class="before-after" role="img" aria-label={`${unit}: ${fixed(before)} before, ${fixed(after)} after`}>
      <span class="ba-name">now</span><Bar share={before / most} tone={more ? undefined : "waste"} label={`${fixed(before, 1)} ${unit}`} />
      <span class="ba-name">after</span><Bar share={after / most} tone="good"
        label={<>{fixed(after, 1)} {unit} <GradeMark grade={advice.grade} reason={advice.reason} /> <span class="dim">{gainText(before, after, more)}</span></>} />
    </div>
  );
}

/** Pictures of these rules are of a warp of a block, whose threads are dealt to lanes anew. */
const ofBlock = new Set(["A102", "A104", "A107"]);

function Pictures({ report, advice, body }: { report: Report; advice: Advice; body: Body }) {
  const rules = { banks: report.gpu.shared_banks || 32, bankBytes: report.gpu.shared_bank_bytes || 4 };
  const sites = new Map<number, Site>();
  for (const line of body.lines) for (const site of line.sites) if (!sites.has(site.site)) sites.set(site.site, site);
  // Accesses of one advice may differ: what it costs at most is what the reader has seen in the numbers.
  const site = costliest((advice.sites ?? []).map((n) => sites.get(n)));
  const { picture } = advice;
  const width = picture?.lane_bytes ?? site?.lane_bytes ?? 4;
  const shown: { text: string; picture: Picture }[] = [];
  const add = (text: (cost: string) => string, example: Example | undefined, space: string, kind: string, bytes: number, cost?: number) => {
    const drawn = example && pictureOf(example, space, kind, bytes, rules);
    if (drawn) shown.push({ text: text(plural(cost ?? drawn.cost, drawn.unit)), picture: { ...drawn, cost: cost ?? drawn.cost } });
  };
  // What was counted goes before what the drawing adds up to: atomics on one address take turns in one sector.
  if (site) add((cost) => `now: ${cost} for the costliest request`, site.worst, site.space, site.kind, site.lane_bytes ?? 4, site.worst!.cost);
  if (picture?.before) {
    const typical = pictureOf(picture.before, picture.space, picture.kind ?? "load", width, rules);
    if (typical && typical.cost >= (shown[0]?.picture.cost ?? 0)) shown.length = 0;
    add((cost) => `now: ${cost} for ${ofBlock.has(advice.code) ? "the first warp of a recorded block" : "the most frequent request"}`,
      picture.before, picture.space, picture.kind ?? "load", width);
  }
  if (picture?.after)
    add((cost) => `after: ${cost}`, picture.after, picture.after_space ?? picture.space, picture.kind ?? "load", picture.after_lane_bytes ?? width);
  if (shown.length === 0) return null;
  return (
    <div class={`pictures ${shown.length > 1 ? "both" : ""}`}>
      {shown.map(({ text, picture: drawn }) => <figure><figcaption>{text}</figcaption><LaneMap picture={drawn} compact /></figure>)}
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
