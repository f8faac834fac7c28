#!/usr/bin/env python3
"""Runs clang-tidy over the sources of src/ (unit tests apart), several at a time.

    tidy.py BUILD-FOLDER CACHE-FOLDER [FILE...]

A source that passed is not looked at again until it, a header that it includes, its compile command or .clang-tidy
changes. Progress goes to stdout as "[12/345] file", findings to stderr; exits with 1 when there are any.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def included(path, seen):
    """`path` and everything that it includes from src/, transitively."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        name = name.decode(errors="replace")
        for folder in (ROOT / "src", path.parent):
            included((folder / name).resolve(), seen)


def fingerprint(path, command, version):
    digest = hashlib.sha256()
    digest.update(version + command.encode() + (ROOT / ".clang-tidy").read_bytes())
    seen = set()
    included(path, seen)
    for one in sorted(seen):
        digest.update(str(one).encode() + b"\0" + one.read_bytes())
    return digest.hexdigest()


def main(arguments):
    build, cache, *only = arguments
    cache = pathlib.Path(cache)
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, check=True).stdout
    commands = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT / "src") and path.suffix == ".cc" and not path.stem.endswith("_test"):
            commands[path] = entry.get("command") or " ".join(entry["arguments"])
    if only:
        wanted = {pathlib.Path(name).resolve() for name in only}
        commands = {path: command for path, command in commands.items() if path in wanted}
    stamps = {path: cache / fingerprint(path, command, version) for path, command in commands.items()}
    todo = sorted(path for path, stamp in stamps.items() if not stamp.exists())

    def check(path):
        result = subprocess.run(
            ["clang-tidy-19", "--quiet", "-p", build, "--extra-arg=-Wno-unknown-warning-option",
             "--extra-arg=-Wno-deprecated-declarations", "--extra-arg=-Wno-unknown-pragmas", str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return path, result.returncode, result.stdout

    found = 0
    told = set()  # what is found in a header is found again from every source
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (path, status, out) in enumerate(
                (job.result() for job in concurrent.futures.as_completed([pool.submit(check, p) for p in todo])), 1):
            print(f"[{number}/{len(todo)}] {path.relative_to(ROOT)}", flush=True)
            if status == 0:
                stamps[path].touch()
            else:
                found += 1
                for finding in re.split(r"\n(?=/[^\n]*: (?:error|warning): )", out.strip()) if out.strip() else [f"{path}: clang-tidy failed"]:
                    if finding not in told:
                        print(finding, file=sys.stderr, flush=True)
                    told.add(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
