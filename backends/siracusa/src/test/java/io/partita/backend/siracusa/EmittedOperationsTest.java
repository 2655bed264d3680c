package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that every operation with a kernel has the reference results in emitted C, in one tile and
 * in many.
 */
@Order(Integer.MAX_VALUE)
@ExtendWith(WithCompiler.class)
class EmittedOperationsTest {
  private static final int OF_EACH = 2;
  private static final int MAX_TRIES = 60;

  @TempDir private Path folder;

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("1500, late")
  void randomOperations(long l1, String transfers) throws IOException {
    OperationsInC operations = new OperationsInC(l1);
    List<OperationCase> drawn = new ArrayList<>();
    for (Class<? extends Op> kind : OpSamples.kinds()) {
      if (Source.class.isAssignableFrom(kind) || Communication.class.isAssignableFrom(kind)) {
        continue;
      }
      int found = 0;
      Draw draw = new Draw(kind.getSimpleName().hashCode() + l1);
      for (int tries = 0; tries < MAX_TRIES && found < OF_EACH; tries++) {
        OpSample sample = SampleValues.draw(kind, draw);
        List<Tensor> operands = SampleValues.operands(sample, draw);
        if (isDefined(sample.op(), operands)) {
          OperationCase each = new OperationCase(sample.op(), operands);
          if (operations.obstacle(each).isEmpty()) {
            drawn.add(each);
            found++;
          }
        }
      }
    }
    assertThat(drawn.stream().map(each -> each.op().getClass()).distinct()).hasSizeGreaterThan(28);
    operations.verify(drawn, folder.resolve("out"), transfers);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"262144, early", "400, early"})
  void moreRandomOperations(long l1, String transfers) throws IOException {
    randomOperations(l1, transfers);
  }

  /** Tests sizes at which every axis is tiled, constant weights, and strided views. */
  @Test
  void chosenOperationsInSmallTiles() throws IOException {
    chosenOperations(2500, "late");
  }

  /** Keys and values of a head are larger than L1. */
  @Test
  void attentionOfLongCaches() throws IOException {
    new OperationsInC(200_000).verify(ChosenOperations.longCaches(), folder.resolve("out"), "late");
  }

  @Tag("exhaustive")
  @Test
  void chosenOperationsInOneTile() throws IOException {
    chosenOperations(262144, "early");
  }

  private void chosenOperations(long l1, String transfers) throws IOException {
    new OperationsInC(l1).verify(new ChosenOperations(l1).all(), folder.resolve("out"), transfers);
  }

  /** Whether it is defined for the operands and not empty. */
  private static boolean isDefined(Op op, List<Tensor> operands) {
    for (Tensor operand : operands) {
      if (operand.size() == 0) {
        return false;
      }
    }
    List<TensorType> results = op.resultTypes(operands.stream().map(Tensor::type).toList());
    if (results.stream().anyMatch(result -> result.shape().elements() == 0)) {
      return false;
    }
    if (op instanceof Movement.GatherNd(int batch)) {
      return operands
          .get(0)
          .shape()
          .range(0, batch)
          .equals(operands.get(1).shape().range(0, batch));
    }
    if (op instanceof Structured.CacheUpdate(int axis, boolean circular)) {
      long last = operands.get(0).shape().extent(axis) - operands.get(1).shape().extent(axis);
      return IntStream.range(0, operands.get(2).size())
          .allMatch(batch -> operands.get(2).getLong(batch) <= last);
    }
    return true;
  }
}
