package io.partita.driver.raise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.raise.RaisePass;
import io.partita.passes.graph.state.KvStatePass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that decoders with their cache as state agree with a growing cache, token by token. */
class KvStateFixturesTest {
  private static final int CAPACITY = 12;
  private static final int FIRST = 3;
  private static final int STEPS = 4;

  /** The softmax has the same keys in the same order; other differences are from raising. */
  private static final double TOLERANCE = 1e-5;

  static Stream<Fixture> decoders() {
    return Stream.of(
            "gemma2", "gpt2", "gpt_neox", "llama", "native", "phi", "phi3", "qwen2", "qwen3")
        .flatMap(family -> Fixture.of(family).stream())
        .filter(fixture -> fixture.name().contains("kv") && !fixture.name().contains("static"))
        .filter(fixture -> !fixture.name().equals("native/hand23_kv_mask"));
  }

  @ParameterizedTest
  @MethodSource("decoders")
  void stateAndGrowingCacheAgree(Fixture fixture) {
    Module growing = fixture.module();
    Module raised = new RaisePass().run(growing);
    Module state = new KvStatePass(CAPACITY, note -> {}).run(raised);
    assertThat(state.states()).hasSize(2 * fixture.expected("blocks"));
    assertThat(state.graph().symbols()).doesNotContain("past", "total");
    Map<String, Dim> extents = new HashMap<>();
    for (String symbol : state.graph().symbols()) {
      extents.put(symbol, Dim.of(symbol.equals("batch") ? 2 : 1));
    }
    new Decoding(growing, DimensionBinding.bind(state, extents), extents).compare();
  }

  /** Both forms of a decoder. */
  private static final class Decoding {
    private final Module growing;
    private final Module fixed;
    private final Map<String, Dim> extents;
    private final Random random = new Random(5);
    private final Map<String, Tensor> past = new HashMap<>();
    private final Map<String, Tensor> caches = new HashMap<>();

    Decoding(Module growing, Module fixed, Map<String, Dim> extents) {
      this.growing = growing;
      this.fixed = fixed;
      this.extents = extents;
    }

    void compare() {
      for (int length = FIRST; length < FIRST + STEPS; length++) {
        Map<String, Dim> bound = new HashMap<>(extents);
        for (String symbol : growing.graph().symbols()) {
          bound.putIfAbsent(symbol, Dim.of(symbol.equals("past") ? length : length + 1));
        }
        Graph original = DimensionBinding.bind(growing.graph(), bound);
        Map<String, Tensor> inputs = inputs(original, length);
        Map<String, Tensor> expected = run(original, inputs);
        Map<String, Tensor> stateInputs = new HashMap<>(inputs);
        for (Module.State kept : fixed.states()) {
          stateInputs.put(
              kept.input(),
              caches.computeIfAbsent(kept.input(), name -> widened(inputs.get(name))));
        }
        Map<String, Tensor> found = run(fixed.graph(), stateInputs);
        expected.forEach((name, tensor) -> assertAgree(name, tensor, found.get(name)));
        for (Module.State kept : fixed.states()) {
          past.put(kept.input(), expected.get(kept.output()));
          caches.put(kept.input(), found.get(kept.output()));
        }
      }
    }

    private Map<String, Tensor> inputs(Graph graph, int length) {
      Map<String, Tensor> inputs = new HashMap<>();
      for (Value input : graph.inputs()) {
        TensorType type = input.type();
        if (input.name().contains("mask")) {
          inputs.put(input.name(), Tensor.filled(type, 1));
        } else if (input.name().contains("pos")) {
          inputs.put(input.name(), Tensor.filled(type, length));
        } else {
          inputs.put(
              input.name(), past.containsKey(input.name()) ? past.get(input.name()) : random(type));
        }
      }
      return inputs;
    }

    private Tensor random(TensorType type) {
      double[] values = new double[(int) type.shape().elements()];
      for (int i = 0; i < values.length; i++) {
        values[i] = type.element().isFloat() ? random.nextGaussian() : random.nextInt(8);
      }
      return Tensor.ofDoubles(type, values);
    }

    private static Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
      List<Tensor> operands = new ArrayList<>();
      graph.inputs().forEach(input -> operands.add(inputs.get(input.name())));
      List<Tensor> results = Evaluator.run(graph, operands);
      Map<String, Tensor> outputs = new HashMap<>();
      for (int i = 0; i < results.size(); i++) {
        outputs.put(graph.outputs().get(i).name(), results.get(i));
      }
      return outputs;
    }

    /** Returns a growing cache in one of fixed capacity. */
    private static Tensor widened(Tensor cache) {
      TensorType type = cache.type();
      TensorType wide = type.with(type.shape().with(2, Dim.of(CAPACITY)));
      double[] values = new double[(int) wide.shape().elements()];
      for (int i = 0; i < cache.size(); i++) {
        values[place(type, i)] = cache.getDouble(i);
      }
      return Tensor.ofDoubles(wide, values);
    }

    /** Returns the index of an element of a cache in one of fixed capacity. */
    private static int place(TensorType type, int index) {
      int row = (int) (type.shape().extent(2) * type.shape().extent(3));
      int wide = (int) (CAPACITY * type.shape().extent(3));
      return index / row * wide + index % row;
    }

    private static void assertAgree(String name, Tensor expected, Tensor found) {
      boolean isCache = !expected.type().equals(found.type());
      for (int i = 0; i < expected.size(); i++) {
        double value = expected.getDouble(i);
        assertThat(found.getDouble(isCache ? place(expected.type(), i) : i))
            .as("%s, element %d", name, i)
            .isCloseTo(
                value, org.assertj.core.data.Offset.offset(TOLERANCE * (1 + Math.abs(value))));
      }
    }
  }

  private static Fixture llama(String variant) {
    return Fixture.of("llama").stream()
        .filter(fixture -> fixture.name().equals("llama/" + variant))
        .findFirst()
        .get();
  }

  @Test
  void masksAreRemovedWithANote() {
    List<Diagnostic> notes = new ArrayList<>();
    Module state =
        new KvStatePass(CAPACITY, notes::add)
            .run(new RaisePass().run(llama("ts_eager_kv").module()));
    assertThat(state.graph().inputs())
        .extracting(Value::name)
        .startsWith("input_ids", "position_ids")
        .doesNotContain("attention_mask");
    assertThat(notes).hasSize(1);
    assertThat(notes.getFirst().toString())
        .isEqualTo(
            """
            note P4010: an attention mask was assumed to be all ones
              where:     input "attention_mask"
              expected:  ones for all past and new tokens
              found:     a mask that only hides padding; the input was removed
              fix:       decode tokens without padding""");
  }

  @Test
  void fixedPastsAreRefused() {
    Module raised = new RaisePass().run(llama("ts_eager_kv_static").module());
    assertThatThrownBy(() -> new KvStatePass(CAPACITY, note -> {}).run(raised))
        .isInstanceOf(PartitaException.class)
        .hasMessageStartingWith(
            """
            error P4009: the model has no KV cache that can become state
              where:     input "past_key_values.0.key"
              expected:  a dynamic length of the past, equal for all caches
              found:     6
            """);
  }

  @Test
  void modelsWithoutCacheAreRefused() {
    Module raised = new RaisePass().run(llama("ts_eager_dynamic").module());
    assertThat(KvStatePass.applies(raised)).isFalse();
    assertThatThrownBy(() -> new KvStatePass(CAPACITY, note -> {}).run(raised))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4009");
  }
}
