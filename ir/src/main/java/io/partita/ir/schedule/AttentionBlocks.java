package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.CallFields;
import io.partita.ir.schedule.kernel.KernelCall;
import java.util.List;
import java.util.Optional;

/**
 * How cores with private working memories compute an attention: pages of queries that share keys,
 * for which the queries of a group of heads count as one sequence. Cores that these pages leave
 * free share the keys, and join their results as a tree.
 *
 * @param rows the pages of queries, all heads one after the other
 * @param columns the parts of the keys, each of which is a core's
 */
public record AttentionBlocks(Extent rows, Extent columns) implements CoreBlocks {
  /**
   * Returns the blocks of a loop.
   *
   * @return empty if the loop doesn't compute an attention on private tiles
   */
  public static Optional<AttentionBlocks> of(TiledKernel loop, CoreGrid grid) {
    boolean isPrivate = loop.operands().stream().anyMatch(each -> each.buffer().isPresent());
    return loop.calls().stream()
        .limit(1)
        .filter(call -> isPrivate && call.kernel().family().equals("attention"))
        .findFirst()
        .map(call -> of(call, loop, grid));
  }

  private static AttentionBlocks of(KernelCall call, TiledKernel loop, CoreGrid grid) {
    long group = whole(call, "group", loop);
    long queries = group * whole(call, "seq", loop);
    return of(whole(call, "heads", loop) / group, queries, whole(call, "keys", loop), grid);
  }

  private static long whole(KernelCall call, String field, TiledKernel loop) {
    Argument.Value found = CallFields.find(call.arguments(), field).orElseThrow();
    return LoopWork.of(((Argument.Value.Integer) found).value(), loop);
  }

  /**
   * Returns the blocks of an attention.
   *
   * @param heads the heads of keys, of the whole batch
   * @param queries the queries that attend to the keys of a head
   */
  public static AttentionBlocks of(long heads, long queries, long keys, CoreGrid grid) {
    long pages = heads * Math.ceilDiv(queries, PAGE);
    int parts = 1;
    while (2L * parts * pages <= grid.cores() && 2L * parts * PAGE <= keys) {
      parts *= 2;
    }
    return new AttentionBlocks(new Extent(pages, 1, grid.cores()), new Extent(parts, 1, parts));
  }

  @Override
  public List<Integer> shared() {
    return List.of();
  }
}
