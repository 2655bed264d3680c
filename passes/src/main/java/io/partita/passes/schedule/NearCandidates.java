package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.passes.schedule.view.Destinations;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Decides which values may stay in the working memory: small ones that only loops use. */
final class NearCandidates implements Predicate<Value> {
  private final Graph graph;
  private final Map<Value, List<Node>> readers;
  private final Destinations destinations;
  private final long nearBytes;

  /**
   * @param destinations places in the home memory that values must have
   * @param nearBytes the bytes of the largest value that may stay in the working memory
   */
  NearCandidates(Graph graph, Destinations destinations, long nearBytes) {
    this.graph = graph;
    this.readers = graph.readers();
    this.destinations = destinations;
    this.nearBytes = nearBytes;
  }

  @Override
  public boolean test(Value value) {
    return !value.isInput()
        && isLoop(value.definition())
        && value.type().bytes() <= nearBytes
        && destinations.of(value).isEmpty()
        && graph.outputs().stream().noneMatch(output -> output.value() == value)
        && readers.getOrDefault(value, List.of()).stream().allMatch(NearCandidates::isLoop);
  }

  private static boolean isLoop(Node node) {
    return switch (node.op()) {
      case Structured.CacheUpdate update -> false;
      case Structured.Embedding embedding -> false;
      case Source source -> false;
      case Communication communication -> false;
      case Movement movement -> false;
      case Op computed -> true;
    };
  }
}
