package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.type.Dim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Constraints of the number of elements that NonZero finds. An exporter that traces a loop over
 * them writes their number into the file, for example into a Split. If it is the number of all
 * elements, NonZero must find all whenever the file is valid, and the import restarts with that
 * fact.
 */
final class SelectionCounts {
  /** The selections of all elements. */
  private final Set<String> whole = new HashSet<>();

  private final Map<Dim, Counted> counted = new HashMap<>();
  private int numbered;

  private record Counted(String name, Dim elements) {}

  /** Begins another round of the import, which visits the same nodes in the same order. */
  void begin() {
    counted.clear();
    numbered = 0;
  }

  /**
   * Whether a NonZero finds all elements; called once for each.
   *
   * @param count the symbol of its count otherwise
   */
  boolean findsAll(Dim count, Dim elements, String where) {
    Counted selection = new Counted(numbered++ + " " + where, elements);
    counted.put(count, selection);
    return whole.contains(selection.name());
  }

  /**
   * Adds a constraint of a node.
   *
   * @throws ImportRestart if it implies that all elements are found
   * @throws PartitaException if the file is valid only for another number of elements
   */
  void require(Dim extent, Dim required, NodeScope node) {
    Counted selection = counted.get(extent);
    if (selection == null || !required.isStatic()) {
      return;
    }
    if (required.equals(selection.elements()) && whole.add(selection.name())) {
      throw new ImportRestart();
    }
    throw node.unsupported(
        "the file is valid only if a NonZero finds exactly %s of %s elements, as many as when it"
                .formatted(required, selection.elements())
            + " was exported",
        "export the model again, with an example input for which all elements are found (more"
            + " tokens, so that each expert gets some), or with another exporter");
  }
}
