package io.partita.ir.target;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.diagnostic.PartitaException;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests that parsing inverts printing, and that mutated text gives diagnostics. */
class TargetRoundTripTest {
  private static final String TOKENS = "(){}=.,\"->< \n0123456789x-aefkmB/\\";
  static final Iterable<String> NAMES = TargetLibrary.NAMES;

  @Property(seed = "1", tries = 300, shrinking = ShrinkingMode.OFF)
  void parseUndoesPrint(@ForAll long seed) {
    requireRoundTrip(RandomTargets.draw(seed));
  }

  @ParameterizedTest
  @FieldSource("NAMES")
  void parseUndoesPrintOfTheLibrary(String name) {
    requireRoundTrip(TargetLibrary.find(name));
  }

  @Property(seed = "2", tries = 300, shrinking = ShrinkingMode.OFF)
  void mutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    Draw draw = new Draw(~seed);
    String text = broken(TargetPrinter.print(RandomTargets.draw(seed)), draw);
    TargetDescription read;
    try {
      read = TargetParser.parse(text, "broken.target");
    } catch (PartitaException e) {
      assertThat(e.diagnostics())
          .isNotEmpty()
          .allSatisfy(
              each -> {
                assertThat(each.code()).isInstanceOf(TargetCode.class);
                assertThat(each.where()).matches("broken\\.target:\\d+:\\d+.*");
              });
      return;
    }
    requireRoundTrip(read);
    read.devices();
  }

  @Property(seed = "12", tries = 1500, shrinking = ShrinkingMode.OFF)
  @Tag("thorough")
  void moreMutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    mutatedTextIsParsedOrDiagnosed(seed);
  }

  @Property(seed = "3", tries = 200, shrinking = ShrinkingMode.OFF)
  void changedParametersApplyEverywhere(@ForAll long seed) {
    TargetDescription target = RandomTargets.draw(seed);
    Quantity changed = new Quantity(new Draw(seed).from(1, 20), Unit.ONE);
    try {
      TargetDescription with = target.with(Map.of("n", changed));
      assertThat(with.parameter("n").orElseThrow().value()).isEqualTo(changed);
      String text =
          TargetPrinter.print(target).replaceFirst("n = \\d+ in", "n = " + changed + " in");
      assertThat(TargetPrinter.print(with)).isEqualTo(TargetPrinter.print(target));
      TargetDescription written = TargetParser.parse(text, "t");
      assertThat(with.devices()).isEqualTo(written.devices());
      assertThat(with.links()).isEqualTo(written.links());
    } catch (PartitaException e) {
      // An alignment of 3, say.
      assertThat(e.diagnostics()).allMatch(each -> each.code() == TargetCode.RANGE);
    }
  }

  private static String broken(String whole, Draw draw) {
    StringBuilder text = new StringBuilder(whole);
    for (int edits = draw.from(1, 2); edits > 0; edits--) {
      int at = draw.from(0, text.length() - 1);
      int end = Math.min(text.length(), at + draw.from(1, 6));
      switch (draw.from(0, 3)) {
        case 0 -> text.delete(at, end);
        case 1 -> text.setCharAt(at, TOKENS.charAt(draw.from(0, TOKENS.length() - 1)));
        case 2 -> text.insert(at, TOKENS.charAt(draw.from(0, TOKENS.length() - 1)));
        default -> text.insert(draw.from(0, text.length() - 1), text.substring(at, end));
      }
    }
    return text.toString();
  }

  private static void requireRoundTrip(TargetDescription target) {
    TargetVerifier.verify(target);
    String text = TargetPrinter.print(target);
    TargetDescription read = TargetParser.parse(text, "printed.target");
    assertThat(read).as(text).isEqualTo(target);
    assertThat(TargetPrinter.print(read)).isEqualTo(text);
  }
}
