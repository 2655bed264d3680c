package io.partita.passes.schedule.predict;

import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import java.util.List;

/**
 * The names of the memories of a chip; the far one is the home memory if there is no farther one.
 */
record MemoryNames(String working, String home, String far) {
  static MemoryNames of(ChipKind chip) {
    List<Memory> memories = chip.memories();
    return new MemoryNames(
        chip.working().name(), memories.get(1).name(), memories.getLast().name());
  }
}
