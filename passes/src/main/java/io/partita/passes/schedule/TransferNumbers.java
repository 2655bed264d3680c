package io.partita.passes.schedule;

import java.util.Collection;

/** The numbers of transfers of one kind in flight. */
final class TransferNumbers {
  private TransferNumbers() {}

  /** Returns the least number that isn't taken. */
  static int unused(Collection<Integer> taken) {
    int number = 0;
    while (taken.contains(number)) {
      number++;
    }
    return number;
  }
}
