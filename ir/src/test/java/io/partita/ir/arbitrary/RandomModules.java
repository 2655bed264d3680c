package io.partita.ir.arbitrary;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Random valid modules with operations of every kind. */
public final class RandomModules {
  private static final int MAX_CONSTANT = 64;

  private final Draw draw;
  private final GraphBuilder builder;
  private final List<Value> values = new ArrayList<>();
  private final Set<String> inputNames = new HashSet<>();
  private final Set<String> outputNames = new HashSet<>();
  private final List<Module.State> states = new ArrayList<>();

  private RandomModules(Draw draw) {
    this.draw = draw;
    builder = new GraphBuilder(draw.name());
  }

  /** Returns a module with some operations of any kind. */
  public static Module draw(long seed) {
    Draw draw = new Draw(seed);
    List<Class<? extends Op>> kinds = new ArrayList<>();
    for (int i = draw.from(0, 12); i > 0; i--) {
      kinds.add(draw.one(OpSamples.kinds()));
    }
    return new RandomModules(draw).module(kinds);
  }

  /** Returns a module with one operation of a kind and its operands. */
  public static Module draw(Class<? extends Op> kind, long seed) {
    return new RandomModules(new Draw(seed)).module(List.of(kind));
  }

  private Module module(List<Class<? extends Op>> kinds) {
    for (Class<? extends Op> kind : kinds) {
      OpSample sample = OpSamples.draw(kind, draw);
      List<Value> operands = sample.operands().stream().map(this::operand).toList();
      builder.at(draw.oneIn(4) ? "" : draw.name());
      values.addAll(builder.addNode(sample.op(), operands).results());
    }
    for (Value value : List.copyOf(values)) {
      if (draw.oneIn(3)) {
        output(value);
      }
    }
    return new Module(builder.finish(), states);
  }

  private Value operand(TensorType type) {
    List<Value> alike = values.stream().filter(value -> value.type().equals(type)).toList();
    if (!alike.isEmpty() && !draw.oneIn(4)) {
      return draw.one(alike);
    }
    boolean isConstant = type.isStatic() && type.shape().elements() <= MAX_CONSTANT && draw.flag();
    Value value =
        isConstant ? builder.constant(draw.tensor(type)) : builder.input(fresh(inputNames), type);
    values.add(value);
    if (value.isInput() && draw.oneIn(5)) {
      states.add(new Module.State(value.name(), output(draw.one(sameTyped(type)))));
    }
    return value;
  }

  private List<Value> sameTyped(TensorType type) {
    return values.stream().filter(value -> value.type().equals(type)).toList();
  }

  private String output(Value value) {
    String name = fresh(outputNames);
    builder.output(name, value);
    return name;
  }

  private String fresh(Set<String> used) {
    String name = draw.name();
    while (!used.add(name)) {
      name = name + "_" + used.size();
    }
    return name;
  }
}
