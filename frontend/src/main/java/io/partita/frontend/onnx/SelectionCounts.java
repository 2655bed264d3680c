package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.type.Dim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What nodes require of how many elements a NonZero finds. An exporter that traces a loop over what
 * was found writes that number into the file, such as into a Split. If it's the number of all
 * elements, all are found whenever the file is right, and the model is imported again with that.
 */
final class SelectionCounts {
  /** The selections that find all elements. */
  private final Set<String> whole = new HashSet<>();

  private final Map<Dim, Counted> counted = new HashMap<>();
  private int asked;

  private record Counted(String name, Dim elements) {}

  /** Begins another round of the import, which meets the same nodes in the same order. */
  void begin() {
    counted.clear();
    asked = 0;
  }

  /**
   * Whether a NonZero finds all elements; asked once for each.
   *
   * @param count the symbol of how many it finds, otherwise
   */
  boolean findsAll(Dim count, Dim elements, String where) {
    Counted selection = new Counted(asked++ + " " + where, elements);
    counted.put(count, selection);
    return whole.contains(selection.name());
  }

  /**
   * Takes in what a node requires.
   *
   * @throws ImportRestart when that says that all elements are found
   * @throws PartitaException when the file is right for another number of elements only
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
        "the file is right only when a NonZero finds exactly %s of %s elements, as many as when it"
                .formatted(required, selection.elements())
            + " was exported",
        "export the model again, with an example input for which all elements are found (more"
            + " tokens, so that each expert gets some), or with another exporter");
  }
}
