// Makes dist/report.html: the page, its styles and its program in one file, with the mark where muscope puts a report.
//   node build.mjs [OUT]
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist", "report.html");

const made = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx", "src/style.css"],
  outdir: "out",
  write: false,
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: ["chrome100", "firefox100", "safari15.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
});
const text = (end) => made.outputFiles.find((file) => file.path.endsWith(end)).text.trim();
const inScript = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const licences = await readFile(join(here, "src", "licences.txt"), "utf8");

let page = await readFile(join(here, "src", "page.html"), "utf8");
for (const [mark, content] of [
  ["/*styles*/", text(".css")],
  ["/*program*/", inScript],
  ["licences", licences.trim()],
]) {
  if (page.split(mark).length !== 2) throw new Error(`page.html must have ${mark} once`);
  page = page.replace(mark, () => content);
}
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
