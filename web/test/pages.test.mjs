// Pages as people use them: in a real browser, by mouse and keyboard. What is compared is what the page says, not pixels;
// screenshots are only checked to hold a picture with many colours.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, edit, here, open, pageOf, report, run, scratch } from "./common.mjs";

const skip = process.env.CHROMIUM ? false : "no chromium";
after(closeBrowser);

const text = (page, selector) => page.locator(selector).first().innerText();
/** Waits until the page says so: it draws what a key asked for a moment later. */
async function shows(page, selector, wanted) {
  const fits = (said) => (typeof wanted === "string" ? said === wanted : wanted.test(said));
  let said = "";
  for (let i = 0; i < 300; ++i) {
    said = await page.locator(selector).first().innerText({ timeout: 20_000 });
    if (fits(said)) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`${selector} says "${said}", not ${wanted}`);
}
const names = (page) => page.locator("tbody tr[data-row]").evaluateAll((rows) => rows.map((r) => r.dataset.row));
function good(page) {
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, [], "the page asked the network");
}

let transpose;
before(() => {
  if (!skip) transpose = pageOf("transpose", "transpose");
});

test("overview: kernels by traffic and waste, sorted and filtered", { skip }, async () => {
  const page = await open(transpose);
  await shows(page, "h1", "transpose");
  assert.equal((await names(page)).length, 3);
  await shows(page, "tr[data-row^=naiveRow]", /655 k[\s\S]*60\.0 %[\s\S]*100\.0 %[\s\S]*counted/);
  await page.click("[data-sort=name]");
  await shows(page, "tbody tr", /^copyRow/);
  assert.deepEqual((await names(page)).map((n) => n.replace(/\(.*/, "")), ["copyRow", "naiveRow", "unroll4Row"]);
  await page.click("[data-sort=name]");
  await shows(page, "tbody tr", /^unroll4Row/);
  await page.keyboard.press("/");
  await page.keyboard.type("copy");
  await shows(page, "tbody", /^copyRow\(.*\)[^(]*$/s);
  await page.keyboard.press("Escape");
  await shows(page, ".roofline, .panel:has-text('Roofline')", /no intensity|not modelled yet/i);
  await shows(page, ".cards", /not modelled yet/);
  good(page);
});

test("kernel page: chart, table and cause say what was counted", { skip }, async () => {
  const page = await open(transpose, "#kernel=naiveRow");
  assert.match(await page.title(), /^naiveRow/);
  const chart = await page.locator(".memchart").getAttribute("aria-label");
  assert.match(chart, /global load: 32768 requests, 131072 sectors/);
  assert.match(chart, /global store: 32768 requests, 524288 sectors/);
  const row = await text(page, "tr:has-text('global store')");
  assert.match(row, /32,768\s+524,288\s+sectors\s+16\.00\s+131,072\s+75\.0 %\s+25\.0 %/);
  await shows(page, ".hot-lines", /transpose\.cu:32[\s\S]*out\[ix \* ny \+ iy\][\s\S]*16 sectors per request where 4 would do/);
  assert.match(await page.locator(".memchart").textContent(), /modelled yet/);
  good(page);
});

test("source: heat, choosing lines by key, the real lanes, stepping through them", { skip }, async () => {
  const page = await open(transpose, "#kernel=naiveRow&tab=source");
  assert.equal(await page.locator("tr[data-line='32']").getAttribute("aria-selected"), "true");
  await shows(page, "tr[data-line='32']", /393 k/);
  assert.match(await page.locator("tr[data-line='32'] code").innerHTML(), /hljs-keyword/);
  await shows(page, "[data-test=step]", /all 16 lines/);
  await page.locator(".access").focus();
  await page.keyboard.press("ArrowRight");
  await shows(page, "[data-test=step]", /line 1 of 16: lanes 0, 16; 1 sector moved, 8 of 32 bytes/);
  await page.keyboard.press("End");
  await shows(page, "[data-test=step]", /line 16 of 16: lanes 15, 31/);
  await page.keyboard.press("ArrowDown");
  await shows(page, "[data-test=lane]", /^lane 0: 0x[0-9a-f]+/);
  await page.keyboard.press("Escape");
  await page.click("[data-site]:has-text('LDG')");
  await page.waitForURL(/site=\d+/);
  await shows(page, ".access-cost", /4 sectors where 4 would do/);
  await page.getByRole("radio", { name: "machine code" }).click();
  await page.click("tr[data-pc]:has-text('STG')");
  await shows(page, ".access-cost", /16 sectors where 4 would do/);
  await page.getByRole("radio", { name: "side by side" }).click();
  await page.locator("[data-pane=source]").waitFor();
  await page.locator("[data-pane=code]").waitFor();
  good(page);
});

test("links lead to a kernel, a line and a tab, and keys walk through the report", { skip }, async () => {
  const page = await open(transpose, "#kernel=unroll4Row&tab=source&line=44");
  await shows(page, "h1", /unroll4Row/);
  await shows(page, ".inspector h2", /transpose\.cu:44/);
  await page.keyboard.press("3");
  await shows(page, "[data-test=occupancy]", /%/);
  await page.keyboard.press("o");
  await shows(page, "h1", "transpose");
  await page.keyboard.press("j");
  await shows(page, "h1", /^(?!transpose$)/);
  const first = await text(page, "h1");
  await page.keyboard.press("j");
  await page.waitForFunction((h1) => document.querySelector("h1").innerText !== h1, first);
  await page.goBack();
  await shows(page, "h1", first);
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await page.goto(page.url().replace(/#.*/, "#kernel=nobody"));
  await shows(page, "h1", /No such kernel/);
  good(page);
});

test("banks: passes of shared memory", { skip }, async () => {
  const page = await open(pageOf("banks", "banks"), "#kernel=sumColumns<32>&tab=source");
  await shows(page, ".access-cost", /32 wavefronts where 4 would do/);
  await page.click("[aria-label='next step']");
  await shows(page, "[data-test=step]", /pass 1 of 32: lane 0; 4 banks busy/);
  assert.equal(await page.locator(".inspector .lane-map [data-step]").count(), 32);
  good(page);
});

test("local, constant and texture accesses, and atomics, have pictures or say why not", { skip }, async () => {
  const file = pageOf("spaces", "spaces");
  const page = await open(file, "#kernel=chosenAtRunTime&tab=source");
  await shows(page, ".inspector", /local (load|store)/);
  for (const [kernel, what] of [["lookUpConstant", /const load/], ["histogramGlobal", /global (red|atom)/], ["readTexture", /No request|not documented|texture/]]) {
    await page.goto(`${page.url().replace(/#.*/, "")}#kernel=${kernel}&tab=source`);
    await page.waitForFunction((k) => document.querySelector("h1").textContent.includes(k), kernel);
    assert.match(await text(page, ".inspector"), what);
  }
  good(page);
});

test("reductions waste sectors too, and the weakest part grades a kernel", { skip }, async () => {
  const page = await open(pageOf("reductions", "spaces"));
  // 8,192 sectors of loads that are ideal, 170,832 of reductions where 32,768 would do.
  await shows(page, "tr[data-row^=histogramGlobal]", /179 k[\s\S]*77\.1 %[\s\S]*modelled/);
  await shows(page, "tr[data-row^=lookUpConstant]", /32\.8 k[\s\S]*0\.0 %[\s\S]*counted/);
  await page.click("tr[data-row^=histogramGlobal]");
  await shows(page, ".page-title", /12 registers \(16 allocated\)/);
  await shows(page, ".card:has-text('Wasted sectors')", /77\.1 %[\s\S]*138,064 sectors beyond the least/);
  await shows(page, "tr:has-text('global red')", /170,832\s+sectors\s+[\d.]+\s+32,768\s+80\.8 %/);
  await shows(page, ".panel:has-text('Memory by kind of access') .panel-side", /modelled/);
  await shows(page, ".explain", /A broadcast of 4 bytes is 12\.5 % efficient and wastes nothing/);
  good(page);
});

test("occupancy what-if follows the sliders", { skip }, async () => {
  const page = await open(transpose, "#kernel=naiveRow&tab=occupancy");
  await shows(page, "[data-test=occupancy]", "100.0 %");
  await page.fill("input[type=number][aria-label^='registers']", "64");
  await page.keyboard.press("Tab");
  await shows(page, "[data-test=occupancy]", "50.0 %");
  await shows(page, "tr.limits", /registers/);
  await shows(page, ".lifts", /48 registers or fewer: 5 blocks, 62\.5 %/);
  await page.locator("#slider-registers-per-thread").focus();
  await page.keyboard.press("ArrowRight");
  await shows(page, "[data-test=occupancy]", "37.5 %");
  await page.getByRole("button", { name: "back to the launch" }).click();
  await shows(page, "[data-test=occupancy]", "100.0 %");
  await page.fill("input[type=number][aria-label^='shared']", "232448");
  await page.keyboard.press("Tab");
  await shows(page, "[data-test=occupancy]", "12.5 %");
  good(page);
});

test("the typical request stands beside the worst", { skip }, async () => {
  const file = pageOf("typical", "banks");
  const html = readFileSync(file, "utf8");
  // What muscope run adds where it recorded requests.
  writeFileSync(file, html.replaceAll('"worst":{', '"typical":{"mask":4294967295,"first":0,"stride":4,"count":9,"of":12,"block":3,"warp":1},"worst":{'));
  const page = await open(file, "#kernel=sumColumns<32>&tab=source");
  await shows(page, ".access-cost", /32 wavefronts where 4 would do/);
  await page.getByRole("radio", { name: "typical request" }).click();
  await shows(page, ".access-head", /block 3, warp 1, 9 of 12 requests are like this/);
  await shows(page, ".access-cost", /4 wavefronts where 4 would do/);
  await page.getByRole("radio", { name: "typical request" }).press("ArrowLeft");
  await shows(page, ".access-cost", /32 wavefronts/);
  good(page);
});

test("metrics are found by name and by what they are", { skip }, async () => {
  const page = await open(transpose, "#kernel=naiveRow&tab=metrics");
  const all = (await names(page)).length;
  await page.keyboard.press("/");
  await page.keyboard.type("sectors global_op_st.sum");
  await page.waitForFunction((n) => document.querySelectorAll("tbody tr[data-row]").length < n, all);
  const some = await names(page);
  assert.ok(some.length < all && some.includes("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"));
  await shows(page, "tr[data-row='l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum']", /524,288/);
  good(page);
});

test("a fault stands on top, with its place", { skip }, async () => {
  const page = await open(pageOf("fault", "fault"));
  await shows(page, "[role=alert]", /1 launch ended early/);
  await page.click("tr[data-row^=moveParticles]");
  const launches = page.locator(".launch-nav select");
  await launches.selectOption({ index: 1 });
  await shows(page, "[role=alert]", /D602[\s\S]*shared_alignment\.cu:\d+/);
  good(page);
});

test("two reports: what moved, kernel by kernel", { skip }, async () => {
  const after = report("transpose");
  const launch = after.launches.find((l) => l.kernel.startsWith("naiveRow"));
  launch.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"].value = 131072;
  launch.metrics["derived__memory_l2_theoretical_sectors_global_excessive"].value = 0;
  after.launches = after.launches.filter((l) => !l.kernel.startsWith("unroll4Row"));
  const page = await open(pageOf("compare", "transpose", after));
  await shows(page, "h1", "Before and after");
  await shows(page, "tr[data-row^=naiveRow]", /655 k → 262 k[\s\S]*better/);
  await shows(page, "tr[data-row^=unroll4Row]", /gone/);
  await page.click("tr[data-row^=naiveRow]");
  await shows(page, "tr[data-row='l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum']", /524,288\s+131,072\s+−75\.0 %/);
  await page.getByRole("button", { name: "open after" }).click();
  await page.waitForURL(/report=1/);
  await shows(page, "tr:has-text('global store')", /32,768/);
  await page.keyboard.press("o");
  await shows(page, "h1", "transpose");
  await page.keyboard.press("c");
  await shows(page, "h1", "Before and after");
  good(page);
});

test("verdicts are those of muscope diff", { skip }, async () => {
  const after = report("transpose");
  const launch = after.launches.find((l) => l.kernel.startsWith("naiveRow"));
  for (const line of launch.lines)
    for (const site of line.sites) if (site.space === "global" && site.kind === "store") site.sectors /= 4;
  const file = pageOf("verdict", "transpose", after);
  const told = JSON.parse(run(["diff", "--json", "-", join(here, "reports", "transpose.json"), join(scratch, "verdict-1.json")]));
  const page = await open(file, "", { viewport: { width: 1400, height: 900 } });
  await shows(page, "h1", "Before and after");
  assert.equal(told.kernels.find((k) => k.before.kernel.startsWith("naiveRow")).verdict, "better");
  await shows(page, "tr[data-row^=naiveRow] td:nth-child(2)", "better");
  await shows(page, "tr[data-row^=copyRow] td:nth-child(2)", "same");
  good(page);
});

test("tables of kernels are not cut off on a screen of 1,400 pixels", { skip }, async () => {
  const after = report("transpose");
  for (const launch of after.launches) for (const metric of Object.values(launch.metrics)) metric.value *= 3;
  const both = edit(pageOf("wide2", "transpose", after), (data) => data.verdicts.forEach((v) => (v[2] = "mixed: global load sectors worse")));
  for (const file of [transpose, pageOf("wide", "spaces"), both]) {
    const page = await open(file, "", { viewport: { width: 1400, height: 900 } });
    const [all, seen] = await page.locator(".table-wrap").first().evaluate((e) => [e.scrollWidth, e.clientWidth]);
    assert.ok(all <= seen, `${file}: ${all} of ${seen} pixels`);
  }
});

test("two programs with little in common are said to be two programs", { skip }, async () => {
  const other = report("spaces");
  const page = await open(pageOf("unrelated", "transpose", other));
  await page.keyboard.press("c");
  await shows(page, ".alert", /0 kernels are in both reports, 9 in one only: these look like different programs/);
  assert.equal((await names(page)).length, 0);
  await page.getByRole("button", { name: "with the others" }).click();
  assert.equal((await names(page)).length, 9);
  good(page);
});

test("advice: ranked on top, with its place and its gain", { skip }, async () => {
  const store = report("transpose").launches.find((l) => l.kernel.startsWith("naiveRow")).lines.flatMap((l) => l.sites).find((s) => s.kind === "store");
  const advice = [
    { code: "A101", title: "neighbouring lanes are a stride apart", text: "<b>seen</b>", change: "go through a shared tile", unit: "sectors", before: 524288,
      after: 131072, grade: "counted", reason: "replayed", saves: 9, bound: "none", at: { file: "examples/transpose/transpose.cu", line: 32, column: 1 }, sites: [store.site] },
    { code: "A105", title: "narrow", text: "t", change: "c", unit: "% occupancy", before: 50, after: 100, grade: "modelled", saves: 1, sites: [store.site],
      picture: { space: "global", after_space: "shared", kind: "store", lane_bytes: 4, after_lane_bytes: 8,
        before: { mask: 0xffffffff, first: 1024, stride: 128 }, after: { mask: 0xffffffff, first: 0, stride: 8 } } },
    { code: "A103", title: "picture", text: "t", change: "c", sites: [store.site],
      picture: { space: "global", kind: "store", lane_bytes: 4, before: { mask: 0xffffffff, first: 1024, stride: 4 } } },
    { code: "A999", text: "advice of a later version that has no title" },
  ];
  const page = await open(edit(pageOf("advice", "transpose"), (data) => {
    data.reports[0].kinds.find((k) => k.kernel.startsWith("naiveRow")).advice = advice;
  }));
  await shows(page, ".advice-brief li", /A101 neighbouring lanes are a stride apart 524 k → 131 k sectors in naiveRow/);
  await page.click(".advice-brief a");
  await shows(page, ".advice li", /<b>seen<\/b>[\s\S]*shared tile[\s\S]*75\.0 % less/);
  await shows(page, ".advice figcaption", /now: 16 sectors for the costliest request/);
  await shows(page, ".advice li:nth-child(2)", /50 % occupancy[\s\S]*100 % occupancy[\s\S]*× 2\.0/);
  await shows(page, ".advice li:nth-child(2) figure:nth-child(1)", /now: 32 sectors for the most frequent request/);
  await shows(page, ".advice li:nth-child(2) figure:nth-child(2)", /after: 2 wavefronts/);
  await shows(page, ".advice li:nth-child(3) figure:nth-child(1)", /now: 16 sectors for the costliest request/);
  await shows(page, ".advice li:nth-child(3) figure:nth-child(2)", /now: 4 sectors for the most frequent request/);
  await shows(page, ".advice li:nth-child(4)", /A999[\s\S]*no title/);
  await page.click(".advice .place");
  await shows(page, ".inspector h2", /transpose\.cu:32/);
  good(page);
});

test("hostile names and texts stay texts", { skip }, async () => {
  const one = report("transpose");
  const evil = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><!--";
  one.launches[0].kernel = `${evil}(int)`;
  one.program.argv = [evil];
  one.notes = [evil];
  one.launches[0].lines[0].sites[0].instruction = evil;
  one.launches[0].diagnostics = [{ severity: "warning", code: "D999", text: evil, help: evil }];
  const page = await open(pageOf("evil", one));
  assert.ok((await page.locator("body").innerText()).includes("<img src=x"));
  await page.goto(`${page.url().replace(/#.*/, "")}#launch=${one.launches[0].index}&tab=source`);
  await page.waitForSelector("[role=tablist]");
  await page.keyboard.press("1");
  assert.ok((await text(page, ".messages")).includes("</script>"));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  good(page);
});

test("dark, light, narrow, printed: there is always a picture", { skip }, async () => {
  const page = await open(transpose, "#kernel=naiveRow&tab=source", { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.keyboard.press("t");
  await page.waitForFunction((dark) => getComputedStyle(document.body).backgroundColor !== dark, dark);
  for (const width of [1440, 1024, 640]) {
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 1, `the page is ${over} pixels too wide at ${width}`);
    assert.ok((await page.screenshot()).length > 20_000);
  }
  await page.keyboard.press("t");
  await page.emulateMedia({ media: "print" });
  assert.equal(await background(), "rgb(255, 255, 255)");
  await page.waitForSelector(".occupancy");
  for (const part of [".memchart", ".source-file", ".occupancy", ".table-wrap"]) assert.ok(await page.locator(part).first().isVisible(), part);
  assert.ok(!(await page.locator(".sidebar").isVisible()));
  good(page);
});

test("contrast of text is that of WCAG AA in both themes", { skip }, async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(transpose, "#kernel=naiveRow", { colorScheme });
    const low = await page.evaluate(() => {
      const parse = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
      const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = (e) => {
        for (let at = e; at; at = at.parentElement) {
          const c = parse(getComputedStyle(at).backgroundColor);
          if (c.length === 3 || c[3] > 0.99) return c;
        }
        return [255, 255, 255];
      };
      const bad = [];
      for (const e of document.querySelectorAll("p, td, th, h1, h2, a, button, .card-note, .card-title, .dim, .cause-line")) {
        if (!e.textContent.trim() || e.closest("[disabled], svg, .sr-only")) continue;
        const a = luminance(parse(getComputedStyle(e).color)), b = luminance(behind(e));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) bad.push(`${e.className || e.tagName}: ${ratio.toFixed(2)} ${e.textContent.slice(0, 30)}`);
      }
      return bad;
    });
    assert.deepEqual(low, [], colorScheme);
  }
});

test("five hundred kernels open at once", { skip }, async () => {
  const many = report("transpose");
  const models = many.launches;
  many.launches = Array.from({ length: 500 }, (_, i) => {
    const launch = structuredClone(models[i % models.length]);
    launch.index = i;
    launch.kernel = `void kernel${String(i).padStart(3, "0")}<float, ${i}>(float*, int)`;
    launch.metrics["smsp__inst_executed.sum"].value += i;
    return launch;
  });
  const file = pageOf("many", many);
  const start = performance.now();
  const page = await open(file);
  const shown = performance.now() - start;
  const inPage = await page.evaluate(() => performance.now());
  // Generous: the machine may be at work on other tests.
  assert.ok(inPage < 15_000, `${inPage.toFixed(0)} ms until the page was there (${shown.toFixed(0)} ms seen from outside)`);
  await shows(page, ".cards", /500/);
  await page.keyboard.press("/");
  await page.keyboard.type("kernel499");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr[data-row]").length === 1);
  await page.keyboard.press("Escape");
  await page.click("tr[data-row*=kernel499]");
  await shows(page, "h1", /kernel499/);
  good(page);
});

test("launches that are alike share their lines", { skip }, async () => {
  const many = report("transpose");
  const model = many.launches[0];
  const size = (n) => {
    many.launches = Array.from({ length: n }, (_, i) => ({ ...structuredClone(model), index: i }));
    return readFileSync(pageOf(`alike${n}`, many)).length;
  };
  assert.ok(size(400) - size(1) < 400 * 40);
  const page = await open(join(scratch, "alike400.html"), `#launch=399`);
  await shows(page, ".launch-nav", /of 400/);
  await page.keyboard.press("[");
  await page.waitForURL(/launch=398/);
  good(page);
});

test("damaged data are told", { skip }, async () => {
  const file = join(scratch, "damaged.html");
  writeFileSync(file, readFileSync(transpose, "utf8").replace('"format":"muscope.page/1"', '"format":"muscope.page/9"'));
  const page = await open(file);
  await shows(page, "h1", /Nothing to show/);
});

test("a run of its own: muscope run --html", { skip }, async () => {
  const file = join(scratch, "run.html");
  run(["run", "-q", "--toolchain", "clang", "--html", file, "examples/bank_conflict/bank_conflict.cu"]);
  const page = await open(file, "#kernel=sumColumns<32>&tab=source");
  await shows(page, ".source-file h3", /^examples\/bank_conflict\/bank_conflict\.cu/);
  await shows(page, "tr.selected", /sum \+= tile/);
  await shows(page, ".access-cost", /32 wavefronts/);
  good(page);
});
