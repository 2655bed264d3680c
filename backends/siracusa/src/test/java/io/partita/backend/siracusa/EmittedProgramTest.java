package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiles and runs a handwritten schedule on this host. */
@ExtendWith(WithCompiler.class)
class EmittedProgramTest {
  @TempDir private Path folder;

  private static Tensor random(long seed, long... shape) {
    TensorType type = TensorType.of(ElementType.F32, shape);
    Random random = new Random(seed);
    float[] values = new float[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    return Tensor.of(type, values);
  }

  private static Schedule schedule() {
    return HandMadeSchedule.schedule(
        random(1, HandMadeSchedule.INNER, HandMadeSchedule.COLUMNS),
        random(2, HandMadeSchedule.COLUMNS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"early", "late"})
  void agreesWithTheGraph(String transfers) throws IOException {
    Schedule schedule = schedule();
    Tensor x = random(3, HandMadeSchedule.ROWS, HandMadeSchedule.INNER);
    List<Tensor> expected =
        Evaluator.run(schedule.program().devices().getFirst().graph(), List.of(x));
    try (InteractiveProgram program =
        SanitisedBuild.start(schedule, folder.resolve("out"), transfers)) {
      assertThat(program.run(List.of(x))).isEqualTo(expected);
      assertThat(program.run(List.of(x))).isEqualTo(expected);
    }
  }

  @Test
  void isDeterministic() throws IOException {
    List<EmittedFile> one = ProgramPrinter.emit(schedule(), 8).files();
    List<EmittedFile> other = ProgramPrinter.emit(schedule(), 8).files();
    for (int i = 0; i < one.size(); i++) {
      assertThat(one.get(i).text()).isEqualTo(other.get(i).text());
    }
  }
}
