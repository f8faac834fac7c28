#!/usr/bin/env python3
"""The checks find what they are for: a small tree without violations, then one violation at a time."""

import pathlib
import tempfile
import unittest

import check_house


class HouseTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("cmake/layers.txt", "# comment\nbase\nptx\nexec\n")
        self.write("src/base/a.h", "#pragma once\n#include <vector>\n")
        self.write("src/ptx/b.cc", '#include "base/a.h"\n#include "table.inc"\nfail("D301", "x");\n')
        self.write("src/ptx/table.inc", "X(1)\n")
        self.write("docs/explain/D301.md", "# D301: title\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def found(self, rule):
        return list(check_house.RULES[rule](self.root))

    def test_nothing_to_find(self):
        for rule in check_house.RULES:
            self.assertEqual(self.found(rule), [], rule)

    def test_include_from_below(self):
        self.write("src/exec/c.h", "")
        self.write("src/base/a.h", '#pragma once\n#  include "exec/c.h"\n')
        self.assertEqual(self.found("layers"), ["src/base/a.h:2: base may not include exec, which is below it"])

    def test_unknown_folder(self):
        self.write("src/other/d.h", "")
        self.assertEqual(len(self.found("layers")), 1)

    def test_include_of_nothing(self):
        self.write("src/exec/c.cc", '#include "base/none.h"\n')
        self.assertEqual(self.found("layers"), ['src/exec/c.cc:1: "base/none.h" does not exist'])

    def test_include_out_of_the_folder(self):
        self.write("src/exec/c.cc", '#include "../base/a.h"\n')
        self.assertEqual(len(self.found("layers")), 1)

    def test_long_file(self):
        self.write("src/base/long.cc", "\n" * 500)
        self.assertEqual(self.found("length"), [])
        self.write("src/base/long.cc", "\n" * 501)
        self.assertEqual(len(self.found("length")), 1)

    def test_code_without_page(self):
        self.write("src/exec/c.cc", 'fail("D601", "x");\n// "D602" in a comment\n')
        self.assertEqual(self.found("explain"), ["src/exec/c.cc:1: D601 has no page docs/explain/D601.md"])

    def test_code_in_a_test_only(self):
        self.write("src/exec/c_test.cc", 'EXPECT_EQ(code, "D601");\n')
        self.assertEqual(self.found("explain"), [])

    def test_page_without_code(self):
        self.write("docs/explain/D601.md", "# D601: title\n")
        self.assertEqual(self.found("explain"), ["docs/explain/D601.md:1: D601 is not used in src/"])

    def test_page_without_title(self):
        self.write("docs/explain/D301.md", "D301\n")
        self.assertEqual(len(self.found("explain")), 1)

    def test_left_to_do(self):
        self.write("src/base/e.cc", "int a;  // TO" + "DO: b\n")
        self.assertEqual(len(self.found("done")), 1)


if __name__ == "__main__":
    unittest.main()
