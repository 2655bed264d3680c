package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.golden.GoldenFile;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The exact text and place of each diagnostic about the text form. */
class PirDiagnosticsTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("text/diagnostics.golden");
  private static final String HEADER = "  graph @main(%x: f32[2,seq]) -> (\"y\": f32[2,seq]) {\n";

  private final Set<TextCode> seen = new HashSet<>();

  /** Returns a module whose graph has a line. */
  private void line(String section, TextCode code, String line) {
    text(section, code, "module {\n" + HEADER + "    " + line + "\n    return %x\n  }\n}\n");
  }

  /** Returns what follows the version. */
  private void text(String section, TextCode code, String text) {
    whole(section, code, "pir 1\n" + text);
  }

  private void whole(String section, TextCode code, String text) {
    PartitaException thrown =
        catchThrowableOfType(
            PartitaException.class,
            () -> PirParser.parse(text, "bad.pir", MemorySegment.ofArray(new byte[100])));
    assertThat(thrown).as(section).isNotNull();
    assertThat(thrown.diagnostics()).singleElement().extracting("code").isEqualTo(code);
    GOLDEN.assertMatches(section, thrown.getMessage());
    seen.add(code);
  }

  @Test
  void errorsHaveAPlaceAndAReason() {
    versions();
    syntax();
    operations();
    names();
    constants();
    modules();
    layouts();
    // A file that can't be read has a test of its own.
    assertThat(seen).hasSize(TextCode.values().length - 1).doesNotContain(TextCode.FILE);
  }

  private void versions() {
    String module = "module {\n" + HEADER + "return %x }}";
    whole("empty text", TextCode.VERSION, "");
    whole("text without a version", TextCode.VERSION, module);
    whole("text of a later version", TextCode.VERSION, "pir 2\n" + module);
    whole("text of another form", TextCode.VERSION, "sched 1\n" + module);
    whole("version that is no number", TextCode.VERSION, "pir one\n" + module);
  }

  private void syntax() {
    text("version alone", TextCode.SYNTAX, "");
    line("missing parenthesis", TextCode.SYNTAX, "%0 = exp(%x : f32[2,seq]");
    line("unknown character", TextCode.SYNTAX, "%0 = exp(%x); f32[2,seq]");
    line("open string", TextCode.SYNTAX, "%0 = exp(%x) : f32[2,seq] \"name");
    line("bad escape", TextCode.SYNTAX, "%0 = exp(%x) : f32[2,seq] \"na\\me\"");
    line("surrogate out of range", TextCode.SYNTAX, "%0 = exp(%x) : f32[2,seq] \"\\u{110000}\"");
    text("text after the end", TextCode.SYNTAX, "module {\n" + HEADER + "return %x }} module");
  }

  private void operations() {
    line("unknown operation", TextCode.UNKNOWN_OPERATION, "%0 = expand(%x) : f32[2,seq]");
    line("missing attribute", TextCode.ATTRIBUTE, "%0 = softmax(%x) : f32[2,seq]");
    line("ill-typed integer", TextCode.ATTRIBUTE, "%0 = softmax(%x) {axis = one} : f32[2,seq]");
    line("wide integer", TextCode.ATTRIBUTE, "%0 = softmax(%x) {axis = 4294967296} : f32[2,seq]");
    line("ill-typed list", TextCode.ATTRIBUTE, "%0 = transpose(%x) {permutation = 1} : f32[2]");
    line(
        "symbol in a list of integers",
        TextCode.ATTRIBUTE,
        "%0 = transpose(%x) {permutation = [seq, 0]} : f32[seq,2]");
    line("word that isn't one", TextCode.ATTRIBUTE, "%0 = cast(%x) {to = f33} : f32[2,seq]");
    line("surplus attribute", TextCode.ATTRIBUTE, "%0 = exp(%x) {axis = 1} : f32[2,seq]");
    line(
        "flag with a value",
        TextCode.ATTRIBUTE,
        "%0 = top_k(%x) {k = [1], axis = 0, largest = 0} : f32[1,seq]");
    line("repeated attribute", TextCode.DUPLICATE, "%0 = exp(%x) {a, a} : f32[2,seq]");
    line("operands that don't fit", TextCode.OPERANDS, "%0 = add(%x) : f32[2,seq]");
    line(
        "overflow",
        TextCode.LIMIT,
        "%0 = pad(%x) {mode = edge, low = [9223372036854775807, 0], high = [0, 0]} : f32[2]");
    line("wrong type", TextCode.TYPE, "%0 = exp(%x) : f32[2,2*seq-1]");
    line("unknown element type", TextCode.TYPE, "%0 = exp(%x) : float[2,seq]");
    line("negative extent", TextCode.TYPE, "%0 = exp(%x) : f32[-2,seq]");
    line("too few results", TextCode.TYPE, "%0 = top_k(%x) {k = [1], axis = 0} : f32[1,seq]");
    line("too few types", TextCode.TYPE, "%0, %1 = top_k(%x) {k = [1], axis = 0} : f32[1,seq]");
    line("large coefficient", TextCode.LIMIT, "%0 = exp(%x) : f32[99999999999999999999*seq]");
    line("high rank", TextCode.LIMIT, "%0 = exp(%x) : f32[1" + ",1".repeat(64) + "]");
    line("long sum", TextCode.LIMIT, "%0 = exp(%x) : f32[" + longSum(2000) + "]");
    line("high power", TextCode.LIMIT, "%0 = exp(%x) : f32[a" + "*a".repeat(100) + "]");
  }

  private static String longSum(int terms) {
    StringBuilder sum = new StringBuilder("s");
    for (int i = 0; i < terms; i++) {
      sum.append("+s").append(i);
    }
    return sum.toString();
  }

  private void names() {
    line("undefined value", TextCode.UNDEFINED, "%0 = exp(%1) : f32[2,seq]");
    line("value of its own statement", TextCode.UNDEFINED, "%0 = exp(%0) : f32[2,seq]");
    line("value defined twice", TextCode.DUPLICATE, "%x = exp(%x) : f32[2,seq]");
  }

  private void constants() {
    line("element out of range", TextCode.CONSTANT, "%0 = constant [1, -129] : i8[2]");
    line("element of another kind", TextCode.CONSTANT, "%0 = constant true : f32[]");
    line("too few elements", TextCode.CONSTANT, "%0 = constant [1.0] : f32[2]");
    line("scalar in brackets", TextCode.CONSTANT, "%0 = constant [1.0] : f32[]");
    line("symbolic constant", TextCode.CONSTANT, "%0 = constant [1.0] : f32[seq]");
    line(
        "more elements than a long counts",
        TextCode.CONSTANT,
        "%0 = weight {offset = 0} : f32[4294967296,4294967296]");
    line("weight past the end", TextCode.WEIGHT, "%0 = weight {offset = 64} : f32[10]");
    line("weight before the beginning", TextCode.WEIGHT, "%0 = weight {offset = -1} : f32[1]");
    line("other bytes", TextCode.WEIGHT, "%0 = weight {offset = 0, hash = \"00\"} : f32[1]");
  }

  private void modules() {
    text(
        "input defined twice",
        TextCode.DUPLICATE,
        "module { graph @main(%x: f32[1], %\"x\": f32[1]) -> () { return } }");
    text(
        "output named twice",
        TextCode.DUPLICATE,
        "module { graph @main(%x: f32[1]) -> (\"y\": f32[1], \"y\": f32[1]) { return %x, %x } }");
    text(
        "output of another type",
        TextCode.TYPE,
        "module { graph @main(%x: f32[1]) -> (\"y\": f32[2]) { return %x } }");
    text("too few outputs", TextCode.TYPE, "module {" + HEADER + " return } }");
    text(
        "state of no input",
        TextCode.STATE,
        "module { state \"z\" -> \"y\"" + HEADER + " return %x } }");
    text(
        "state of another type",
        TextCode.STATE,
        "module { state \"x\" -> \"y\" graph @main(%x: f32[1], %z: f32[2]) -> (\"y\": f32[2]) {"
            + " return %z } }");
    text(
        "input in two states",
        TextCode.STATE,
        "module { state \"x\" -> \"y\" state \"x\" -> \"y\"" + HEADER + " return %x } }");
    ranges();
  }

  private void ranges() {
    String header = "\n  graph @main(%x: f32[2], %i: i64[1]) -> (\"y\": f32[2]) { return %x } }";
    text("range of floats", TextCode.RANGE, "module { range \"x\" = [0, 1]" + header);
    text(
        "two ranges",
        TextCode.RANGE,
        "module { range \"i\" = [0, 1] range \"i\" = [0, 2]" + header);
    text("range without values", TextCode.RANGE, "module { range \"i\" = [0, -1]" + header);
    text(
        "part that is no block and no role",
        TextCode.PART,
        "module {"
            + header.replace("return %x", "%0 = exp(%x) : f32[2] \"e\" @block01.query return %0"));
    text(
        "range beyond 64 bits",
        TextCode.LIMIT,
        "module { range \"i\" = [0, 9223372036854775808]" + header);
  }

  /** Returns a module on three devices whose graph has a line. */
  private void meshLine(String section, TextCode code, String line) {
    String header = "  graph @main(%x: f32[4,6{x}], %w: f32[6,6]) -> (\"y\": f32[4,6{x}]) {\n";
    text(
        section,
        code,
        "module {\n  mesh(x=3)\n" + header + "    " + line + "\n    return %x\n  }\n}\n");
  }

  private void layouts() {
    line("layout without a mesh", TextCode.LAYOUT, "%0 = exp(%x) : f32[2{x},seq]");
    line(
        "reshard without a mesh",
        TextCode.LAYOUT,
        "%0 = reshard(%x) {to = \"[*,*]\"} : f32[2,seq]");
    meshLine("written layout isn't derived", TextCode.TYPE, "%0 = exp(%x) : f32[4,6]");
    meshLine("layout of a constant", TextCode.TYPE, "%0 = constant [1.0, 2.0, 3.0] : f32[3{x}]");
    meshLine(
        "operand in another layout", TextCode.LAYOUT, "%0 = softmax(%x) {axis = 1} : f32[4,6]");
    meshLine(
        "partial where it must be whole",
        TextCode.LAYOUT,
        "%0 = reshard(%w) {to = \"[*{x},*]\"} : f32[6{x},6]\n"
            + "    %1 = linear(%x, %0) : f32[4,6] partial(sum: x)\n"
            + "    %2 = exp(%1) : f32[4,6]");
    meshLine(
        "reshard that isn't possible",
        TextCode.LAYOUT,
        "%0 = reshard(%x) {to = \"[*,*] varying(x)\"} : f32[4,6] varying(x)");
    meshLine(
        "reshard that communicates",
        TextCode.LAYOUT,
        "%0 = reshard(%x) {to = \"[*,*]\"} : f32[4,6]");
    meshLine(
        "kind that isn't one",
        TextCode.ATTRIBUTE,
        "%0 = sync(%x) {kind = \"reduce\", to = \"[*,*]\"} : f32[4,6]");
    meshLine("axis that isn't there", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6{y}]");
    meshLine("axis twice", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6{x,x}]");
    meshLine("cuts that don't ascend", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6{x: 5,2}]");
    meshLine("too few cuts", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6{x: 2}]");
    meshLine("unknown reduction", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6] partial(mean: x)");
    meshLine("place off its axis", TextCode.LAYOUT, "%0 = exp(%x) : f32[4,6] at(x: 3)");
    meshLine(
        "layout of another rank", TextCode.LAYOUT, "%0 = reshard(%x) {to = \"[*]\"} : f32[4,6]");
    meshLine(
        "algorithm that isn't one",
        TextCode.ATTRIBUTE,
        "%0 = sync(%x) {kind = \"all_gather(x)\", to = \"[*,*]\", algorithm = \"tree(1)\"}"
            + " : f32[4,6]");
    meshLine(
        "exchange on a mesh",
        TextCode.LAYOUT,
        "%0 = exchange() {sync = 0, elements = 1, element = f32, before = \"\", after = \"0+1\","
            + " steps = \"receive 1 (4 B) replace: 0+1\"} : f32[1]");
    line(
        "steps that can't be read",
        TextCode.ATTRIBUTE,
        "%0 = exchange() {sync = 0, elements = 1, element = f32, before = \"\", after = \"0+1\","
            + " steps = \"recieve 1 (4 B) replace: 0+1\"} : f32[1]");
    text(
        "mesh without devices",
        TextCode.LAYOUT,
        "module { mesh(x=0) graph @main(%x: f32[1]) -> (\"y\": f32[1]) { return %x } }");
    text(
        "open dimension on a mesh",
        TextCode.LAYOUT,
        "module { mesh(x=2) graph @main(%x: f32[seq]) -> (\"y\": f32[seq]) { return %x } }");
    text(
        "partial output",
        TextCode.LAYOUT,
        "module { mesh(x=2) graph @main(%x: f32[1] partial(sum: x)) -> (\"y\": f32[1]"
            + " partial(sum: x)) { return %x } }");
    text(
        "varying input",
        TextCode.LAYOUT,
        "module { mesh(x=2) graph @main(%x: f32[1] varying(x)) -> () { return } }");
    text(
        "state that comes out otherwise",
        TextCode.STATE,
        "module { mesh(x=2) state \"x\" -> \"y\" graph @main(%x: f32[2{x}], %z: f32[2]) ->"
            + " (\"y\": f32[2]) { return %z } }");
    text(
        "mesh of very many devices",
        TextCode.LIMIT,
        "module { mesh(x=9999999999) graph @main() -> () { return } }");
    text(
        "mesh of very many axes",
        TextCode.LAYOUT,
        "module { mesh(a=1" + ", a=1".repeat(20) + ") graph @main() -> () { return } }");
    text("very many layouts", TextCode.LIMIT, manyLayouts(300));
  }

  private static String manyLayouts(int count) {
    StringBuilder lines = new StringBuilder();
    for (int unit = 1; unit <= count; unit++) {
      String layout = "{x/" + unit + "}";
      lines.append("%").append(unit).append(" = reshard(%x) {to = \"[*").append(layout);
      lines.append("]\"} : f32[9999").append(layout).append("]\n");
    }
    return "module { mesh(x=4096) graph @main(%x: f32[9999]) -> () {\n" + lines + "return } }";
  }
}
