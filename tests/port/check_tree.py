#!/usr/bin/env python3
"""Checks what `muscope port` made of a project without using any of its code: a tokenizer of its own, and rules of its own.

    muscope port BEFORE --out-dir AFTER --no-ignore --json FINDINGS.json
    muscope port AFTER --out-dir BACK --no-ignore --to cuda --quiet
    muscope port AFTER --out-dir AGAIN --no-ignore --quiet
    check_tree.py BEFORE AFTER FINDINGS.json [--back BACK] [--again AGAIN] [--names FILE]

- Token by token, only identifiers and header names differ, or a number that a finding P002 or P044 is about.
- Every identifier of AFTER's code that is spelled like CUDA's is named by a finding of that file, or the project declares
  it (the report says which those are; --names FILE, a list of real CUDA names, shows those that should not be among them).
- BACK has the bytes of BEFORE where no finding P039 tells that the way back is not known; AGAIN has the bytes of AFTER.
"""
import argparse
import json
import os
import re
import sys

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hxx", ".hh", ".inl", ".cpp", ".cc", ".cxx", ".c")
SPLICE = rb"\\[ \t]*\r?\n"
TOKEN = re.compile(
    rb'(?P<raw>\b(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)")'
    rb"|(?P<comment>/\*.*?(?:\*/|\Z)|//(?:" + SPLICE + rb"|[^\n])*)"
    rb'|(?P<string>(?:\b(?:u8|[uUL]))?"(?:\\\r?\n|\\.|[^"\\\n])*")'
    rb"|(?P<number>\.?\d(?:[eEpP][+-]|'[0-9A-Za-z_]|[\w.])*)"
    rb"|(?P<character>(?:\b(?:u8|[uUL]))?'(?:\\.|[^'\\\n])+')"
    rb"|(?P<include>\#[ \t]*(?:include|include_next|import)[ \t]*(?:<[^>\n]*>|\"[^\"\n]*\"))"
    rb"|(?P<identifier>(?:[A-Za-z_$\x80-\xff]|" + SPLICE + rb"(?=[A-Za-z_]))(?:[\w$\x80-\xff]|" + SPLICE + rb"(?=\w))*)"
    rb"|(?P<blank>\s+|" + SPLICE + rb")"
    rb"|(?P<other>.)", re.S)
LIKE_CUDA = re.compile(
    r"(?:__)?(?:make_|PFN_)?(?:cuda|cublas|cufft|curand|cusparse|cusolver|cupti|cudnn|nccl|nvrtc|nvtx|nvml|nvjpeg|cutensor)[A-Z]\w*"
    r"|cu(?:Mem|Ctx|Device|Module|Launch|Stream|Event|Func|Init|Array|Tex|Surf|Graph|Get|Pointer|Occupancy)[A-Z]?\w*"
    r"|CU_[A-Z]\w+|CU(?:deviceptr|device|context|module|function|stream|event|result|array)"
    r"|CUDA_(?:SUCCESS|ERROR)\w*|CUDART_\w+|CUDA_VERSION|(?:CUBLAS|CUFFT|CURAND|CUSPARSE|CUSOLVER|CUDNN|NCCL|NPP|CUPTI)_[A-Z]\w+"
    r"|__CUDA_?[A-Z]\w*|__nv_\w+")


def tokens_of(data):
    return [(m.lastgroup if m.lastgroup != "delimiter" else "raw", m.group()) for m in TOKEN.finditer(data)]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def without_splices(word):
    return re.sub(SPLICE, b"", word)


class Checker:
    def __init__(self, options, findings):
        self.options = options
        self.findings = findings
        self.problems = []
        self.counts = dict.fromkeys(["files", "bytes", "identifiers changed", "headers changed", "numbers changed",
                                     "CUDA names left", "not reported", "back: files", "back: other bytes",
                                     "again: other bytes"], 0)
        self.own, self.shadowing = set(), set()
        for file in findings["files"]:
            self.own.update(file.get("own_names", {}))
        self.real = set()
        if options.names:
            self.real = set(read(options.names).decode("latin-1").split())

    def problem(self, path, line, text):
        self.problems.append(f"{path}:{line}: {text}")

    def file(self, entry):
        path, new_path = entry["path"], entry["new_path"]
        before, after = read(os.path.join(self.options.before, path)), read(os.path.join(self.options.after, new_path))
        if b"\0" in before:
            if before != after:
                self.problem(path, 0, "a binary file was changed")
            return
        self.counts["files"] += 1
        self.counts["bytes"] += len(before)
        self.reported = {f["name"] for f in entry["findings"] if f.get("name")}
        codes = {}
        for finding in entry["findings"]:
            for line in range(finding["line"], finding["end_line"] + 1):
                codes.setdefault(line, set()).add(finding["code"])
        self.compare(path, tokens_of(before), tokens_of(after), codes)
        if self.options.back:
            self.counts["back: files"] += 1
            one_way = any(f["code"] == "P039" for f in entry["findings"])
            other = os.path.join(self.options.back, path)
            if not entry["left_alone"] and (not os.path.exists(other) or read(other) != before) and not one_way:
                self.counts["back: other bytes"] += 1
                self.problem(path, 0, "the way back gives other bytes")
        if self.options.again and read(os.path.join(self.options.again, new_path)) != after:
            self.counts["again: other bytes"] += 1
            self.problem(path, 0, "ported again, it changes")

    def compare(self, path, before, after, codes):
        line, j = 1, 0
        for kind, text in before:
            if j >= len(after):
                return self.problem(path, line, "tokens are missing")
            new_kind, new = after[j]
            j += 1
            if text != new or kind != new_kind:
                if kind == "identifier" and new_kind == "identifier":
                    self.counts["identifiers changed"] += 1
                elif kind == "include" and new_kind == "include":
                    self.counts["headers changed"] += 1
                elif kind == "number" and new_kind == "number" and "P002" in codes.get(line, ()):
                    self.counts["numbers changed"] += 1
                else:
                    return self.problem(path, line, f"{kind} {text[:60]!r} became {new_kind} {new[:60]!r}")
            # The number that stood there follows in a comment.
            if kind == "number" and after[j:j + 2] == [("blank", b" "), ("comment", b"/* CUDA: " + text + b" */")]:
                j += 2
            if new_kind == "identifier":
                self.left(path, line, without_splices(new).decode("latin-1"), codes)
            line += text.count(b"\n")
        if j != len(after):
            self.problem(path, line, "tokens were added")

    def left(self, path, line, name, codes):
        if not LIKE_CUDA.fullmatch(name):
            return
        self.counts["CUDA names left"] += 1
        if name in self.own:
            if name in self.real:
                self.shadowing.add(f"{path}: '{name}'")
            return
        if name in self.reported:
            return
        self.counts["not reported"] += 1
        self.problem(path, line, f"'{name}' is left and not reported")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for argument in ("before", "after", "findings"):
        parser.add_argument(argument)
    parser.add_argument("--back")
    parser.add_argument("--again")
    parser.add_argument("--names")
    parser.add_argument("--most", type=int, default=40, help="problems that are shown")
    options = parser.parse_args()
    checker = Checker(options, json.loads(read(options.findings)))
    for entry in checker.findings["files"]:
        if entry["kind"] == "source" and entry["bytes"] > 0 and not entry["left_alone"]:
            checker.file(entry)
    for key, value in checker.counts.items():
        print(f"{value:10} {key}")
    print(f"{len(checker.shadowing):10} names of the project's own that CUDA has too")
    print(f"{len(checker.problems):10} problems")
    for text in sorted(checker.shadowing)[:options.most]:
        print(text)
    for text in checker.problems[:options.most]:
        print(text)
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
