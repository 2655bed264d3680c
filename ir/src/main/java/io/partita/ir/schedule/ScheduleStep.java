package io.partita.ir.schedule;

import io.partita.ir.op.Communication;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/** One thing that the control core of a chip does; the next begins when it's done. */
public sealed interface ScheduleStep {
  /** The node that it's for, as in the model: for comments, traces and reports. */
  String node();

  /**
   * Runs a loop over tiles.
   *
   * @param kernel index in {@link ChipSchedule#kernels}
   * @param operands offset in L2 of the first element of each of the loop's operands, in order
   * @param text what it computes, with shapes
   */
  record RunTiles(int kernel, List<Long> operands, String node, String text)
      implements ScheduleStep {
    public RunTiles {
      operands = List.copyOf(operands);
    }
  }

  /**
   * Starts a transfer between L3 and L2, which goes on during the steps that follow.
   *
   * @param transfer its number among those under way at once; a {@link WaitTransfer} of the same
   *     number ends it
   * @param fetch whether from L3 to L2
   */
  record StartTransfer(int transfer, boolean fetch, long l3, long l2, long bytes, String node)
      implements ScheduleStep {}

  record WaitTransfer(int transfer, String node) implements ScheduleStep {}

  /**
   * Fetches rows of a table in L3 to L2, one after the other, by indices that are in L2. An index
   * below 0 counts from the end; one that is out of range gives zeros.
   *
   * @param rowBytes a multiple of the alignment of L3
   * @param indices offset in L2
   * @param index i32 or i64
   */
  record FetchRows(
      long l3,
      long rows,
      long rowBytes,
      long indices,
      ElementType index,
      long count,
      long l2,
      String node)
      implements ScheduleStep {}

  /**
   * This chip's messages of one collective.
   *
   * @param exchanges for each of the devices of the role, in their order: peers and places differ,
   *     kinds and sizes of steps don't
   * @param operand offset in L2 of the elements that the chip has, in the order of the exchange;
   *     none if they are in the vector
   * @param result likewise of the elements that it's to have
   * @param vector offset in L2 of the whole vector
   * @param message offset in L2 of room for the largest message that isn't received in place
   * @param l1 offset in L1 of the room for joining what is received
   */
  record Exchange(
      List<Communication.Exchange> exchanges,
      ElementType element,
      Optional<Long> operand,
      Optional<Long> result,
      long vector,
      long message,
      long l1,
      long l1Bytes,
      String node)
      implements ScheduleStep {
    public Exchange {
      exchanges = List.copyOf(exchanges);
    }
  }

  /** Fills bytes in L2 with zeros: a cache before its first run, a padding. */
  record Clear(long l2, long bytes, String node) implements ScheduleStep {}
}
