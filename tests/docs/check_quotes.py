#!/usr/bin/env python3
"""Runs the commands that documentation quotes and looks for the quoted lines in what they print.

    check_quotes.py MUSCOPE [FILE.md...]

A block that begins with ```console holds commands ("$ muscope run ...") and lines of their output. Each quoted line has to
be in the output, in the same order; what was left out is marked with "..." or not at all, also at the end of a line. Blanks
count as one, and the version of clang is ignored. "$ echo $?" and a number say how the command before ended; otherwise it must end
with 0.

`muscope run` gets --toolchain clang and --count-from ptx unless the command names others: numbers of the pages are those of
clang's PTX, which every user can have. A command that several pages quote is run once. Commands other than muscope, grep and
scripts of tests/ are not run and may not be quoted this way.

Links to files are checked as well, and that every `muscope COMMAND` is one (limits.md names those that are planned). Exit code: 0
when everything holds, 1 when not; "SKIPPED: ..." and 0 when there is no clang.
"""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND_SECONDS = 120


def normal(line):
    line = re.sub(r"\bclang \d+(\.\d+)+", "clang", line)
    return " ".join(line.split())


class Quote:
    """A command, the lines quoted from its output, and the exit code it should have."""

    def __init__(self, file, number, command):
        self.file, self.number, self.command = file, number, command
        self.lines = []  # (number, text)
        self.exit = 0


def quotes_of(file):
    quotes, inside, waiting_for_exit = [], False, False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
            continue
        if not inside or not line.strip():
            continue
        if line == "$ echo $?":
            waiting_for_exit = True
        elif line.startswith("$ "):
            quotes.append(Quote(file, number, line[2:]))
        elif waiting_for_exit:
            quotes[-1].exit = int(line)
            waiting_for_exit = False
        elif line.strip() != "...":
            quotes[-1].lines.append((number, line))
    return quotes


def words_of(command, muscope):
    words = shlex.split(command)
    if words[0] == "muscope":
        words[0] = muscope
        if words[1:2] == ["run"]:
            for option, value in (("--count-from", "ptx"), ("--toolchain", "clang")):
                if not any(word.startswith(option) for word in words):
                    words[2:2] = [option, value]
    elif words[0].startswith("tests/") and words[0].endswith(".py"):
        words[0:1] = [sys.executable, "-B", words[0]]
    elif words[0] != "grep":
        raise ValueError(f"cannot run '{words[0]}' here")
    return words


def run(words):
    try:
        done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, []
    return done.returncode, [normal(line) for line in done.stdout.decode(errors="replace").splitlines()]


def complaints_about(quote, result):
    where = quote.file.relative_to(ROOT)
    code, output = result
    if code is None:
        yield f"{where}:{quote.number}: no end after {COMMAND_SECONDS} s: {quote.command}"
        return
    if code != quote.exit:
        yield f"{where}:{quote.number}: ended with {code}, not {quote.exit}: {quote.command}"
    at = 0
    for number, line in quote.lines:
        wanted = normal(line)
        cut = wanted.endswith("...") and not wanted.startswith("...")
        fits = [i for i, text in enumerate(output) if text == wanted or cut and text.startswith(wanted[:-3].rstrip())]
        found = next((i for i in fits if i >= at), None)
        if found is None:
            yield f"{where}:{number}: not printed{' here' if fits else ''} by {quote.command}: {line.strip()}"
        else:
            at = found + 1


def broken_links(file):
    text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (file.parent / path).resolve() if path else file
        if not place.exists():
            yield f"{file.relative_to(ROOT)}: link to {target}: no such file"
        elif anchor and place.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), flags=re.M)
            if anchor not in {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}:
                yield f"{file.relative_to(ROOT)}: link to {target}: no such heading"


def unknown_commands(file, known):
    if file.name == "limits.md":
        return
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        for command in re.findall(r"`muscope ([a-z]+)", line):
            if command not in known:
                yield f"{file.relative_to(ROOT)}:{number}: muscope has no command '{command}'"


def commands_of(muscope):
    text = subprocess.run([muscope, "--help"], stdout=subprocess.PIPE, check=False).stdout.decode()
    return set(re.findall(r"^  ([a-z]+) ", text.partition("Commands:")[2].partition("Options:")[0], flags=re.M))


def main(arguments):
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    muscope = str(pathlib.Path(arguments[0]).resolve())
    files = [pathlib.Path(name).resolve() for name in arguments[1:]]
    if not files:
        folders = ("docs/learn", "docs", "docs/zh", "docs/zh/learn")
        files = [file for folder in folders for file in sorted((ROOT / folder).glob("*.md"))]
        files += [ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")]
    doctor = json.loads(subprocess.run([muscope, "doctor", "--json"], stdout=subprocess.PIPE, check=False).stdout)
    if not doctor["tools"]["clang"]["found"]:
        print("SKIPPED: no clang 19 or later is installed")
        return 0

    quotes = [quote for file in files for quote in quotes_of(file)]
    commands = {quote.command: words_of(quote.command, muscope) for quote in quotes}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = dict(zip(commands, pool.map(run, commands.values())))
    complaints = [text for file in files for text in broken_links(file)]
    known = commands_of(muscope)
    complaints += [text for file in files for text in unknown_commands(file, known)]
    complaints += [text for quote in quotes for text in complaints_about(quote, results[quote.command])]
    for text in complaints:
        print(text)
    print(f"{len(files)} files, {len(commands)} commands, {sum(len(quote.lines) for quote in quotes)} lines quoted: "
          f"{len(complaints)} wrong")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
