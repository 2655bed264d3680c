package io.partita.tests.matrix;

import io.partita.ir.graph.Graph;
import io.partita.ir.type.ElementType;
import java.util.Set;
import java.util.stream.Collectors;

/** The kind of numbers in a model, which determines how results may differ. */
enum Numbers {
  /** Results are bit-identical. */
  INTEGERS("integers"),
  FLOATS("floats"),
  /** Some exchanged values have 16 bits, so errors are larger. */
  NARROW_FLOATS("16-bit floats"),
  /** Errors may move a value over a step. */
  FLOATS_AND_STEPS("floats and steps");

  private final String text;

  Numbers(String text) {
    this.text = text;
  }

  static Numbers of(Graph graph, boolean hasSteps) {
    Set<ElementType> elements =
        graph.nodes().stream()
            .flatMap(node -> node.results().stream())
            .map(result -> result.type().element())
            .collect(Collectors.toSet());
    if (elements.stream().noneMatch(ElementType::isFloat)) {
      return INTEGERS;
    }
    if (hasSteps) {
      return FLOATS_AND_STEPS;
    }
    boolean narrow = elements.contains(ElementType.F16) || elements.contains(ElementType.BF16);
    return narrow ? NARROW_FLOATS : FLOATS;
  }

  @Override
  public String toString() {
    return text;
  }
}
