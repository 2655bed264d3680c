package io.partita.passes.program.collective;

import io.partita.ir.eval.Shards;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The reference meaning of a schedule: runs all devices on numbers, one step at a time. Each
 * reduction rounds to the element type, so that results equal those of devices bit for bit.
 */
public final class LockStep {
  private final Schedule schedule;
  private final ElementType element;

  /** The vector of each device: bits of doubles for float types, integers otherwise. */
  private final long[][] vectors;

  private final Map<Long, Deque<long[]>> channels = new HashMap<>();

  private LockStep(Schedule schedule) {
    this.schedule = schedule;
    this.element = schedule.collective().element();
    int elements = Math.toIntExact(schedule.collective().elements());
    vectors = new long[schedule.collective().devices()][elements];
  }

  /**
   * @param inputs the elements of {@link Collective#before} of each device, concatenated
   * @param capacity the number of messages that each channel holds
   * @return the elements of {@link Collective#after} of each device
   * @throws io.partita.ir.diagnostic.PartitaException if the schedule can't be proved
   */
  public static List<Tensor> run(Schedule schedule, int capacity, List<Tensor> inputs) {
    List<Position> order = ScheduleProof.verify(schedule, capacity);
    LockStep run = new LockStep(schedule);
    Collective collective = schedule.collective();
    for (int device = 0; device < collective.devices(); device++) {
      run.write(device, collective.before(device), run.numbers(inputs.get(device)));
    }
    order.forEach(run::step);
    List<Tensor> results = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      results.add(run.tensor(run.read(device, collective.after(device))));
    }
    return results;
  }

  private void step(Position position) {
    int device = position.device();
    switch (ScheduleProof.step(schedule, position)) {
      case Send send -> channel(device, send.to()).add(read(device, send.slices()));
      case Receive receive -> {
        long[] message = channel(receive.from(), device).remove();
        Tensor own = tensor(read(device, receive.slices()));
        Tensor combined = Shards.combine(receive.combine(), own, tensor(message));
        write(device, receive.slices(), numbers(combined));
      }
    }
  }

  private Deque<long[]> channel(int from, int to) {
    return channels.computeIfAbsent((long) from * vectors.length + to, key -> new ArrayDeque<>());
  }

  private long[] read(int device, List<Slice> slices) {
    long[] read = new long[Math.toIntExact(Slice.elements(slices))];
    int at = 0;
    for (Slice slice : slices) {
      System.arraycopy(vectors[device], (int) slice.start(), read, at, (int) slice.size());
      at += (int) slice.size();
    }
    return read;
  }

  private void write(int device, List<Slice> slices, long[] values) {
    int at = 0;
    for (Slice slice : slices) {
      System.arraycopy(values, at, vectors[device], (int) slice.start(), (int) slice.size());
      at += (int) slice.size();
    }
  }

  private long[] numbers(Tensor tensor) {
    if (!element.isFloat()) {
      return tensor.longs();
    }
    double[] doubles = tensor.doubles();
    long[] bits = new long[doubles.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = Double.doubleToRawLongBits(doubles[i]);
    }
    return bits;
  }

  private Tensor tensor(long[] numbers) {
    TensorType type = TensorType.of(element, numbers.length);
    if (!element.isFloat()) {
      return Tensor.ofLongs(type, numbers);
    }
    double[] doubles = new double[numbers.length];
    for (int i = 0; i < doubles.length; i++) {
      doubles[i] = Double.longBitsToDouble(numbers[i]);
    }
    return Tensor.ofDoubles(type, doubles);
  }
}
