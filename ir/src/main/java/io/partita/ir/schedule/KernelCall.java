package io.partita.ir.schedule;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * A kernel of the runtime that works on one tile, on all cores.
 *
 * @param function its name in C, {@code partita_gemm_f32}
 * @param header the header that declares it, {@code kernels/gemm.h}
 * @param struct the tag of its arguments' struct, {@code partita_gemm}
 * @param arguments in the order of the struct's fields; fields that are left out are 0
 * @param onLast axes: it runs only in tiles that are the last along all of these
 * @param kernel which of a chip's rates it has
 * @param element of which type it computes
 * @param work for each tile, in what the rate of {@code kernel} counts: {@code batch, rows,
 *     columns, depth}, of which the product is the number of multiply-accumulates or elements times
 *     passes
 */
public record KernelCall(
    String function,
    String header,
    String struct,
    List<Argument> arguments,
    List<Integer> onLast,
    KernelClass kernel,
    ElementType element,
    List<TileExpression> work) {
  public KernelCall {
    arguments = List.copyOf(arguments);
    onLast = List.copyOf(onLast);
    work = List.copyOf(work);
    if (work.size() != 4) {
      throw new IllegalArgumentException("work is batch, rows, columns and depth");
    }
  }
}
