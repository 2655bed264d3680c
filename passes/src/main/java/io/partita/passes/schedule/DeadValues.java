package io.partita.passes.schedule;

import io.partita.ir.graph.Value;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Sharing;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Map;

/** Decides which values are dead after a step, so that results may overwrite them. */
final class DeadValues {
  private final Sharing sharing;
  private final ExchangeTasks exchanges;
  private final Map<Value, Storage> storages;
  private final long nearBytes;

  /**
   * @param storages the places of values
   * @param nearBytes the bytes of the largest value that may stay in the working memory
   */
  DeadValues(
      Sharing sharing, ExchangeTasks exchanges, Map<Value, Storage> storages, long nearBytes) {
    this.sharing = sharing;
    this.exchanges = exchanges;
    this.storages = storages;
    this.nearBytes = nearBytes;
  }

  /**
   * Whether nothing reads a value after a step, nor has begun to send it. Small results of
   * exchanges aren't overwritten, so that what is computed from them may be near.
   */
  boolean mayBeOverwritten(Value value, int step) {
    Region region = storages.get(value).region();
    return sharing.lastReader(value) <= step
        && !exchanges.isSending(region)
        && (region.bytes() > nearBytes || !exchanges.gives(region));
  }

  /**
   * Whether a loop of a step may overwrite a value.
   *
   * @param later the loops that follow in the same step
   */
  boolean mayBeOverwritten(Value value, int step, List<Group> later) {
    return mayBeOverwritten(value, step)
        && later.stream()
            .flatMap(group -> group.operands().stream())
            .map(storages::get)
            .noneMatch(read -> read != null && read.region() == storages.get(value).region());
  }
}
