package io.partita.passes.schedule.place;

import io.partita.ir.graph.Origin;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.ScheduleStep.Foreseen;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A step of a chip whose regions have no addresses yet. */
public sealed interface Task {
  /** Returns the origin of the node that the task computes. */
  Origin origin();

  /** Returns the regions that must be in the home memory while it runs. */
  List<Region> regions();

  /** Returns the regions that it uses in any memory. */
  default List<Region> used() {
    return regions();
  }

  /** Returns the regions in the home memory that it writes. */
  List<Region> written();

  /**
   * A loop over tiles.
   *
   * @param index of the kernel in the chip's list
   * @param operands the storage of each operand; in the working memory if it is {@link
   *     io.partita.ir.schedule.TileOperand#isNear near}
   */
  record Loop(int index, TiledKernel kernel, List<Storage> operands, Origin origin, String text)
      implements Task {
    public Loop {
      operands = List.copyOf(operands);
    }

    @Override
    public List<Region> regions() {
      return IntStream.range(0, operands.size())
          .filter(i -> !kernel.operands().get(i).isNear())
          .mapToObj(i -> operands.get(i).region())
          .distinct()
          .toList();
    }

    @Override
    public List<Region> used() {
      return operands.stream().map(Storage::region).distinct().toList();
    }

    /** Returns the storage of its only result. */
    Storage stored() {
      return operands.get(numbers(Direction.STORE).findFirst().orElseThrow());
    }

    /** Returns the regions of its scalars. */
    public List<Region> scalars() {
      return numbers(Direction.SCALAR).mapToObj(i -> operands.get(i).region()).toList();
    }

    @Override
    public List<Region> written() {
      return numbers(Direction.STORE)
          .filter(i -> !kernel.operands().get(i).isNear())
          .mapToObj(i -> operands.get(i).region())
          .distinct()
          .toList();
    }

    private IntStream numbers(Direction direction) {
      return IntStream.range(0, operands.size())
          .filter(i -> kernel.operands().get(i).direction() == direction);
    }
  }

  /**
   * Transfers a part of a constant to its place in the working memory, as {@link
   * io.partita.ir.schedule.ScheduleStep.Preload} does; {@link AwaitPreload} ends the transfers of
   * all parts.
   *
   * @param number the number among preloads in flight
   * @param start the first byte of the part
   */
  record Preload(int number, Region constant, long start, long bytes, Origin origin)
      implements Task {
    @Override
    public List<Region> regions() {
      return List.of(constant);
    }

    @Override
    public List<Region> written() {
      return List.of();
    }
  }

  record AwaitPreload(int number, Origin origin) implements Task {
    @Override
    public List<Region> regions() {
      return List.of();
    }

    @Override
    public List<Region> written() {
      return List.of();
    }
  }

  /**
   * Starts to fetch rows of a table in a farther memory by indices in the home memory.
   *
   * @param number the number among fetches of rows in flight, which {@link AwaitRows} ends
   */
  record Rows(
      int number,
      Region table,
      long rows,
      long rowBytes,
      Storage indices,
      Storage result,
      Origin origin)
      implements Task {
    @Override
    public List<Region> regions() {
      return List.of(indices.region(), result.region());
    }

    @Override
    public List<Region> written() {
      return List.of(result.region());
    }
  }

  record AwaitRows(int number, Region result, Origin origin) implements Task {
    @Override
    public List<Region> regions() {
      return List.of(result);
    }

    @Override
    public List<Region> written() {
      return List.of(result);
    }
  }

  /**
   * Exchanges messages of a collective.
   *
   * @param operand the storage of the operand; none if the vector already holds it
   * @param result the storage of the result; none if it is the vector
   * @param message the buffer for messages; none if all are received in place
   */
  record Exchange(
      List<Communication.Exchange> exchanges,
      ElementType element,
      Optional<Storage> operand,
      Optional<Storage> result,
      Storage vector,
      Optional<Region> message,
      Origin origin)
      implements Task {
    public Exchange {
      exchanges = List.copyOf(exchanges);
    }

    @Override
    public List<Region> regions() {
      return Stream.of(
              operand.stream().map(Storage::region),
              result.stream().map(Storage::region),
              Stream.of(vector.region()),
              message.stream())
          .flatMap(each -> each)
          .distinct()
          .toList();
    }

    @Override
    public List<Region> written() {
      return Stream.of(
              result.stream().map(Storage::region), Stream.of(vector.region()), message.stream())
          .flatMap(each -> each)
          .distinct()
          .toList();
    }
  }

  /** Begins the next exchange among the tasks, whose regions are used from then on. */
  record BeginExchange(Exchange exchange) implements Task {
    @Override
    public Origin origin() {
      return exchange.origin();
    }

    @Override
    public List<Region> regions() {
      return exchange.regions();
    }

    @Override
    public List<Region> written() {
      return exchange.written();
    }
  }

  /**
   * Begins a guarded region, of which each condition must hold.
   *
   * @param tasks the number of tasks after this one to which the region extends
   * @param foreseen which devices run the region, for predictions; empty if that depends on data
   */
  record Guard(List<Condition> conditions, int tasks, Optional<Foreseen> foreseen, Origin origin)
      implements Task {
    public Guard {
      conditions = List.copyOf(conditions);
    }

    /** Returns the guard of a region of another length. */
    public Guard with(int length) {
      return new Guard(conditions, length, foreseen, origin);
    }

    @Override
    public List<Region> regions() {
      return conditions.stream().map(each -> each.flag().region()).distinct().toList();
    }

    @Override
    public List<Region> written() {
      return List.of();
    }
  }

  /**
   * A condition of a guarded region.
   *
   * @param flag a {@code bool[]}
   * @param expected the value with which the condition holds
   */
  record Condition(Storage flag, boolean expected) {}

  /** Fills a region with zeros. */
  record Clear(Region region, Origin origin) implements Task {
    @Override
    public List<Region> regions() {
      return List.of(region);
    }

    @Override
    public List<Region> written() {
      return List.of(region);
    }
  }
}
