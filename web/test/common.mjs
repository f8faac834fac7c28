// What the tests of the page share: modules of the page, pages made by muscope, a browser.
//   MUSCOPE        the program (required)
//   CHROMIUM       the browser; without it tests of pages are skipped
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = process.env.MUSCOPE_SOURCE ?? join(here, "..", "..");
export const muscope = process.env.MUSCOPE;
export const scratch = mkdtempSync(join(tmpdir(), "muscope-web-"));

/** A module of src/, made from TypeScript. */
export async function load(name) {
  const out = join(scratch, `${name}.mjs`);
  await build({ entryPoints: [join(here, "..", "src", `${name}.ts`)], bundle: true, format: "esm", outfile: out, logLevel: "error" });
  return import(pathToFileURL(out));
}

export function report(name) {
  return JSON.parse(readFileSync(join(here, "reports", `${name}.json`), "utf8"));
}

export function run(args, options = {}) {
  return execFileSync(muscope, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, ...options });
}

/** A page made from reports (objects or names), as muscope makes it; its path. */
export function pageOf(name, ...reports) {
  const files = reports.map((r, i) => {
    if (typeof r === "string") return join(here, "reports", `${r}.json`);
    const file = join(scratch, `${name}-${i}.json`);
    writeFileSync(file, JSON.stringify(r));
    return file;
  });
  const out = join(scratch, `${name}.html`);
  run(["html", ...files, "-o", out]);
  return out;
}

/** Changes the data of a page: what a later version of muscope may write. */
export function edit(file, change) {
  const page = readFileSync(file, "utf8");
  const [, before, data, behind] = /^([\s\S]*id="muscope-data">)(.*)(<\/script>[\s\S]*)$/m.exec(page);
  const json = JSON.parse(data);
  change(json);
  writeFileSync(file, before + JSON.stringify(json).replaceAll("<", "\\u003c") + behind);
  return file;
}

let browser;
export async function open(file, hash = "", options = {}) {
  if (!browser) {
    const { chromium } = await import("playwright-core");
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  }
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.problems = [];
  page.requests = [];
  page.on("pageerror", (e) => page.problems.push(String(e)));
  page.on("console", (m) => m.type() === "error" && page.problems.push(m.text()));
  page.on("request", (r) => /^(file|data|about|blob):/.test(r.url()) || page.requests.push(r.url()));
  await page.goto(`${pathToFileURL(file)}${hash}`);
  await page.waitForSelector(".page");
  return page;
}
export async function closeBrowser() {
  await browser?.close();
}
