package io.partita.backend.siracusa;

import io.partita.ir.file.EmittedFile;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Comparator;
import java.util.List;

/** The initial contents of a chip's memories. */
final class Images {
  private static final int BLOCK = 1 << 16;

  private Images() {}

  /** Returns the bytes from offset 0 to the end of the last constant, with zeros in gaps. */
  static EmittedFile of(ChipSchedule role, int member, int memory) {
    List<StoredConstant> constants =
        role.constants().stream()
            .filter(constant -> constant.at().memory() == memory)
            .sorted(Comparator.comparingLong(constant -> constant.at().offset()))
            .toList();

    return new EmittedFile(
        "chip" + role.devices().get(member) + (memory == ChipSchedule.HOME ? ".l2" : ".l3"),
        out -> write(constants, member, out));
  }

  private static void write(List<StoredConstant> constants, int member, OutputStream out)
      throws IOException {
    long place = 0;
    for (StoredConstant constant : constants) {
      if (constant.at().offset() < place) {
        throw new IllegalArgumentException(
            constant.name() + " overlaps the constant before it, at " + constant.at().offset());
      }
      writeZeros(constant.at().offset() - place, out);
      long size = constant.tensors().get(member).bytes().byteSize();
      write(constant, member, size, out);
      place = constant.at().offset() + size;
    }
  }

  private static void write(StoredConstant constant, int member, long size, OutputStream out)
      throws IOException {
    byte[] block = new byte[BLOCK];
    for (long done = 0; done < size; done += BLOCK) {
      int count = (int) Math.min(BLOCK, size - done);
      MemorySegment bytes = constant.tensors().get(member).bytes();
      MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, done, block, 0, count);
      out.write(block, 0, count);
    }
  }

  private static void writeZeros(long count, OutputStream out) throws IOException {
    byte[] zeros = new byte[BLOCK];
    for (long left = count; left > 0; left -= BLOCK) {
      out.write(zeros, 0, (int) Math.min(BLOCK, left));
    }
  }
}
