#!/usr/bin/env python3
"""Prints what an H200 counted for an example, in the rows of muscope's own report.

    tests/counters/show.py EXAMPLE [KERNEL]

Reads tests/counters/examples/examples_h200.csv (Nsight Compute's raw page of every launch). KERNEL: only kernels whose
name contains this text. Rows that counted nothing are left out. First number: requests of global and local memory,
instructions of the others, also those whose lanes were all switched off. Constant loads include kernel parameters. L2
counts a sector that comes from the far half of the chip twice. The time is that of one launch under the profiler with
cold caches; about two microseconds of it are there for any kernel.
"""

import csv
import pathlib
import sys

CAPTURE = pathlib.Path(__file__).parent / "examples" / "examples_h200.csv"

# Row, requests (or instructions), sectors (or wavefronts), what the second is.
ROWS = (
    ("global load", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors"),
    ("global store", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors"),
    ("global reduction", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sectors"),
    ("global atomic", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sectors"),
    ("local load", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sectors"),
    ("local store", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sectors"),
    ("shared load", "smsp__inst_executed_op_shared_ld.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts"),
    ("shared store", "smsp__inst_executed_op_shared_st.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts"),
    ("shared atomic", "smsp__inst_executed_op_shared_atom.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "wavefronts"),
    ("constant load", "smsp__inst_executed_op_ldc.sum", "idc__requests.sum", "requests"),
    ("texture fetch", "l1tex__t_requests_pipe_tex_mem_texture.sum", "", ""),
    ("L2 read, write", "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum", "sectors"),
    ("DRAM read, write", "dram__bytes_read.sum", "dram__bytes_write.sum", "bytes"),
)


def dimensions(text):
    numbers = [int(part) for part in text.strip("() ").split(",")]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return "x".join(str(number) for number in numbers)


def number(text):
    try:
        return int(float(text.replace(",", "")))
    except ValueError:
        return 0


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with CAPTURE.open(encoding="utf-8") as file:
        launches = [row for row in csv.DictReader(file) if row["Example"] == arguments[0]]
    if len(arguments) == 2:
        launches = [row for row in launches if arguments[1] in row["Kernel Name"]]
    if not launches:
        print(f"no launch in {CAPTURE.name} fits", file=sys.stderr)
        return 1
    for row in launches:
        name = row["Kernel Name"].split("(")[0].removeprefix("void ")
        if number(row["gpu__time_duration.sum"]) == 0:
            print(f"{name} #{row['ID']}: stopped by a fault, nothing counted")
            continue
        print(
            f"{name} #{row['ID']}  grid {dimensions(row['Grid Size'])}, block {dimensions(row['Block Size'])}, "
            f"{row['launch__registers_per_thread']} registers, occupancy {row['sm__maximum_warps_per_active_cycle_pct']} %, "
            f"{number(row['gpu__time_duration.sum']) / 1000:.1f} us"
        )
        for label, first, second, unit in ROWS:
            count = number(row[first])
            if count == 0:
                continue
            line = f"  {label:<17}{count:>10,}"
            if second:
                line += f"{number(row[second]):>12,} {unit}"
            if second.startswith("l1tex__t_sectors"):
                line += f", {number(row[second]) / count:.2f} each"
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
