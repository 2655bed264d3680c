package io.partita.benchmarks.device;

import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/** Strided copies, and rows of tables. */
final class MovementCases extends KernelCases {
  static List<KernelCase> all() {
    MovementCases it = new MovementCases();
    for (ElementType element : List.of(ElementType.F32, ElementType.I8)) {
      String of = " " + element;
      it.add(
          "transpose" + of,
          new Movement.Transpose(List.of(1, 0)),
          1,
          size -> List.of(it.integersOrFloats(element, size)),
          size(16, 96),
          size(50, 64),
          size(64, 64),
          size(100, 20),
          size(12, 200),
          size(10, 400));
      it.add(
          "exchange of heads and positions" + of,
          new Movement.Transpose(List.of(0, 2, 1, 3)),
          1,
          size -> List.of(it.integersOrFloats(element, size)),
          size(1, 4, 20, 30),
          size(1, 16, 8, 8),
          size(1, 16, 64, 8),
          size(2, 8, 24, 16));
      it.add(
          "broadcast" + of,
          size -> new Movement.Broadcast(Shape.of(size[0], size[1], size[2])),
          1,
          size -> List.of(it.integersOrFloats(element, size[0], 1, size[2])),
          size(4, 10, 30),
          size(8, 12, 64),
          size(6, 30, 40),
          size(3, 8, 100));
      it.add(
          "padding" + of,
          size ->
              new Movement.Pad(
                  Movement.PadMode.CONSTANT,
                  List.of(0L, 0L, size[3], size[3]),
                  List.of(0L, 0L, size[3], size[3])),
          1,
          size ->
              List.of(
                  it.integersOrFloats(element, 1, size[0], size[1], size[2]),
                  it.integersOrFloats(element)),
          size(4, 12, 12, 1),
          size(8, 16, 16, 1),
          size(3, 32, 32, 2),
          size(16, 8, 8, 1));
      it.add(
          "rows of a table" + of,
          new Structured.Embedding(),
          2,
          size ->
              List.of(
                  it.integersOrFloats(element, size[1], size[2]),
                  it.indices(ElementType.I64, size[1], 1, size[0])),
          size(1, 64, 64),
          size(1, 100, 128),
          size(8, 50, 96),
          size(20, 64, 48),
          size(40, 100, 64),
          size(64, 65, 64));
    }
    return it.cases();
  }

  private io.partita.ir.tensor.Tensor integersOrFloats(ElementType element, long... extents) {
    return element.isFloat() ? floats(extents) : integers(element, extents);
  }
}
