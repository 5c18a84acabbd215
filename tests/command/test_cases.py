"""Every row of the case tables, through the command."""
from support import CommandTest, main, rows, run


def canonical(text):
    """A type's text with every dim as the command prints it."""
    if "[" not in text:
        return text
    dtype, axes = text.rstrip("]").split("[", 1)
    dims = [axis.strip() for axis in axes.split(",") if axis.strip()]
    return f"{dtype}[{', '.join(d if d == '?' else run('dim', '--', d).out.strip() for d in dims)}]"


class Cases(CommandTest):
    def form(self, text):
        return self.succeeds("dim", "--", text).strip()

    def test_dims(self):
        for line, (kind, a, b, expected) in rows("dims.tsv"):
            with self.subTest(line):
                if kind == "eq":
                    self.assertEqual(self.form(a), self.form(b))
                    self.assertEqual(self.form(self.form(a)), self.form(a))
                elif kind == "ne":
                    self.assertNotEqual(self.form(a), self.form(b))
                elif kind == "print":
                    self.assertEqual(self.form(a), b)
                elif kind == "val":
                    self.assertEqual(self.succeeds("dim", "--", a, *b.split()).strip(), expected)
                else:
                    self.assertEqual(kind, "err")
                    self.fails(expected, "dim", "--", a, *b.split())

    def test_infer(self):
        for line, (declaration, operands, expected, words) in rows("infer.tsv"):
            with self.subTest(line):
                arguments = ["infer", "--", declaration,
                             *[operand.strip() for operand in operands.split("; ") if operand]]
                if expected.isupper() and "[" not in expected:
                    self.fails(expected, *arguments, words=filter(None, words.split(";")))
                else:
                    types = [canonical(t.strip()) for t in expected.split("; ") if t]
                    self.assertEqual(self.succeeds(*arguments).splitlines(), types)

    def test_declare(self):
        for line, (declaration, expected, words, _) in rows("declare.tsv"):
            with self.subTest(line):
                if expected != "ok":
                    self.fails(expected, "check", "--", declaration,
                               words=filter(None, words.split(";")))
                    continue
                text, token = self.succeeds("check", "--", declaration).splitlines()
                self.assertRegex(token, r"^\w+#[0-9a-f]{16}$")
                # What is printed declares the same op.
                self.assertEqual(self.succeeds("check", "--", text).splitlines(), [text, token])


main()
