// Where the reader is, kept in the address so that links lead there:
//   #kernel=naiveRow(float*, ...)&launch=2&tab=source&line=41&site=7
import { useEffect, useState } from "preact/hooks";
import type { Launch, Report } from "./data";

export type Tab = "summary" | "source" | "occupancy" | "metrics";
export const tabs: Tab[] = ["summary", "source", "occupancy", "metrics"];

export interface Route {
  /** "start": nothing was asked for: the comparison where there are two reports, else the overview. */
  view: "start" | "overview" | "kernel" | "compare" | "run";
  report: number;
  kernel?: string;
  launch?: number;
  tab: Tab;
  file?: string;
  line?: number;
  site?: number;
}

export function parseRoute(hash: string): Route {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const text = words.get(name);
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const view = words.get("view");
  const tab = words.get("tab") as Tab;
  const kernel = words.get("kernel") ?? undefined;
  return {
    view: kernel !== undefined || words.has("launch") ? "kernel"
      : view === "compare" || view === "run" || view === "overview" ? view : "start",
    report: number("report") ?? 0,
    kernel,
    launch: number("launch"),
    tab: tabs.includes(tab) ? tab : "summary",
    file: words.get("file") ?? undefined,
    line: number("line"),
    site: number("site"),
  };
}

export function hashOf(route: Partial<Route>): string {
  const words = new URLSearchParams();
  if (route.report) words.set("report", String(route.report));
  if (route.view && route.view !== "kernel" && route.view !== "start") words.set("view", route.view);
  if (route.view === "kernel" || route.kernel !== undefined) {
    if (route.kernel !== undefined) words.set("kernel", route.kernel);
    if (route.launch !== undefined) words.set("launch", String(route.launch));
    if (route.tab && route.tab !== "summary") words.set("tab", route.tab);
    if (route.file !== undefined) words.set("file", route.file);
    if (route.line !== undefined) words.set("line", String(route.line));
    if (route.site !== undefined) words.set("site", String(route.site));
  }
  return `#${words}`;
}

/** The launch that a route means: by number, else the first of the kernel of that name, in full or in part. */
export function launchOf(report: Report, route: Route): Launch | undefined {
  if (route.launch !== undefined) {
    const launch = report.launches.find((l) => l.index === route.launch);
    if (launch && (route.kernel === undefined || launch.kind.kernel.includes(route.kernel))) return launch;
  }
  if (route.kernel === undefined) return undefined;
  const exact = report.kernels.find((k) => k.name === route.kernel);
  return (exact ?? report.kernels.find((k) => k.name.includes(route.kernel!)))?.launches[0];
}

export function go(route: Partial<Route>, replace = false): void {
  const hash = hashOf(route);
  if (replace) {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else if (location.hash !== hash) {
    location.hash = hash;
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
