// Numbers and names as people read them.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number | undefined): string {
  return value === undefined ? "-" : whole.format(value);
}

/** 1,234 stays; 12.3 M, 4.5 G. */
export function short(value: number): string {
  const size = Math.abs(value);
  for (const [limit, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]] as const)
    if (size >= limit) {
      const scaled = value / (limit === 1e4 ? 1e3 : limit);
      return `${scaled.toFixed(Math.abs(scaled) < 10 ? 2 : Math.abs(scaled) < 100 ? 1 : 0)} ${unit}`;
    }
  return fixed(value);
}

/** As many decimals as tell something; none for whole numbers. */
export function fixed(value: number, decimals = 2): string {
  return Number.isInteger(value) ? whole.format(value) : value.toLocaleString("en-US", {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  });
}

/** "512 B", "4.0 KiB": as the text report writes them (format_bytes in src/report). */
export function bytes(value: number | undefined): string {
  if (value === undefined) return "-";
  if (value < 1024) return `${whole.format(value)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let scaled = value / 1024;
  let unit = 0;
  for (; scaled >= 999.95 && unit + 1 < units.length; ++unit) scaled /= 1024;
  return `${scaled.toFixed(1)} ${units[unit]}`;
}

/** "87.5 % less", "× 8.0": what a change does to a metric, of which more or less is better. */
export function gainText(before: number, after: number, moreIsBetter: boolean): string {
  if (!moreIsBetter) return after <= before ? `${percent(before - after, before)} less` : "more";
  if (after < before) return "less";
  return before > 0 ? `× ${(after / before).toFixed(1)}` : "more";
}

/** Units of advice of which more is better; of all others (sectors, requests, barriers ...) less is. */
export function moreIsBetter(unit: string): boolean {
  return /occupancy|in use|in flight|hit/.test(unit);
}

export function percent(part: number, all = 1, decimals = 1): string {
  return all === 0 ? "-" : `${((100 * part) / all).toFixed(decimals)} %`;
}

export function extent(dims: readonly number[]): string {
  const last = dims[2] !== 1 ? 3 : dims[1] !== 1 ? 2 : 1;
  return dims.slice(0, last).join(" × ");
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** The name without return type, template arguments and parameters: "sumColumns". */
export function baseName(kernel: string): string {
  let depth = 0;
  let out = "";
  for (const c of kernel) {
    if (c === "<") ++depth;
    else if (c === ">") depth = Math.max(0, depth - 1);
    else if (c === "(" && depth === 0 && out !== "" && !out.endsWith("operator")) break;
    else if (depth === 0) out += c;
  }
  // nvcc names a file's own functions after the file.
  const name = (out.trim().split(/\s+/).pop() || kernel).replace(/^_INTERNAL_\w+?::/, "");
  return name;
}

/** Splits a kernel's name into what precedes it, the name, and template arguments with parameters. */
export function nameParts(kernel: string): [string, string, string] {
  const base = baseName(kernel);
  const at = kernel.indexOf(base);
  return at < 0 ? ["", kernel, ""] : [kernel.slice(0, at), base, kernel.slice(at + base.length)];
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
