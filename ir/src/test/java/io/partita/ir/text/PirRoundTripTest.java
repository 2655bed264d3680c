package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.arbitrary.RandomModules;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.verify.Verifier;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that parsing inverts printing for every operation, and that mutated text gives diagnostics.
 */
class PirRoundTripTest {
  private static final String TOKENS = "(){}[]=:,%@\"->+*. \n0123456789-abfgnx/\\\u00e9\u2028";

  @Property(seed = "1", tries = 500, shrinking = ShrinkingMode.OFF)
  void parseUndoesPrint(@ForAll long seed) {
    requireRoundTrip(RandomModules.draw(seed));
  }

  static List<Class<? extends Op>> kinds() {
    return OpSamples.kinds();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void parseUndoesPrintOfEachOperation(Class<? extends Op> kind) {
    for (int seed = 0; seed < 100; seed++) {
      requireRoundTrip(RandomModules.draw(kind, seed));
    }
  }

  @Test
  void statesHaveACapacity() {
    String header =
        "pir 1\nmodule {\n  state \"x\" -> \"y\" {capacity = 8, positions = 32}\n"
            + "  state \"v\" -> \"w\" {capacity = 16}\n";
    Module module =
        PirParser.parse(
            header
                + "  graph @main(%x: f32[1], %v: f32[2]) -> (\"y\": f32[1], \"w\": f32[2]) {\n"
                + "    return %x, %v\n  }\n}\n");
    assertThat(PirPrinter.print(module)).startsWith(header);
    assertThat(Module.room(module.states())).contains(new Module.Room(8, OptionalLong.of(32)));
    assertThat(Module.room(List.of(module.states().getFirst(), new Module.State("a", "b"))))
        .as("unknown of one")
        .isEmpty();
  }

  @Test
  void nodesHaveABlockAndARole() {
    String text =
        """
        pir 1
        module {
          graph @main(%x: f32[2]) -> ("y": f32[2]) {
            %0 = exp(%x) : f32[2] "/layers.3/q_proj" @block3.query
            %1 = exp(%0) : f32[2] @block12
            %2 = exp(%1) : f32[2] "head" @head
            %3 = exp(%2) : f32[2] "end"
            return %3
          }
        }
        """;
    Module module = PirParser.parse(text);
    assertThat(PirPrinter.print(module)).isEqualTo(text);
    assertThat(module.graph().nodes())
        .extracting(Node::origin)
        .containsExactly(
            new Origin("/layers.3/q_proj", OptionalInt.of(3), "query"),
            new Origin("", OptionalInt.of(12), ""),
            new Origin("head", OptionalInt.empty(), "head"),
            Origin.named("end"));
  }

  @Test
  void samplesCoverEveryOperation() {
    Set<Class<?>> records = new HashSet<>();
    Deque<Class<?>> open = new ArrayDeque<>(List.of(Op.class));
    while (!open.isEmpty()) {
      Class<?> type = open.pop();
      if (type.isSealed()) {
        open.addAll(List.of(type.getPermittedSubclasses()));
        // What devices exchange is drawn together with a mesh.
        open.remove(Communication.class);
      } else {
        records.add(type);
      }
    }
    assertThat(OpSamples.kinds())
        .as("operations that OpSamples knows how to draw")
        .containsExactlyInAnyOrderElementsOf(records.stream().map(this::operation).toList());
  }

  private Class<? extends Op> operation(Class<?> type) {
    return type.asSubclass(Op.class);
  }

  @Property(seed = "2", tries = 200, shrinking = ShrinkingMode.OFF)
  void printIsDeterministic(@ForAll long seed) {
    assertThat(PirPrinter.print(RandomModules.draw(seed)))
        .isEqualTo(PirPrinter.print(RandomModules.draw(seed)));
  }

  @Property(seed = "3", tries = 400, shrinking = ShrinkingMode.OFF)
  void mutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    requireReadOrDiagnosed(RandomModules.draw(seed), new Draw(~seed));
  }

  @Property(seed = "13", tries = 2000, shrinking = ShrinkingMode.OFF)
  @Tag("thorough")
  void moreMutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    mutatedTextIsParsedOrDiagnosed(seed);
  }

  static void requireReadOrDiagnosed(Module module, Draw draw) {
    String text = broken(PirPrinter.print(module), draw);
    Module read;
    try {
      read = PirParser.parse(text, "broken.pir", weights(module));
    } catch (PartitaException e) {
      assertThat(e.diagnostics()).hasSize(1);
      assertThat(e.diagnostics().getFirst().code()).isInstanceOf(TextCode.class);
      assertThat(e.diagnostics().getFirst().where()).matches("broken\\.pir:\\d+:\\d+");
      return;
    }
    Verifier.verify(read);
    PirPrinter.print(read);
  }

  /** Deletes, inserts or moves a few characters. */
  private static String broken(String whole, Draw draw) {
    StringBuilder text = new StringBuilder(whole);
    for (int edits = draw.from(1, 3); edits > 0; edits--) {
      int at = draw.from(0, text.length() - 1);
      int end = Math.min(text.length(), at + draw.from(1, 6));
      switch (draw.from(0, 4)) {
        case 0 -> text.delete(at, end);
        case 1 -> text.setCharAt(at, TOKENS.charAt(draw.from(0, TOKENS.length() - 1)));
        case 2 -> text.insert(at, TOKENS.charAt(draw.from(0, TOKENS.length() - 1)));
        case 3 -> text.insert(draw.from(0, text.length() - 1), text.substring(at, end));
        default -> text.setLength(Math.max(1, draw.oneIn(4) ? at : text.length()));
      }
    }
    return text.toString();
  }

  static void requireRoundTrip(Module module) {
    Verifier.verify(module);
    String text = PirPrinter.print(module);
    Module read = PirParser.parse(text, "printed.pir", weights(module));
    assertThat(read.equals(module)).as("equal after a round trip:\n%s", text).isTrue();
    assertThat(PirPrinter.print(read)).isEqualTo(text);
  }

  /** Returns the content of the module's weights file. */
  static MemorySegment weights(Module module) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      WeightTable.of(module.graph(), Long.MAX_VALUE).writeTo(Channels.newChannel(bytes));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return MemorySegment.ofArray(bytes.toByteArray());
  }
}
