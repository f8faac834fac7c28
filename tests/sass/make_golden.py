#!/usr/bin/env python3
"""Writes a table of instructions for the decoder's tests: lo, hi, text at address 0, one line per distinct form.

    make_golden.py --disassembler nvdisasm --family memory --flip 400 a.cubin b.cubin ... > memory.tsv

A form is the text with the numbers of registers, predicates and immediates removed. --flip N adds N words of the
family with some bits changed, those that the disassembler accepts.
"""
import argparse
import os
import random
import re
import struct
import subprocess
import tempfile

FAMILIES = {
    "memory": r"A(TOM|TOMG|TOMS|RRIVES|CQBULK)|B(2R|AR|MMA|MOV|PT|RA|REAK|RX|RXU|SSY|SYNC)|C(ALL|CTL|GAERRBAR)|D(EPBAR|MMA)"
              r"|E(NDCOLLECTIVE|RRBAR|XIT)|FENCE|HMMA|IMMA|J(MP|MX)|KILL|L(D|DC|DG|DGDEPBAR|DGSTS|DL|DS|DSM)"
              r"|M(EMBAR|OVM)|N(ANOSLEEP|OP)|P(MTRIG|REEXIT)|QSPC|R(ED|EDAS|EDG|ET|PCMOV)|S(T|TAS|TG|TL|TS|TSM|ULD|URED|UST|YNCS)"
              r"|T(EX|LD|LD4|XD|XQ)|U(BLK\w+|CGABAR_\w+|LDC|TMA\w+)|W(ARPSYNC)|YIELD",
    "float": r"D(ADD|FMA|MUL|SETP|MNMX)|F(2F|2FP|2I|2IP|ADD|CHK|FMA|MNMX|MUL|RND|SEL|SET|SETP|SWZADD)|H(ADD2|FMA2|MNMX2|MUL2|SET2|SETP2)"
             r"|I(2F|2FP|2I|2IP)|MUFU",
}
FAMILIES["integer"] = r"(?!(?:%s|%s)\b)\w+" % (FAMILIES["memory"], FAMILIES["float"])
RELATIVE = re.compile(r"(BRA|BRX|BSSY|CALL|LEPC|RET|WARPSYNC)\b")
NOP = (0x7918, 0x000FC00000000000)


def disassemble(tool, words):
    """Texts of words that lie one after another; None where the disassembler knows no instruction."""
    words, texts = list(words), [None] * len(words)
    while words:
        with tempfile.NamedTemporaryFile(suffix=".bin", delete=False) as file:
            file.write(b"".join(struct.pack("<QQ", *word) for word in words))
        run = subprocess.run([tool, "-b", "SM90", file.name], capture_output=True, text=True)
        os.unlink(file.name)
        if run.returncode == 0:
            for match in re.finditer(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*(?:\?PM\d\s*)*;", run.stdout):
                index = int(match[1], 16) // 16
                if words[index] != NOP or texts[index] != "":
                    texts[index] = match[2].replace(".reuse", "")
            return [None if text == "" else text for text in texts]
        bad = int(re.search(r"at address (0x[0-9a-f]+)", run.stderr)[1], 16) // 16
        words[bad], texts[bad] = NOP, ""
    return texts


def code(path):
    data = open(path, "rb").read()
    table = struct.unpack_from("<Q", data, 40)[0]
    count, names = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * index) for index in range(count)]
    for section in sections:
        start = sections[names][4] + section[0]
        if data[start:data.index(b"\0", start)].startswith(b".text."):
            yield from struct.iter_unpack("<QQ", data[section[4]:section[4] + section[5]])


def form(word, text):
    text = re.sub(r"(?<!\w)(UR|R|UP|P|B)\d+", r"\1", text)
    return "%03x " % (word[0] & 0xFFF) + re.sub(r"-?0x[0-9a-f]+", "#", re.sub(r"^@\S+ ", "", text))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--disassembler", default="nvdisasm")
    options.add_argument("--family", choices=FAMILIES, required=True)
    options.add_argument("--flip", type=int, default=0)
    options.add_argument("cubins", nargs="+")
    options = options.parse_args()
    mine = re.compile(r"(@\S+ )?(%s)\b" % FAMILIES[options.family])
    forms = {}
    for path in options.cubins:
        words = list(code(path))
        for word, text in zip(words, disassemble(options.disassembler, words)):
            if text and mine.match(text):
                forms.setdefault(form(word, text), (word, text))
    lines = list(forms.values())
    random.seed(1)
    bases = [word for word, _ in lines]
    flipped = []
    for _ in range(options.flip):
        value = (lambda word: word[0] | word[1] << 64)(random.choice(bases))
        for _ in range(random.choice((1, 1, 2, 3))):
            value ^= 1 << random.choice([*range(16, 64), *range(64, 92), *range(64, 92)])
        flipped.append((value & (2**64 - 1), value >> 64))
    for first in range(0, len(flipped), 100):
        part = flipped[first:first + 100]
        for word, text in zip(part, disassemble(options.disassembler, part)):
            if text and mine.match(text) and "INVALID" not in text and "???" not in text:
                lines.append((word, text))
    for word, text in sorted(set(lines), key=lambda line: (line[0][0] & 0xFFF, line[1], line[0])):
        if RELATIVE.search(text):
            text = disassemble(options.disassembler, [word])[0]
        print("%016x\t%016x\t%s" % (*word, text))


if __name__ == "__main__":
    main()
