package io.partita.backend.metalium;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The reference of an exchange: its messages, one after the other. What is joined is rounded as
 * chips do, so that results are equal, bit for bit, where operands are.
 */
final class ExchangedVectors {
  private final Map<Integer, double[]> vectors = new HashMap<>();
  private final Map<List<Integer>, Deque<double[]>> channels = new HashMap<>();

  private final KernelArithmetic arithmetic;

  private ExchangedVectors(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  /**
   * Returns the results of chips.
   *
   * @param nodes the exchange in the graph of each chip that takes part
   * @param operands what these have before
   * @param arithmetic how chips round
   */
  static Map<Integer, Tensor> of(
      Map<Integer, Node> nodes, Map<Integer, Tensor> operands, KernelArithmetic arithmetic) {
    // Chips that take part exchange elements of one type.
    KernelArithmetic joining =
        nodes.values().stream()
            .findFirst()
            .map(node -> arithmetic.inMessages(((Exchange) node.op()).element()))
            .orElse(arithmetic);
    return new ExchangedVectors(joining).run(nodes, operands);
  }

  private Map<Integer, Tensor> run(Map<Integer, Node> nodes, Map<Integer, Tensor> operands) {
    Map<Integer, Iterator<Step>> left = new TreeMap<>();
    Map<Integer, Step> next = new HashMap<>();
    nodes.forEach(
        (chip, node) -> {
          Exchange exchange = (Exchange) node.op();
          double[] vector = new double[Math.toIntExact(exchange.elements())];
          write(vector, exchange.before(), operands.get(chip).doubles());
          vectors.put(chip, vector);
          left.put(chip, exchange.steps().iterator());
        });
    boolean moves = true;
    while (moves) {
      moves = false;
      for (Map.Entry<Integer, Iterator<Step>> own : left.entrySet()) {
        int chip = own.getKey();
        while (next.containsKey(chip) || own.getValue().hasNext()) {
          Step step = next.containsKey(chip) ? next.get(chip) : own.getValue().next();
          if (!runs(chip, step)) {
            next.put(chip, step);
            break;
          }
          next.remove(chip);
          moves = true;
        }
      }
    }
    Map<Integer, Tensor> results = new HashMap<>();
    nodes.forEach(
        (chip, node) -> {
          Exchange exchange = (Exchange) node.op();
          if (!next.containsKey(chip) && !exchange.after().isEmpty()) {
            double[] elements = read(vectors.get(chip), exchange.after());
            results.put(chip, Tensor.ofDoubles(node.result().type(), elements));
          }
        });
    return results;
  }

  /** Whether a message could be sent or received. */
  private boolean runs(int chip, Step step) {
    double[] vector = vectors.get(chip);
    return switch (step) {
      case Send send -> {
        channels
            .computeIfAbsent(List.of(chip, send.to()), key -> new ArrayDeque<>())
            .add(read(vector, send.slices()));
        yield true;
      }
      case Receive receive -> {
        Deque<double[]> channel = channels.get(List.of(receive.from(), chip));
        if (channel == null || channel.isEmpty()) {
          yield false;
        }
        double[] arrived = channel.remove();
        double[] own = read(vector, receive.slices());
        for (int i = 0; i < own.length; i++) {
          double joined = combined(receive.combine(), own[i], arrived[i]);
          own[i] = arithmetic.packed(joined);
        }
        write(vector, receive.slices(), own);
        yield true;
      }
    };
  }

  private static double combined(Combine combine, double own, double other) {
    return switch (combine) {
      case REPLACE -> other;
      case ADD -> own + other;
      case MUL -> own * other;
      case MIN -> Math.min(own, other);
      case MAX -> Math.max(own, other);
    };
  }

  private static double[] read(double[] vector, List<Slice> slices) {
    List<Double> elements = new ArrayList<>();
    for (Slice slice : slices) {
      for (long i = slice.start(); i < slice.end(); i++) {
        elements.add(vector[Math.toIntExact(i)]);
      }
    }
    return elements.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static void write(double[] vector, List<Slice> slices, double[] elements) {
    int next = 0;
    for (Slice slice : slices) {
      for (long i = slice.start(); i < slice.end(); i++) {
        vector[Math.toIntExact(i)] = elements[next++];
      }
    }
  }
}
