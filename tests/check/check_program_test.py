"""`muscope check` and `muscope diff` from outside, on a report of two transposes whose numbers are known: naiveRow stores 524,288
sectors for 131,072 (25 %, line 41 of transpose.cu), tiled reads its shared tile with conflicts.

    check_program_test.py MUSCOPE SOURCE_DIR
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

MUSCOPE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
REPORT = SOURCE / "tests/golden/report/transpose.json"
STORE = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
EFFICIENCY = 'kernel = "naive*"\nmetric = "gst_efficiency"\n'


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = json.loads(REPORT.read_text())
        self.write_report()

    def write(self, name, text):
        (self.folder / name).write_text(text, errors="surrogateescape")

    def read(self, name):
        return (self.folder / name).read_text()

    def write_report(self, name="r.json"):
        self.write(name, json.dumps(self.report))

    def run_muscope(self, *arguments, code=0):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB", "GITLAB"))}
        done = subprocess.run([MUSCOPE, *arguments], cwd=self.folder, capture_output=True, check=False, text=True,
                              env=environment, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def check(self, *arguments, code=0):
        return self.run_muscope("check", "--report", "r.json", *arguments, code=code)

    def launch(self, kernel):
        return next(l for l in self.report["launches"] if l["kernel"].startswith(kernel))


class Files(Program):
    def test_outputs_never_replace_the_report_that_is_read(self):
        self.check("--init")
        before = self.read("r.json")
        _, err = self.check("--sarif", "r.json", code=3)
        self.assertIn("does not overwrite it", err)
        self.run_muscope("html", "r.json", "-o", "./r.json", code=3)
        self.run_muscope("diff", "--json", "r.json", "r.json", "r.json", code=3)
        self.assertEqual(self.read("r.json"), before)

    def test_what_launches_noticed_is_told(self):
        self.launch("naiveRow")["diagnostics"] = [{"severity": "warning", "code": "D610", "text": "a load outside",
                                                   "help": "", "at": {"file": "t.cu", "line": 3, "column": 0}}]
        self.write_report()
        _, err = self.check("--init")
        self.assertIn("warning D610: a load outside; in naiveRow, launch #", err)
        self.assertIn("warning D610", self.check()[1])
        _, err = self.run_muscope("diff", "r.json", "r.json")
        self.assertEqual(err.count("warning D610: r.json: a load outside"), 2)


class Check(Program):
    def test_init_writes_what_the_run_just_holds(self):
        out, _ = self.check("--init")
        self.assertIn("muscope.toml", out)
        self.assertIn("min = 25.0", self.read("muscope.toml"))
        out, _ = self.check()
        self.assertRegex(out, r"\n\d+ held, 0 crossed")
        _, err = self.check("--init", code=3)
        self.assertIn("D767", err)
        self.check("--init", "--force")

    def test_a_baseline_holds_exact_integers(self):
        self.check("--init")
        baseline = json.loads(self.read("muscope-baseline.json"))
        naive = next(k for k in baseline["kernels"] if k["kernel"].startswith("naiveRow"))
        self.assertEqual(naive["metrics"][STORE], {"sum": 524288, "least": 524288, "most": 524288, "grade": "modelled"})
        self.assertEqual(naive["counted_from"], "PTX stream")

    def test_one_sector_more_crosses_a_ratchet(self):
        self.write("muscope.toml", '[[budget]]\nmetric = "gst_transactions"\nratchet = "down"\n')
        self.check("--update-baseline")
        self.launch("naiveRow")["metrics"][STORE]["value"] += 1
        self.write_report()
        out, _ = self.check(code=4)
        self.assertIn("is 524,289, it was 524,288 in the baseline", " ".join(out.split()))
        self.launch("naiveRow")["metrics"][STORE]["value"] -= 2
        self.write_report()
        out, _ = self.check()
        self.assertIn("better", out)

    def test_slack(self):
        self.write("muscope.toml", '[[budget]]\nmetric = "gst_transactions"\nratchet = "down"\nslack = "1 %"\n')
        self.check("--update-baseline")
        self.launch("naiveRow")["metrics"][STORE]["value"] += 5242
        self.write_report()
        self.check()
        self.launch("naiveRow")["metrics"][STORE]["value"] += 1
        self.write_report()
        self.check(code=4)

    def test_limits(self):
        for budget, code in (("min = 25", 0), ("min = 25.1", 4), ("max = 25.0", 0), ("max = 24", 4)):
            self.write("muscope.toml", f"[[budget]]\n{EFFICIENCY}{budget}\n")
            self.check(code=code)
        self.write("muscope.toml", f'[[budget]]\n{EFFICIENCY}min = 80\nlevel = "warning"\n')
        self.assertIn("warning: gst_efficiency of naiveRow", self.check()[0])
        self.write("muscope.toml", f'[[budget]]\n{EFFICIENCY}grade = "counted"\n')
        self.assertIn("counted is wanted", " ".join(self.check(code=4)[0].split()))

    def test_a_budget_that_holds_nothing_is_an_error(self):
        self.write("muscope.toml", '[[budget]]\nkernel = "gone*"\nmetric = "gst_efficiency"\nmin = 1\n')
        self.assertIn("no kernel of the run matches gone*", self.check(code=4)[0])
        self.write("muscope.toml", '[[budget]]\nkernel = "gone*"\nmetric = "gst_efficiency"\nmin = 1\noptional = true\n')
        self.check()
        self.write("muscope.toml", "version = 1\n")
        self.assertIn("D766", self.check(code=3)[1])

    def test_kernels_that_come_and_go(self):
        self.write("muscope.toml", '[[budget]]\nmetric = "gst_transactions"\nratchet = "down"\n')
        self.check("--update-baseline")
        self.launch("naiveRow")["kernel"] = "better(float*)"
        self.write_report()
        out = " ".join(self.check(code=4)[0].split())
        self.assertIn("better(float*) is not in the baseline", out)
        self.assertIn("of the baseline was not launched", out)

    def test_another_setup_is_never_compared(self):
        self.write("muscope.toml", '[[budget]]\nmetric = "gst_transactions"\nratchet = "down"\n')
        self.check("--update-baseline")
        for change in (lambda r: r["gpu"].update(name="a100"), lambda r: r["program"].update(toolchain="nvcc 99"),
                       lambda r: r["launches"][0]["counted_from"].update(source="sm_90 machine code (ptxas 13.0.88)"),
                       lambda r: r["launches"][0]["counted_from"].update(grade="estimated"),
                       lambda r: r["launches"][0]["registers"].update(source="ptxas 1.0")):
            self.report = json.loads(REPORT.read_text())
            change(self.report)
            self.write_report()
            out, err = self.check(code=3)
            self.assertIn("D764", err)
            self.assertIn("the baseline does not hold for this run", out)
        self.assertIn("D764", self.check("--github", code=3)[1])

    def test_a_program_that_failed_is_not_judged(self):
        self.write("muscope.toml", f"[[budget]]\n{EFFICIENCY}min = 1\n")
        self.report["program"].update(exit=3, exit_text="exited with 3")
        self.write_report()
        self.assertIn("exited with 3", self.check(code=1)[0])
        self.check("--update-baseline", code=1)
        self.assertFalse((self.folder / "muscope-baseline.json").exists())
        self.report = json.loads(REPORT.read_text())
        self.report["launches"] = []
        self.write_report()
        self.check(code=3)

    def formats(self):
        self.write("muscope.toml", f'[[budget]]\n{EFFICIENCY}min = 80\n[[budget]]\nkernel = "<&\\u0001>"\nmetric = "gst_efficiency"\nmin = 1\n')
        out, _ = self.check("--sarif", "s", "--junit", "j", "--gitlab", "g", "--markdown", "m", "--github", code=4)
        return out, self.read("s"), self.read("j"), self.read("g"), self.read("m")

    def test_formats_name_the_line_and_are_the_same_twice(self):
        first = self.formats()
        self.assertEqual(first, self.formats())
        out, sarif, junit, gitlab, markdown = first
        place = json.loads(sarif)["runs"][0]["results"][1]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"], {"uri": "transpose.cu", "uriBaseId": "%SRCROOT%"})
        self.assertEqual(place["region"]["startLine"], 41)
        issues = json.loads(gitlab)
        self.assertEqual(issues[1]["location"], {"path": "transpose.cu", "lines": {"begin": 41}})
        self.assertEqual(len({issue["fingerprint"] for issue in issues}), 2)
        suites = xml.etree.ElementTree.fromstring(junit)
        self.assertEqual((suites.get("tests"), suites.get("failures")), ("2", "2"))
        self.assertEqual(suites[0][0].get("line"), "41")
        self.assertEqual(len(suites[0].findall("testcase/failure")), 2)
        self.assertRegex(out, r"\n::error file=transpose\.cu,line=41(,col=\d+)?,title=muscope min::gst_efficiency of naiveRow.*25\.0 %25")
        self.assertRegex(markdown, r"\| CROSSED \| naiveRow.* 25\.0 % \| \\>= 80 % \| modelled \| transpose\.cu:41 \|")
        for text in first:
            self.assertNotIn(str(self.folder), text)

    def test_paths_are_relative_to_the_root(self):
        self.write("muscope.toml", f"[[budget]]\n{EFFICIENCY}min = 80\n")
        for line in self.launch("naiveRow")["lines"]:
            line["file"] = f"{self.folder}/a dir/{line['file']}"
        self.write_report()
        self.check("--sarif", "s", code=4)
        self.assertIn('"uri": "a%20dir/transpose.cu"', self.read("s"))
        self.check("--sarif", "s", "--root", "a dir", code=4)
        self.assertIn('"uri": "transpose.cu"', self.read("s"))

    def test_options_behind_the_program_are_noted(self):
        self.write("muscope.toml", "version = 1\n")
        done = subprocess.run([MUSCOPE, "check", "nosuch.cu", "--update-baseline"], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertIn("D126: --update-baseline stands after the program", done.stderr)
        self.assertIn("muscope check --update-baseline ... app.cu", done.stderr.replace("\n", " "))

    def test_budgets_that_make_no_sense(self):
        for text, code, place, words in (
                ("[[budget]\n", "D761", "muscope.toml:1:", ""),
                ('a = "\n', "D761", "muscope.toml:1:", ""),
                ("version = 1\n[\0]x = 1\n", "D761", "muscope.toml:2:2", "control character"),
                ("version = 1\nal \udcff\udcff= 1\n", "D761", "muscope.toml:2:4", "not UTF-8"),
                ("version = 1\n[[\nmetric = 1\n", "D761", "muscope.toml:", ""),
                ("\nversion = 2\n", "D762", "muscope.toml:2:11", "version 1"),
                ('[[budget]]\nmetric = "gst_efficency"\nmin = 1\n', "D762", "muscope.toml:2:10", "gst_efficiency"),
                ('[[budget]]\nmetrik = "gst_efficiency"\n', "D762", "muscope.toml:2:1", "did you mean metric"),
                ('[[budget]]\nmetric = "dram_read_bytes"\nmax = 1\n', "D762", "muscope.toml:2:10", "not modelled"),
                ('[[budget]]\nmetric = "gst_efficiency"\nmin = "80"\n', "D762", "muscope.toml:3:7", "not a number"),
                ('[[budget]]\nmetric = "gst_efficiency"\nmin = -1\n', "D762", "muscope.toml:3:7", "not a number"),
                ('[[budget]]\nmetric = "gst_efficiency"\nmin = nan\n', "D762", "muscope.toml:3:7", "not a number"),
                ('[[budget]]\nmetric = "gst_efficiency"\nmin = 2\nmax = 1\n', "D762", "muscope.toml:4:7", "less than"),
                ('[[budget]]\nmetric = "gst_efficiency"\nratchet = "sideways"\n', "D762", "muscope.toml:3:11", "down, up"),
                ('[[budget]]\nmetric = "gst_efficiency"\nmin = 1\nover = "run"\n', "D762", "muscope.toml:4:8", "not a count"),
                ('[[budget]]\nmetric = "gst_efficiency"\n', "D762", "muscope.toml:1:1", "limits nothing"),
                ("[[budget]]\nmin = 1\n", "D762", "muscope.toml:1:1", "without 'metric'"),
                ("budget = 3\n", "D762", "muscope.toml:1:10", "[[budget]]")):
            self.write("muscope.toml", text)
            _, err = self.check(code=3)
            self.assertIn(code, err, text)
            self.assertIn(place, err, text)
            self.assertIn(words, err.replace("\n", " "), text)

    def test_baselines_that_are_none(self):
        self.write("muscope.toml", '[[budget]]\nmetric = "gst_transactions"\nratchet = "down"\n')
        self.assertIn("D765", self.check(code=3)[1])
        for text, words in (('{\n "schema": <<<<\n}', "muscope-baseline.json:2:12"), ("{}", "schema is missing"),
                            ('{"schema":"muscope.baseline/2"}', "is not muscope.baseline/1"), ("[" * 100000, "D763"),
                            ('{"schema":78e6432}', "too large")):
            self.write("muscope-baseline.json", text)
            _, err = self.check(code=3)
            self.assertIn("D763", err)
            self.assertIn(words, err)

    def test_usage(self):
        self.write("muscope.toml", f"[[budget]]\n{EFFICIENCY}min = 1\n")
        self.check("app.cu", code=2)
        self.check("--sarif", "x", "--junit", "x", code=2)
        self.check("--init", "--update-baseline", code=2)
        self.assertIn("D760", self.run_muscope("check", "--report", "none.json", code=3)[1])
        self.assertIn("--init", self.run_muscope("check", "--budget", "none.toml", "--report", "r.json", code=3)[1])
        self.run_muscope("check", "--help")


class Run(Program):
    def test_init_remembers_what_was_run(self):
        app = str(SOURCE / "tests/counters/binaries/vadd_shared")
        self.run_muscope("check", "--init", "--count-from", "ptx", app)
        self.assertIn(f'command = ["--count-from=ptx", "--", "{app}"]', self.read("muscope.toml"))
        baseline = self.read("muscope-baseline.json")
        out, _ = self.run_muscope("check")
        self.assertIn("PASS", out)
        self.assertRegex(out, r"\n\d+ held, 0 crossed")
        self.run_muscope("check", "--update-baseline")
        self.assertEqual(self.read("muscope-baseline.json"), baseline)
        # Another GPU than the baseline's.
        self.assertIn("D764", self.run_muscope("check", "--gpu", "h100", code=3)[1])
        self.run_muscope("check", "-q", "--count-from", "ptx", "--json", "r.json", app)
        self.check()
        out, _ = self.run_muscope("diff", "--count-from", "ptx", "r.json", app)
        self.assertIn("1 kernel is as before", out)


class Diff(Program):
    def diff(self, *arguments, code=0):
        return self.run_muscope("diff", *arguments, code=code)

    def other(self):
        """As if the store had been mended, in a program where lines above were added."""
        launch = self.launch("naiveRow")
        for line in launch["lines"]:
            line["line"] += 7
            for site in line["sites"]:
                if site["kind"] == "store" and site["space"] == "global":
                    site.update(sectors=131072, distinct_sectors=131072)
        launch["kernel"] = "naiveRow2(float*, const float*, int, int)"
        self.write_report("b.json")

    def test_the_same(self):
        out, err = self.diff("r.json", "r.json")
        self.assertIn("2 kernels are as before", out)
        self.assertEqual(err, "")
        self.assertNotIn("->", out)
        out, _ = self.diff("--all", "r.json", "r.json")
        self.assertEqual(out.count("not modelled yet"), 1)

    def test_what_moved(self):
        self.other()
        out, _ = self.diff("r.json", "b.json")
        self.assertRegex(out, r"\nnaiveRow -> naiveRow2 +better, renamed\? the names are 93 % alike")
        self.assertRegex(out, r"global store +sectors +524,288 +-> +131,072 +-75\.0 % +better")
        self.assertRegex(out, r"efficiency +25\.0 % +-> +100\.0 % +\+75\.0 points +better")
        self.assertIn("transpose.cu:41 -> 48", out)
        self.assertIn("1 kernel is as before", out)
        self.assertRegex(out, r"\nnot modelled yet: [^\n]*\n? *[^\n]*L1 hit rate, L2 hit rate")
        self.assertNotRegex(out, r"theoretical occupancy")
        self.assertRegex(self.diff("--all", "r.json", "b.json")[0], r"theoretical occupancy +\d+\.0 % \[")
        back, _ = self.diff("b.json", "r.json")
        self.assertRegex(back, r"sectors +131,072 +-> +524,288 +\+300\.0 % +worse")

    def test_json_and_markdown(self):
        self.other()
        out, _ = self.diff("--json", "-", "r.json", "b.json")
        self.assertEqual(out, self.diff("--json", "-", "r.json", "b.json")[0])
        document = json.loads(out)
        self.assertEqual(document["schema"], "muscope.diff/1")
        kernel = document["kernels"][0]
        self.assertEqual((kernel["matched_by"], kernel["moved"]), ("similarity", True))
        store = next(a for a in kernel["accesses"] if a["access"] == "global store")
        sectors = next(c for c in store["changes"] if c["label"] == "sectors")
        self.assertEqual((sectors["before"], sectors["after"], sectors["change"]), (524288, 131072, "better"))
        self.assertEqual((kernel["lines"][0]["before"]["line"], kernel["lines"][0]["after"]["line"]), (41, 48))
        markdown, _ = self.diff("--markdown", "-", "r.json", "b.json")
        self.assertIn("| global store sectors | 524,288 | 131,072 | -75.0 % better |", markdown)

    def test_lines_are_found_by_their_text(self):
        old = {"file": "transpose.cu", "lines": [{"line": n, "text": f"text {n};"} for n in range(1, 60)]}
        self.report["sources"] = [old]
        self.write_report()
        self.report["sources"] = [{"file": "transpose.cu", "lines": [{"line": n + 7, "text": f"  text {n};"} for n in range(1, 60)]}]
        self.other()
        out, _ = self.diff("r.json", "b.json")
        self.assertRegex(out, r"transpose\.cu:41 -> 48\n +\| text 41;\n")

    def test_kernels_of_one_side(self):
        del self.report["launches"][0]
        self.write_report("b.json")
        out, _ = self.diff("r.json", "b.json")
        self.assertRegex(out, r"\n\w+\(.*gone\n")
        out, _ = self.diff("b.json", "r.json")
        self.assertRegex(out, r"\n\w+\(.*new\n")

    def test_other_setups_are_told(self):
        self.report["gpu"]["name"] = "a100"
        self.report["program"]["toolchain"] = "nvcc 13.0.88"
        self.write_report("b.json")
        _, err = self.diff("r.json", "b.json")
        self.assertIn("D768", err)
        self.assertIn("D769", err)

    def test_usage(self):
        self.diff(code=2)
        self.diff("r.json", code=2)
        self.diff("r.json", "r.json", "more", code=2)
        self.assertIn("D760", self.diff("r.json", "none.json", code=3)[1])
        self.write("bad.json", "{")
        self.assertIn("D701", self.diff("r.json", "bad.json", code=3)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
