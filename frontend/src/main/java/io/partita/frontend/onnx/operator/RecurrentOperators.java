package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Unrolls RNN, GRU and LSTM: one product computes the terms of all steps that don't depend on the
 * state; each step has one product with the state and a few elementwise operations. A loop
 * operation would be smaller, but every pass and backend would have to support it.
 */
final class RecurrentOperators {
  /**
   * The largest number of steps of all directions of a node; a step has about fifteen operations.
   */
  private static final long MAX_STEPS = 4096;

  private static final int LAYOUT_BATCH_FIRST = 1;

  private enum Cell {
    RNN(1, "Tanh"),
    GRU(3, "Sigmoid", "Tanh"),
    LSTM(4, "Sigmoid", "Tanh", "Tanh");

    final int gates;
    final List<String> activations;

    Cell(int gates, String... activations) {
      this.gates = gates;
      this.activations = List.of(activations);
    }
  }

  /** Operands of DynamicQuantizeLSTM; each zero point follows its scale. */
  private static final int W_SCALE = 8;

  private static final int R_SCALE = 10;

  private final NodeScope node;
  private final Arithmetic of;
  private final Cell cell;

  /** Whether weights are integers [directions, inputs, gates], with 8-bit operands. */
  private final boolean isQuantized;

  private final boolean batchFirst;
  private final boolean hasReverse;
  private final int directions;
  private final List<RecurrentActivation> activations;

  /** {@code [steps, batch, features]}. */
  private final Value x;

  private final Dim batch;
  private final Dim hidden;

  private RecurrentOperators(NodeScope node, Cell cell, boolean isQuantized) {
    this.node = node;
    this.of = new Arithmetic(node);
    this.cell = cell;
    this.isQuantized = isQuantized;
    batchFirst = node.integer("layout", 0) == LAYOUT_BATCH_FIRST;
    String direction = node.text("direction", "forward");
    if (!List.of("forward", "reverse", "bidirectional").contains(direction)) {
      throw node.invalid("a direction forward, reverse or bidirectional", direction);
    }
    hasReverse = direction.equals("reverse");
    directions = direction.equals("bidirectional") ? 2 : 1;
    activations = RecurrentActivation.of(node, cell.activations, directions);
    if (node.shape(0).rank() != 3 || node.shape(2).rank() != 3) {
      throw node.invalid("operands of rank 3", node.type(0) + " and " + node.type(2));
    }
    Value given = isQuantized ? rounded(node.input(0)) : node.input(0);
    x = batchFirst ? of.transpose(given, 1, 0, 2) : given;
    batch = x.type().dim(1);
    hidden = node.shape(2).dim(isQuantized ? 1 : 2);
  }

  static void register(OperatorRegistry registry) {
    registry.add("RNN", node -> new RecurrentOperators(node, Cell.RNN, false).convert());
    registry.add("GRU", node -> new RecurrentOperators(node, Cell.GRU, false).convert());
    registry.add("LSTM", node -> new RecurrentOperators(node, Cell.LSTM, false).convert());
    registry.add(
        OperatorRegistry.MICROSOFT,
        "DynamicQuantizeLSTM",
        1,
        node -> new RecurrentOperators(node, Cell.LSTM, true).convert());
  }

  /**
   * The results of a direction: {@code [steps, 1, batch, hidden]} and last states {@code [1, batch,
   * hidden]}.
   */
  private record Result(Value all, Value last, Value lastCell) {}

  /**
   * The state after a step; both values are {@code [batch, hidden]}, and only an LSTM has a cell.
   */
  private record State(Value h, Value c) {}

  private void convert() {
    Dim extent = x.type().dim(0);
    if (!extent.isStatic()) {
      throw node.unsupported(
          "a recurrence over " + extent + " steps", "bind the dimensions with --dim");
    }
    if (extent.value() * directions > MAX_STEPS) {
      throw node.unsupported(
          "a recurrence of " + extent.value() * directions + " steps, more than " + MAX_STEPS,
          "export the model with shorter sequences");
    }
    int steps = (int) extent.value();
    List<Result> results = new ArrayList<>();
    for (int direction = 0; direction < directions; direction++) {
      results.add(run(direction, steps));
    }
    if (node.wants(0)) {
      Value all = of.concat(1, results.stream().map(Result::all).toArray(Value[]::new));
      node.output(0, batchFirst ? of.transpose(all, 2, 0, 1, 3) : all);
    }
    outputState(1, results.stream().map(Result::last).toList());
    if (cell == Cell.LSTM) {
      outputState(2, results.stream().map(Result::lastCell).toList());
    }
  }

  private void outputState(int output, List<Value> parts) {
    if (node.wants(output)) {
      Value all = of.concat(0, parts.toArray(Value[]::new));
      node.output(output, batchFirst ? of.transpose(all, 1, 0, 2) : all);
    }
  }

  /** Returns one direction's part of an operand, without the dimension of directions. */
  private Value part(int input, int direction) {
    Value part = of.slice(node.input(input), 0, Dim.of(direction), Dim.ONE);
    return of.reshape(part, part.type().shape().range(1, part.type().rank()));
  }

  /** Returns a weight of one direction, [gates, inputs]. */
  private Value weight(int input, int direction) {
    Value part = part(input, direction);
    if (!isQuantized) {
      return part;
    }
    int first = input == 1 ? W_SCALE : R_SCALE;
    Quantized.Dequantize dequantize = new Quantized.Dequantize(1, 0, x.type().element());
    Value scale = parameter(first, direction);
    return of.transpose(node.add(dequantize, part, scale, parameter(first + 1, direction)), 1, 0);
  }

  /** Returns a scale or zero point of one direction, per column or for the whole weight. */
  private Value parameter(int input, int direction) {
    Value all = node.input(input);
    Value part = of.slice(all, 0, Dim.of(direction), Dim.ONE);
    return of.reshape(part, all.type().shape().range(1, all.type().rank()));
  }

  /** Rounds the operand of integer weights like ONNX Runtime: to 8 bits of its range. */
  private Value rounded(Value value) {
    QuantizedValues.Dynamic dynamic = QuantizedValues.Dynamic.of(node, value);
    return node.add(
        new Quantized.Dequantize(1, 0, value.type().element()),
        dynamic.q(),
        dynamic.scale(),
        dynamic.zeroPoint());
  }

  /** Returns an initial state {@code [batch, hidden]}, or zeros if missing. */
  private Value initial(int input, int direction) {
    if (!node.has(input)) {
      return of.filled(node.scalarLike(x, 0), Shape.of(batch, hidden));
    }
    int axis = batchFirst ? 1 : 0;
    Value part = of.slice(node.input(input), axis, Dim.of(direction), Dim.ONE);
    return of.reshape(part, Shape.of(batch, hidden));
  }

  /** Returns a gate of a vector or of rows, whose last dimension has the gates in order. */
  private Value gate(Value gates, int first, int count) {
    int axis = gates.type().rank() - 1;
    return of.slice(gates, axis, hidden.times(Dim.of(first)), hidden.times(Dim.of(count)));
  }

  private Result run(int direction, int steps) {
    Value weight = weight(1, direction);
    Value recurrence = weight(2, direction);
    Optional<Value> bias = node.has(3) ? Optional.of(part(3, direction)) : Optional.empty();
    boolean resetsProduct = cell == Cell.GRU && node.flag("linear_before_reset", false);
    Optional<Value> inputBias = bias.map(b -> inputBias(b, resetsProduct));
    Value products = linear(x, weight, inputBias);
    Optional<Value> resetBias =
        resetsProduct ? bias.map(b -> gate(b, 2 * cell.gates - 1, 1)) : Optional.empty();
    List<RecurrentActivation> functions =
        activations.subList(
            direction * cell.activations.size(), (direction + 1) * cell.activations.size());
    Optional<Value> peepholes =
        cell == Cell.LSTM && node.has(7) ? Optional.of(part(7, direction)) : Optional.empty();
    Step step = new Step(recurrence, resetBias, peepholes, functions, resetsProduct);
    State state =
        new State(initial(5, direction), cell == Cell.LSTM ? initial(6, direction) : null);
    List<Value> outputs = new ArrayList<>(Collections.nCopies(steps, null));
    boolean backwards = hasReverse || direction == 1;
    for (int i = 0; i < steps; i++) {
      int at = backwards ? steps - 1 - i : i;
      Value product = of.slice(products, 0, Dim.of(at), Dim.ONE);
      Value gates = of.reshape(product, Shape.of(batch, hidden.times(Dim.of(cell.gates))));
      State next = step.apply(gates, state);
      Optional<Value> valid = valid(at, steps);
      Value output = next.h();
      if (valid.isPresent()) {
        output = of.select(valid.get(), next.h(), node.scalarLike(next.h(), 0));
        next =
            new State(
                of.select(valid.get(), next.h(), state.h()),
                next.c() == null ? null : of.select(valid.get(), next.c(), state.c()));
      }
      outputs.set(at, of.reshape(output, Shape.of(Dim.ONE, Dim.ONE, batch, hidden)));
      state = next;
    }
    return new Result(
        node.wants(0) ? all(outputs) : null,
        of.reshape(state.h(), Shape.of(Dim.ONE, batch, hidden)),
        state.c() == null ? null : of.reshape(state.c(), Shape.of(Dim.ONE, batch, hidden)));
  }

  private Value all(List<Value> outputs) {
    if (outputs.isEmpty()) {
      Shape empty = Shape.of(Dim.ZERO, Dim.ONE, batch, hidden);
      return node.constant(Tensor.filled(new TensorType(x.type().element(), empty), 0));
    }
    return of.concat(0, outputs.toArray(Value[]::new));
  }

  /**
   * Returns the sum of the two halves of a bias, except for the part that the reset gate
   * multiplies.
   */
  private Value inputBias(Value bias, boolean resetsProduct) {
    Value ofInput = gate(bias, 0, cell.gates);
    Value ofState = gate(bias, cell.gates, cell.gates);
    if (!resetsProduct) {
      return of.add(ofInput, ofState);
    }
    int last = cell.gates - 1;
    return of.concat(
        0, of.add(gate(ofInput, 0, last), gate(ofState, 0, last)), gate(ofInput, last, 1));
  }

  private Value linear(Value value, Value weight, Optional<Value> bias) {
    Structured.Linear linear = new Structured.Linear(true, bias.isPresent());
    return bias.isPresent()
        ? node.add(linear, value, weight, bias.get())
        : node.add(linear, value, weight);
  }

  /** Returns the sequences with an element {@code at}, {@code [batch, 1]}; empty if all have it. */
  private Optional<Value> valid(int at, int steps) {
    if (!node.has(4) || node.constant(4).filter(data -> data.isFilledWith(steps)).isPresent()) {
      return Optional.empty();
    }
    Value lengths = of.reshape(node.input(4), Shape.of(batch, Dim.ONE));
    return Optional.of(of.binary(BinaryFunction.GREATER, lengths, at));
  }

  private Value clipped(Value gates) {
    if (!node.hasAttribute("clip")) {
      return gates;
    }
    double clip = node.number("clip");
    return of.min(of.max(gates, -clip), clip);
  }

  /** Computes one step of one direction. */
  private final class Step {
    private final Value recurrence;
    private final Optional<Value> resetBias;
    private final Optional<Value> peepholes;
    private final List<RecurrentActivation> functions;
    private final boolean resetsProduct;

    Step(
        Value recurrence,
        Optional<Value> resetBias,
        Optional<Value> peepholes,
        List<RecurrentActivation> functions,
        boolean resetsProduct) {
      this.recurrence = recurrence;
      this.resetBias = resetBias;
      this.peepholes = peepholes;
      this.functions = functions;
      this.resetsProduct = resetsProduct;
    }

    State apply(Value gates, State before) {
      return switch (cell) {
        case RNN -> rnn(gates, before);
        case GRU -> gru(gates, before);
        case LSTM -> lstm(gates, before);
      };
    }

    private Value activated(int function, Value gate) {
      return functions.get(function).apply(of, gate);
    }

    private Value product(Value h) {
      return linear(isQuantized ? rounded(h) : h, recurrence, Optional.empty());
    }

    /** h = f(x W + h R + b). */
    private State rnn(Value gates, State before) {
      return new State(activated(0, clipped(of.add(gates, product(before.h())))), null);
    }

    /** Gates z, r, h: h = (1 - z) g(x W + (r h) R) + z h; or r multiplies (h R + b). */
    private State gru(Value gates, State before) {
      Value product = null;
      Value zr;
      if (resetsProduct) {
        product = product(before.h());
        zr = of.add(gate(gates, 0, 2), gate(product, 0, 2));
      } else {
        Value firstTwo = of.slice(recurrence, 0, Dim.ZERO, hidden.times(Dim.of(2)));
        zr = of.add(gate(gates, 0, 2), linear(before.h(), firstTwo, Optional.empty()));
      }
      Value active = activated(0, clipped(zr));
      Value z = gate(active, 0, 1);
      Value r = gate(active, 1, 1);
      Value recurrent;
      if (resetsProduct) {
        Value last = gate(product, 2, 1);
        recurrent = of.mul(r, resetBias.isPresent() ? of.add(last, resetBias.get()) : last);
      } else {
        Value last = of.slice(recurrence, 0, hidden.times(Dim.of(2)), hidden);
        recurrent = linear(of.mul(r, before.h()), last, Optional.empty());
      }
      Value candidate = activated(1, clipped(of.add(gate(gates, 2, 1), recurrent)));
      // (1 - z) n + z h = n + z (h - n)
      return new State(of.add(candidate, of.mul(z, of.sub(before.h(), candidate))), null);
    }

    /** Gates i, o, f, c: c = f c + i g(…), h = o tanh(c). */
    private State lstm(Value gates, State before) {
      Value sum = of.add(gates, product(before.h()));
      Value candidate = activated(1, clipped(gate(sum, 3, 1)));
      Value input;
      Value forget;
      Value output;
      if (peepholes.isEmpty()) {
        Value active = activated(0, clipped(gate(sum, 0, 3)));
        input = gate(active, 0, 1);
        output = gate(active, 1, 1);
        forget = gate(active, 2, 1);
      } else {
        input = peeped(sum, 0, before.c());
        forget = peeped(sum, 2, before.c());
        output = null;
      }
      if (node.flag("input_forget", false)) {
        forget = of.sub(node.scalarLike(input, 1), input);
      }
      Value c = of.add(of.mul(forget, before.c()), of.mul(input, candidate));
      if (output == null) {
        output = peeped(sum, 1, c);
      }
      return new State(of.mul(output, activated(2, c)), c);
    }

    /** Computes a gate with a peephole connection. */
    private Value peeped(Value sum, int gate, Value c) {
      Value weight = gate(peepholes.orElseThrow(), gate, 1);
      return activated(0, clipped(of.add(gate(sum, gate, 1), of.mul(weight, c))));
    }
  }
}
