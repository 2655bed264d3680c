package io.partita.backend.emitted.probe;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A record of a program with probes, in the format of {@code runtime/hal/probe.h}.
 *
 * @param number the number of the step, or of the message in its collective
 * @param chip the message's peer
 * @param bytes the number of bytes that the record describes
 * @param data the bytes; empty for a receive that begins
 */
record ProbeRecord(Kind kind, int number, int chip, long bytes, MemorySegment data) {
  private static final int MARK = 0x50524f42;
  private static final int WORDS = 5;
  private static final ValueLayout.OfInt WORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** In the order of {@code enum partita_probe_kind}. */
  enum Kind {
    STEP,
    SEND,
    RECEIVE,
    RECEIVED
  }

  /**
   * Returns the complete records of the first run; a program that was ended leaves fewer.
   *
   * @param steps the number of steps of a run
   */
  static List<ProbeRecord> read(Path file, int steps) throws IOException {
    List<ProbeRecord> records = new ArrayList<>();
    if (!Files.exists(file)) {
      return records;
    }
    MemorySegment all;
    try (FileChannel channel = FileChannel.open(file)) {
      long size = channel.size();
      all = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, Arena.ofAuto());
    }
    long at = 0;
    boolean isDone = steps == 0;
    while (!isDone && at + 4 * WORDS <= all.byteSize() && all.get(WORD, at) == MARK) {
      Kind kind = Kind.values()[Math.floorMod(all.get(WORD, at + 4), Kind.values().length)];
      int number = all.get(WORD, at + 8);
      int chip = all.get(WORD, at + 12);
      long bytes = Integer.toUnsignedLong(all.get(WORD, at + 16));
      at += 4 * WORDS;
      long size = kind == Kind.RECEIVE ? 0 : bytes;
      if (size > all.byteSize() - at) {
        break;
      }
      records.add(new ProbeRecord(kind, number, chip, bytes, all.asSlice(at, size)));
      at += size;
      isDone = kind == Kind.STEP && number == steps - 1;
    }
    return records;
  }

  /** A part of the data. */
  Tensor tensor(TensorType type, long offset) {
    byte[] bytes = data.asSlice(offset, type.bytes()).toArray(ValueLayout.JAVA_BYTE);
    return Tensor.of(type, MemorySegment.ofArray(bytes));
  }
}
