// The frame around every page: the list of kernels, navigation, keys, themes.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Compare } from "./compare";
import type { Page, Report } from "./data";
import { percent } from "./format";
import { KernelPage } from "./kernelpage";
import { sumsOf } from "./kernels";
import { Overview, RunPage } from "./overview";
import { go, launchOf, parseRoute, tabs, useRoute, type Route } from "./route";
import { Bar, KernelName, Panel } from "./widgets";

type Theme = "auto" | "light" | "dark";

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem("muscope-theme");
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto"; // pages from files have no storage in some browsers
  }
}

function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("muscope-theme", theme);
    } catch { /* kept for this visit only */ }
  }, [theme]);
  const next = () => setTheme((t) => {
    const dark = t === "dark" || (t === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    return dark ? "light" : "dark";
  });
  return [theme, next];
}

const keys: [string, string][] = [
  ["/", "filter the kernels"], ["j  k", "next, previous kernel"], ["[  ]", "previous, next launch of the kernel"],
  ["1 to 4", "summary, source, occupancy, metrics"], ["n  p", "source: next, previous line that accesses memory"],
  ["← →", "access view: previous, next pass"], ["↑ ↓", "access view: lanes; tables: rows"], ["o", "overview"],
  ["c", "comparison, where the page holds two reports"], ["t", "light or dark"], ["?", "this list"], ["Esc", "close, leave a field"],
];

function Help({ onClose }: { onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} class="help" aria-label="Keys" onClose={onClose} onClick={(e) => e.target === box.current && box.current?.close()}>
      <h2>Keys</h2>
      <dl class="facts">{keys.map(([key, text]) => <><dt><kbd>{key}</kbd></dt><dd>{text}</dd></>)}</dl>
      <button type="button" autofocus onClick={() => box.current?.close()}>Close</button>
    </dialog>
  );
}

const listed = 400;

function Sidebar({ page, report, route, onHelp, onTheme }: {
  page: Page; report: Report; route: Route; onHelp: () => void; onTheme: () => void;
}) {
  const [filter, setFilter] = useState("");
  const sums = useMemo(() => report.kernels.map(sumsOf).sort((a, b) => b.traffic - a.traffic), [report]);
  const rows = sums.filter((s) => s.kernel.name.toLowerCase().includes(filter.trim().toLowerCase()));
  const current = route.view === "kernel" ? launchOf(report, route)?.kind.kernel : undefined;
  const most = sums[0]?.traffic ?? 0;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const nav = (view: Route["view"], text: string) => (
    <a href={`#${report.number ? `report=${report.number}&` : ""}view=${view}`} aria-current={route.view === view ? "page" : undefined}
      onClick={(e) => { e.preventDefault(); go({ view, report: report.number }); }}>{text}</a>
  );
  return (
    <nav class="sidebar" aria-label="Report">
      <div class="brand">
        <svg viewBox="0 0 16 16" width="22" height="22" aria-hidden="true"><rect width="16" height="16" rx="3.5" class="brand-box" /><path d="M3 11.5v-7m3.3 7v-7m3.4 7v-7m3.3 7v-7" class="brand-lines" /></svg>
        <b>muscope</b>
        <span class="brand-buttons">
          <button type="button" class="icon" onClick={onTheme} title="light or dark (t)" aria-label="Switch between light and dark">◐</button>
          <button type="button" class="icon" onClick={onHelp} title="keys (?)" aria-label="Keys">?</button>
        </span>
      </div>
      {page.reports.length > 1 && (
        <label class="which">report <select value={report.number} onChange={(e) => go({ view: "overview", report: Number((e.target as HTMLSelectElement).value) })}>
          <option value={0}>before</option><option value={1}>after</option></select></label>
      )}
      <div class="nav">
        {page.reports.length > 1 && nav("compare", "Comparison")}
        {nav("overview", "Overview")}
        {nav("run", "Run, copies, GPU")}
      </div>
      <div class="side-head"><span>Kernels</span><span class="dim">{rows.length === sums.length ? sums.length : `${rows.length} of ${sums.length}`}</span></div>
      <input id="side-filter" type="search" placeholder="filter" aria-label="Filter the list of kernels" value={filter}
        onInput={(e) => setFilter((e.target as HTMLInputElement).value)} />
      <ul class="kernel-list" ref={list}>
        {rows.slice(0, listed).map((s) => (
          <li>
            <a href={`#kernel=${encodeURIComponent(s.kernel.name)}`} aria-current={s.kernel.name === current ? "page" : undefined}
              onClick={(e) => {
                e.preventDefault();
                go({ view: "kernel", report: report.number, kernel: s.kernel.name, tab: route.view === "kernel" ? route.tab : "summary" });
              }}>
              <span class="side-name"><KernelName name={s.kernel.name} />{s.failed > 0 && <span class="tag error">!</span>}</span>
              <span class="side-numbers"><Bar share={most ? s.traffic / most : 0} />
                <span class={s.wasteShare > 0.2 ? "waste-text" : "dim"}>{s.wasteShare > 0 ? `${percent(s.wasteShare, 1, 0)} waste` : s.conflicts ? "conflicts" : ""}</span></span>
            </a>
          </li>
        ))}
        {rows.length > listed && <li class="dim hint">{rows.length - listed} more: filter, or see the overview</li>}
      </ul>
    </nav>
  );
}

export function App({ page }: { page: Page }) {
  const asked = useRoute();
  const route = useMemo(
    (): Route => (asked.view === "start" ? { ...asked, view: page.reports.length > 1 ? "compare" : "overview" } : asked), [asked]);
  const [, nextTheme] = useTheme();
  const [help, setHelp] = useState(false);
  const report = page.reports[route.report] ?? page.reports[0];
  const main = useRef<HTMLElement>(null);
  const place = `${route.view} ${route.report} ${route.kernel}`;
  useEffect(() => main.current?.scrollTo(0, 0), [place]);
  useEffect(() => {
    if (!report) return;
    const launch = route.view === "kernel" ? launchOf(report, route) : undefined;
    const program = report.program.argv[0]?.replace(/^.*\//, "") ?? "report";
    document.title = `${launch ? `${launch.kind.kernel.replace(/\(.*/s, "")} - ` : ""}${program} - muscope`;
  }, [route, report]);
  useEffect(() => {
    if (!report) return;
    const order = report.kernels.map(sumsOf).sort((a, b) => b.traffic - a.traffic).map((s) => s.kernel);
    const onKey = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      if (target.matches?.("input:not([type=range]), textarea, select")) {
        if (e.key === "Escape") target.blur();
        return;
      }
      // As the address is now: a key may come before the page is drawn anew.
      const route = parseRoute(location.hash);
      const launch = route.view === "kernel" ? launchOf(report, route) : undefined;
      const kernelAt = launch ? order.findIndex((k) => k.name === launch.kind.kernel) : -1;
      const open = (more: Partial<Route>) => go({ view: "kernel", report: report.number, tab: route.tab, ...more });
      const handled = (() => {
        switch (e.key) {
          case "/": {
            const field = document.querySelector<HTMLInputElement>(".page input[type=search]") ?? document.querySelector<HTMLInputElement>("#side-filter");
            field?.focus();
            field?.select();
            return true;
          }
          case "?": setHelp(true); return true;
          case "t": nextTheme(); return true;
          case "o": go({ view: "overview", report: report.number }); return true;
          case "c": if (page.reports.length > 1) go({ view: "compare" }); return true;
          case "j": case "k": {
            const next = order[e.key === "j" ? kernelAt + 1 : Math.max(0, kernelAt - 1)];
            if (next) open({ kernel: next.name });
            return true;
          }
          case "[": case "]": {
            if (!launch) return false;
            const all = report.kernels.find((k) => k.name === launch.kind.kernel)!.launches;
            const next = all[all.indexOf(launch) + (e.key === "]" ? 1 : -1)];
            if (next) open({ kernel: launch.kind.kernel, launch: next.index });
            return true;
          }
          case "1": case "2": case "3": case "4":
            if (!launch) return false;
            open({ kernel: launch.kind.kernel, launch: launch.index, tab: tabs[Number(e.key) - 1]! });
            return true;
        }
        return false;
      })();
      if (handled) e.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [report]);
  if (!report) return <main class="main"><div class="page"><h1>Nothing to show</h1><p>{page.error ?? "This page holds no report."}</p></div></main>;
  const two = page.reports.length > 1;
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>to the content</a>
      <Sidebar page={page} report={report} route={route} onHelp={() => setHelp(true)} onTheme={nextTheme} />
      <main class="main" id="main" ref={main} tabIndex={-1}>
        {report.launches.length === 0 && route.view !== "run" && !(two && route.view === "compare")
          ? <div class="page"><Panel title="No launch in this report"><p>The program launched no kernel that was counted. The messages below say what is known.</p></Panel><RunPage report={report} /></div>
          : route.view === "kernel" ? <KernelPage report={report} route={route} />
          : route.view === "run" ? <RunPage report={report} />
          : two && route.view === "compare" ? <Compare before={page.reports[0]!} after={page.reports[1]!} verdicts={page.verdicts} />
          : <Overview report={report} />}
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}
