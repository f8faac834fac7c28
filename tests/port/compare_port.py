#!/usr/bin/env python3
"""Holds what `muscope port` makes of a project against a port that was made by hand.

    muscope port BEFORE --out-dir OURS --no-ignore --comments --strings --json FINDINGS.json
    compare_port.py BEFORE AFTER OURS FINDINGS.json [--list]

BEFORE and AFTER are a CUDA project and its MUSA port by other people. Nothing of src/port is used here. The rules:

- Lines of BEFORE and AFTER are aligned after MUSA's spellings are turned back (musa -> cuda, a leading mu -> cu, .mu -> .cu, mt_ -> nv_)
  and blanks are dropped. A pair that differs as written and not when turned back is a pure rename: OURS must have the line of AFTER.
  Where the port kept a number or name that muscope translates by meaning (__CUDA_ARCH__, versions), a finding must tell.
- A run of lines of BEFORE that is aligned with nothing is hand work; so are lines of code that are the same but lie in a comment of
  AFTER. Runs with only blank lines between them are one place. A place is flagged when a finding of muscope lies in it (an inline asm
  statement is one finding, from its first to its last line).
- Hand work that is not flagged is classified: `blank` (only blanks differ), `comment` (without comments the code is the same, or there
  was no code), `renamed in a comment`, `off` (code of one line was commented out or deleted and nothing put in its place), `literal` (only
  numbers or strings differ), `other`.
- Lines that only AFTER has are counted, and cannot be flagged.
"""
import argparse
import difflib
import json
import os
import re
import sys

SOURCES = (".cu", ".cuh", ".mu", ".muh", ".h", ".hpp", ".inl", ".cpp", ".c", ".cc")


def lines_of(path):
    with open(path, encoding="latin-1", newline="\n") as file:
        return file.read().split("\n")


def turned_back(line):
    """The line with CUDA's spellings and no blanks."""
    line = re.sub(r"musa", "cuda", line)
    line = re.sub(r"MUSA", "CUDA", line)
    line = re.sub(r"Musa", "Cuda", line)
    line = re.sub(r"CUDA_COMP_VERSION", "CUDA_VERSION", line)
    line = re.sub(r"(?<![A-Za-z0-9])mu(?=[A-Z0-9]|blas|fft|rand|sparse|solver|pti)", "cu", line)
    line = re.sub(r"(?<![A-Za-z0-9])MU(?=[_a-z]|BLAS|FFT|RAND|SPARSE|SOLVER|PTI|RT)", "CU", line)
    line = re.sub(r"(?<![A-Za-z0-9])(_*)mt_", r"\1nv_", line)
    line = re.sub(r"\.mu(h?)\b", r".cu\1", line)
    line = re.sub(r"\bcuda_add_(executable|library)", r"add_\1", line)
    return re.sub(r"\s+", "", line)


def without_comments(text):
    pattern = r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    return re.sub(pattern, lambda m: m.group(1) or " ", text, flags=re.S)


def kind_of(before, after, in_comment):
    a, b = "\n".join(before), "\n".join(after)
    squeeze = lambda s: re.sub(r"\s+", "", s)
    if squeeze(a) == squeeze(b):
        return "blank"
    if in_comment or squeeze(without_comments(a)) == squeeze(without_comments(b)):
        return "comment"
    if not squeeze(without_comments(b)):
        return "off"
    literal = r'"(?:\\.|[^"\\\n])*"|\b\d[\w.]*\b'
    if re.sub(literal, "0", squeeze(without_comments(a))) == re.sub(literal, "0", squeeze(without_comments(b))):
        return "literal"
    return "other"


def comment_lines(lines):
    """For each line: it lies wholly in a block comment or is one."""
    result, open_ = [], False
    for line in lines:
        text, was_open = line, open_
        out = ""
        while text:
            if open_:
                end = text.find("*/")
                if end < 0:
                    text = ""
                else:
                    text, open_ = text[end + 2:], False
            else:
                marks = [m for m in (text.find("/*"), text.find("//")) if m >= 0]
                if not marks:
                    out, text = out + text, ""
                else:
                    first = min(marks)
                    out += text[:first]
                    if text[first:first + 2] == "//":
                        text = ""
                    else:
                        text, open_ = text[first + 2:], True
        result.append((was_open or line.strip() != "") and out.strip() == "")
    return result


def joined(hand, lines):
    """Places with only blank lines between them, as one."""
    result = []
    for i1, i2, j1, j2 in hand:
        if result and not any(x.strip() for x in lines[result[-1][1]:i1]):
            result[-1] = (result[-1][0], i2, result[-1][2], j2)
        else:
            result.append((i1, i2, j1, j2))
    return result


def compare(before_root, after_root, ours_root, findings):
    spans = {}
    for file in findings["files"]:
        for finding in file["findings"]:
            spans.setdefault(file["path"], []).append((finding["line"], finding.get("end_line", finding["line"])))
    totals = dict.fromkeys(
        ["files", "renames", "renames identical", "renames by meaning, flagged", "hand lines", "hand lines flagged", "hand places",
         "hand places flagged", "added lines"], 0)
    kinds, listed = {}, []
    for folder, _, names in sorted(os.walk(before_root)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), before_root)
            other, mine = os.path.join(after_root, path), os.path.join(ours_root, path)
            if not name.endswith(SOURCES) or os.path.islink(os.path.join(folder, name)) or not os.path.exists(other):
                continue
            a, b, c = lines_of(os.path.join(folder, name)), lines_of(other), lines_of(mine if os.path.exists(mine) else
                                                                                          re.sub(r"\.cu(h?)$", r".mu\1", mine))
            if a == b:
                continue
            totals["files"] += 1
            comments, after_comments = comment_lines(a), comment_lines(b)
            hand = []
            matcher = difflib.SequenceMatcher(None, [turned_back(x) for x in a], [turned_back(x) for x in b], False)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes():
                if tag == "equal":
                    for i, j in zip(range(i1, i2), range(j1, j2)):
                        if after_comments[j] and not comments[i] and a[i].strip():
                            hand.append((i, i + 1, j, j + 1))
                            continue
                        if re.sub(r"\s+", "", a[i]) == re.sub(r"\s+", "", b[j]):
                            continue
                        totals["renames"] += 1
                        if re.sub(r"\s+", "", c[i]) == re.sub(r"\s+", "", b[j]):
                            totals["renames identical"] += 1
                        elif any(first <= i + 1 <= last for first, last in spans.get(path, [])):
                            totals["renames by meaning, flagged"] += 1
                        else:
                            listed.append(("rename", path, i + 1, a[i:i + 1], b[j:j + 1], c[i:i + 1]))
                elif tag == "insert":
                    totals["added lines"] += j2 - j1
                else:
                    hand.append((i1, i2, j1, j2))
            for i1, i2, j1, j2 in joined(hand, a):
                count = sum(1 for x in a[i1:i2] if x.strip()) or 1
                totals["hand places"] += 1
                totals["hand lines"] += count
                if any(first <= i2 and last >= i1 + 1 for first, last in spans.get(path, [])):
                    totals["hand places flagged"] += 1
                    totals["hand lines flagged"] += count
                    continue
                off = j1 < j2 and all(after_comments[j1:j2]) and not all(comments[i1:i2])
                kind = "off" if off else kind_of(a[i1:i2], b[j1:j2], all(comments[i1:i2]))
                places, lines = kinds.get(kind, (0, 0))
                kinds[kind] = (places + 1, lines + count)
                listed.append((kind, path, i1 + 1, a[i1:i2], b[j1:j2], c[i1:i2]))
    return totals, kinds, listed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for argument in ("before", "after", "ours", "findings"):
        parser.add_argument(argument)
    parser.add_argument("--list", action="store_true", help="show what is not identical or not flagged")
    options = parser.parse_args()
    with open(options.findings, encoding="utf-8") as file:
        findings = json.load(file)
    totals, kinds, listed = compare(options.before, options.after, options.ours, findings)
    for key, value in totals.items():
        print(f"{value:6} {key}")
    for kind, (places, count) in sorted(kinds.items()):
        print(f"{count:6} lines at {places} places not flagged: {kind}")
    if options.list:
        for kind, path, line, before, after, ours in listed:
            print(f"\n{path}:{line}: {kind}")
            for mark, lines in (("-", before), ("+", after), ("=", ours)):
                for text in lines[:8]:
                    print(f"  {mark} {text.rstrip()[:150]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
