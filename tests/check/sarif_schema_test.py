"""The SARIF of `muscope check` against what the standard says of each property (sarif_facts.json), with findings, without any, and
when nothing could be judged.

    sarif_schema_test.py MUSCOPE SOURCE_DIR
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
MUSCOPE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
REPORT = SOURCE / "tests/golden/report/transpose.json"


class Sarif(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.validator = jsonschema.Draft7Validator(json.loads((HERE / "sarif_facts.json").read_text()))

    def sarif_of(self, budgets, code, report=REPORT):
        (self.folder / "b.toml").write_text(budgets)
        done = subprocess.run([MUSCOPE, "check", "-q", "--budget", "b.toml", "--report", str(report), "--sarif", "o.sarif"],
                              cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        document = json.loads((self.folder / "o.sarif").read_text())
        self.assertEqual([e.message for e in self.validator.iter_errors(document)], [])
        return document["runs"][0]

    def test_findings(self):
        run = self.sarif_of('[[budget]]\nmetric = ["gst_efficiency", "gst_transactions"]\nmin = 90\n'
                            '[[budget]]\nkernel = "none*"\nmetric = "gst_efficiency"\nmin = 1\n', 4)
        self.assertEqual(len(run["results"]), 2)
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
        self.assertEqual(len({r["partialFingerprints"]["muscopeFinding/v1"] for r in run["results"]}), 2)

    def test_none(self):
        self.assertEqual(self.sarif_of('[[budget]]\nmetric = "gst_efficiency"\nmin = 1\n', 0)["results"], [])

    def test_nothing_judged(self):
        report = json.loads(REPORT.read_text())
        report["program"].update(exit=3, exit_text="exited with 3")
        path = self.folder / "r.json"
        path.write_text(json.dumps(report))
        run = self.sarif_of('[[budget]]\nmetric = "gst_efficiency"\nmin = 1\n', 1, path)
        self.assertFalse(run["invocations"][0]["executionSuccessful"])

    def test_the_facts_find_mistakes(self):
        for wrong in ({"version": "2.1.0"}, {"version": "2.0", "runs": [{"tool": {"driver": {"name": "x"}}}]},
                      {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": "x"}]}]}):
            self.assertTrue(list(self.validator.iter_errors(wrong)), wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
