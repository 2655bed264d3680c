package io.partita.benchmarks.device;

import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Products whose rates the page on the MCU paper states. */
final class PaperKernels extends KernelCases {
  private static final Op PRODUCT = new Contraction.MatMul(ElementType.I32);
  private static final long[] MATRIX = size(64, 512, 128);
  private static final long[] SHORT = size(64, 256, 256);
  private static final long[] TWO_ROWS = size(2, 512, 128);
  private static final long[] ROW = size(1, 512, 1024);
  private static final long[] FLOATS = size(96, 96, 96);

  private PaperKernels() {}

  /**
   * A case and the size of its product.
   *
   * @param name its name on the page
   * @param rows of the left matrix
   * @param inner the columns of the left matrix
   * @param columns of the right matrix
   */
  record Product(String name, long rows, long inner, long columns, KernelCase body) {}

  static List<Product> products() {
    return List.of(
        sums("int8 gemm", MATRIX),
        requantized("int8 gemm, requantized to int8", MATRIX),
        sums("int8 gemm, shorter rows", SHORT),
        sums("int8 gemm, two rows", TWO_ROWS),
        sums("int8 gemv", ROW),
        requantized("int8 gemv, requantized to int8", ROW),
        nibbles("int4 gemm", MATRIX),
        nibbles("int4 gemv", ROW),
        floats("f32 gemm", FLOATS));
  }

  private static Product sums(String name, long[] size) {
    PaperKernels it = new PaperKernels();
    it.add(name, PRODUCT, 1, of -> List.of(it.bytes(of[0], of[1]), it.bytes(of[1], of[2])), size);
    return it.product(name, size);
  }

  private static Product requantized(String name, long[] size) {
    PaperKernels it = new PaperKernels();
    it.addBody(
        name,
        of ->
            (graph, values) -> {
              Value sums = graph.addNode(PRODUCT, values.subList(0, 2)).result();
              return graph
                  .addNode(
                      new IntegerNetwork.Requantize(10, -128, 127, ElementType.I8),
                      List.of(sums, values.get(2), values.get(3)))
                  .result();
            },
        1,
        of ->
            List.of(
                it.bytes(of[0], of[1]),
                it.bytes(of[1], of[2]),
                it.factors(of[2]),
                it.factors(of[2])),
        size);
    return it.product(name, size);
  }

  private static Product nibbles(String name, long[] size) {
    PaperKernels it = new PaperKernels();
    it.add(name, new Contraction.NibbleMatMul(), 1, it::nibbles, size);
    return it.product(name, size);
  }

  private static Product floats(String name, long[] size) {
    PaperKernels it = new PaperKernels();
    it.add(
        name,
        new Structured.Linear(false, false),
        1,
        of -> List.of(it.floats(of[0], of[1]), it.floats(of[1], of[2])),
        size);
    return it.product(name, size);
  }

  private Product product(String name, long[] size) {
    return new Product(name, size[0], size[1], size[2], cases().getFirst());
  }
}
