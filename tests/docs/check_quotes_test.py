"""That check_quotes.py finds what is wrong."""

import pathlib
import tempfile
import unittest

import check_quotes

PAGE = """# Page

See [itself](#page), [a file](page.md), [none](none.md), [no heading](page.md#other).

```console
$ grep -c . page.md
  first    line
...
third line
$ echo $?
4
```

```sh
$ rm -r /
```
"""


class Quotes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = check_quotes.ROOT
        self.addCleanup(setattr, check_quotes, "ROOT", root)
        check_quotes.ROOT = pathlib.Path(folder.name)
        self.file = check_quotes.ROOT / "page.md"
        self.file.write_text(PAGE, encoding="utf-8")
        self.quote = check_quotes.quotes_of(self.file)[0]

    def test_finds_commands_that_do_not_exist(self):
        self.file.write_text("`muscope run x.cu` and `muscope fly`", encoding="utf-8")
        found = list(check_quotes.unknown_commands(self.file, {"run"}))
        self.assertEqual(found, ["page.md:1: muscope has no command 'fly'"])

    def test_reads_commands_lines_and_exit_codes(self):
        self.assertEqual(len(check_quotes.quotes_of(self.file)), 1)
        self.assertEqual(self.quote.command, "grep -c . page.md")
        self.assertEqual(self.quote.lines, [(7, "  first    line"), (9, "third line")])
        self.assertEqual(self.quote.exit, 4)

    def test_accepts_lines_in_order_whatever_the_blanks(self):
        self.assertEqual(list(check_quotes.complaints_about(self.quote, (4, ["first line", "second", "third line"]))), [])

    def test_finds_a_missing_line_a_wrong_order_and_a_wrong_exit_code(self):
        missing = list(check_quotes.complaints_about(self.quote, (4, ["first line", "third lines"])))
        self.assertEqual(missing, ["page.md:9: not printed by grep -c . page.md: third line"])
        order = list(check_quotes.complaints_about(self.quote, (4, ["third line", "first line"])))
        self.assertEqual(order, ["page.md:9: not printed here by grep -c . page.md: third line"])
        code = list(check_quotes.complaints_about(self.quote, (0, ["first line", "third line"])))
        self.assertEqual(code, ["page.md:6: ended with 0, not 4: grep -c . page.md"])

    def test_a_line_may_be_cut(self):
        self.quote.lines = [(7, "first, second ...")]
        self.assertEqual(list(check_quotes.complaints_about(self.quote, (4, ["first, second third"]))), [])
        self.assertEqual(len(list(check_quotes.complaints_about(self.quote, (4, ["first, third"])))), 1)

    def test_finds_broken_links(self):
        self.assertEqual(list(check_quotes.broken_links(self.file)), [
            "page.md: link to none.md: no such file",
            "page.md: link to page.md#other: no such heading",
        ])

    def test_refuses_to_run_other_commands(self):
        with self.assertRaises(ValueError):
            check_quotes.words_of("rm -r .", "muscope")

    def test_compiles_with_clang_unless_told_otherwise(self):
        self.assertEqual(check_quotes.words_of("muscope run a.cu", "M"),
                         ["M", "run", "--toolchain", "clang", "--count-from", "ptx", "a.cu"])
        self.assertEqual(check_quotes.words_of("muscope run --toolchain nvcc a.cu", "M"),
                         ["M", "run", "--count-from", "ptx", "--toolchain", "nvcc", "a.cu"])
        self.assertEqual(check_quotes.words_of("muscope run --count-from=auto a.cu", "M"),
                         ["M", "run", "--toolchain", "clang", "--count-from=auto", "a.cu"])

    def test_ignores_the_version_of_clang(self):
        self.assertEqual(check_quotes.normal(" (sm_90),  clang 22.1.8, 2"), check_quotes.normal("(sm_90), clang 19.1.7, 2"))


if __name__ == "__main__":
    unittest.main()
