package io.partita.passes.timing;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests multiply-accumulates and bytes of operations against hand-computed values. */
class KernelCostsTest {
  private static KernelCost cost(Op op, TensorType... operands) {
    List<TensorType> types = List.of(operands);
    return KernelCosts.of(op, types, op.resultTypes(types), i -> i > 0);
  }

  private static TensorType f32(long... extents) {
    return TensorType.of(ElementType.F32, extents);
  }

  @Test
  void matrixProducts() {
    KernelCost product =
        cost(new Contraction.MatMul(ElementType.F32), f32(2, 3, 5, 7), f32(3, 7, 11));
    assertThat(product.multiplyAccumulates()).isEqualTo(2 * 3 * 5 * 7 * 11);
    assertThat(product.work()).extracting(KernelWork::kernel).containsExactly(KernelClass.MATMUL);
    assertThat(product.outputBytes()).isEqualTo(4 * 2 * 3 * 5 * 11);
    KernelCost einsum = cost(new Contraction.Einsum("bij,bjk->bik"), f32(2, 3, 5), f32(2, 5, 7));
    assertThat(einsum.multiplyAccumulates()).isEqualTo(2 * 3 * 5 * 7);
  }

  @Test
  void gatedFeedForward() {
    Structured.Ffn ffn = new Structured.Ffn(UnaryFunction.SILU, true, false, false, false);
    KernelCost cost = cost(ffn, f32(16, 64), f32(64, 172), f32(64, 172), f32(172, 64));
    assertThat(cost.multiplyAccumulates()).isEqualTo(3 * 16 * 64 * 172);
    assertThat(cost.weightBytes()).isEqualTo(4 * 3 * 64 * 172);
    // The hidden values stay where they are computed.
    assertThat(cost.inputBytes() + cost.outputBytes()).isEqualTo(2 * 4 * 16 * 64);
  }

  @Test
  void attentionOverACache() {
    Structured.Attention attention =
        new Structured.Attention(0.125, 0, true, Dim.of(127), 0, false, false);
    KernelCost cost = cost(attention, f32(1, 8, 1, 64), f32(1, 2, 128, 64), f32(1, 2, 128, 64));
    assertThat(cost.multiplyAccumulates()).isEqualTo(2 * 8 * 128 * 64);
    assertThat(cost.work())
        .extracting(KernelWork::kernel)
        .containsExactly(KernelClass.MATVEC, KernelClass.SOFTMAX, KernelClass.MATVEC);
  }

  @Test
  void lookupsReadOnlyTheirRows() {
    List<TensorType> operands = List.of(f32(32000, 512), TensorType.of(ElementType.I64, 4));
    KernelCost cost =
        KernelCosts.of(new Structured.Embedding(), operands, List.of(f32(4, 512)), i -> i == 0);
    assertThat(cost.weightBytes()).isEqualTo(4 * 4 * 512);
    assertThat(cost.inputBytes()).isEqualTo(4 * 8);
  }

  @Test
  void everyOperationHasACostOnEveryTarget() {
    List<ChipKind> chips =
        TargetLibrary.NAMES.stream().map(n -> TargetLibrary.find(n).devices().getFirst()).toList();
    Set<Class<? extends Op>> seen = new HashSet<>();
    for (Class<? extends Op> kind : OpSamples.kinds()) {
      for (int seed = 0; seed < 60; seed++) {
        OpSample sample = OpSamples.draw(kind, new Draw(seed));
        List<TensorType> operands = sample.operands().stream().map(KernelCostsTest::bound).toList();
        List<TensorType> results;
        try {
          results = sample.op().resultTypes(operands);
        } catch (TypeMismatch e) {
          continue; // a symbol was bound to what doesn't fit
        }
        if (results.stream().allMatch(TensorType::isStatic)
            && Stream.concat(operands.stream(), results.stream()).allMatch(this::isReal)) {
          KernelCost cost = KernelCosts.of(sample.op(), operands, results, i -> i % 2 == 1);
          assertThat(cost.bytes()).isNotNegative();
          chips.forEach(chip -> assertThat(cost.cycles(chip)).isNotNegative());
          seen.add(kind);
        }
      }
    }
    assertThat(seen).containsExactlyInAnyOrderElementsOf(OpSamples.kinds());
  }

  /** A polynomial such as 1 - n isn't. */
  private boolean isReal(TensorType type) {
    return type.shape().dims().stream().allMatch(dim -> dim.value() >= 0);
  }

  private static TensorType bound(TensorType type) {
    Map<String, Dim> two =
        type.shape().dims().stream()
            .flatMap(dim -> dim.symbols().stream())
            .distinct()
            .collect(Collectors.toMap(symbol -> symbol, symbol -> Dim.of(2)));
    return type.bind(two);
  }
}
