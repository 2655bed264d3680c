package io.partita.ir.program;

import io.partita.ir.eval.Absence;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The run of one device, which stops where it would wait. */
final class DeviceRun {
  private final int device;
  private final Graph graph;
  private final Channels channels;
  private final Map<Value, Tensor> values = new IdentityHashMap<>();
  private final Map<Value, Integer> remaining = new IdentityHashMap<>();
  private int next;

  /** The current exchange, if any. */
  private ExchangeRun exchange;

  DeviceRun(int device, Graph graph, Map<String, Tensor> inputs, Channels channels) {
    this.device = device;
    this.graph = graph;
    this.channels = channels;
    for (Node node : graph.nodes()) {
      node.operands().forEach(operand -> remaining.merge(operand, 1, Integer::sum));
    }
    graph.outputs().forEach(output -> remaining.merge(output.value(), 1, Integer::sum));
    graph.inputs().forEach(input -> keep(input, inputs.get(input.name())));
  }

  boolean isDone() {
    return next == graph.nodes().size();
  }

  /** Runs until it would wait; returns whether it made progress. */
  boolean advance() {
    boolean moved = false;
    while (!isDone()) {
      Node node = graph.nodes().get(next);
      List<Tensor> operands = new ArrayList<>();
      node.operands().forEach(operand -> operands.add(values.get(operand)));
      List<Tensor> results;
      if (node.op() instanceof Communication.Exchange op && !operands.contains(null)) {
        if (exchange == null) {
          exchange = new ExchangeRun(device, op, operands, channels);
        }
        moved |= exchange.advance();
        if (!exchange.isDone()) {
          return moved;
        }
        results = List.of(exchange.result());
        exchange = null;
      } else {
        results =
            Absence.present(node.op(), operands, 0, i -> node.operand(i).type())
                .map(present -> Evaluator.run(node, present))
                .orElse(List.of());
      }
      node.operands().forEach(this::use);
      for (int i = 0; i < results.size(); i++) {
        keep(node.results().get(i), results.get(i));
      }
      next++;
      moved = true;
    }
    return moved;
  }

  private void keep(Value value, Tensor tensor) {
    if (remaining.containsKey(value)) {
      values.put(value, tensor);
    }
  }

  private void use(Value value) {
    if (remaining.merge(value, -1, Integer::sum) == 0) {
      values.remove(value);
    }
  }

  Map<String, Tensor> outputs() {
    Map<String, Tensor> outputs = new HashMap<>();
    graph.outputs().forEach(output -> outputs.put(output.name(), values.get(output.value())));
    return outputs;
  }

  /** Describes the current position. */
  @Override
  public String toString() {
    return "device "
        + device
        + (isDone() ? " is done" : " is at " + graph.nodes().get(next))
        + (exchange == null ? "" : ", " + exchange);
  }
}
