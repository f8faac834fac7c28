#!/usr/bin/env python3
"""Runs programs that nobody here wrote under muscope and writes what came of it to docs/compatibility.md.

    compatibility.py TABLE PROGRAMS MUSCOPE [RESULTS]

TABLE is a file of tab-separated columns: suite, program, arguments ("(none...)" for none), exit status on a GPU,
verdict on a GPU (pass, fail, unclear), and the folder to run in (may be empty). PROGRAMS is a folder with the built
programs by name. Each runs once, for at most 120 seconds. The program's own words decide: PASS, FAIL and their like;
one that says nothing has its exit status for a verdict. Of each report the lines of a launch must sum to the launch;
programs that take less than AGAIN seconds run twice, and the two reports must be the same. RESULTS (tab-separated)
keeps what was run, so that an interrupted run goes on where it ended.

    compatibility.py --others TABLE PROGRAMS MUSCOPE [RESULTS]

The same for programs of which no verdict of a GPU is known: writes the page's last section alone, which the other call
leaves as it is. TABLE: suite, program, compiler with its target ("nvcc -arch=sm_80"), arguments, folder. PROGRAMS has a
folder per compiler, named by its first word, with programs by the name SUITE__PROGRAM. Each runs once, for at most
OTHERS_LIMIT seconds. It crashed where muscope or the program died by a signal that is none of the time limit's; else it
was stopped at the limit, or named a library that is missing (D512, D516), or ended by itself: with an error that muscope
told of, or with a verdict in its own words, or with its exit status alone.

To reproduce: the table's programs are public (HeCBench, cuda-samples, ...). Build each as its own makefile does, with
`nvcc -O2 -std=c++17 -lineinfo -arch=sm_80` (runtime linked in, nvcc's default), or with
`clang++ -O2 -x cuda --no-offload-new-driver --cuda-path=...` and `--cuda-gpu-arch=sm_80 --cuda-include-ptx=all -lcudart`
or `--cuda-gpu-arch=sm_90 -lcudart_static -ldl -lrt -lpthread`. Some of them need data of their own or are given
arguments for a small run; the table says which.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 120
AGAIN = 5
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTES = ROOT / "tools/dev/compatibility_notes.tsv"
BAD = re.compile(r"\bFAIL(ED)?\b|Test failed|[Mm]ismatch|do(?:es)? not match|Percent: [1-9]|NOT verified|INCORRECT|incorrect|failed!")
GOOD = re.compile(r"\bPASS(ED)?\b|passed|Passed|SUCCESS|[Mm]atch|[Ss]uccess|COMPLETED|returned OK|Percent: 0\b|correct|L1-Error: 0")


def verdict(output, status):
    if BAD.search(output):
        return "fail"
    return "pass" if GOOD.search(output) or status == 0 else "fail"


def run(muscope, program, arguments, folder, report):
    begin = time.monotonic()
    words = [muscope, "run", "--quiet", "--propagate", "--gpu", "h200", "--timeout", str(LIMIT), "--json", report, program]
    try:
        done = subprocess.run(words + arguments, cwd=folder or None, capture_output=True, text=True, errors="replace",
                              timeout=3 * LIMIT)
        status, output, told = done.returncode, done.stdout + done.stderr, done.stderr
    except subprocess.TimeoutExpired:
        status, output, told = -1, "", "error: muscope did not end"
    # muscope's own exit status also tells of faults; the program's is in the report.
    if pathlib.Path(report).exists():
        status = json.loads(pathlib.Path(report).read_text())["program"].get("exit", status)
    codes = sorted(set(re.findall(r"\berror (D\d{3}): ([^\n]*)", told)))
    return status, verdict(output, status), time.monotonic() - begin, codes


def wrong_total(report):
    """The first metric of a launch that its lines do not sum to; empty when there is none."""
    for launch in report.get("launches", []):
        sums = {}
        for line in launch["lines"]:
            for name, metric in line["metrics"].items():
                if name.endswith(".sum"):
                    sums[name] = sums.get(name, 0) + metric["value"]
        for name, value in sums.items():
            if name in launch["metrics"] and launch["metrics"][name]["value"] != value:
                return f"{name} of launch {launch['index']}: {launch['metrics'][name]['value']}, its lines {value}"
    return ""


def look_at_report(first, again):
    """What is to be said of the report, and of a second run's."""
    text = pathlib.Path(first).read_text() if pathlib.Path(first).exists() else ""
    if not text:
        return "no report"
    wrong = wrong_total(json.loads(text))
    if wrong:
        return "totals: " + wrong
    if not again:
        return "totals match"
    same = pathlib.Path(again).exists() and pathlib.Path(again).read_text() == text
    return "totals match, same twice" if same else "totals match, two runs differ"


OTHERS_LIMIT = 20
OTHERS = "## Without a verdict of a GPU"
MISSING = re.compile(r"\bD51[26]: (\S+) is missing from emulation")
OUTCOMES = {
    "right": "say that their results are right",
    "silent": "end with status 0 and no verdict",
    "wrong": "say that something is wrong",
    "status": "end with another status and no verdict",
    "diagnostic": "end with an error that muscope names",
    "library": "named a missing library",
    "limit": "were stopped at the limit",
    "crash": "crashed",
}


def run_other(muscope, program, arguments, folder):
    """What came of it (a key of OUTCOMES), the program's exit status, seconds, and what is to be said."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        words = [muscope, "run", "--quiet", "--propagate", "--gpu", "h200", "--timeout", str(OTHERS_LIMIT), "--json",
                 str(report), program]
        begin = time.monotonic()
        try:
            done = subprocess.run(words + arguments, cwd=folder or None, capture_output=True, text=True,
                                  errors="replace", timeout=5 * OTHERS_LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "crash", "", time.monotonic() - begin, "muscope did not end"
        seconds = time.monotonic() - begin
        # Reports of programs with very many launches are large: the beginning is enough.
        head = report.open(errors="replace").read(1 << 20) if report.exists() else ""
    ended = re.search(r'"exit_text": ?"([^"]*)"', head)
    status = re.search(r'"exit": ?(\d+)', head)
    status = int(status.group(1)) if status else done.returncode
    told, said = done.stderr, done.stdout + done.stderr
    errors = [f"{code}: {text}" for code, text in re.findall(r"\berror (D\d{3}): ([^\n]*)", told)]
    libraries = sorted(set(MISSING.findall(told)))
    if done.returncode < 0 or not ended and done.returncode >= 128:
        return "crash", status, seconds, "muscope died"
    if "error D734" in told:
        return "limit", status, seconds, errors[0]
    if ended and ended.group(1).startswith("killed") and "SIGABRT" not in ended.group(1):  # that is an assertion's
        return "crash", status, seconds, ended.group(1)
    if libraries:
        return "library", status, seconds, ", ".join(libraries)
    if errors:
        return "diagnostic", status, seconds, errors[0]
    if BAD.search(said):
        return "wrong", status, seconds, ""
    if GOOD.search(said):
        return "right", status, seconds, ""
    return ("status" if status else "silent"), status, seconds, ""


def others(arguments):
    table, programs, muscope = (pathlib.Path(name).resolve() for name in arguments[:3])
    results = pathlib.Path(arguments[3]) if len(arguments) > 3 else None
    known = {}
    if results and results.exists():
        for line in results.read_text().splitlines():
            row = line.split("\t")
            known[tuple(row[:4])] = row
    rows, missing = [], []
    for line in table.read_text().splitlines():
        suite, name, compiler, words, folder = (line.split("\t") + [""])[:5]
        program = programs / compiler.split()[0] / f"{suite}__{name}"
        if not program.exists():
            missing.append(f"{suite} {name}")
            continue
        key = (suite, name, compiler, words)
        if key not in known:
            outcome, status, seconds, why = run_other(str(muscope), str(program), words.split(), folder)
            known[key] = [*key, outcome, str(status), f"{seconds:.1f}", why]
            if results:
                with results.open("a") as out:
                    out.write("\t".join(known[key]) + "\n")
            print("\t".join(known[key])[:200], flush=True)
        rows.append(known[key])
    page = ROOT / "docs/compatibility.md"
    text = page.read_text().split(OTHERS)[0]
    page.write_text(text + others_text(rows, missing))


def others_text(rows, missing):
    compilers = list(dict.fromkeys(row[2] for row in rows))
    text = [OTHERS, "",
            f"{len(rows)} more runs of public programs, of which no H200's answer is known (many only print figures), with small",
            f"arguments, at most {OTHERS_LIMIT} seconds each, on two cores that others use too. What they did here:", "",
            "| they | " + " | ".join(f"`{c}`" for c in compilers) + " |", "|---|" + "---:|" * len(compilers)]
    for outcome, words in OUTCOMES.items():
        counts = [sum(row[4] == outcome and row[2] == c for row in rows) for c in compilers]
        text.append(f"| {words} | " + " | ".join(str(c) for c in counts) + " |")
    text.append("| together | " + " | ".join(str(sum(row[2] == c for row in rows)) for c in compilers) + " |")
    by_library = {}
    for row in rows:
        if row[4] == "library":
            for library in row[7].split(", "):
                by_library.setdefault(library, []).append(row[1])
    if by_library:
        text += ["", "The missing libraries, whose part alone fails ([D512](explain/D512.md), [D516](explain/D516.md)):", ""]
        text += [f"- {library}: {', '.join(dict.fromkeys(names))}" for library, names in sorted(by_library.items())]
    told = [row for row in rows if row[4] in ("wrong", "status", "diagnostic", "crash")]
    noted = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in NOTES.read_text().splitlines()
             if not line.startswith("#")}
    reasons = {}
    for row in told:
        why = noted.get((row[0], row[1])) or row[7] or f"{row[4]}, status {row[5]}"
        reasons.setdefault(why[:200].replace("|", "\\|"), []).append(f"{row[0]} {row[1]}")
    if reasons:
        text += ["", "What the others end with:", "", "| programs | reason |", "|---|---|"]
        text += [f"| {', '.join(dict.fromkeys(names))} | {why} |" for why, names in reasons.items()]
    if missing:
        text += ["", f"{len(missing)} did not compile or were not tried: " + ", ".join(missing) + "."]
    return "\n".join(text) + "\n"


def main(arguments):
    if arguments and arguments[0] == "--others":
        return others(arguments[1:])
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
            with tempfile.TemporaryDirectory() as scratch:
                job = [str(muscope), str(programs / name), given, folder]
                status, got, seconds, codes = run(*job, scratch + "/1.json")
                second = scratch + "/2.json" if seconds < AGAIN else ""
                if second:
                    run(*job, second)
                looked = look_at_report(scratch + "/1.json", second)
            same = got == expected or expected not in ("pass", "fail")
            same = same and (str(status) == exit_status or exit_status == "stopped")
            # Who did not end in time has no verdict, unless the GPU's run was stopped too.
            same = same and (exit_status == "stopped" or all(code != "D734" for code, _ in codes))
            why = "; ".join(f"{code}: {text}" for code, text in codes) if not same else ""
            known[key] = [*key, "as on a GPU" if same else "differs", got, f"{seconds:.1f}", why, looked]
            if results:
                with results.open("a") as out:
                    out.write("\t".join(known[key]) + "\n")
            print("\t".join(known[key])[:200], flush=True)
        rows.append(known[key])
    write(rows)


def report_text(rows):
    matching = [row for row in rows if row[7].startswith("totals match")]
    twice = [row for row in rows if "two runs" in row[7] or "same twice" in row[7]]
    varied = [row[1] for row in twice if "differ" in row[7]]
    text = [f"In {len(matching)} of their {len(rows)} reports every line's counts sum to the launch's. {len(twice)} that take",
            f"less than {AGAIN} seconds ran twice: {len(twice) - len(varied)} gave the same report, byte for byte."]
    if varied:
        text += [f"The others ({', '.join(varied)}) hold what the program itself draws anew, or are named below."]
    return text


def write(rows):
    run_rows = [row for row in rows if row[3] != "not built"]
    good = sum(row[3] == "as on a GPU" for row in run_rows)
    text = ["# Programs that nobody here wrote", "",
            f"{len(run_rows)} runs of public programs, unmodified, as nvcc 13.0 builds them (`-arch=sm_80`), with the",
            f"arguments of the table, at most {LIMIT} seconds each, on two cores. **{good} of {len(run_rows)}** end as they",
            "do on an H200: same exit status, same verdict by the program's own words. None of their code is in this",
            "repository. Written by `tools/dev/compatibility.py`.", "", *report_text(run_rows), "",
            "| suite | runs | as on an H200 |", "|---|---:|---:|"]
    for suite in dict.fromkeys(row[0] for row in run_rows):
        mine = [row for row in run_rows if row[0] == suite]
        text.append(f"| {suite} | {len(mine)} | {sum(row[3] == 'as on a GPU' for row in mine)} |")
    noted = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in NOTES.read_text().splitlines()
             if not line.startswith("#")}
    text += ["", "## What differs", "", "| program | arguments | what muscope says |", "|---|---|---|"]
    for row in run_rows:
        if row[3] == "differs":
            why = row[6] or noted.get((row[0], row[1]), f"verdict {row[4]}")
            why = re.sub(r" at /\S+:\d+", "", why).replace("|", "\\|")
            text.append(f"| {row[0]} {row[1]} | `{row[2]}` | {why[:200]} |")
    missing = [row[1] for row in rows if row[3] == "not built"]
    if missing:
        text += ["", "Not tried: " + ", ".join(missing) + "."]
    text += ["", "## All", "", "| suite | program | arguments | result | seconds | report |", "|---|---|---|---|---:|---|"]
    text += [f"| {row[0]} | {row[1]} | `{row[2]}` | {row[3]} | {row[5]} | {row[7]} |" for row in run_rows]
    page = ROOT / "docs/compatibility.md"
    before = page.read_text().split(OTHERS) if page.exists() else []
    page.write_text("\n".join(text) + "\n" + ("\n" + OTHERS + before[1] if len(before) > 1 else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
