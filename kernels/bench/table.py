#!/usr/bin/env python3
"""Writes the bars of docs/kernels.md, whether the committed measurements reach them, and what each kernel moves.

    kernels/bench/table.py                 prints the tables
    kernels/bench/table.py --write         puts them into docs/kernels.md
    kernels/bench/table.py --check         exits with 1 when docs/kernels.md holds others
"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "data/results/h200/kernels"
PAGE = ROOT / "docs/kernels.md"
LIBRARY = {"transpose", "transpose_batch", "reduce", "reduce_segments", "reduce_ragged", "exclusive_scan", "histogram_bytes",
           "histogram_range", "convolve", "convolve_separable", "copy_bytes", "copy_rows", "accelerations"}
FP32_PEAK = 132 * 128 * 2 * 1.98e9  # of an H200 at 1980 MHz
# Issue slots of one interaction, from the machine code of nbody_kernel<4, 4, 2> (nvcc 13.0, sm_90): 12 floating-point
# instructions, MUFU, an LDS for 4 of them, 4 instructions of the inner loop for 16, 24 of the outer one for 128.
NBODY_BOUND = 132 * 4 * 32 * 1.98e9 / (12 + 1 + 1 / 4 + 4 / 16 + 24 / 128) * 20


def rows():
    found = []
    for name in ("transpose", "primitives", "stencil"):
        with open(RESULTS / f"{name}.csv", newline="") as file:
            found += [r for r in csv.DictReader(file) if r["contender"] in LIBRARY]
    return found


def number(row, field):
    return float(row[field]) if row[field] else None


# Primitive, shape (pattern), what must be reached: (share of the ceiling, speed against the peer); None where nothing is asked.
BARS = [
    ("transpose", r"(4096x4096|8192x8192|16384x16384) of 4 bytes$", 0.97, 1.05),
    ("transpose", r"(4095x4097|8191x8193|16383x16383) of 4 bytes$", None, 1.10),
    ("transpose", r"of (1|2|8|16) bytes", None, None),
    ("AoS to SoA", r"x[234] of 4 bytes", 0.90, 10), ("SoA to AoS", r"^[234]x.* of 4 bytes", 0.90, 10),
    ("AoS to SoA", r"x8 of 4 bytes", 0.90, 5), ("SoA to AoS", r"^8x.* of 4 bytes", 0.90, 5),
    ("AoS to SoA", r"x(16|24|32|33|48|63|64) of 4 bytes", 0.90, 1.5),
    ("SoA to AoS", r"^(16|24|32|33|48|63|64)x.* of 4 bytes", 0.90, 1.5),
    ("AoS to SoA", r"of (1|2|8) bytes", 0.90, None), ("SoA to AoS", r"of (1|2|8) bytes", 0.90, None),
    ("batched transpose", r"", 0.90, None),
    ("reduce", r"sum of (2\^10|2\^13) ", None, 1.0),
    ("reduce", r"sum of (2\^16|2\^18|2\^20|2\^22|1048575) ", None, 1.4),
    ("reduce", r"sum of (2\^24|2\^26|2\^27|268435455) ", None, 1.0),
    ("reduce", r"sum of 2\^28 ", 0.99, 1.0),
    ("segmented reduce", r" segments of ([2-8]|16|20|25|32) floats", 0.85, 20),
    ("segmented reduce", r" segments of (33|48|64|100|128|256|333|511|512|1000|1024|1025|2048|4096) floats", 0.85, None),
    ("segmented reduce", r"ragged", 0.85, None),
    ("scan", r"2\^1[03] ", None, 1.0), ("scan", r"2\^(16|18|20) ", None, 1.5), ("scan", r"2\^2[246] ", None, None),
    ("scan", r"(2\^28|268435455) ", None, 1.2),
    ("histogram", r"2\^28 bytes; uniform", 0.85, 1.6), ("histogram", r"2\^28 bytes; [^u]", 0.85, 0.98),
    ("histogram", r"2\^(12|16|20|24) bytes", None, 0.98), ("histogram", r"(floats|ints)", None, None),
    ("convolution", r"1 of (512x512|1024x1024);", None, None), ("convolution", r"(2048x2048|2047x2049); 3x3$", None, 3.5),
    ("convolution", r"(4096|8192|8191|16384|64 of).*; 3x3$", 0.93, 3.5), ("convolution", r"(clamped|wrapped|5x5|separable)", 0.93, None),
    ("copy", r"^1 rows .*\+0 to \+0", 0.95, None), ("copy", r"^1 rows .*(\+4 to|\+0 to \+1|\+3 to)", 0.95, None),
    ("copy", r"^\d\d+ rows", None, 1.1),
]


def bar_text(ceiling, peer):
    parts = []
    if ceiling:
        parts.append(f">= {ceiling:.2f} of the ceiling")
    if peer:
        parts.append(f">= {peer:g} x the peer")
    return ", ".join(parts) or "(no bar)"


def short(shape):
    return re.sub(r"1 rows of (\d+) bytes; pitch \d+ to \d+; ", r"\1 bytes; ", shape)


def tables():
    found, lines = rows(), []
    used = set()
    reached = missed = 0
    for primitive, pattern, ceiling, peer in BARS:
        mine = [r for r in found if r["primitive"] == primitive and re.search(pattern, r["shape"])
                and (primitive, r["shape"], r["contender"]) not in used]
        if not mine:
            raise SystemExit(f"no measurement for {primitive} {pattern}")
        lines += [f"**{primitive}**: {bar_text(ceiling, peer)}", "",
                  "| case | us | GB/s | of the ceiling | x the peer (95 %) | |", "|---|---:|---:|---:|---:|---|"]
        for r in mine:
            used.add((primitive, r["shape"], r["contender"]))
            share, speed = number(r, "of_ceiling"), number(r, "speed_vs_peer")
            misses = []
            if ceiling and share is not None and share < ceiling:
                misses.append(f"ceiling missed by {100 * (1 - share / ceiling):.1f} %")
            if peer and speed is not None and speed < peer:
                misses.append(f"peer's bar missed by {100 * (1 - speed / peer):.1f} %")
            wanted = (ceiling and share is not None) or (peer and speed is not None)
            reached += bool(wanted and not misses)
            missed += bool(misses)
            text = "; ".join(misses) if misses else ("reached" if wanted else "")
            versus = f"{speed:.2f} ({r['low']} to {r['high']})" if speed is not None else ""
            lines.append(f"| {short(r['shape'])} | {float(r['median_us']):.2f} | {float(r['gbps']):.0f} | "
                         f"{'' if share is None else f'{share:.3f}'} | {versus} | {text} |")
            assert r["verified"] == "yes", r
        lines.append("")
    lines += [f"**n-body**: >= 0.90 of the issue-slot bound ({NBODY_BOUND / 1e12:.1f} TFLOP/s), >= 0.60 of the FP32 peak "
              f"({FP32_PEAK / 1e12:.1f} TFLOP/s), 20 operations per interaction", "",
              "| bodies | us | TFLOP/s | of the bound | of the peak | |", "|---|---:|---:|---:|---:|---|"]
    for r in found:
        if r["primitive"] != "n-body":
            continue
        rate = float(r["gbps"]) * 1e9
        bound, peak = rate / NBODY_BOUND, rate / FP32_PEAK
        good = bound >= 0.90 and peak >= 0.60
        reached += good
        missed += not good
        lines.append(f"| {r['shape'].split()[0]} | {float(r['median_us']):.2f} | {rate / 1e12:.1f} | {bound:.2f} | {peak:.2f} | "
                     f"{'reached' if good else 'missed'} |")
    return [f"{reached} cases reach their bar, {missed} miss it.", ""] + lines


def counter_rows(name):
    with open(RESULTS / name, newline="") as file:
        rows = list(csv.DictReader(file))
    cases = {}
    for row in rows:
        case = cases.setdefault(row["case"], {"read": int(row["must_read"]), "written": int(row["must_write"])})
        case[row["counter"]] = float(row["value"])
    return cases


def counters():
    """A line per case: what muscope counts, whether an H200 counts the same, and what of the GPU is busy."""
    gpu, own = counter_rows("counters.csv"), counter_rows("counters_muscope.csv")
    compared = [name for name in next(iter(own.values())) if name not in ("read", "written")]
    equal = sum(gpu[case][name] == own[case][name] for case in own for name in compared)
    lines = [f"{equal} of {len(own) * len(compared)} counters (instructions, requests, sectors, wavefronts of shared memory) are those "
             "that muscope counts without a GPU.", "",
             "| case | sectors, least | sectors, muscope | H200 | DRAM, least | DRAM, H200 | DRAM busy | issue busy | L1 busy | waits most for |",
             "|---|---:|---:|---|---:|---:|---:|---:|---:|---|"]
    for case, mine in own.items():
        seen = gpu[case]
        least = sum(-(-mine[way] // 32) for way in ("read", "written"))
        sectors = [sum(v[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] for op in ("ld", "st")) for v in (mine, seen)]
        differ = [name for name in compared if mine[name] != seen[name]]
        verdict = "equal" if not differ else f"{len(differ)} of {len(compared)} differ" if sectors[0] == sectors[1] else f"{sectors[1]:.0f}"
        moved = (seen["dram__bytes_read.sum"] + seen["dram__bytes_write.sum"]) / 1e6
        stalls = {name.split("stalled_")[1].split("_per_")[0].replace("_", " "): value for name, value in seen.items() if "_stalled_" in name}
        worst = max(stalls, key=stalls.get)
        lines.append(f"| {case} | {least:.0f} | {sectors[0]:.0f} | {verdict} | {(mine['read'] + mine['written']) / 1e6:.1f} MB | {moved:.1f} MB | "
                     f"{seen['dram__throughput.avg.pct_of_peak_sustained_elapsed']:.0f} % | "
                     f"{seen['smsp__issue_active.avg.pct_of_peak_sustained_active']:.0f} % | "
                     f"{seen['l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed']:.0f} % | "
                     f"{worst} ({stalls[worst]:.1f}) |")
    return lines


def put(page, mark, lines):
    begin, end = f"<!-- {mark} made by kernels/bench/table.py -->\n", "<!-- end -->\n"
    head, rest = page.split(begin)
    return head + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1]


def main():
    if len(sys.argv) == 1:
        print("\n".join(tables() + counters()))
        return 0
    page = PAGE.read_text()
    made = put(put(page, "bars", tables()), "counters", counters())
    if sys.argv[1] == "--write":
        PAGE.write_text(made)
        return 0
    if made != page:
        print("docs/kernels.md is not what kernels/bench/table.py --write makes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
