#!/usr/bin/env python3
"""Writes the tables of docs/lab.md and docs/ladders.md, and lab/results/h200.json (which muscope lab --compare h200
reads), from the committed results of muscope lab.

    lab/table.py                 prints the tables
    lab/table.py --write         puts them into the pages
    lab/table.py --check         exits with 1 when a page or file holds others
    lab/table.py --merge FILE    puts the programs that FILE holds (of muscope lab --json) into the committed results,
                                 in place of what these programs had there
"""
import gzip
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "data/results/h200/lab/lab.json.gz"
KNOWN = ROOT / "lab/results/h200.json"
BEGIN, END = "<!-- made by lab/table.py -->\n", "<!-- end -->\n"
# Sweeps of which a page shows these places only.
FEW = {
    "latency-l1": ("2 KiB", "192 KiB", "256 KiB", "384 KiB", "1 MiB"),
    "latency-l2-dram": ("64 KiB", "4 MiB", "24 MiB", "32 MiB", "48 MiB", "96 MiB", "256 MiB", "1 GiB"),
    "latency-constant": ("2 KiB", "3 KiB", "64 KiB"),
    "ceilings": ("1 GiB", "256 MiB", "16 MiB", "1 MiB"),
    "transposes": ("16384",),
}


def results():
    with gzip.open(RESULTS, "rt", encoding="utf-8") as file:
        return json.load(file)


def merge(name):
    """Programs of another run in place of the same ones here; what is only there or only here stays."""
    data = results()
    with open(name, encoding="utf-8") as file:
        new = json.load(file)
    programs = {r["program"] for r in new["rows"]}
    experiments = {r["experiment"] for r in new["rows"]} - {"ceilings"}
    experiments |= {r["experiment"] for r in data["rows"] if r["program"] in programs} - {"ceilings"}
    order = list(dict.fromkeys([r["program"] for r in data["rows"]]))
    order += [p for p in dict.fromkeys(r["program"] for r in new["rows"]) if p not in order]
    rows = [r for r in data["rows"] if r["program"] not in programs] + new["rows"]
    data["rows"] = sorted(rows, key=lambda r: order.index(r["program"]))  # stable
    data["fits"] = [f for f in data["fits"] if f["experiment"] not in experiments] + new["fits"]
    data["skipped"] = [x for x in data["skipped"] if x["experiment"] not in experiments]
    data["environment"] |= {k: v for k, v in new["environment"].items() if k not in data["environment"]}
    with RESULTS.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write((json.dumps(data, indent=1) + "\n").encode())


def known(data):
    """What muscope lab --compare h200 needs, a row per line."""
    rows = [{"program": r["program"], "experiment": r["experiment"], "name": r["name"], "unit": r["unit"],
             "time": {k: r["time"][k] for k in ("median", "low", "high")}} for r in data["rows"] if "time" in r]
    lines = ",\n".join(json.dumps(r) for r in rows)
    return f'{{"schema": "muscope.lab/1", "environment": {json.dumps(data["environment"])}, "rows": [\n{lines}\n]}}\n'


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def counted(counters, bytes_=0, ladder=False):
    """Sectors per request, loads and stores together; on ladders all sectors, per useful 32 bytes where these are known."""
    if not counters:
        return ""
    parts = []
    if counters["global_requests"] and ladder:
        parts.append(f"{counters['global_sectors'] * 32 / bytes_:.2f} sectors per useful" if bytes_ else
                     f"{counters['global_sectors']:.0f} sectors")
    elif counters["global_requests"]:
        parts.append(f"{counters['global_sectors'] / counters['global_requests']:.4g} sectors")
    if counters["shared_wavefronts"]:
        parts.append(f"{counters['shared_wavefronts']:.0f} wavefronts")
    if counters["local_sectors"]:
        parts.append(f"{counters['local_sectors']:.0f} local sectors")
    return ", ".join(parts)


def table(data, name):
    rows = [r for r in data["rows"] if r["experiment"] == name and "time" in r]
    rows = [r for r in rows if r["program"] == rows[0]["program"]]  # all programs measure ceilings
    if name in FEW:
        rows = [r for r in rows if any(r["name"].endswith(", " + w) or f", {w} x" in r["name"] for w in FEW[name])]
    if not rows:
        return []
    ladder = name.startswith("ladder-")
    columns = ["row", "median", "rung before", "in a graph", "in a stream", "rate", "bus", "of its ceiling", "muscope predicts", "GPU counted",
               "why"]
    cells = []
    before = None
    for r in rows:
        first = not ladder or r["name"].startswith("1 ")
        step = 1 if first else before / r["time"]["median"]
        before = r["time"]["median"]
        unit = "Gop/s" if r["work"] == "op" else "GB/s"
        cells.append([r["name"] + (" (noisy)" if r["verdict"] == "noisy" else ""), f"{number(r['time']['median'])} {r['unit']}",
                      "" if first else f"{step:.2f} x" + (" **slower**" if step < 0.99 else ""),
                      *(f"{number(r[k]['median'])} us" if k in r else "" for k in ("in_graph", "in_stream")),
                      f"{number(r['rate'])} {unit}" if r["rate"] else "",
                      f"{number(r['bus_rate'])} GB/s" if r.get("bus_rate") else "", f"{r['of_ceiling']:.2f}" if r["of_ceiling"] else "",
                      counted(r["predicted"], r.get("counted_bytes", 0), ladder),
                      counted(r["measured"], r.get("counted_bytes", 0), ladder), r["why"]])
    kept = [i for i in range(len(columns)) if any(row[i] for row in cells)]
    lines = [f"**{name}**", "", "| " + " | ".join(columns[i] for i in kept) + " |",
             "|" + "|".join("---:" if 0 < i < 8 else "---" for i in kept) + "|"]
    lines += ["| " + " | ".join(row[i] for i in kept) + " |" for row in cells]
    fits = [f for f in data["fits"] if f["experiment"] == name]
    lines += [""] + [f"Fitted: {f['series']}: {f['overhead_us']:.2f} us + bytes / {f['gb_per_s']:.2f} GB/s "
                     f"(at most {100 * f['worst_error']:.0f} % off)." for f in fits] + ([""] if fits else [])
    return lines


def agreement(data):
    both = [r for r in data["rows"] if r["predicted"] and r["measured"]]
    same = [r for r in both if all(r["predicted"][k] == r["measured"][k]
                                   for k in ("global_requests", "global_sectors", "local_sectors"))]
    shared = [r for r in both if r["predicted"]["shared_wavefronts"] == r["measured"]["shared_wavefronts"]]
    return [f"Of {len(both)} rows that muscope and the GPU both counted, requests, sectors and local sectors are equal in "
            f"{len(same)}, wavefronts of shared memory in {len(shared)}. Where they are not, lanes do atomics in the shared memory of "
            "other blocks, which muscope counts nowhere ([limits](limits.md)), or counts depend on time: blocks poll words that others "
            "write, a barrier lets warps meet in another order.", ""]


def page(data, ladders):
    names = []
    for r in data["rows"]:
        if r["experiment"] not in names and r["experiment"].startswith("ladder-") == ladders:
            names.append(r["experiment"])
    lines = [] if ladders else agreement(data)
    for name in names:
        lines += table(data, name)
    for skip in [] if ladders else data["skipped"]:
        lines.append(f"{skip['experiment']}: not measured: {skip['reason']}.")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--merge"]:
        merge(sys.argv[2])
        return 0
    data = results()
    status = 0
    if len(sys.argv) > 1:
        made, old = known(data), KNOWN.read_text(encoding="utf-8") if KNOWN.exists() else ""
        if sys.argv[1] == "--write":
            KNOWN.parent.mkdir(exist_ok=True)
            KNOWN.write_text(made, encoding="utf-8")
        elif made != old:
            print("lab/results/h200.json is not what lab/table.py --write makes", file=sys.stderr)
            status = 1
    for name, ladders in (("lab.md", False), ("ladders.md", True)):
        text = page(data, ladders)
        if len(sys.argv) == 1:
            print(text, end="")
            continue
        path = ROOT / "docs" / name
        old = path.read_text(encoding="utf-8")
        head, rest = old.split(BEGIN)
        made = head + BEGIN + text + END + rest.split(END)[1]
        if sys.argv[1] == "--write":
            path.write_text(made, encoding="utf-8")
        elif made != old:
            print(f"docs/{name} is not what lab/table.py --write makes", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
