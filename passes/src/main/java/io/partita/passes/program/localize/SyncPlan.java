package io.partita.passes.program.localize;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import java.util.List;
import java.util.Optional;

/**
 * The plan of a change of layout for all devices: a sequence of collectives, each in groups of
 * devices, and final local operations.
 *
 * @param starts the box that each device holds before, or null
 * @param stages the parts by stage and device
 * @param ends the final operations by device
 */
record SyncPlan(List<Box> starts, List<List<Part>> stages, List<End> ends) {
  /**
   * The part of a device in a stage.
   *
   * @param before the box that it holds before, or null
   * @param messages the messages; empty if the device already holds what it needs
   * @param after the box that it holds afterwards, or null
   */
  record Part(Box before, Optional<Messages> messages, Box after) {}

  /**
   * @param elements the elements of the vector of the collective
   * @param given the boxes of the device's elements of the vector before, in order
   * @param taken those after
   */
  record Messages(
      long elements,
      List<Slice> before,
      List<Slice> after,
      List<Step> steps,
      List<Box> given,
      List<Box> taken) {}

  /** The final operation of a device. */
  sealed interface End {
    /** Keeps a part. */
    record Keep(Box box) implements End {}

    /** Keeps a part with zeros around it. */
    record Surround(Box box, Box whole) implements End {}

    /** Takes zeros in place of a term that another device keeps. */
    record Zeros() implements End {}

    record Nothing() implements End {}
  }
}
