#!/usr/bin/env python3
"""Runs programs that nobody here wrote under muscope and writes what came of it to docs/compatibility.md.

    compatibility.py TABLE PROGRAMS MUSCOPE [RESULTS]

TABLE is a file of tab-separated columns: suite, program, arguments ("(none...)" for none), exit status on a GPU,
verdict on a GPU (pass, fail, unclear), and the folder to run in (may be empty). PROGRAMS is a folder with the built
programs by name. Each runs once, for at most 120 seconds. The program's own words decide: PASS, FAIL and their like;
one that says nothing has its exit status for a verdict. RESULTS (tab-separated) keeps what was run, so that an
interrupted run goes on where it ended.
"""

import pathlib
import re
import subprocess
import sys
import time

LIMIT = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD = re.compile(r"\bFAIL(ED)?\b|Test failed|[Mm]ismatch|does not match|NOT verified|INCORRECT|incorrect|failed!")
GOOD = re.compile(r"\bPASS(ED)?\b|passed|Passed|SUCCESS|[Mm]atch|[Ss]uccess|COMPLETED|returned OK|Percent: 0\b|correct|L1-Error: 0")


def verdict(output, status):
    if BAD.search(output):
        return "fail"
    return "pass" if GOOD.search(output) or status == 0 else "fail"


def run(muscope, program, arguments, folder):
    begin = time.monotonic()
    words = [muscope, "run", "--quiet", "--propagate", "--gpu", "h200", "--timeout", str(LIMIT), program, *arguments]
    try:
        done = subprocess.run(words, cwd=folder or None, capture_output=True, text=True, errors="replace",
                              timeout=3 * LIMIT)
        status, output, told = done.returncode, done.stdout + done.stderr, done.stderr
    except subprocess.TimeoutExpired:
        status, output, told = -1, "", "error: muscope did not end"
    codes = sorted(set(re.findall(r"\berror (D\d{3}): ([^\n]*)", told)))
    return status, verdict(output, status), time.monotonic() - begin, codes


def main(arguments):
    table, programs, muscope = (pathlib.Path(name).resolve() for name in arguments[:3])
    results = pathlib.Path(arguments[3]) if len(arguments) > 3 else None
    known = {}
    if results and results.exists():
        for line in results.read_text().splitlines():
            row = line.split("\t")
            known[row[0], row[1], row[2]] = row
    rows = []
    for line in table.read_text().splitlines():
        suite, name, words, exit_status, expected, folder = (line.split("\t") + [""])[:6]
        key = (suite, name, words)
        if not (programs / name).exists():
            rows.append([*key, "not built", "", "", ""])
            continue
        if key not in known:
            given = [] if words.startswith("(") else words.split()
            status, got, seconds, codes = run(str(muscope), str(programs / name), given, folder)
            same = got == expected or expected not in ("pass", "fail")
            same = same and (str(status) == exit_status or exit_status == "stopped")
            why = "; ".join(f"{code}: {text}" for code, text in codes) if not same else ""
            known[key] = [*key, "as on a GPU" if same else "differs", got, f"{seconds:.1f}", why]
            if results:
                with results.open("a") as out:
                    out.write("\t".join(known[key]) + "\n")
            print("\t".join(known[key])[:200], flush=True)
        rows.append(known[key])
    write(rows)


def write(rows):
    run_rows = [row for row in rows if row[3] != "not built"]
    good = sum(row[3] == "as on a GPU" for row in run_rows)
    text = ["# Programs that nobody here wrote", "",
            f"{len(run_rows)} runs of public programs, unmodified, as nvcc 13.0 builds them (`-arch=sm_80`), with the",
            f"arguments of the table, at most {LIMIT} seconds each, on two cores. **{good} of {len(run_rows)}** end as they",
            "do on an H200: same exit status, same verdict by the program's own words. None of their code is in this",
            "repository. Written by `tools/dev/compatibility.py`.", "",
            "| suite | runs | as on an H200 |", "|---|---:|---:|"]
    for suite in dict.fromkeys(row[0] for row in run_rows):
        mine = [row for row in run_rows if row[0] == suite]
        text.append(f"| {suite} | {len(mine)} | {sum(row[3] == 'as on a GPU' for row in mine)} |")
    text += ["", "## What differs", "", "| program | arguments | what muscope says |", "|---|---|---|"]
    for row in run_rows:
        if row[3] == "differs":
            why = row[6] if len(row) > 6 and row[6] else f"verdict {row[4]}"
            why = re.sub(r" at /\S+:\d+", "", why).replace("|", "\\|")
            text.append(f"| {row[0]} {row[1]} | `{row[2]}` | {why[:160]} |")
    missing = [row[1] for row in rows if row[3] == "not built"]
    if missing:
        text += ["", "Not tried: " + ", ".join(missing) + "."]
    text += ["", "## All", "", "| suite | program | arguments | result | seconds |", "|---|---|---|---|---:|"]
    text += [f"| {row[0]} | {row[1]} | `{row[2]}` | {row[3]} | {row[5]} |" for row in run_rows]
    (ROOT / "docs/compatibility.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
