"""That check_translations.py finds what is wrong."""

import pathlib
import tempfile
import unittest

import check_translations

ENGLISH = """# Page

Moves 1,024 sectors in 4 requests, see [claims](../claims.md) and [banks](banks.md#x).

## Run

```console
$ muscope run a.cu
  1,024
```
"""

CHINESE = """# 页面

4 个请求搬运 1,024 个扇区，见[说法](../../claims.md)与[存储体](banks.md)。[术语](../terms.md)

## 运行

```console
$ muscope run a.cu
  1,024
```
"""


class Translations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for place in ("docs/learn", "docs/zh/learn"):
            (self.root / place).mkdir(parents=True)
        self.english, self.chinese = self.root / "docs/learn/page.md", self.root / "docs/zh/learn/page.md"
        self.english.write_text(ENGLISH, encoding="utf-8")

    def found(self, page):
        self.chinese.write_text(page, encoding="utf-8")
        return list(check_translations.complaints_about(self.root, self.english, self.chinese))

    def test_accepts_a_translation(self):
        self.assertEqual(self.found(CHINESE), [])

    def test_finds_a_changed_quote(self):
        self.assertEqual(self.found(CHINESE.replace("  1,024", "  1,025")),
                         ["docs/zh/learn/page.md: console block 1 is not that of docs/learn/page.md: 1,024"])
        self.assertEqual(self.found(CHINESE.replace("```console", "```")),
                         ["docs/zh/learn/page.md: 0 console blocks, docs/learn/page.md has 1"])

    def test_finds_a_changed_number(self):
        self.assertEqual(self.found(CHINESE.replace("1,024 个", "1,028 个")),
                         ["docs/zh/learn/page.md: numbers missing: 1,024",
                          "docs/zh/learn/page.md: numbers that the English page has not: 1,028"])

    def test_finds_a_missing_link(self):
        self.assertEqual(self.found(CHINESE.replace("../../claims.md", "../terms.md")),
                         ["docs/zh/learn/page.md: links missing: docs/claims.md"])

    def test_finds_a_missing_part(self):
        self.assertEqual(self.found(CHINESE.replace("## 运行", "运行")),
                         ["docs/zh/learn/page.md: headings [1], docs/learn/page.md has [1, 2]"])

    def test_finds_missing_pages(self):
        (self.root / "docs/zh/terms.md").touch()
        (self.root / "docs/zh/guide.md").touch()
        pairs = [(english.name, chinese.name) for english, chinese in check_translations.pairs_of(self.root)]
        self.assertEqual(pairs, [("README.md", "README.zh-CN.md"), ("page.md", "page.md"), ("guide.md", "guide.md")])
        self.assertEqual(check_translations.main([str(self.root)]), 1)


if __name__ == "__main__":
    unittest.main()
