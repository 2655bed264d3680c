package io.partita.backend.metalium;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The functions of the vector engine, by the names of the kernel API without {@code _tile}. */
final class VectorFunctions {
  /** Names of functions of one operand. */
  static final Map<UnaryFunction, String> UNARY =
      Map.of(
          UnaryFunction.ABS, "abs",
          UnaryFunction.EXP, "exp",
          UnaryFunction.GELU, "gelu",
          UnaryFunction.RECIPROCAL, "recip",
          UnaryFunction.RELU, "relu",
          UnaryFunction.SIGMOID, "sigmoid",
          UnaryFunction.SILU, "silu",
          UnaryFunction.SQRT, "sqrt",
          UnaryFunction.TANH, "tanh");

  /** Names of functions of two operands. */
  static final Map<BinaryFunction, String> BINARY =
      Map.of(
          BinaryFunction.ADD, "add_binary",
          BinaryFunction.SUB, "sub_binary",
          BinaryFunction.MUL, "mul_binary",
          BinaryFunction.DIV, "div_binary",
          BinaryFunction.MAX, "binary_max",
          BinaryFunction.MIN, "binary_min");

  /** Rounds f32 to bf16, to nearest, ties to even. */
  static final String ROUND_TO_BF16 = "typecast";

  /** Rounds to integers, to nearest, ties to even. */
  static final String ROUND_TO_INTEGER = "round";

  /** Template arguments of functions. */
  static final Map<String, String> TEMPLATE_ARGUMENTS =
      Map.of(
          // Approximate unless told otherwise.
          "gelu",
          "<false>",
          ROUND_TO_BF16,
          "<static_cast<uint32_t>(DataFormat::Float32),"
              + " static_cast<uint32_t>(DataFormat::Float16_b)>");

  /** Functions that are 0 where all operands are, so that padding remains. */
  static final Set<String> ZERO_AT_ZERO =
      Set.of(
          "abs",
          "gelu",
          "relu",
          "silu",
          "sqrt",
          "tanh",
          ROUND_TO_BF16,
          ROUND_TO_INTEGER,
          "add_binary",
          "sub_binary",
          "mul_binary",
          "binary_max",
          "binary_min");

  /** Functions that have no poles. */
  static final Set<String> FINITE =
      Stream.concat(ZERO_AT_ZERO.stream(), Stream.of("exp", "sigmoid"))
          .collect(Collectors.toUnmodifiableSet());

  /** Functions whose operands may be exchanged. */
  static final Set<BinaryFunction> COMMUTATIVE =
      Set.of(BinaryFunction.ADD, BinaryFunction.MUL, BinaryFunction.MAX, BinaryFunction.MIN);

  private VectorFunctions() {}
}
