package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.message.Actions;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.kernel.Accesses;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.CallForm;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.FieldValues;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelAccess;
import io.partita.ir.schedule.kernel.KernelStruct;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Tests that the kernel table matches the headers of the runtime. {@link Kernels#run} checks that
 * they compute the same.
 */
class KernelTableTest {
  private final KernelHeaders headers = KernelHeaders.read();

  @Test
  void tableAndHeadersDeclareTheSameKernels() {
    assertThat(KernelTable.all().stream().map(Kernel::function))
        .containsExactlyElementsOf(headers.kernels());
    assertThat(headers.kernels()).hasSizeGreaterThan(400);
  }

  @Test
  void structsHaveTheFieldsOfTheHeaders() {
    for (Kernel kernel : KernelTable.all()) {
      KernelStruct struct = kernel.struct();
      assertThat(declarations(struct))
          .as(kernel.function())
          .isEqualTo(normalized(headers.declarations(struct.tag())));
      assertThat(headers.file(struct.tag())).as(struct.tag()).isEqualTo(structFile(struct));
    }
  }

  @Test
  void asManyMessagesAreUnderWayAsTheRuntimeTakes() throws IOException {
    assertThat(Files.readString(CCompiler.MODULE.resolve("collectives/exchange.h")))
        .contains(
            "#define PARTITA_JOINED " + Actions.JOINED + "\n",
            "#define PARTITA_UNDER_WAY " + Actions.UNDER_WAY + "\n");
    assertThat(Files.readString(CCompiler.MODULE.resolve("collectives/exchange_joins.c")))
        .contains("enum { TILE = " + Actions.TILE + " };\n");
    assertThat(Files.readString(CCompiler.MODULE.resolve("collectives/exchange.c")))
        .contains("enum { MANY = " + Actions.PRELOADED + ", FEW = 1024, NONE = 0 };\n");
  }

  @Test
  void asManyCopiesAreAskedForAsTheRuntimeKeeps() throws IOException {
    assertThat(Files.readString(CCompiler.MODULE.resolve("tiles/preload.h")))
        .contains("enum { PARTITA_PRELOADS = " + ScheduleStep.Preload.MOST + " };\n");
  }

  @Test
  void sumsOfNormsHaveAsManyParts() throws IOException {
    assertThat(Files.readString(CCompiler.MODULE.resolve("kernels/norm.h")))
        .contains("enum { PARTITA_NORM_PARTS = " + KernelStruct.NORM_PARTS + " };\n");
  }

  /** Casts have the struct of {@code unary.h}, which {@code cast.h} includes. */
  private static String structFile(KernelStruct struct) {
    return struct.name().equals("unary") ? "unary.h" : struct.header();
  }

  private static List<String> normalized(List<String> declarations) {
    return declarations.stream().map(each -> each.replaceAll("\\w+ \\*", "*")).toList();
  }

  private static List<String> declarations(KernelStruct struct) {
    return struct.fields().stream()
        .map(
            field ->
                switch (field.type()) {
                  case POINTER -> "*" + field.name();
                  case INT32 -> "int32_t " + field.name();
                  case INT64 -> "int64_t " + field.name();
                  case FLOAT -> "float " + field.name();
                  case AXES -> "int32_t " + field.name() + "[PARTITA_AXES]";
                  case STRUCT -> "struct " + field.struct().get().tag() + " " + field.name();
                })
        .toList();
  }

  /** Tests that the figures of a target have the class and the blocks of the kernel. */
  @Test
  void targetsHaveFiguresOfKernels() throws IOException {
    Path file = CCompiler.MODULE.resolveSibling("targets").resolve("siracusa.target");
    TargetDescription target = TargetParser.parse(Files.readString(file), file.toString());
    List<FunctionThroughput> figures = target.chips().getFirst().functions();
    assertThat(figures).isNotEmpty();
    for (FunctionThroughput each : figures) {
      // Runs are kernels of emitted programs, and joins are parts of exchanges.
      if (ElementRun.FIGURES.contains(each.function()) || each.function().startsWith("join_")) {
        continue;
      }
      Kernel kernel = measuredAs(each.function());
      assertThat(each.kernel()).as(each.function()).isEqualTo(kernel.kernelClass());
      assertThat(each.sharing().rows())
          .as(each.function())
          .isEqualTo(kernel.struct().sharing().rows());
      assertThat(each.sharing().columns())
          .as(each.function())
          .isEqualTo(kernel.struct().sharing().columns());
    }
  }

  /** Returns the kernel of figures, which may be those of one form of its calls. */
  private static Kernel measuredAs(String figures) {
    return KernelTable.all().stream()
        .filter(
            kernel ->
                Arrays.stream(CallForm.values())
                    .anyMatch(form -> form.figures(kernel).equals(figures)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no kernel for the figures of " + figures));
  }

  /** Tests that every pointer has accesses. */
  @Test
  void eachPointerHasAccesses() {
    for (Kernel kernel : KernelTable.all()) {
      List<String> pointers = new ArrayList<>();
      addPointers(kernel.struct(), "", pointers);
      assertThat(
              new TreeSet<>(
                  Accesses.of(kernel, new Ones()).stream().map(KernelAccess::pointer).toList()))
          .as(kernel.name())
          .isEqualTo(new TreeSet<>(pointers));
    }
  }

  private static void addPointers(KernelStruct struct, String prefix, List<String> pointers) {
    for (KernelStruct.Field field : struct.fields()) {
      if (field.type() == KernelStruct.Type.POINTER) {
        pointers.add(prefix + field.name());
      }
      field.struct().ifPresent(inner -> addPointers(inner, prefix + field.name() + ".", pointers));
    }
  }

  private record Ones() implements FieldValues {
    @Override
    public long get(String field) {
      return 1;
    }

    @Override
    public List<Long> all(String field) {
      return Collections.nCopies(KernelStruct.AXES, 1L);
    }

    @Override
    public Optional<Argument.Value> pointer(String field) {
      return Optional.of(new Argument.Value.OperandPointer(0, TileExpression.of(0)));
    }
  }
}
