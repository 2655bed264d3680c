package io.partita.tests.matrix;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A probabilistic bound of the differences between a model's outputs for two orders of summation,
 * such as those of one device and of several devices that add partial sums.
 *
 * <p>For each element j of each node, {@link RoundingTerms} bounds the root mean square of the
 * effect of another order by b(j). To first order, an output changes by {@code sum J(j) e(j)},
 * where J are derivatives and e(j) are independent, of mean 0 and size b(j). By Hoeffding's
 * inequality, the change exceeds {@code lambda sigma} with a probability of at most {@code 2
 * exp(-lambda^2/2)}, where {@code sigma^2 = sum (J(j) b(j))^2}. Sigma is measured: the model runs
 * {@value #SAMPLES} times with random noise {@code +-b(j)} added everywhere, enlarged so that it
 * exceeds the roundings of these runs. The largest sigma of an output's elements applies to all of
 * them, and lambda allows one expected false alarm in {@code 1e9} outputs.
 *
 * <p>The outputs of a model that rounds to integers are discontinuous in its sums: a value may
 * cross a step. If the enlarged noise moves a value across a step, the bound is the largest change
 * in these runs, without division by the enlargement.
 *
 * <p>The bounds of a model without floats are 0.
 */
public final class ReassociationBound {
  private static final int SAMPLES = 8;
  private static final long SEED = 7;
  private static final double FALSE_ALARMS = 1e-9;

  /**
   * The enlargement of noise, which perturbs an f32 by 2^-16 of its size, and 16-bit floats by 2^-8
   * or 2^-5.
   */
  private static final double ENLARGED = 256;

  private static final double ENLARGED_NARROW = 8;

  private static final Set<UnaryFunction> STEPS =
      Set.of(UnaryFunction.ROUND, UnaryFunction.FLOOR, UnaryFunction.CEIL, UnaryFunction.SIGN);

  private final Graph graph;
  private final List<Tensor> inputs;
  private final Map<Value, Tensor> values = new IdentityHashMap<>();
  private final Map<Value, double[]> terms = new IdentityHashMap<>();
  private final double enlarged;
  private final List<Tensor> outputs;
  private final List<Double> bounds = new ArrayList<>();
  private boolean steps;

  private ReassociationBound(Graph graph, List<Tensor> inputs) {
    this.graph = graph;
    this.inputs = inputs;
    this.outputs =
        Evaluator.run(
            graph,
            inputs,
            (node, results) -> {
              for (int i = 0; i < results.size(); i++) {
                values.put(node.results().get(i), results.get(i));
              }
            });
    graph.inputs().forEach(input -> values.put(input, inputs.get(input.index())));
    boolean narrow =
        graph.nodes().stream()
            .flatMap(node -> node.results().stream())
            .map(result -> result.type().element())
            .anyMatch(element -> element == ElementType.F16 || element == ElementType.BF16);
    this.enlarged = narrow ? ENLARGED_NARROW : ENLARGED;
    RoundingTerms rounding = RoundingTerms.of(graph, values);
    for (Node node : graph.nodes()) {
      for (Value result : node.results()) {
        rounding.of(result).ifPresent(found -> terms.put(result, found));
      }
    }
  }

  /** Measures the bound by running the model on one device, without and with noise. */
  public static ReassociationBound of(Graph graph, List<Tensor> inputs) {
    ReassociationBound bound = new ReassociationBound(graph, inputs);
    bound.measure();
    bound.values.clear();
    bound.terms.clear();
    return bound;
  }

  /** Returns the outputs of one device. */
  public List<Tensor> outputs() {
    return outputs;
  }

  /** Returns the bound of the difference of any element of an output. */
  public double of(int output) {
    return bounds.get(output);
  }

  /** Whether noise moved a value across a step. */
  public boolean hasSteps() {
    return steps;
  }

  private void measure() {
    List<double[]> squares = new ArrayList<>();
    outputs.forEach(output -> squares.add(new double[output.size()]));
    double[] largest = new double[outputs.size()];
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
    for (int sample = 0; sample < SAMPLES && !terms.isEmpty(); sample++) {
      List<Tensor> noisy = noisy(random);
      for (int i = 0; i < noisy.size(); i++) {
        for (int j = 0; j < noisy.get(i).size(); j++) {
          double change = noisy.get(i).getDouble(j) - outputs.get(i).getDouble(j);
          if (Double.isFinite(change)) {
            squares.get(i)[j] += change * change / SAMPLES;
            largest[i] = Math.max(largest[i], Math.abs(change));
          }
        }
      }
    }
    for (int i = 0; i < outputs.size(); i++) {
      double sigma = 0;
      for (double square : squares.get(i)) {
        sigma = Math.max(sigma, Math.sqrt(square) / enlarged);
      }
      double lambda = Math.sqrt(2 * Math.log(2 * outputs.get(i).size() / FALSE_ALARMS));
      bounds.add(steps ? Math.max(largest[i], lambda * sigma) : lambda * sigma);
    }
  }

  private List<Tensor> noisy(RandomGenerator random) {
    Map<Value, Tensor> disturbed = new IdentityHashMap<>();
    graph.inputs().forEach(input -> disturbed.put(input, inputs.get(input.index())));
    for (Node node : graph.nodes()) {
      List<Tensor> results =
          Evaluator.run(node, node.operands().stream().map(disturbed::get).toList());
      for (int i = 0; i < results.size(); i++) {
        Value result = node.results().get(i);
        steps |= isStep(node, result) && !results.get(i).equals(values.get(result));
        disturbed.put(result, disturb(result, results.get(i), random));
      }
    }
    return graph.outputs().stream().map(output -> disturbed.get(output.value())).toList();
  }

  private static boolean isStep(Node node, Value result) {
    boolean rounds =
        node.op() instanceof Elementwise.Unary(var function) && STEPS.contains(function);
    return rounds || !result.type().element().isFloat();
  }

  private Tensor disturb(Value value, Tensor tensor, RandomGenerator random) {
    double[] sizes = terms.get(value);
    if (sizes == null) {
      return tensor;
    }
    double[] changed = tensor.doubles().clone();
    for (int i = 0; i < changed.length; i++) {
      double noise = random.nextBoolean() ? sizes[i] * enlarged : -sizes[i] * enlarged;
      if (Double.isFinite(noise)) {
        changed[i] += noise;
      }
    }
    return Tensor.ofDoubles(tensor.type(), changed);
  }
}
