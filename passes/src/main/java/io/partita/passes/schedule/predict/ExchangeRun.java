package io.partita.passes.schedule.predict;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.KernelThroughput;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** An exchange that a chip plays on a timeline, action by action. */
final class ExchangeRun {
  /** The transfers of a tile that is joined: own elements there and back, and those of messages. */
  private static final int TILE_MOVES = 3;

  /** The transfers of a slice that is copied: to the working memory, and back. */
  private static final int COPY_MOVES = 2;

  private static final int NEVER = -1;

  private final ChipProgress progress;
  private final PreloadQueue preloads;
  private final Optional<PreloadRoom> preloadRoom;
  private final SyncEvents syncs;
  private final TargetTimeline timeline;
  private final ChipKind chip;
  private final int device;
  private final MemoryNames names;
  private final ScheduleStep.Exchange exchange;
  private final Exchange own;
  private final boolean isContinued;
  private final List<Action> actions;

  /** The number of actions before its own step. */
  private final int beginning;

  /** Whether its last action stores its result. */
  private final boolean isKept;

  /** The next action. */
  private int action;

  /** The action that needs the operand in place; {@link #NEVER} once it is there. */
  private int keeping;

  /** Whether it has started preloads, as it does at its own step. */
  private boolean preloading;

  /** The ends of its sends, and how many of them the chip has awaited. */
  private final List<Integer> sends = new ArrayList<>();

  private int awaited;

  /** When it may begin to load what it joins next, if that is before it does so. */
  private OptionalInt ahead = OptionalInt.empty();

  /**
   * @param exchange the step
   * @param own the exchange of the device
   * @param isContinued whether an earlier step begins it
   */
  ExchangeRun(
      ChipProgress progress,
      PreloadQueue preloads,
      Optional<PreloadRoom> preloadRoom,
      SyncEvents syncs,
      ScheduleStep.Exchange exchange,
      Exchange own,
      boolean isContinued) {
    this.progress = progress;
    this.preloads = preloads;
    this.preloadRoom = preloadRoom;
    this.syncs = syncs;
    this.timeline = progress.timeline();
    this.chip = progress.chip();
    this.device = progress.device();
    this.names = progress.names();
    this.exchange = exchange;
    this.own = own;
    this.isContinued = isContinued;
    Actions all = own.actions();
    this.actions = all.list();
    this.beginning = all.beginning();
    this.isKept = all.resulting(own.after()).isPresent();
    this.keeping = exchange.operand().isPresent() ? all.keeping(own.before()) : NEVER;
  }

  void begin() {
    syncs.begin(own.sync(), device, exchange.origin().name(), progress.reached());
    control();
  }

  /** Returns the next action of those before its own step, if there is one. */
  Optional<Action> beginning() {
    return action < beginning ? Optional.of(next()) : Optional.empty();
  }

  /** Returns the next action at its own step, if there is one. */
  Optional<Action> action() {
    if (!preloading && action >= beginning) {
      keepOperand();
      if (isContinued) {
        // Other code has run since it began.
        control();
      }
      boolean isAtOnce = own.actions().preloadsAtOnce(exchange.result().isPresent());
      preloads.start(isAtOnce ? Long.MAX_VALUE : Actions.PRELOADED, false);
      preloading = true;
    }
    return action < actions.size() ? Optional.of(next()) : Optional.empty();
  }

  private Action next() {
    if (action == keeping) {
      keepOperand();
    }
    return actions.get(action);
  }

  /** Ends when all its actions are done. */
  void end() {
    awaitSends(sends.size());
    if (exchange.result().isPresent() && !isKept) {
      copy(own.after(), "result");
    }
    preloads.start(false);
    syncs.end(own.sync(), progress.reached());
  }

  /** Adds what an exchange takes when it begins, and again when it goes on after other steps. */
  private void control() {
    progress.compute(exchange.origin().name(), chip.exchangeCycles());
  }

  /** Copies the operand to the vector, unless it is there. */
  private void keepOperand() {
    if (keeping != NEVER) {
      copy(own.before(), "operand");
      keeping = NEVER;
    }
  }

  /** Copies slices in the home memory, one after the other, by way of the working memory. */
  private void copy(List<Slice> slices, String label) {
    for (Slice slice : slices) {
      long bytes = exchange.element().packedBytes(slice.size());
      progress.compute(label, COPY_MOVES * chip.moveCycles());
      progress.move(names.home(), names.working(), label, bytes);
      progress.move(names.working(), names.home(), label, bytes);
    }
  }

  private void awaitSends(int count) {
    for (; awaited < count; awaited++) {
      progress.await(sends.get(awaited));
    }
  }

  /** Returns the number of the sync that is being exchanged. */
  int sync() {
    return own.sync();
  }

  /** Starts the message of the next action, after packing its slices if it is sent. */
  void start() {
    awaitSends(actions.get(action).ended());
    Step message = actions.get(action).message();
    progress.compute(message.toString(), chip.messageCycles());
    if (message instanceof Step.Send send && send.slices().size() > 1) {
      copy(send.slices(), send.toString());
    }
  }

  /** The next action's receive has been posted. */
  void posted() {
    action++;
  }

  /**
   * The next action's message is sent.
   *
   * @param event at whose end it is on its way
   */
  void sent(long bytes, int event) {
    progress.count(new Traffic(0, 0, bytes, 0));
    sends.add(event);
    action++;
  }

  /** The next action begins to load what is joined next, once it has arrived. */
  void loads() {
    awaitSends(actions.get(action).ended());
    progress.compute("load", chip.messageCycles());
    ahead = OptionalInt.of(progress.reached());
    action++;
  }

  /**
   * Stores received messages, or joins them with the elements that are there.
   *
   * @param arrived the event at which they have arrived
   */
  void finish(Action.Finish finish, int arrived) {
    awaitSends(finish.ended());
    if (preloading) {
      preloadRoom.ifPresent(room -> preloads.start(room.during(actions, action), false));
    }
    Step.Receive first = finish.messages().getFirst();
    int count = finish.messages().size();
    OptionalInt before = ahead;
    ahead = OptionalInt.empty();
    progress.reach(
        timeline.compute(
            device, first.toString(), chip.messageCycles(), progress.reached(), arrived));
    int ready = before.isPresent() ? timeline.join(before.getAsInt(), arrived) : progress.reached();
    progress.count(new Traffic(0, 0, 0, count * first.bytes()));
    if (first.combine() != Combine.REPLACE) {
      join(first, count, ready);
    } else if (first.slices().size() > 1) {
      copy(first.slices(), first.toString());
    }
    action++;
  }

  /**
   * Joins messages tile by tile: the next tile is loaded while one is joined.
   *
   * @param ready when the first tile may be loaded
   */
  private void join(Step.Receive first, int count, int ready) {
    ElementType element = exchange.element();
    long elements = Slice.elements(first.slices());
    long most = Math.max(1, Actions.TILE / element.packedBytes(1));
    String label = first.toString();
    int loaded = load(label, count, Math.min(most, elements) * element.packedBytes(1), ready);
    for (long done = 0; done < elements; done += most) {
      long tile = Math.min(most, elements - done);
      double cycles = joinCycles(element, count * tile);
      int started =
          timeline.compute(
              device, label, TILE_MOVES * chip.moveCycles(), loaded, progress.reached());
      progress.reach(timeline.compute(device, label, cycles, started));
      progress.count(cycles);
      long next = Math.min(most, elements - done - tile);
      loaded = load(label, count, next * element.packedBytes(1), started);
      progress.move(names.working(), names.home(), label, tile * element.packedBytes(1));
    }
  }

  /** Loads own elements and those of messages. */
  private int load(String label, int count, long bytes, int after) {
    long all = (1 + count) * bytes;
    progress.count(new Traffic(all, 0, 0, 0));
    return timeline.transfer(device, names.home(), names.working(), label, all, after);
  }

  private double joinCycles(ElementType element, long elements) {
    Optional<FunctionThroughput> measured = chip.function("join_" + element);
    if (measured.isPresent()) {
      return measured.get().cycles(1, 1, elements, 1, chip.cores());
    }
    return chip.throughput(KernelClass.ELEMENTWISE, element)
        .map(rate -> cycles(rate, elements))
        .orElse(0.0);
  }

  private static double cycles(KernelThroughput rate, long elements) {
    return elements / rate.rate() + rate.overheadCycles();
  }
}
