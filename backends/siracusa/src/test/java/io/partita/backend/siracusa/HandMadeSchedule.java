package io.partita.backend.siracusa;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.tile.Stages;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/** {@code y = x weight + offset} in uneven tiles, with a weight in L3 and an offset in L2. */
final class HandMadeSchedule {
  static final int ROWS = 10;
  static final int INNER = 48;
  static final int COLUMNS = 40;

  private static final Origin NODE = Origin.named("/a/*b");
  private static final long X = 0;
  private static final long WEIGHT = X + 4 * ROWS * INNER;
  private static final long PRODUCT = WEIGHT + 4 * INNER * COLUMNS;
  private static final long OFFSET = PRODUCT + 4 * ROWS * COLUMNS;
  private static final long Y = OFFSET + 4 * COLUMNS;
  private static final long END = Y + 4 * ROWS * COLUMNS;

  private HandMadeSchedule() {}

  static Schedule schedule(Tensor weight, Tensor offset) {
    GraphBuilder builder = new GraphBuilder("product \"and\" sum */");
    Value x = builder.input("x", TensorType.of(ElementType.F32, ROWS, INNER));
    Value product =
        builder.add(new Contraction.MatMul(ElementType.F32), x, builder.constant(weight));
    Value sum =
        builder.add(new Elementwise.Binary(BinaryFunction.ADD), product, builder.constant(offset));
    builder.output("y", sum);
    Module module = new Module(builder.finish());
    Mesh mesh = Mesh.of();
    SequencedMap<String, ShardedType> inputs =
        new LinkedHashMap<>(Map.of("x", whole(mesh, x.type())));
    SequencedMap<String, ShardedType> outputs =
        new LinkedHashMap<>(Map.of("y", whole(mesh, sum.type())));
    Program program = new Program(mesh, List.of(module), inputs, outputs);
    Address l3 = new Address(2, 16);
    ChipSchedule chip =
        new ChipSchedule(
            List.of(0),
            new CoreGrid(1, 8),
            List.of(
                new MemoryUse("l1", false, 4, 8192, 8192, 8192),
                new MemoryUse("l2", false, 4, END, END, 1 << 20),
                new MemoryUse(
                    "l3",
                    false,
                    4,
                    l3.offset() + 4 * INNER * COLUMNS,
                    4 * INNER * COLUMNS,
                    1 << 20)),
            List.of(product(), sum()),
            List.of(),
            List.of(
                new ScheduleStep.StartTransfer(0, true, l3, WEIGHT, 4 * INNER * COLUMNS, NODE),
                new ScheduleStep.WaitTransfer(0, NODE),
                new ScheduleStep.RunTiles(0, List.of(X, WEIGHT, PRODUCT), NODE, "[10,48]"),
                new ScheduleStep.RunTiles(
                    1, List.of(PRODUCT, OFFSET, Y), Origin.named("/a*/\n\"add\""), "")),
            List.of(new Port("x", x.type(), Address.home(X))),
            List.of(new Port("y", sum.type(), Address.home(Y))),
            List.of(),
            List.of(stored("weight", l3, weight), stored("offset", Address.home(OFFSET), offset)),
            List.of(),
            Optional.empty());
    return new Schedule(program, "hand", List.of(chip), inputs, outputs);
  }

  private static StoredConstant stored(String name, Address place, Tensor tensor) {
    return new StoredConstant(
        Origin.named(name),
        tensor.type().toString(),
        place,
        tensor.type().bytes(),
        List.of(tensor));
  }

  private static ShardedType whole(Mesh mesh, TensorType type) {
    return new ShardedType(type, Layout.replicated(mesh, type.rank()));
  }

  /** Uses tiles of 4 rows, 16 columns and 32 of the inner extent. */
  private static TiledKernel product() {
    int m = 0;
    int n = 1;
    int k = 2;
    KernelCall call =
        new KernelCall(
            KernelTable.get("gemm_f32"),
            List.of(
                Argument.pointer("left", 0),
                Argument.pointer("right", 1),
                Argument.none("bias"),
                Argument.pointer("out", 2),
                Argument.integer("batch", 1),
                Argument.integer("group", 1),
                Argument.integer("m", TileExpression.size(m)),
                Argument.integer("n", TileExpression.size(n)),
                Argument.integer("k", TileExpression.size(k)),
                Argument.integer(
                    "accumulate", TileExpression.of(1).minus(new TileExpression.First(k))),
                Argument.integer("left_row", TileExpression.size(k)),
                Argument.integer("left_column", 1),
                Argument.integer("right_row", TileExpression.size(n)),
                Argument.integer("right_column", 1),
                Argument.integer("out_row", TileExpression.size(n))),
            List.of());
    return loop(
        "gemm_f32_10x40x48",
        List.of(
            new TileAxis("m", ROWS, 4),
            new TileAxis("n", COLUMNS, 16),
            new TileAxis("k", INNER, 32)),
        List.of(
            operand(
                "left",
                Direction.LOAD,
                List.of(BoxDimension.along(m, ROWS, INNER), BoxDimension.along(k, INNER, 1)),
                0,
                512,
                2),
            operand(
                "right",
                Direction.LOAD,
                List.of(BoxDimension.along(k, INNER, COLUMNS), BoxDimension.along(n, COLUMNS, 1)),
                1024,
                2048,
                2),
            operand(
                "out",
                Direction.STORE,
                List.of(BoxDimension.along(m, ROWS, COLUMNS), BoxDimension.along(n, COLUMNS, 1)),
                5120,
                256,
                2)),
        List.of(),
        List.of(call),
        5632);
  }

  private static TiledKernel loop(
      String name,
      List<TileAxis> axes,
      List<TileOperand> operands,
      List<TileScratch> scratch,
      List<KernelCall> calls,
      long bytes) {
    return new TiledKernel(
        name, axes, operands, scratch, calls, Stages.control(axes, operands, calls, false), bytes);
  }

  private static TileOperand operand(
      String name, Direction direction, List<BoxDimension> box, long l1, long bytes, int slots) {
    return new TileOperand(name, ElementType.F32, direction, box, l1, bytes, slots);
  }

  /** The offset is loaded once, and the result has one slot. */
  private static TiledKernel sum() {
    int row = 0;
    KernelCall call =
        new KernelCall(
            KernelTable.get("add_f32"),
            List.of(
                Argument.pointer("left", 0),
                Argument.pointer("right", 1),
                Argument.pointer("out", 2),
                Argument.integers("extents", tail(TileExpression.size(row), COLUMNS)),
                Argument.integers("left_strides", tail(TileExpression.of(COLUMNS), 1)),
                Argument.integers("right_strides", tail(TileExpression.of(0), 1))),
            List.of());
    return loop(
        "add_f32_10x40",
        List.of(new TileAxis("row", ROWS, 3)),
        List.of(
            operand(
                "left",
                Direction.LOAD,
                List.of(BoxDimension.along(row, ROWS, COLUMNS), BoxDimension.whole(COLUMNS, 1)),
                0,
                480,
                2),
            operand("right", Direction.LOAD, List.of(BoxDimension.whole(COLUMNS, 1)), 960, 160, 1),
            operand(
                "out",
                Direction.STORE,
                List.of(BoxDimension.along(row, ROWS, COLUMNS), BoxDimension.whole(COLUMNS, 1)),
                1120,
                480,
                1)),
        List.of(),
        List.of(call),
        1600);
  }

  private static List<TileExpression> tail(TileExpression rows, long columns) {
    TileExpression one = TileExpression.of(1);
    return List.of(one, one, one, one, rows, TileExpression.of(columns));
  }
}
