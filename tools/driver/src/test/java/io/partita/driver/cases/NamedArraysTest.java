package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the assignment of arrays to inputs. */
class NamedArraysTest {
  private static final TensorType TYPE = TensorType.of(ElementType.F32, 2);
  private static final List<NamedArrays.Wanted> WANTED =
      List.of(
          new NamedArrays.Wanted("attention_mask", TYPE), new NamedArrays.Wanted("query", TYPE));

  @TempDir Path scratch;

  /** Returns an archive of arrays with the names and the values 0, 1, 2, …. */
  private NamedArrays archive(String... names) {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    for (String name : names) {
      arrays.put(name, Tensor.filled(TYPE, arrays.size()));
    }
    return read(arrays);
  }

  private NamedArrays read(Map<String, Tensor> arrays) {
    Path file = scratch.resolve("in.npz");
    OutputFile.write(file, out -> Npz.write(arrays, out));
    return NamedArrays.read(file);
  }

  private static List<Double> firsts(List<Tensor> tensors) {
    return tensors.stream().map(tensor -> tensor.getDouble(0)).toList();
  }

  @Test
  void arraysAreMatchedByName() {
    assertThat(firsts(archive("query", "attention_mask").fit(WANTED))).containsExactly(1.0, 0.0);
  }

  @Test
  void unnamedArraysAreMatchedByOrder() {
    assertThat(firsts(archive("arr_0", "arr_1").fit(WANTED))).containsExactly(0.0, 1.0);
    assertThat(firsts(archive("input_1", "input_0").fit(WANTED))).containsExactly(1.0, 0.0);
    assertThatThrownBy(() -> archive("arr_0", "arr_1", "arr_2").fit(WANTED))
        .hasMessageContainingAll(
            "P6004", "in this order: attention_mask, query", "found:     3, without names");
    assertThatThrownBy(() -> archive().fit(WANTED)).hasMessageContaining("found:     none");
  }

  @Test
  void misspelledArraysAreNotMatchedByOrder() {
    assertThatThrownBy(() -> archive("attention_mask", "qurey").fit(WANTED))
        .hasMessageContainingAll(
            "P6004",
            "none named query; the arrays are attention_mask, qurey",
            "rename 'qurey' to 'query'");
    assertThatThrownBy(() -> archive("a", "b").fit(WANTED))
        .hasMessageContaining("numpy.savez('in.npz', **{'attention_mask': array, ...})");
  }

  @Test
  void unusedArraysAreNamed() {
    NamedArrays arrays = archive("query", "attention_mask", "logits");
    assertThat(arrays.fit(WANTED)).hasSize(2);
    assertThat(arrays.noteUnused(WANTED).orElseThrow().toString())
        .startsWith("note P6031")
        .contains("found:     logits");
    assertThat(archive("query", "attention_mask").noteUnused(WANTED)).isEmpty();
  }

  @Test
  void nonemptyStateArraysAreRefused() {
    NamedArrays arrays = archive("query", "past_key", "past_value");
    assertThatThrownBy(() -> arrays.verifyNoState(List.of("past_key", "past_value")))
        .hasMessageContainingAll("P6030", "past_key, past_value", "--passes simplify,raise");
    arrays.verifyNoState(List.of("other"));
    read(Map.of("past_key", Tensor.filled(TensorType.of(ElementType.F32, 0), 0)))
        .verifyNoState(List.of("past_key"));
  }

  /** Tests that rounding doesn't make a number infinite, while infinities stay what they are. */
  @Test
  void numbersAreNotRoundedToInfinity() {
    TensorType doubles = TYPE.with(ElementType.F64);
    List<NamedArrays.Wanted> wanted = List.of(new NamedArrays.Wanted("query", TYPE));
    Tensor infinite = Tensor.ofDoubles(doubles, new double[] {Double.NEGATIVE_INFINITY, 0.1});
    assertThat(read(Map.of("query", infinite)).fit(wanted).getFirst().doubles())
        .containsExactly(Double.NEGATIVE_INFINITY, 0.1f);
    Tensor large = Tensor.ofDoubles(doubles, new double[] {0, 1e39});
    assertThatThrownBy(() -> read(Map.of("query", large)).fit(wanted))
        .hasMessageContainingAll("P6004", "values that f32 holds", "1.0E39 in an array of f64");
  }
}
