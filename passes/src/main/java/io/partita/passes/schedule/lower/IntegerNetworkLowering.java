package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.Argument.integer;
import static io.partita.ir.schedule.Argument.integers;
import static io.partita.ir.schedule.Argument.none;
import static io.partita.ir.schedule.Argument.pointer;

import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.schedule.Argument;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.KernelCall;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code integer_network.h}. */
final class IntegerNetworkLowering implements KernelLowering {
  private static final String HEADER = "kernels/integer_network.h";
  private static final Set<ElementType> TYPES =
      Set.of(ElementType.I8, ElementType.U8, ElementType.I32);

  @Override
  public Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results) {
    if (!(op instanceof IntegerNetwork network) || !hasKernel(operands, results.getFirst())) {
      return Optional.empty();
    }
    List<TensorView> views = new ArrayList<>(operands);
    views.add(results.getFirst());
    return Optional.of(
        switch (network) {
          case IntegerNetwork.Requantize requantize -> requantize(requantize, views);
          case IntegerNetwork.IntegerGelu gelu -> gelu(gelu, views);
          case IntegerNetwork.IntegerSoftmax softmax ->
              rows(
                  "integer_softmax",
                  KernelClass.SOFTMAX,
                  views,
                  List.of(
                      integer("a", softmax.a()),
                      integer("b", softmax.b()),
                      integer("c", softmax.c()),
                      integer("log2", softmax.log2()),
                      integer("levels", softmax.levels())));
          case IntegerNetwork.PowerSoftmax softmax ->
              rows(
                  "power_softmax",
                  KernelClass.SOFTMAX,
                  views,
                  List.of(
                      integer("unit", softmax.unit()),
                      integer("group", softmax.group()),
                      integer("levels", softmax.levels())));
          case IntegerNetwork.IntegerNorm norm ->
              rows(norm.mnemonic(), KernelClass.NORM, views, normArguments(norm, views));
        });
  }

  /** Parameters are of 32 bits. */
  private static boolean hasKernel(List<TensorView> operands, TensorView result) {
    return TYPES.contains(operands.getFirst().element())
        && TYPES.contains(result.element())
        && operands.stream().skip(1).allMatch(view -> view.element() == ElementType.I32);
  }

  private static TileSpace requantize(IntegerNetwork.Requantize op, List<TensorView> views) {
    Walk walk = Walk.of(views.getFirst().shape(), views);
    List<Argument> arguments =
        List.of(
            pointer("x", 0),
            pointer("multiplier", 1),
            pointer("addend", 2),
            pointer("out", 3),
            integers("extents", walk.tileExtents()),
            integers("multiplier_strides", walk.tileStrides(1)),
            integers("addend_strides", walk.tileStrides(2)),
            integer("low", op.low()),
            integer("high", op.high()),
            integer("shift", op.shift()));
    String name =
        "requantize_" + views.getFirst().element().text() + "_" + views.getLast().element().text();
    return elements(
        name,
        "partita_requantize",
        KernelClass.ELEMENTWISE,
        walk,
        Operands.of(walk, views, List.of("x", "multiplier", "addend", "out")),
        arguments);
  }

  private static TileSpace gelu(IntegerNetwork.IntegerGelu op, List<TensorView> views) {
    Walk walk = Walk.of(views.getFirst().shape(), views);
    List<Argument> arguments =
        List.of(
            pointer("x", 0),
            pointer("out", 1),
            integer("b", op.b()),
            integer("one", op.one()),
            integer("count", walk.count()));
    return elements(
        "integer_gelu_" + views.getFirst().element().text(),
        "partita_integer_gelu",
        KernelClass.TRANSCENDENTAL,
        walk,
        Operands.of(walk, views, List.of("x", "out")),
        arguments);
  }

  private static TileSpace elements(
      String name,
      String struct,
      KernelClass kernel,
      Walk walk,
      List<TileSpace.Operand> operands,
      List<Argument> arguments) {
    KernelCall call =
        new KernelCall(
            "partita_" + name,
            HEADER,
            struct,
            arguments,
            List.of(),
            kernel,
            operands.getFirst().element(),
            TileSpaceBuilder.elements(walk.count(), 1));
    return new TileSpace(name, walk.axes(), operands, List.of(), List.of(call));
  }

  private static List<Argument> normArguments(
      IntegerNetwork.IntegerNorm norm, List<TensorView> views) {
    boolean bias = norm.kind() == NormKind.LAYER;
    return List.of(
        pointer("weight", 1),
        bias ? pointer("bias", 2) : none("bias"),
        integer("weight_stride", stride(views.get(1))),
        integer("bias_stride", bias ? stride(views.get(2)) : 0),
        integer("low", norm.low()),
        integer("high", norm.high()),
        integer("shift", norm.shift()));
  }

  private static long stride(TensorView vector) {
    return vector.elements() == 1 ? 0 : 1;
  }

  /** Kernels of whole rows of x; all operands after it are vectors along a row. */
  private static TileSpace rows(
      String kernelName, KernelClass kernel, List<TensorView> views, List<Argument> more) {
    Rows rows = Rows.of(List.of(views.getFirst(), views.getLast()));
    List<TileSpace.Operand> operands = new ArrayList<>();
    operands.add(rows.operand("x", 0, 0, Direction.LOAD));
    List<String> names = List.of("weight", "bias");
    for (int i = 1; i < views.size() - 1; i++) {
      operands.add(
          new TileSpace.Operand(
              names.get(i - 1),
              i,
              views.get(i).element(),
              Direction.LOAD,
              List.of(BoxDimension.whole(views.get(i).elements(), 1))));
    }
    operands.add(rows.operand("out", 1, views.size() - 1, Direction.STORE));
    List<Argument> arguments = new ArrayList<>();
    arguments.add(pointer("x", 0));
    arguments.add(pointer("out", views.size() - 1));
    arguments.add(integer("rows", rows.count()));
    arguments.add(integer("size", rows.size()));
    arguments.addAll(more);
    ElementType element = views.getFirst().element();
    String name = kernelName + "_" + element.text();
    KernelCall call =
        new KernelCall(
            "partita_" + name,
            HEADER,
            struct(kernelName),
            arguments,
            List.of(),
            kernel,
            element,
            TileSpaceBuilder.elements(rows.count().times(rows.size()), 1));
    return new TileSpace(name, rows.axes(), operands, List.of(), List.of(call));
  }

  private static String struct(String kernel) {
    return kernel.endsWith("_norm") ? "partita_integer_norm" : "partita_" + kernel;
  }
}
