package io.partita.passes.program.localize;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import java.util.List;
import java.util.Optional;

/**
 * What all devices do for one change of layout: a few collectives one after the other, each in
 * groups of devices, and at the end what takes no messages.
 *
 * @param starts by device: what it has before; null for nothing
 * @param stages by stage and device
 * @param ends by device
 */
record SyncPlan(List<Box> starts, List<List<Part>> stages, List<End> ends) {
  /**
   * One device's part in a stage.
   *
   * @param before what it has; null for nothing
   * @param messages none where the device already has what it needs
   * @param after what it has afterwards; null for nothing
   */
  record Part(Box before, Optional<Messages> messages, Box after) {}

  /**
   * @param elements of the collective's vector
   * @param given the boxes of which the device's elements of the vector consist before, in order
   * @param taken the same after
   */
  record Messages(
      long elements,
      List<Slice> before,
      List<Slice> after,
      List<Step> steps,
      List<Box> given,
      List<Box> taken) {}

  /** What a device has in the end. */
  sealed interface End {
    /** This part of what it has got. */
    record Keep(Box box) implements End {}

    /** This part of what it has got, with zeros around it. */
    record Surround(Box box, Box whole) implements End {}

    /** Zeros in the place of what another device keeps. */
    record Zeros() implements End {}

    record Nothing() implements End {}
  }
}
