#!/usr/bin/env python3
"""Ports this repository's CUDA programs there, back and again, and has check_tree.py look at the results."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    muscope, root = sys.argv[1:3]
    worst = 0
    for folder in ("examples", "tests/programs", "tests/counters", "kernels"):
        with tempfile.TemporaryDirectory() as work:
            before = os.path.join(work, "before")
            shutil.copytree(os.path.join(root, folder), before, ignore=shutil.ignore_patterns("binaries", "golden"))
            at = lambda name: os.path.join(work, name)
            port = lambda *words: subprocess.run([muscope, "port", *words, "--no-ignore", "--quiet"]).returncode
            codes = (port(before, "--out-dir", at("musa"), "--json", at("json")),
                     port(at("musa"), "--out-dir", at("back"), "--to", "cuda"), port(at("musa"), "--out-dir", at("again")))
            print(folder, "exit codes", codes)
            if any(code not in (0, 4) for code in codes):
                worst = 1
            worst = max(worst, subprocess.run([sys.executable, "-B", os.path.join(HERE, "check_tree.py"), before, at("musa"), at("json"),
                                               "--back", at("back"), "--again", at("again")]).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
