package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.golden.GoldenFile;
import java.util.EnumSet;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The exact text and place of each diagnostic about targets. */
class TargetDiagnosticsTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("target/diagnostics.golden");

  private static final String WHOLE =
      """
      target 1
      target small(chips = 2 in 1 .. 4 from s) "a test" {
        source s = "nowhere"
        chip c {
          cores = 1 from s
          clock = 1 MHz from s
          isa = "none" from s
          operating-point = "any" from s
          power = 1 mW from s
          memory l1 { bytes = 1 KiB from s alignment = 4 B from s scope = "cluster" from s }
          memory l2 { bytes = 8 KiB from s alignment = 4 B from s scope = "chip" from s }
          dma l2 -> l1 { rate = 8 B/cycle from s setup = 5 cycles from s energy = 2 pJ/B from s }
          dma l1 -> l2 { rate = 8 B/cycle from s setup = 5 cycles from s energy = 2 pJ/B from s }
          kernel matmul i8 { rate = 1 MAC/cycle from s overhead = 0 cycles from s }
        }
        devices chips of c from s
        link wire { bandwidth = 1 MB/s from s latency = 1 us from s energy = 1 pJ/B from s }
        connect 0 - 1 of wire from s
      }
      """;

  private final Set<TargetCode> seen = EnumSet.noneOf(TargetCode.class);

  private void changed(String section, TargetCode code, String from, String to) {
    assertThat(WHOLE).contains(from);
    thrown(section, code, () -> TargetParser.parse(WHOLE.replace(from, to), "bad.target"));
  }

  private void thrown(String section, TargetCode code, ThrowingCallable call) {
    PartitaException thrown = catchThrowableOfType(PartitaException.class, call);
    assertThat(thrown).as(section).isNotNull();
    assertThat(thrown.diagnostics()).extracting("code").contains(code);
    GOLDEN.assertMatches(section, thrown.getMessage());
    seen.add(code);
  }

  @Test
  void errorsHaveAPlaceAndAReason() {
    assertThat(TargetParser.parse(WHOLE, "good.target").deviceCount()).isEqualTo(2);
    texts();
    figures();
    shapes();
    arguments();
    assertThat(seen).containsExactlyInAnyOrder(TargetCode.values());
  }

  private void texts() {
    thrown("empty text", TargetCode.VERSION, () -> TargetParser.parse("", "bad.target"));
    changed("no version", TargetCode.VERSION, "target 1", "");
    changed("later version", TargetCode.VERSION, "target 1", "target 2");
    changed("version alone", TargetCode.SYNTAX, WHOLE.split("\n", 2)[1], "");
    changed("missing origin", TargetCode.SYNTAX, "cores = 1 from s", "cores = 1");
    changed("unknown character", TargetCode.SYNTAX, "8 B/cycle", "8 B:cycle");
    changed("unknown unit", TargetCode.UNIT, "1 MHz", "1 Mhz");
    changed("unknown kernel", TargetCode.UNDEFINED, "kernel matmul i8", "kernel gemm i8");
    changed("unknown element type", TargetCode.UNDEFINED, "matmul i8", "matmul int8");
    changed("unknown connection", TargetCode.UNDEFINED, "0 - 1 of wire", "star of wire");
    changed("unknown parameter", TargetCode.UNDEFINED, "devices chips", "devices count");
    changed("unknown like", TargetCode.UNDEFINED, "chip c {", "chip c like d {");
    changed("figure twice", TargetCode.DUPLICATE, "cores = 1", "cores = 1 from s cores = 1");
    changed("number too large", TargetCode.RANGE, "1 MHz", "1e999 MHz");
  }

  private void figures() {
    changed("wrong unit", TargetCode.UNIT, "bytes = 1 KiB", "bytes = 1 us");
    changed("text for a number", TargetCode.UNIT, "cores = 1", "cores = \"one\"");
    changed("number for a text", TargetCode.UNIT, "isa = \"none\"", "isa = 1");
    changed("units of a range", TargetCode.UNIT, "in 1 .. 4", "in 1 B .. 4");
    changed("unknown figure", TargetCode.UNKNOWN_FIGURE, "cores = 1", "core = 1");
    changed("missing figure", TargetCode.MISSING_FIGURE, "clock = 1 MHz from s", "");
    changed("zero bandwidth", TargetCode.RANGE, "bandwidth = 1 MB/s", "bandwidth = 0 MB/s");
    changed(
        "odd alignment",
        TargetCode.RANGE,
        "1 KiB from s alignment = 4 B",
        "1 KiB from s alignment = 3 B");
    changed("half a core", TargetCode.RANGE, "cores = 1", "cores = 1.5");
    changed("unknown scope", TargetCode.RANGE, "\"cluster\"", "\"tile\"");
    changed("standard outside", TargetCode.RANGE, "chips = 2", "chips = 5");
    changed("unknown source", TargetCode.UNDEFINED, "power = 1 mW from s", "power = 1 mW from t");
    changed("unknown memory", TargetCode.UNDEFINED, "dma l2 -> l1", "dma l3 -> l1");
    changed("memory twice", TargetCode.DUPLICATE, "memory l2", "memory l1");
  }

  private void shapes() {
    changed("no way back", TargetCode.NO_WAY_TO_MEMORY, "dma l1 -> l2", "// dma l1 -> l2");
    changed("unconnected", TargetCode.UNREACHABLE, "connect 0 - 1 of wire from s", "");
    changed("no such device", TargetCode.RANGE, "connect 0 - 1", "connect 0 - 2");
    changed("too many devices", TargetCode.RANGE, "devices chips", "devices 257");
    changed("no devices", TargetCode.INCOMPLETE, "devices chips of c from s", "");
    changed("no kernels", TargetCode.INCOMPLETE, "kernel matmul i8", "// kernel matmul i8");
  }

  private void arguments() {
    thrown("no such target", TargetCode.UNKNOWN_TARGET, () -> TargetLibrary.find("siracuse"));
    thrown("no such file", TargetCode.FILE, () -> TargetLibrary.find("none.target"));
    thrown("no folder", TargetCode.FILE, () -> TargetLibrary.find("/dev/null/none.target"));
    thrown("no such parameter", TargetCode.ARGUMENT, () -> TargetLibrary.find("siracusa:chip=8"));
    thrown("outside", TargetCode.ARGUMENT, () -> TargetLibrary.find("siracusa:chips=65"));
    thrown("fraction", TargetCode.ARGUMENT, () -> TargetLibrary.find("siracusa:chips=1.5"));
    thrown("unit", TargetCode.ARGUMENT, () -> TargetLibrary.find("wifi-laptops:bandwidth=20"));
    thrown("no quantity", TargetCode.ARGUMENT, () -> TargetLibrary.find("siracusa:chips=many"));
    thrown("twice", TargetCode.ARGUMENT, () -> TargetLibrary.find("siracusa:chips=2,chips=2"));
  }
}
