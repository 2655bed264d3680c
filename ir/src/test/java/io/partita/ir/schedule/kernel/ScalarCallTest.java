package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.Argument.integers;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScalarCallTest {
  private static KernelCall call(String kernel, Argument out, long elements) {
    List<TileExpression> extents =
        new ArrayList<>(Collections.nCopies(KernelStruct.AXES, TileExpression.of(1)));
    extents.set(KernelStruct.AXES - 1, TileExpression.of(elements));
    List<TileExpression> strides =
        Collections.nCopies(KernelStruct.AXES, TileExpression.of(elements > 1 ? 1 : 0));
    return new KernelCall(
        KernelTable.get(kernel),
        List.of(
            pointer("left", 2),
            pointer("right", 0),
            out,
            integers("extents", extents),
            integers("left_strides", strides),
            integers("right_strides", strides)),
        List.of());
  }

  private static KernelCall call(String kernel) {
    return call(kernel, pointer("out", 1), 1);
  }

  @Test
  void oneSumOrProductOfIntegersIsComputedByTheControlCore() {
    assertThat(ScalarCall.of(List.of(call("add_i64"))))
        .contains(new ScalarCall("add", ElementType.I64, 2, 0, 1));
    assertThat(ScalarCall.of(List.of(call("mul_i32"))))
        .contains(new ScalarCall("mul", ElementType.I32, 2, 0, 1));
  }

  @Test
  void othersAreComputedByTheTeam() {
    assertThat(ScalarCall.of(List.of(call("add_f32")))).isEmpty();
    assertThat(ScalarCall.of(List.of(call("min_i64")))).isEmpty();
    assertThat(ScalarCall.of(List.of(call("add_i64", pointer("out", 1), 2)))).isEmpty();
    assertThat(ScalarCall.of(List.of(call("add_i64", scratch("out", 0), 1)))).isEmpty();
    assertThat(ScalarCall.of(List.of(call("add_i64"), call("add_i64")))).isEmpty();
  }
}
