// The rules that the page repeats in TypeScript, held against muscope itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, report, run } from "./common.mjs";

const shapes = [
  [32, 16, 0], [64, 40, 0], [96, 33, 1], [128, 255, 0], [192, 64, 1024], [256, 32, 49152], [256, 72, 50000], [288, 48, 3000],
  [512, 64, 100000], [512, 128, 0], [640, 40, 16384], [768, 80, 0], [1024, 32, 0], [1024, 64, 65536], [1024, 65, 0],
  [1000, 24, 7777], [32, 0, 232448], [64, 24, 232449], [416, 168, 12288],
];

test("occupancy is what `muscope occupancy` says", async () => {
  const { occupancy } = await load("occupancy");
  for (const gpu of ["h200", "a100", "sm_75", "sm_61", "sm_60"]) {
    const spec = JSON.parse(run(["gpu", "--json", gpu]));
    const limits = limitsOf(spec);
    for (const [threads, registers, shared] of shapes) {
      const words = ["occupancy", "--gpu", gpu, "--block", String(threads), "--shared", String(shared), "--json"];
      if (registers) words.push("--regs", String(registers));
      const told = JSON.parse(run(words)).launch;
      const own = occupancy(limits, { threads, registers, shared }, spec.compute_capability);
      const where = `${gpu} ${threads} threads ${registers} registers ${shared} bytes`;
      assert.equal(own.blocks, told.blocks_per_sm, where);
      assert.ok(Math.abs(own.percent - told.occupancy.value) < 1e-9, where);
      assert.deepEqual([...own.limiters].sort(), [...told.limiters].sort(), where);
      assert.equal(own.impossible !== "", told.blocks_per_sm === 0, where);
    }
  }
});

test("pictures of accesses cost what the report counted", async () => {
  const { pictureOf } = await load("access");
  let compared = 0;
  const seen = new Set();
  for (const name of ["transpose", "banks", "spaces", "fault"]) {
    for (const launch of report(name).launches)
      for (const line of launch.lines)
        for (const site of line.sites) {
          if (!site.worst || site.space === "texture") continue;
          // Sectors of atomics follow other rules, and matrix loads and copies have rows of their own.
          if (!["load", "store"].includes(site.kind)) continue;
          let mask = 0;
          site.worst.addresses.forEach((a, lane) => { if (a !== null) mask |= 1 << lane; });
          const example = { mask, addresses: site.worst.addresses.filter((a) => a !== null) };
          const picture = pictureOf(example, site.space, site.kind, site.lane_bytes, { banks: 32, bankBytes: 4 });
          assert.equal(picture.cost, site.worst.cost, `${name}: ${launch.kernel} ${site.instruction}`);
          picture.stepOf.forEach((step, lane) => assert.equal(step >= 0, site.worst.addresses[lane] !== null));
          seen.add(`${site.space} ${site.kind}`);
          ++compared;
        }
  }
  assert.ok(compared > 60, `${compared} compared`);
  for (const kind of ["global load", "global store", "shared load", "shared store", "local load", "local store", "const load"])
    assert.ok(seen.has(kind), `no ${kind} in the reports`);
});

test("wide shared accesses go in parts of a warp, and equal pairs join", async () => {
  const { pictureOf } = await load("access");
  const rules = { banks: 32, bankBytes: 4 };
  const of = (address, kind, bytes) =>
    pictureOf({ mask: 0xffffffff | 0, addresses: Array.from({ length: 32 }, (_, l) => address(l)) }, "shared", kind, bytes, rules);
  assert.equal(of((l) => 16 * l, "load", 16).cost, 4);
  assert.equal(of((l) => 8 * l, "load", 8).cost, 2);
  assert.equal(of((l) => 16 * (l >> 1), "load", 16).cost, 2); // neighbours alike
  assert.equal(of((l) => 16 * (l >> 1), "store", 16).cost, 4);
  assert.equal(of((l) => 128 * l, "load", 4).cost, 32);
  assert.equal(of(() => 0, "load", 4).cost, 1);
  assert.equal(of(() => 0, "atom", 4).cost, 32);
});

test("routes survive the way through the address", async () => {
  const { hashOf, parseRoute } = await load("route");
  const route = { view: "kernel", report: 1, kernel: "void f<int, (char)38>(a&b=c#d %41)", launch: 7, tab: "source", file: "x y.cu", line: 41, site: 3 };
  assert.deepEqual(parseRoute(hashOf(route)), route);
  assert.equal(parseRoute("#kernel=naiveRow").kernel, "naiveRow");
  assert.equal(parseRoute("#kernel=k&launch=-1&tab=nonsense").tab, "summary");
  assert.equal(parseRoute("").view, "start");
  assert.equal(parseRoute(hashOf({ view: "overview" })).view, "overview");
});

function limitsOf(spec) {
  const limits = {};
  for (const [name, value] of Object.entries(spec)) if (value && typeof value === "object" && "value" in value) limits[name] = value.value;
  return limits;
}

test("bytes are written as the text report writes them", async () => {
  const { bytes } = await load("format");
  // As FormatBytes of src/report/text_parts_test.cc.
  assert.deepEqual([0, 1023, 1024, 4096, 1024 * 1024 - 1, 1024 * 1024, 5 * 1024 ** 3].map(bytes),
    ["0 B", "1,023 B", "1.0 KiB", "4.0 KiB", "1.0 MiB", "1.0 MiB", "5.0 GiB"]);
});

test("more of some things is better", async () => {
  const { gainText, moreIsBetter } = await load("format");
  for (const unit of ["% SMs in use", "% lanes in use", "% occupancy", "bytes in flight per SM"]) assert.ok(moreIsBetter(unit), unit);
  for (const unit of ["sectors", "constant requests", "barriers per block", "requested updates", "pages"]) assert.ok(!moreIsBetter(unit), unit);
  assert.equal(gainText(12.5, 100, true), "× 8.0");
  assert.equal(gainText(0, 100, true), "more");
  assert.equal(gainText(200, 25, false), "87.5 % less");
});

test("the picture of an advice is of its costliest access", async () => {
  const { costliest } = await load("access");
  const site = (cost) => ({ worst: { mask: 1, cost } });
  const five = site(5);
  assert.equal(costliest([undefined, {}, site(4), five, site(5)]), five);
  assert.equal(costliest([{}, undefined]), undefined);
});
