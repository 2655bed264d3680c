package io.partita.passes.schedule.place;

import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A step of a chip whose regions have no places yet. */
public sealed interface Task {
  /** The node that it's for. */
  String node();

  /** What must be in the home memory while it runs. */
  List<Region> regions();

  /** Those of them that it writes to. */
  List<Region> written();

  /**
   * A loop over tiles.
   *
   * @param index of the kernel among the chip's
   * @param operands where each of the loop's operands lies
   */
  record Loop(int index, TiledKernel kernel, List<Storage> operands, String node, String text)
      implements Task {
    public Loop {
      operands = List.copyOf(operands);
    }

    @Override
    public List<Region> regions() {
      return operands.stream().map(Storage::region).distinct().toList();
    }

    @Override
    public List<Region> written() {
      return IntStream.range(0, operands.size())
          .filter(i -> kernel.operands().get(i).direction() == Direction.STORE)
          .mapToObj(i -> operands.get(i).region())
          .distinct()
          .toList();
    }
  }

  /** Rows of a table in a farther memory by indices in the home memory. */
  record Rows(Region table, long rows, long rowBytes, Storage indices, Storage result, String node)
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

  /**
   * Messages of a collective.
   *
   * @param operand none if the vector holds it already
   * @param result none if the vector is the result
   * @param message room for messages, none if all are received in place
   */
  record Exchange(
      List<Communication.Exchange> exchanges,
      ElementType element,
      Optional<Storage> operand,
      Optional<Storage> result,
      Storage vector,
      Optional<Region> message,
      String node)
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

  /** Fills what a region holds with zeros. */
  record Clear(Region region, String node) implements Task {
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
