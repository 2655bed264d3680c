package io.partita.passes.schedule;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import io.partita.passes.schedule.view.StoredTypes;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The places of constants, and of values that are stored as such. */
final class StoredConstants {
  private final List<Graph> graphs;
  private final StoredTypes types;
  private final ColumnStorage columns;
  private final SharedRegions regions;
  private final KnownValues known;
  private final Map<Value, Storage> storages;

  /**
   * @param graphs those of the devices whose constants are stored, with counterparts at the same
   *     places
   * @param known gets the tensors of constants
   * @param storages the places of values, which gets those of constants
   */
  StoredConstants(
      List<Graph> graphs,
      StoredTypes types,
      ColumnStorage columns,
      SharedRegions regions,
      KnownValues known,
      Map<Value, Storage> storages) {
    this.graphs = graphs;
    this.types = types;
    this.columns = columns;
    this.regions = regions;
    this.known = known;
    this.storages = storages;
  }

  /**
   * Stores the constants of a graph.
   *
   * @param graph that of a device of the role
   */
  void addAll(Graph graph) {
    for (int i = 0; i < graph.nodes().size(); i++) {
      Node node = graph.nodes().get(i);
      if (node.op() instanceof Source.Constant && !ChipLowering.isEmpty(node.result().type())) {
        int index = i;
        add(
            node,
            graphs.stream().map(own -> own.nodes().get(index).constant().orElseThrow()).toList());
      }
    }
  }

  /** Stores the result of a source, such as a range, which is the same on all devices. */
  void add(Node node, Source source) {
    Tensor tensor = OpEvaluator.evaluate(source, List.of()).getFirst();
    add(node, Collections.nCopies(graphs.size(), tensor));
  }

  /** Whether a value depends on constants alone and is stored as one. */
  boolean fold(Node node) {
    Optional<List<Tensor>> stored = known.stored(node);
    stored.ifPresent(tensors -> add(node, tensors));
    return stored.isPresent();
  }

  private void add(Node node, List<Tensor> tensors) {
    Origin origin = node.name().isEmpty() ? node.origin().withName("constant") : node.origin();
    TensorType type = types.type(node.result());
    known.put(node.result(), tensors);
    List<Tensor> stored = stored(type, tensors);
    if (columns.serves(node.result())) {
      Movement.Transpose swap = ColumnStorage.swap(type.rank());
      TensorType swapped = ColumnStorage.swapped(type);
      Region region = regions.constant(origin, known.results(swap, List.of(stored), swapped));
      storages.put(node.result(), Storage.whole(region, swapped).transposed(swap.permutation()));
    } else {
      storages.put(node.result(), Storage.whole(regions.constant(origin, stored), type));
    }
  }

  /** The elements of a constant as they are stored. */
  private List<Tensor> stored(TensorType type, List<Tensor> tensors) {
    return tensors.getFirst().type().element() == type.element()
        ? tensors
        : known.results(new Elementwise.Cast(type.element()), List.of(tensors), type);
  }
}
