"""That check_tree.py and compare_port.py find what is wrong."""
import argparse
import os
import tempfile
import unittest

import check_tree
import compare_port


class Folder:
    def __init__(self, root, name, text):
        self.path = os.path.join(root, name)
        os.makedirs(self.path)
        with open(os.path.join(self.path, "a.cu"), "w", encoding="latin-1") as file:
            file.write(text)


class CheckTree(unittest.TestCase):
    def problems(self, before, after, findings=(), own=(), back=None):
        with tempfile.TemporaryDirectory() as root:
            options = argparse.Namespace(before=Folder(root, "b", before).path, after=Folder(root, "a", after).path, names=None,
                                         again=None, back=Folder(root, "k", back).path if back else None)
            entry = {"path": "a.cu", "new_path": "a.cu", "kind": "source", "left_alone": False, "own_names": dict.fromkeys(own, 1),
                     "findings": list(findings)}
            checker = check_tree.Checker(options, {"files": [entry]})
            checker.file(entry)
            return checker.problems

    def test_renames_are_fine(self):
        text = '#include <cuda.h>\ncudaFree(0); // cudaFree\nchar c = \'"\'; s = "cudaFree" R"x(cudaFree)x"; n = 1\'000;\n'
        ported = text.replace("<cuda.h>", "<musa.h>").replace("cudaFree(0)", "musaFree(0)")
        self.assertEqual(self.problems(text, ported, back=text), [])

    def test_what_lies_outside_of_names(self):
        for before, after in (("// cudaFree\n", "// musaFree\n"), ('s = "cudaA";\n', 's = "musaA";\n'), ("a = 1;\n", "a = 2;\n"),
                              ("a  = 1;\n", "a = 1;\n"), ("f(a);\n", "f(a)\n"), ('R"x(a)x";\n', 'R"x(b)x";\n'), ("a;\n", "a;\r\n")):
            self.assertEqual(len(self.problems(before, after)), 1, before)

    def test_numbers_that_were_translated(self):
        before, after = "#if __CUDA_ARCH__ >= 860\n", "#if __MUSA_ARCH__ >= 220 /* CUDA: 860 */\n"
        finding = {"code": "P002", "line": 1, "end_line": 1, "name": "__CUDA_ARCH__"}
        self.assertEqual(self.problems(before, after, [finding]), [])
        self.assertEqual(len(self.problems(before, after)), 1)

    def test_names_that_are_left(self):
        text = "cudaUnheardOf(1);\n"
        self.assertEqual(len(self.problems(text, text)), 1)
        self.assertEqual(self.problems(text, text, own=["cudaUnheardOf"]), [])
        self.assertEqual(self.problems(text, text, [{"code": "P021", "line": 1, "end_line": 1, "name": "cudaUnheardOf"}]), [])
        self.assertEqual(self.problems("cu_x, cublas_handle, accumulate\n", "cu_x, cublas_handle, accumulate\n"), [])

    def test_the_way_back(self):
        self.assertEqual(len(self.problems("cudaFree;\n", "musaFree;\n", back="cudaFrei;\n")), 1)


class ComparePort(unittest.TestCase):
    def compare(self, before, after, ours, lines=()):
        with tempfile.TemporaryDirectory() as root:
            roots = [Folder(root, name, text).path for name, text in (("b", before), ("a", after), ("o", ours))]
            findings = {"files": [{"path": "a.cu", "findings": [{"line": a, "end_line": b} for a, b in lines]}]}
            return compare_port.compare(*roots, findings)

    def test_renames(self):
        before, after = "int a;\ncudaFree(p);\ncuInit(0);\n", "int a;\nmusaFree(p);\nmuInit(0);\n"
        totals, _, listed = self.compare(before, after, after)
        self.assertEqual((totals["renames"], totals["renames identical"], listed), (2, 2, []))
        totals, _, listed = self.compare(before, after, before)
        self.assertEqual((totals["renames identical"], len(listed)), (0, 2))

    def test_hand_work(self):
        before = 'f();\nasm("x"\n  : "=r"(a));\n\ng();\n'
        after = "f();\na = intrinsic();\n\ng();\n"
        totals, kinds, _ = self.compare(before, after, before)
        self.assertEqual((totals["hand places"], totals["hand places flagged"], kinds), (1, 0, {"other": (1, 2)}))
        totals, kinds, _ = self.compare(before, after, before, [(2, 3)])
        self.assertEqual((totals["hand lines flagged"], kinds), (2, {}))

    def test_code_in_a_comment_is_hand_work(self):
        totals, kinds, _ = self.compare("f();\nold();\nmore();\n", "f();\n/*\nold();\nmore();\n*/\n", "f();\nold();\nmore();\n")
        self.assertEqual((totals["hand lines"], kinds), (2, {"off": (1, 2)}))

    def test_kinds(self):
        for before, after, kind in (("a = 48;\n", "a = 16;\n", "literal"), ("f(); // a\n", "f(); // b\n", "comment"),
                                    ("f();\n", "// f();\n", "off"), ("f();\n", "g();\n", "other")):
            _, kinds, _ = self.compare(before, after, before)
            self.assertEqual(list(kinds), [kind])


if __name__ == "__main__":
    unittest.main()
