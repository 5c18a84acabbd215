"""`ferrule fmt`: the one layout of program files."""
import re

from support import SOURCE, CommandTest, main, run

UNTIDY = r"""

#   top comment
use   "std"
use "own" # kernels
op  half ( x:f32[n,w,c] )->f32[n,w//2,c]
op twice=half<T:f32|f16,g:int=-2>(x:T[*s,-1+n],inout y : i32[]) -> (a:f32[n*2],b : T[ * s ]) effect where n<w,n % 2==0
op graph(x: f32[n]) -> f32[n] from "a" , "b"
graph f( a:f32[n] , b:f32[n]@1)->(f32[n],f32[n]){

 c=graph(a,b)   d = twice<g=4>(c,-1.5) {token:"abc"} # why
 # own line


 k = constant f32[2][1,nan("7fc00001")] w=constant f32[64,3]from"w.npy" from=constant f32[2]@1
 from   "v.npy"{ digest:"0123" } # file
 from,"b"=split(from) z = constant i8[] from "a.npy" "own"=h(z)
 r=rebind c[m,2]
 q=reshape r[ - 1,m]
 "a \"b\""=add(r,
 y=r)   # goes on

 return c,d
}
graph g(inout  x:f32[],inout"y" : i8[ n ],inout:f32[])->f32[]{return x}
# end
"""
TIDY = r"""#   top comment
use "std"
use "own"  # kernels
op half(x: f32[n, w, c]) -> f32[n, w // 2, c]
op twice = half<T: f32|f16, g: int = -2>(x: T[*s, -1 + n], inout y: i32[]) -> (a: f32[n * 2], b: T[*s]) effect where n < w, n % 2 == 0
op graph(x: f32[n]) -> f32[n] from "a", "b"
graph f(a: f32[n], b: f32[n] @ 1) -> (f32[n], f32[n]) {
  c = graph(a, b)
  d = twice<g = 4>(c, -1.5) {token: "abc"}  # why
  # own line

  k = constant f32[2] [1, nan("7fc00001")]
  w = constant f32[64, 3] from "w.npy"
  from = constant f32[2] @ 1
      from "v.npy" {digest: "0123"}  # file
  from, "b" = split(from)
  z = constant i8[] from "a.npy"
  "own" = h(z)
  r = rebind c [m, 2]
  q = reshape r [-1, m]
  "a \"b\"" = add(r,
      y = r)  # goes on

  return c, d
}

graph g(inout x: f32[], inout "y": i8[n], inout: f32[]) -> f32[] {
  return x
}
# end
"""
WORDS = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*|[^\s"#]')


def words(text):
    """What no layout may change."""
    return [word.rstrip() for word in WORDS.findall(text)]


class Fmt(CommandTest):
    def test_a_file_is_written_in_its_layout(self):
        program = self.write("p.fer", UNTIDY)
        self.assertEqual(self.succeeds("fmt", program), f"{program}\n")
        self.assertEqual(program.read_text(encoding="utf-8"), TIDY)
        self.assertEqual(words(TIDY), words(UNTIDY))
        self.assertEqual(self.succeeds("fmt", program), "")
        self.assertEqual(program.read_text(encoding="utf-8"), TIDY)

    def test_blocks_in_blocks(self):
        program = self.write("p.fer", "graph f(p: bool[]) -> f32[] {\nx, y = if p { a = b() yield a,a}\n"
                                      "  else {yield c , c # no\n }\n return x}")
        self.succeeds("fmt", program)
        self.assertEqual(program.read_text(encoding="utf-8"), """graph f(p: bool[]) -> f32[] {
  x, y = if p {
    a = b()
    yield a, a
  } else {
    yield c, c  # no
  }
  return x
}
""")

    def test_signs_stay_words_of_their_own(self):
        program = self.write("p.fer", "y = f(- > 2, * *s, -  -1, - (n))")
        self.succeeds("fmt", program)
        self.assertEqual(program.read_text(encoding="utf-8"), "y = f(- > 2, * *s, - -1, -(n))\n")

    def test_check_writes_nothing(self):
        program = self.write("p.fer", UNTIDY)
        tidy = self.write("tidy.fer", TIDY)
        result = run("fmt", "--check", tidy, program)
        self.assertEqual((result.code, result.out, result.err), (1, f"{program}\n", ""))
        self.assertEqual(program.read_text(encoding="utf-8"), UNTIDY)
        self.assertEqual(self.succeeds("fmt", "--check", tidy), "")

    def test_the_standard_input(self):
        self.assertEqual(self.succeeds("fmt", "-", input=UNTIDY), TIDY)
        self.assertEqual(self.succeeds("fmt", "-", input=TIDY), TIDY)
        self.assertEqual(self.succeeds("fmt", "-", input=""), "")
        self.assertEqual(self.succeeds("fmt", "-", input="\n\n# only\n\n"), "# only\n")

    def test_a_link_stays_one(self):
        program = self.write("p.fer", UNTIDY)
        link = self.folder / "link.fer"
        link.symlink_to(program)
        self.succeeds("fmt", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(program.read_text(encoding="utf-8"), TIDY)

    def test_what_is_no_program_stays_as_it_is(self):
        for text, said in [("graph f( {\n", ["p.fer:1:10: this bracket is not closed"]),
                           ("graph f)\n", ["p.fer:1:8: ')' closes nothing"]),
                           ("use 'std'\n", ["p.fer:1:5: expected a word of a program", "^"]),
                           ("use \"std\n", ["p.fer:1:5"]),
                           ("[" * 257, ["p.fer:1:257: brackets nest more than 256 deep"])]:
            program = self.write("p.fer", text)
            self.fails("VALUE", "fmt", program, words=said)
            self.assertEqual(program.read_text(encoding="utf-8"), text)
        self.fails("IO", "fmt", self.folder / "none.fer", words=["none.fer"])
        (self.folder / "zero.fer").write_bytes(b"use \0")
        self.fails("VALUE", "fmt", self.folder / "zero.fer", words=["no byte 0"])

    def test_one_bad_file_does_not_stop_the_others(self):
        program = self.write("p.fer", UNTIDY)
        result = run("fmt", self.folder / "none.fer", program)
        self.assertEqual((result.code, result.out), (1, f"{program}\n"))
        self.assertIn("none.fer", result.err)

    def test_every_example_has_it(self):
        programs = sorted((SOURCE / "examples").glob("*.fer"))
        self.assertTrue(programs)
        self.assertEqual(self.succeeds("fmt", "--check", *programs), "")

    def test_what_ferrule_shows_has_it(self):
        for program in (SOURCE / "examples").glob("*.fer"):
            shown = self.succeeds("show", program)
            self.assertEqual(self.succeeds("fmt", "-", input=shown), shown)

    def test_wrong_usage(self):
        self.assertTrue(self.succeeds("fmt", "--help").startswith("usage: ferrule fmt "))
        self.misused("fmt", words=["PROGRAM.fer is missing"])
        self.misused("fmt", "--wrong", "a", words=["unknown option '--wrong'"])


main()
