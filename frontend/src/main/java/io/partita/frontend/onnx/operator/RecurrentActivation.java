package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An activation of a recurrent operator with its parameters. */
record RecurrentActivation(String name, double alpha, double beta) {
  /** Returns the activations of a node, or the defaults, for each direction. */
  static List<RecurrentActivation> of(NodeScope node, List<String> defaults, int directions) {
    List<String> names = new ArrayList<>();
    if (node.hasAttribute("activations")) {
      names.addAll(node.texts("activations"));
    }
    while (names.isEmpty() || names.size() < defaults.size() * directions) {
      names.addAll(defaults);
    }
    if (names.size() != defaults.size() * directions) {
      throw node.invalid(
          defaults.size() + " activations for each of " + directions + " directions",
          names.toString());
    }
    List<Double> alphas = parameters(node, "activation_alpha");
    List<Double> betas = parameters(node, "activation_beta");
    List<RecurrentActivation> activations = new ArrayList<>();
    for (String name : names) {
      activations.add(parse(node, name, alphas, betas));
    }
    return activations;
  }

  private static List<Double> parameters(NodeScope node, String attribute) {
    return new ArrayList<>(
        node.hasAttribute(attribute) ? node.numbers(attribute) : List.<Double>of());
  }

  /** Parameters are assigned in order to the functions that have any. */
  private static RecurrentActivation parse(
      NodeScope node, String name, List<Double> alphas, List<Double> betas) {
    String word = name.toLowerCase(Locale.ROOT);
    return switch (word) {
      case "relu", "tanh", "sigmoid", "softsign", "softplus" -> new RecurrentActivation(word, 0, 0);
      case "leakyrelu" -> new RecurrentActivation(word, next(alphas, 0.01), 0);
      case "elu" -> new RecurrentActivation(word, next(alphas, 1), 0);
      // The standard has no defaults for these; ONNX Runtime uses 0.
      case "thresholdedrelu" -> new RecurrentActivation(word, next(alphas, 0), 0);
      case "affine", "scaledtanh" -> new RecurrentActivation(word, next(alphas, 0), next(betas, 0));
      case "hardsigmoid" -> new RecurrentActivation(word, next(alphas, 0.2), next(betas, 0.5));
      default -> throw node.invalid("an activation of recurrent operators", name);
    };
  }

  private static double next(List<Double> parameters, double otherwise) {
    return parameters.isEmpty() ? otherwise : parameters.removeFirst();
  }

  Value apply(Arithmetic of, Value x) {
    return switch (name) {
      case "relu" -> of.unary(UnaryFunction.RELU, x);
      case "tanh" -> of.unary(UnaryFunction.TANH, x);
      case "sigmoid" -> of.unary(UnaryFunction.SIGMOID, x);
      case "softplus" -> of.unary(UnaryFunction.SOFTPLUS, x);
      case "softsign" -> of.div(x, of.add(of.unary(UnaryFunction.ABS, x), 1));
      case "leakyrelu" -> of.select(of.binary(BinaryFunction.LESS, x, 0), of.mul(x, alpha), x);
      case "thresholdedrelu" ->
          of.select(of.binary(BinaryFunction.GREATER, x, alpha), x, of.node().scalarLike(x, 0));
      case "elu" ->
          of.select(
              of.binary(BinaryFunction.LESS, x, 0),
              of.mul(of.add(of.unary(UnaryFunction.EXP, x), -1), alpha),
              x);
      case "affine" -> of.add(of.mul(x, alpha), beta);
      case "scaledtanh" -> of.mul(of.unary(UnaryFunction.TANH, of.mul(x, beta)), alpha);
      case "hardsigmoid" -> of.min(of.max(of.add(of.mul(x, alpha), beta), 0), 1);
      default -> throw new IllegalStateException(name);
    };
  }
}
