#!/usr/bin/env python3
"""What each kernel moves: counters of a GPU, and what muscope counts without one, of the same program (counters.cu).

    kernels/bench/counters.py gpu OUT.csv                 compiles with nvcc, counts with Nsight Compute (ncu)
    kernels/bench/counters.py muscope OUT.csv [MUSCOPE]   compiles with nvcc, counts with muscope run

Columns: case, bytes that must be read, bytes that must be written, counter, value (sum over the launches of the case;
ratios and percentages: of its longest launch).
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTED = ["smsp__inst_executed.sum"] + [
    f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in ("ld", "st")] + [
    f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")]
STALLS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar",
          "mio_throttle", "not_selected", "short_scoreboard", "wait")
MEASURED = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__issue_active.avg.pct_of_peak_sustained_active",
            "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
            "sm__warps_active.avg.pct_of_peak_sustained_active"] + [
            f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio" for stall in STALLS]


def compiled(folder):
    program = os.path.join(folder, "counters")
    subprocess.run(["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "-lineinfo", "-o", program, os.path.join(HERE, "counters.cu")],
                   check=True)
    return program


def cases_of(text):
    return [line.rsplit(",", 2) for line in text.splitlines() if line.count(",") >= 2 and line.rsplit(",", 1)[1].isdigit()]


def split_at_ends(launches):
    """Lists of (kernel, {counter: value}), one list per case."""
    cases, mine = [], []
    for kernel, values in launches:
        if "case_ends" in kernel:
            cases.append(mine)
            mine = []
        else:
            mine.append(values)
    return cases


def on_gpu(folder):
    program = compiled(folder)
    log = os.path.join(folder, "ncu.csv")
    run = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--log-file", log,
                          "--metrics", ",".join(COUNTED + MEASURED), program], check=True, capture_output=True, text=True)
    with open(log, newline="") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    launches = [(row["Kernel Name"], {name: float(row[name].replace(",", "")) for name in COUNTED + MEASURED if row.get(name)})
                for row in rows if row["ID"]]
    return cases_of(run.stdout), launches


def by_muscope(folder, muscope):
    program, report = compiled(folder), os.path.join(folder, "report.json")
    run = subprocess.run([muscope, "run", "-q", "--gpu", "h200", "--json", report, program], check=True, capture_output=True,
                         text=True)
    with open(report) as file:
        launches = [(launch["kernel"], {name: float(launch["metrics"][name]["value"]) if name in launch["metrics"] else 0.0
                                        for name in COUNTED}) for launch in json.load(file)["launches"]]
    return cases_of(run.stdout), launches


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("gpu", "muscope"):
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "gpu":
            names, launches = on_gpu(folder)
        else:
            names, launches = by_muscope(folder, sys.argv[3] if len(sys.argv) > 3 else "muscope")
    cases = split_at_ends(launches)
    if len(cases) != len(names):
        raise SystemExit(f"{len(names)} cases, but {len(cases)} were counted")
    with open(sys.argv[2], "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["case", "must_read", "must_write", "counter", "value"])
        for (name, read, written), mine in zip(names, cases):
            longest = max(mine, key=lambda v: v.get("gpu__time_duration.sum", v["smsp__inst_executed.sum"]))
            for counter in mine[0]:
                value = sum(v[counter] for v in mine) if counter.endswith(".sum") else longest[counter]
                out.writerow([name, read, written, counter, f"{value:.10g}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
