package io.partita.backend.metalium;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * A reader, a compute kernel and a writer, and the matrices that they work on.
 *
 * @param kind what the kernels compute
 * @param operands the matrices of the kind's own operands
 * @param epilogues functions of the result that the compute kernel applies to each tile, in order
 * @param result the matrix of the result
 * @param sizes common arguments of the kernels, as literals of C
 * @param indices expressions of the host's integers, which follow the sizes
 * @param blocks how the cores compute it, as the schedule says
 * @param others further results, which only the writer knows
 * @param control what kernels read or decide on each core
 */
record Step(
    Kind kind,
    Origin origin,
    List<Matrix> operands,
    List<Epilogue> epilogues,
    Matrix result,
    List<String> sizes,
    List<String> indices,
    CoreBlocks blocks,
    List<Matrix> others,
    Control control)
    implements Work {
  /** The arguments of kernels of tiles that say which blocks a core has. */
  static final int TILE_SIZES = 6;

  /** What kernels compute. */
  enum Kind {
    LINEAR,
    ELEMENTWISE,
    RMS_NORM,
    LAYER_NORM,
    SOFTMAX,
    GATHER_ROWS,
    LOOKUP,
    NEAREST_CENTROID,
    CHOICE,
    DECISION,
    REARRANGE,
    SELECT,
    CONCAT,
    CACHE_UPDATE,
    ROTARY,
    ATTENTION,
    /** An approximate attention, and the exact one where it is verified. */
    SPECULATED_ATTENTION,
    /** An approximate attention that is sent before it is verified. */
    EARLY_ATTENTION,
    /** An exact attention that verifies the one before. */
    VERIFYING_ATTENTION;

    /** Whether kernels take the first and the last chunk before others. */
    boolean isSpeculated() {
      return this == SPECULATED_ATTENTION || this == EARLY_ATTENTION || isVerifying();
    }

    boolean isVerifying() {
      return this == VERIFYING_ATTENTION;
    }
  }

  /**
   * A function of the vector engine on the tile of the result.
   *
   * @param function the name of the kernel API without {@code _tile}
   * @param operand the other operand
   * @param isRow whether all rows of the result use the operand's only row
   * @param isLeft whether the operand is the left one
   */
  record Epilogue(String function, Optional<Matrix> operand, boolean isRow, boolean isLeft) {
    /** A function of the result alone. */
    static Epilogue of(String function) {
      return new Epilogue(function, Optional.empty(), false, false);
    }

    /** A function of the result and another operand, the right one. */
    static Epilogue of(BinaryFunction function, Matrix operand, boolean isRow) {
      return new Epilogue(VectorFunctions.BINARY.get(function), Optional.of(operand), isRow, false);
    }
  }

  /**
   * Words in L1, which each core has. Kernels get their addresses after their other arguments.
   *
   * @param gates words of which none may be 0, otherwise kernels end at once
   * @param word the word that a decision sets, or that kernels read themselves
   * @param decision what a decision computes
   */
  record Control(List<Integer> gates, OptionalInt word, Optional<Decision> decision) {
    static final Control NONE = new Control(List.of(), OptionalInt.empty(), Optional.empty());

    Control {
      gates = List.copyOf(gates);
    }

    /** The words, in the order of the arguments. */
    List<Integer> words() {
      List<Integer> words = new ArrayList<>(gates);
      word.ifPresent(words::add);
      return words;
    }

    /** Whether kernels set the last word on all cores. */
    boolean decidesWord() {
      return decision.isPresent() && word.isPresent();
    }
  }

  /**
   * A matrix in DRAM.
   *
   * @param name a C identifier
   * @param kind the method of the emulation's model that makes it
   * @param format how its tiles are stored
   */
  record Matrix(String name, String kind, TileFormat format, long rows, long columns) {
    static final int TILE = 32;

    long tileRows() {
      return Math.ceilDiv(rows, TILE);
    }

    long tileColumns() {
      return Math.ceilDiv(columns, TILE);
    }
  }

  Step {
    operands = List.copyOf(operands);
    epilogues = List.copyOf(epilogues);
    sizes = List.copyOf(sizes);
    indices = List.copyOf(indices);
    others = List.copyOf(others);
  }

  /** A step with one result, which all chips compute. */
  Step(
      Kind kind,
      Origin origin,
      List<Matrix> operands,
      List<Epilogue> epilogues,
      Matrix result,
      List<String> sizes,
      List<String> indices,
      CoreBlocks blocks) {
    this(
        kind, origin, operands, epilogues, result, sizes, indices, blocks, List.of(), Control.NONE);
  }

  Step with(Control other) {
    return with(others, other);
  }

  /** The same step, which is skipped unless none of these words is 0. */
  Step gated(List<Integer> gates) {
    return with(new Control(gates, control.word, control.decision));
  }

  Step withOthers(List<Matrix> results) {
    return with(results, control);
  }

  private Step with(List<Matrix> results, Control other) {
    return new Step(
        kind, origin, operands, epilogues, result, sizes, indices, blocks, results, other);
  }

  /** A step of tiles, whose kernels get their blocks before other sizes. */
  static Step ofTiles(
      Kind kind,
      Origin origin,
      List<Matrix> operands,
      List<Epilogue> epilogues,
      Matrix result,
      TileBlocks blocks,
      List<String> others) {
    List<String> sizes = new ArrayList<>(sizes(blocks));
    sizes.add(blocks.columns().block() + "");
    sizes.add(blocks.columns().round() + "");
    sizes.addAll(others);
    return new Step(kind, origin, operands, epilogues, result, sizes, List.of(), blocks);
  }

  /** A step of whole rows of tiles, whose kernels get their blocks before other sizes. */
  static Step ofRows(
      Kind kind,
      Node node,
      List<Matrix> operands,
      Matrix result,
      CoreBlocks blocks,
      List<String> others) {
    List<String> sizes = new ArrayList<>(sizes(blocks));
    sizes.addAll(others);
    return new Step(kind, node.origin(), operands, List.of(), result, sizes, List.of(), blocks);
  }

  private static List<String> sizes(CoreBlocks blocks) {
    return Stream.of(
            blocks.columns().pages(),
            blocks.rows().pages(),
            blocks.rows().block(),
            blocks.rows().round())
        .map(Object::toString)
        .toList();
  }

  Step withIndices(List<String> expressions) {
    return new Step(
        kind, origin, operands, epilogues, result, sizes, expressions, blocks, others, control);
  }

  /** The blocks of a product. */
  Optional<ProductBlocks> product() {
    return Optional.of(blocks)
        .filter(ProductBlocks.class::isInstance)
        .map(ProductBlocks.class::cast);
  }

  /** Whether destination registers have 16 bits, which only sums of products have. */
  boolean sumsInBf16() {
    return product().filter(each -> each.sums() == ElementType.BF16).isPresent();
  }

  /** Whether cores join results of parts of the same operands, as a tree. */
  boolean isJoined() {
    return blocks instanceof AttentionBlocks;
  }

  /** The operands, then those of epilogues, in the order of their buffers. */
  List<Matrix> allOperands() {
    return Stream.concat(operands.stream(), epilogueOperands().stream()).toList();
  }

  /** The operands of epilogues, in order. */
  List<Matrix> epilogueOperands() {
    return epilogues.stream().flatMap(each -> each.operand().stream()).toList();
  }
}
