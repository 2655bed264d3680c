package io.partita.passes.timing;

import io.partita.ir.op.Op;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.type.TensorType;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Caches the times of kernels.
 *
 * <p>A kernel runs in n equal tiles, each of which moves to the working memory, is computed, and
 * moves back. A tile takes each channel, and the cores, for some time {@code t}; with two buffers
 * these overlap, and the kernel takes {@code Σ t + (n - 1) max t}: the slowest resource is always
 * busy. With one buffer it takes {@code n Σ t}. Tiles are as large as the working memory allows for
 * this number of buffers.
 */
public final class KernelTimes {
  private final int buffers;
  private final Map<Key, KernelTime> known = new HashMap<>();

  /**
   * An operand.
   *
   * @param type the type as which it is computed with
   * @param bytes those of all of it, as it is stored
   * @param memory the memory from which it is read
   */
  public record Operand(TensorType type, long bytes, String memory) {}

  private record Key(
      String chip,
      Op op,
      List<Operand> operands,
      List<TensorType> results,
      String resultMemory,
      double coldCycles) {}

  public KernelTimes(int buffers) {
    this.buffers = buffers;
  }

  /**
   * @param coldCycles cycles of loading instructions that are not cached
   */
  public KernelTime of(
      ChipKind chip,
      Op op,
      List<Operand> operands,
      List<TensorType> results,
      String resultMemory,
      double coldCycles) {
    return known.computeIfAbsent(
        new Key(chip.name(), op, operands, results, resultMemory, coldCycles),
        key -> compute(chip, key));
  }

  private KernelTime compute(ChipKind chip, Key key) {
    List<TensorType> types = key.operands.stream().map(Operand::type).toList();
    KernelCost cost = KernelCosts.of(key.op, types, key.results, i -> false);
    Map<String, Long> read = new LinkedHashMap<>();
    for (int i = 0; i < key.operands.size(); i++) {
      Operand operand = key.operands.get(i);
      long bytes = KernelCosts.read(key.op, i, operand.bytes(), key.results);
      read.merge(operand.memory(), bytes, Long::sum);
    }
    double cycles = key.coldCycles + cost.warmCycles(chip);
    return of(chip, cycles, read, key.resultMemory, cost.outputBytes());
  }

  /**
   * @param read bytes by source memory
   */
  public KernelTime of(
      ChipKind chip, double cycles, Map<String, Long> read, String resultMemory, long written) {
    String working = chip.working().name();
    long all = written + read.values().stream().mapToLong(Long::longValue).sum();
    long tiles = Math.max(1, Math.ceilDiv(buffers * all, chip.working().usable()));
    SequencedMap<String, Double> stages = new LinkedHashMap<>();
    SequencedMap<String, Long> bytes = new LinkedHashMap<>();
    read.forEach((from, size) -> move(chip, from, working, size, tiles, stages, bytes));
    move(chip, working, resultMemory, written, tiles, stages, bytes);
    double tile = cycles / tiles / chip.hertz();
    double slowest =
        Math.max(tile, stages.values().stream().mapToDouble(Double::doubleValue).max().orElse(0));
    SequencedMap<String, Double> waits = new LinkedHashMap<>();
    boolean isComputeSlowest = tile == slowest;
    boolean found = isComputeSlowest;
    for (Map.Entry<String, Double> stage : stages.entrySet()) {
      boolean each = buffers == 1 || !found && stage.getValue() == slowest;
      found |= each;
      waits.put(stage.getKey(), (each ? tiles : 1) * stage.getValue());
    }
    double compute = tiles * tile;
    if (buffers == 2 && !isComputeSlowest) {
      hide(waits, stages, slowest, compute - tile);
    }
    return new KernelTime(compute, waits, bytes);
  }

  /** The slowest channel overlaps with the computation of all tiles but one. */
  private static void hide(
      SequencedMap<String, Double> waits,
      Map<String, Double> stages,
      double slowest,
      double seconds) {
    for (Map.Entry<String, Double> wait : waits.entrySet()) {
      if (stages.get(wait.getKey()) == slowest) {
        wait.setValue(wait.getValue() - seconds);
        return;
      }
    }
  }

  private static void move(
      ChipKind chip,
      String from,
      String to,
      long size,
      long tiles,
      Map<String, Double> stages,
      Map<String, Long> bytes) {
    if (size == 0 || from.equals(to)) {
      return;
    }
    for (DmaChannel channel : TransferPaths.between(chip, from, to)) {
      stages.merge(
          channel.name(), channel.cycles(Math.ceilDiv(size, tiles), 0) / chip.hertz(), Double::sum);
      bytes.merge(channel.name(), size, Long::sum);
    }
  }
}
