#!/usr/bin/env python3
"""Looks whether the Chinese pages keep pace with the English ones.

    check_translations.py [ROOT]

Pairs: README.md and README.zh-CN.md, docs/learn/X.md and docs/zh/learn/X.md (each page has its counterpart), and guides that are
translated, docs/X.md and docs/zh/X.md. A pair has

  quotes   the same ```console blocks, byte for byte, in the same order
  numbers  in its text, the same numbers of two and more digits, each as often; what is quoted as code counts too
  links    in the Chinese page every link of the English one, as often (a page of docs/zh stands for the one it translates)
  code     in the Chinese page every `code` of the English one, as often
  parts    headings of the same levels in the same order, as many rows of tables and items of lists

One line for each difference. Exit code: 0 when there is none, else 1.
"""

import collections
import pathlib
import re
import sys

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.S | re.M)
ONLY_CHINESE = {"terms.md"}
NUMBER = re.compile(r"(?<![\w.,])\d[\d,.]*\d", flags=re.A)


def text_of(page):
    return FENCE.sub("", page)


def quotes_of(page):
    return [body for language, body in FENCE.findall(page) if language == "console"]


def numbers_of(page):
    text = re.sub(r"\]\([^)]*\)", "]", text_of(page))
    return collections.Counter(NUMBER.findall(text))


def code_of(page):
    return collections.Counter(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text_of(page)))


def parts_of(page):
    return {name: len(re.findall(start, text_of(page), flags=re.M)) for name, start in (("rows", r"^\|"), ("items", r"^- "))}


def heads_of(page):
    return [len(marks) for marks in re.findall(r"^(#+) ", text_of(page), flags=re.M)]


def meant(root, file, target):
    """The file a link leads to, as its English page, without a heading (translated ones have other names); addresses as they are."""
    path = target.partition("#")[0]
    if re.match(r"[a-z]+:", target):
        return target
    place = (file.parent / path).resolve() if path else file
    if not place.is_relative_to(root):
        return target
    return place.relative_to(root).as_posix().replace("docs/zh/", "docs/").replace("README.zh-CN.md", "README.md")


def links_of(root, file, page):
    return collections.Counter(meant(root, file, target) for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)))


def shown(counter):
    return ", ".join(f"{what} ({often})" if often > 1 else what for what, often in sorted(counter.items()))


def complaints_about(root, english, chinese):
    name = chinese.relative_to(root)
    original, page = english.read_text(encoding="utf-8"), chinese.read_text(encoding="utf-8")
    wanted, found = quotes_of(original), quotes_of(page)
    for number, (ours, theirs) in enumerate(zip(wanted, found), 1):
        if ours != theirs:
            lines = zip(ours.splitlines() + [""], theirs.splitlines() + [""])
            line = next((a for a, b in lines if a != b), "")
            yield f"{name}: console block {number} is not that of {english.relative_to(root)}: {line.strip()}"
    if len(wanted) != len(found):
        yield f"{name}: {len(found)} console blocks, {english.relative_to(root)} has {len(wanted)}"
    ours, theirs = numbers_of(original), numbers_of(page)
    if ours - theirs:
        yield f"{name}: numbers missing: {shown(ours - theirs)}"
    if theirs - ours:
        yield f"{name}: numbers that the English page has not: {shown(theirs - ours)}"
    if missing := links_of(root, english, original) - links_of(root, chinese, page):
        yield f"{name}: links missing: {shown(missing)}"
    if missing := code_of(original) - code_of(page):
        yield f"{name}: code missing: {shown(missing)}"
    if parts_of(original) != parts_of(page):
        yield f"{name}: {parts_of(page)}, {english.relative_to(root)} has {parts_of(original)}"
    if heads_of(original) != heads_of(page):
        yield f"{name}: headings {heads_of(page)}, {english.relative_to(root)} has {heads_of(original)}"


def pairs_of(root):
    yield root / "README.md", root / "README.zh-CN.md"
    names = {file.name for folder in ("docs/learn", "docs/zh/learn") for file in (root / folder).glob("*.md")}
    for name in sorted(names):
        yield root / "docs/learn" / name, root / "docs/zh/learn" / name
    for file in sorted((root / "docs/zh").glob("*.md")):
        if file.name not in ONLY_CHINESE:
            yield root / "docs" / file.name, file


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2]).resolve()
    complaints, pairs = [], list(pairs_of(root))
    for english, chinese in pairs:
        absent = [file for file in (english, chinese) if not file.exists()]
        complaints += [f"{file.relative_to(root)}: missing" for file in absent]
        if not absent:
            complaints += complaints_about(root, english, chinese)
    for text in complaints:
        print(text)
    print(f"{len(pairs)} pages in two languages: {len(complaints)} differences")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
