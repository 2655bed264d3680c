package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes that are copied within words are copied as words, whatever the tiles of the loop. */
class CopiesInWordsTest extends EvaluatedLoops {
  private List<String> concatenated(ElementType element, long features, long l1) {
    return loops(
        graph -> {
          Value cache = graph.input("cache", TensorType.of(element, 3, 16, features));
          Value own = graph.input("own", TensorType.of(element, 3, 1, features));
          return graph.add(new Movement.Concat(1), cache, own);
        },
        l1);
  }

  @ParameterizedTest
  @CsvSource({"I8, 4, 100000", "U8, 8, 200", "I16, 6, 200", "U16, 2, 100000"})
  void ofWholeWords(ElementType element, long features, long l1) {
    assertThat(concatenated(element, features, l1)).containsExactly("[copy_32]", "[copy_32]");
  }

  @ParameterizedTest
  @CsvSource({"I8, 6, 100000, copy_8", "I8, 5, 200, copy_8", "I16, 3, 200, copy_16"})
  void othersAreCopiedByElements(ElementType element, long features, long l1, String kernel) {
    assertThat(concatenated(element, features, l1))
        .containsExactly("[" + kernel + "]", "[" + kernel + "]");
  }

  @ParameterizedTest
  @CsvSource({"100000", "200"})
  void elementsOfFourBytesAreWords(long l1) {
    assertThat(concatenated(ElementType.F32, 5, l1)).containsExactly("[copy_32]", "[copy_32]");
  }

  /** The parts of heads that other devices send follow each other, and features must. */
  @ParameterizedTest
  @CsvSource({"8, 100000, copy_32", "8, 200, copy_32", "6, 100000, copy_8"})
  void reshapesThatAreNoViews(long features, long l1, String kernel) {
    List<String> loops =
        loops(
            graph -> {
              Value heads = graph.input("heads", TensorType.of(ElementType.I8, 3, 5, features));
              Value tokens = graph.add(new Movement.Transpose(List.of(1, 0, 2)), heads);
              return graph.add(new Movement.Reshape(Shape.of(5, 3 * features)), tokens);
            },
            l1);
    assertThat(loops).containsExactly("[" + kernel + "]");
  }
}
