#!/usr/bin/env python3
"""Checks the rules of the house that no compiler checks.

    check_house.py ROOT RULE...

Rules:
  layers   a folder of src/ includes only itself and folders above it in cmake/layers.txt
  length   no source file has more than 500 lines
  explain  every diagnostic code used in src/ ("D123") has a page docs/explain/D123.md, and every page is used
  done     no source file has a note that something is left to do

Prints one line per violation, `file:line: what`, and exits with 1 when there is any.
"""

import pathlib
import re
import sys

MAX_LINES = 500
CODE = (".h", ".cc", ".inc", ".cu", ".cuh", ".mu")
SOURCE_FOLDERS = ("src", "tests", "toolkit", "kernels", "lab", "bench", "cmake", "tools", "web", "examples")


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def code_files(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in CODE and p.is_file())


def check_layers(root):
    layers = [line.strip() for line in read(root / "cmake/layers.txt").splitlines()]
    layers = [line for line in layers if line and not line.startswith("#")]
    rank = {name: number for number, name in enumerate(layers)}
    for path in code_files(root / "src"):
        folder = path.relative_to(root / "src").parts[0]
        where = path.relative_to(root)
        if folder not in rank:
            yield f"{where}:1: folder src/{folder} is not in cmake/layers.txt"
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not match:
                continue
            name = match.group(1)
            target = name.split("/")[0]
            if "/" not in name:
                # A fragment beside the file (X-macro lists); everything else is named from src/.
                if not (path.parent / name).is_file():
                    yield f'{where}:{number}: "{name}" is neither beside this file nor named from src/'
            elif target in rank:
                if rank[target] > rank[folder]:
                    yield f"{where}:{number}: {folder} may not include {target}, which is below it"
                if not (root / "src" / name).is_file():
                    yield f'{where}:{number}: "{name}" does not exist'
            elif name.startswith("..") and not name.startswith("../../toolkit/"):
                # The device headers state the runtime's ABI once for both sides.
                yield f'{where}:{number}: "{name}" leaves its folder'


def check_length(root):
    suffixes = CODE + (".py", ".sh", ".cmake", ".js", ".css")
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or "node_modules" in path.parts or (path.suffix not in suffixes and path.name != "CMakeLists.txt"):
                continue
            lines = read(path).count("\n")
            if lines > MAX_LINES:
                yield f"{path.relative_to(root)}:{MAX_LINES}: {lines} lines; split it by responsibility"


def check_explain(root):
    pages = {p.stem: p for p in (root / "docs/explain").glob("D[0-9][0-9][0-9].md")}
    used = {}
    for path in code_files(root / "src"):
        if path.stem.endswith("_test") or path.stem.startswith("test_"):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            if line.lstrip().startswith("//"):
                continue
            for code in re.findall(r'"(D[0-9]{3})(?=[":])', line):
                used.setdefault(code, f"{path.relative_to(root)}:{number}")
    for code in sorted(set(used) - set(pages)):
        yield f"{used[code]}: {code} has no page docs/explain/{code}.md"
    for code in sorted(set(pages) - set(used)):
        yield f"docs/explain/{code}.md:1: {code} is not used in src/"
    for code, path in sorted(pages.items()):
        if not read(path).startswith(f"# {code}: "):
            yield f"docs/explain/{code}.md:1: the first line must be '# {code}: short title'"


def check_done(root):
    # In pieces, so that this file does not find itself.
    pattern = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
    for folder in SOURCE_FOLDERS:
        for path in code_files(root / folder):
            for number, line in enumerate(read(path).splitlines(), 1):
                match = pattern.search(line)
                if match:
                    yield f"{path.relative_to(root)}:{number}: {match.group(1)}"


RULES = {"layers": check_layers, "length": check_length, "explain": check_explain, "done": check_done}


def main(arguments):
    if len(arguments) < 2 or any(rule not in RULES for rule in arguments[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]).resolve()
    violations = [line for rule in arguments[1:] for line in RULES[rule](root)]
    for line in violations:
        print(line)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
