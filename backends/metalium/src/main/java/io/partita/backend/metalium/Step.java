package io.partita.backend.metalium;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
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
 * @param units the units of work that cores share
 * @param tilesOfUnit the tiles of the result in each
 * @param chunks the cores that work on parts of one result and join them as a tree
 * @param others further results, which only the writer knows
 * @param control what kernels read or decide on each core
 * @param blocks how the cores compute it, where the schedule says so
 */
record Step(
    Kind kind,
    Origin origin,
    List<Matrix> operands,
    List<Epilogue> epilogues,
    Matrix result,
    List<String> sizes,
    List<String> indices,
    long units,
    long tilesOfUnit,
    int chunks,
    List<Matrix> others,
    Control control,
    Optional<CoreBlocks> blocks)
    implements Work {
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
    SPECULATED_ATTENTION
  }

  /**
   * A function of the vector engine on the tile of the result.
   *
   * @param function the name of the kernel API without {@code _tile}
   * @param operand the other operand
   * @param isRow whether all rows of the result use the operand's only row
   * @param isLeft whether the operand is the left one
   */
  record Epilogue(String function, Optional<Matrix> operand, boolean isRow, boolean isLeft) {}

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
      long units,
      long tilesOfUnit,
      int chunks) {
    this(
        kind,
        origin,
        operands,
        epilogues,
        result,
        sizes,
        indices,
        units,
        tilesOfUnit,
        chunks,
        List.of(),
        Control.NONE,
        Optional.empty());
  }

  Step with(Control other) {
    return with(others, other, blocks);
  }

  /** The same step, which cores compute in blocks. */
  Step inBlocks(CoreBlocks own) {
    return with(others, control, Optional.of(own));
  }

  /** The same step, which is skipped unless none of these words is 0. */
  Step gated(List<Integer> gates) {
    return with(new Control(gates, control.word, control.decision));
  }

  Step withOthers(List<Matrix> results) {
    return with(results, control, blocks);
  }

  private Step with(List<Matrix> results, Control other, Optional<CoreBlocks> own) {
    return new Step(
        kind,
        origin,
        operands,
        epilogues,
        result,
        sizes,
        indices,
        units,
        tilesOfUnit,
        chunks,
        results,
        other,
        own);
  }

  /** A step whose units of work are the tiles of the result. */
  static Step ofTiles(
      Kind kind,
      Origin origin,
      List<Matrix> operands,
      List<Epilogue> epilogues,
      Matrix result,
      List<String> sizes) {
    long tiles = result.tileRows() * result.tileColumns();
    return new Step(kind, origin, operands, epilogues, result, sizes, List.of(), tiles, 1, 1);
  }

  /** A step whose units of work are the rows of tiles of the result. */
  static Step ofRows(
      Kind kind, Node node, List<Matrix> operands, Matrix result, List<String> sizes) {
    return new Step(
        kind,
        node.origin(),
        operands,
        List.of(),
        result,
        sizes,
        List.of(),
        result.tileRows(),
        result.tileColumns(),
        1);
  }

  /** A step of whole rows in blocks: a norm or a softmax. */
  static Step ofRows(
      Kind kind,
      Node node,
      List<Matrix> operands,
      Matrix result,
      RowBlocks blocks,
      List<String> others) {
    List<String> sizes = new ArrayList<>();
    Stream.of(
            blocks.columns().pages(),
            blocks.rows().pages(),
            blocks.rows().block(),
            blocks.rows().round())
        .map(Object::toString)
        .forEach(sizes::add);
    sizes.addAll(others);
    return ofTiles(kind, node.origin(), operands, List.of(), result, sizes).inBlocks(blocks);
  }

  /** The blocks of a product. */
  Optional<ProductBlocks> product() {
    return blocks.filter(ProductBlocks.class::isInstance).map(ProductBlocks.class::cast);
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
