package io.partita.driver.report;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.Memory;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How cores with private working memories compute the results of loops, as JSON. */
public final class BlockFields {
  /** The factors of a product, and its result. */
  private static final int PRODUCT_OPERANDS = 3;

  private BlockFields() {}

  /**
   * The blocks of a planned program. Its figures may be those of closed formulas, which need no
   * schedule.
   *
   * @param loops the {@code name} and the {@code blocks} of each loop of the first device; empty if
   *     cores share their working memory, or the schedule doesn't fit
   * @param failure why the program can't be scheduled
   */
  public record Planned(List<Map<String, Object>> loops, Optional<Diagnostic> failure) {
    public Planned {
      loops = List.copyOf(loops);
    }
  }

  /**
   * Schedules a program, and returns the blocks of its loops.
   *
   * @param weights how the constant matrices of products are stored
   */
  public static Planned of(Program program, TargetDescription target, Packing weights) {
    if (target.devices().getFirst().working().scope() != Memory.Scope.CORE) {
      return new Planned(List.of(), Optional.empty());
    }
    try {
      return new Planned(
          Scheduler.price(program, target, SchedulerOptions.STANDARD.withWeights(weights))
              .schedule()
              .map(schedule -> of(schedule.roles().getFirst()))
              .orElse(List.of()),
          Optional.empty());
    } catch (PartitaException failure) {
      return new Planned(List.of(), Optional.of(failure.diagnostics().getFirst()));
    }
  }

  private static List<Map<String, Object>> of(ChipSchedule role) {
    List<Map<String, Object>> loops = new ArrayList<>();
    for (TiledKernel loop : role.kernels()) {
      of(loop, role.cores())
          .ifPresent(
              blocks -> {
                Map<String, Object> fields = new LinkedHashMap<>();
                fields.put("name", loop.name());
                fields.put("blocks", blocks);
                loops.add(fields);
              });
    }
    return loops;
  }

  /** Returns how cores compute a loop; rows of cores and pages come before columns. */
  static Optional<Map<String, Object>> of(TiledKernel loop, CoreGrid cores) {
    return CoreBlocks.of(loop, cores).map(blocks -> of(blocks, loop.operands()));
  }

  private static Map<String, Object> of(CoreBlocks blocks, List<TileOperand> operands) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("cores", List.of(blocks.rows().cores(), blocks.columns().cores()));
    json.put("pages", List.of(blocks.rows().pages(), blocks.columns().pages()));
    json.put("block", List.of(blocks.rows().block(), blocks.columns().block()));
    if (blocks instanceof ProductBlocks product) {
      json.put("depth", product.depth().block());
      ProductBlocks.Part part = product.part(operands.size() > PRODUCT_OPERANDS);
      json.put("subblock", List.of(part.rows(), part.columns()));
    }
    json.put(
        "multicast",
        blocks.shared().isEmpty()
            ? List.of()
            : operands.stream()
                .filter(operand -> operand.multicast().isPresent())
                .map(TileOperand::name)
                .toList());
    return json;
  }
}
