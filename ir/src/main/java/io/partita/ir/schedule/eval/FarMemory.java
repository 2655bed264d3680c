package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A memory of a device that transfers reach. It holds weights, which aren't copied, and states;
 * bytes between them have no value.
 */
final class FarMemory {
  /** The unit of transfers. */
  private static final long ALIGNMENT = 8;

  /**
   * @param bytes the bytes with a value: those of the data, and zeros after them
   * @param state the bytes of a state; null for a weight
   */
  private record Region(String name, long bytes, Tensor weight, byte[] state) {
    MemorySegment data() {
      return state == null ? weight.bytes() : MemorySegment.ofArray(state);
    }
  }

  private final NavigableMap<Long, Region> regions = new TreeMap<>();

  /**
   * @param memory the number of the memory
   */
  FarMemory(ChipSchedule chip, int member, int memory) {
    for (StoredConstant constant : chip.constants()) {
      if (constant.at().memory() == memory) {
        Tensor data = constant.tensors().get(member);
        regions.put(
            constant.at().offset(), new Region(constant.name(), constant.bytes(), data, null));
      }
    }
    for (Port state : chip.states()) {
      if (state.at().memory() == memory) {
        long bytes = Math.ceilDiv(state.type().bytes(), ALIGNMENT) * ALIGNMENT;
        regions.put(
            state.at().offset(),
            new Region(state.name(), bytes, null, new byte[Math.toIntExact(bytes)]));
      }
    }
  }

  /** Resets states to zeros. */
  void reset() {
    for (Region region : regions.values()) {
      if (region.state != null) {
        Arrays.fill(region.state, (byte) 0);
      }
    }
  }

  private Optional<Map.Entry<Long, Region>> at(long offset) {
    return Optional.ofNullable(regions.floorEntry(offset))
        .filter(entry -> offset < entry.getKey() + entry.getValue().bytes);
  }

  /** Copies bytes to the home memory; bytes without a value have none there. */
  void read(long from, LocalMemory near, int to, int count) {
    int done = 0;
    while (done < count) {
      long offset = from + done;
      Optional<Map.Entry<Long, Region>> found = at(offset);
      if (found.isEmpty()) {
        Long next = regions.ceilingKey(offset);
        int gap = next == null ? count - done : (int) Math.min(count - done, next - offset);
        near.forget(to + done, gap);
        done += gap;
        continue;
      }
      Region region = found.get().getValue();
      long within = offset - found.get().getKey();
      int part = (int) Math.min(count - done, region.bytes - within);
      MemorySegment data = region.data();
      int real = Math.clamp(data.byteSize() - within, 0, part);
      MemorySegment.copy(data, ValueLayout.JAVA_BYTE, within, near.bytes(), to + done, real);
      Arrays.fill(near.bytes(), to + done + real, to + done + part, (byte) 0);
      near.write(to + done, part);
      done += part;
    }
  }

  /**
   * Copies bytes from the home memory to states.
   *
   * @return the first byte that belongs to no state, or -1
   */
  long write(long to, byte[] near, int from, int count) {
    int done = 0;
    while (done < count) {
      long offset = to + done;
      Optional<Map.Entry<Long, Region>> found = at(offset);
      if (found.isEmpty() || found.get().getValue().state == null) {
        return offset;
      }
      byte[] state = found.get().getValue().state;
      int within = (int) (offset - found.get().getKey());
      int part = Math.min(count - done, state.length - within);
      System.arraycopy(near, from + done, state, within, part);
      done += part;
    }
    return -1;
  }
}
