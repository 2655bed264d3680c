package io.partita.passes.graph.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreInBf16Test {
  /** A state, a table of a model, a mask, and an angle of a position, of which bf16 has no bits. */
  private static final Module MODEL =
      PirParser.parse(
          """
          pir 1
          module {
            state "cache" -> "new_cache"
            graph @m(%x: f32[1,2], %id: i64[1], %position: i64[1], %at: i64[1], %cache: f32[1,3,2]) -> ("new_cache": f32[1,3,2], "y": f32[1,2], "far": bool[1]) {
              %table = constant [1.00001, 2.0, 3.0, 4.0] : f32[2,2]
              %mask = constant [0.0, -3.4028235E38] : f32[2]
              %step = constant 0.001 : f32[]
              %row = embedding(%table, %id) : f32[1,2] "row"
              %sum = add(%x, %row) : f32[1,2] "sum"
              %new = reshape(%sum) {to = [1, 1, 2]} : f32[1,1,2] "new"
              %new_cache = cache_update(%cache, %new, %position) {axis = 1} : f32[1,3,2] "new_cache"
              %number = cast(%at) {to = f32} : f32[1] "number"
              %angle = mul(%number, %step) : f32[1] "angle"
              %turned = add(%sum, %angle) : f32[1,2] "turned"
              %y = add(%turned, %mask) : f32[1,2] "y"
              %limit = constant 1.0 : f32[]
              %far = less(%limit, %angle) : bool[1] "far"
              return %new_cache, %y, %far
            }
          }
          """);

  private static Node node(Module module, String name) {
    return module.graph().nodes().stream()
        .filter(node -> node.origin().name().equals(name))
        .filter(
            node ->
                !(node.op() instanceof Elementwise.Cast(ElementType to) && to == ElementType.BF16))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void valuesAreStoredInBf16ButThoseOfIntegers() {
    Module stored = new StoreInBf16().run(MODEL);
    assertThat(stored.states()).isEqualTo(MODEL.states());
    assertThat(stored.graph().inputs())
        .extracting(input -> input.type().element())
        .containsExactly(
            ElementType.BF16, ElementType.I64, ElementType.I64, ElementType.I64, ElementType.BF16);
    for (String name : List.of("row", "sum", "new_cache", "turned", "y")) {
      assertThat(node(stored, name).result().type().element()).as(name).isEqualTo(ElementType.BF16);
    }
    for (String name : List.of("number", "angle")) {
      assertThat(node(stored, name).result().type().element()).as(name).isEqualTo(ElementType.F32);
    }
    assertThat(node(stored, "far").operands())
        .extracting(Value::type)
        .allMatch(type -> type.element() == ElementType.F32);
  }

  /** bf16 rounds 1,001 to 1,000, whose angle isn't larger than 1. */
  @Test
  void resultsAreThoseOfTheModelInBf16() {
    Module stored = new StoreInBf16().run(MODEL);
    List<Value> inputs = stored.graph().inputs();
    List<Tensor> results =
        Evaluator.run(
            stored.graph(),
            List.of(
                Tensor.filled(inputs.get(0).type(), 0.5),
                Tensor.longs(Shape.of(1), 0),
                Tensor.longs(Shape.of(1), 1),
                Tensor.longs(Shape.of(1), 1001),
                Tensor.filled(inputs.get(4).type(), 0)));
    assertThat(results.get(0).doubles()).containsExactly(0, 0, 1.5, 2.5, 0, 0);
    assertThat(results.get(1).getDouble(0)).isEqualTo(2.5);
    assertThat(results.get(1).getDouble(1)).isFinite().isLessThan(-3e38);
    assertThat(results.get(2).getBoolean(0)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "f64"})
  void otherFloatsAreRefused(String element) {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @m(%x: E[2]) -> ("y": E[2]) {
                %y = add(%x, %x) : E[2] "y"
                return %y
              }
            }
            """
                .replace("E[", element + "["));
    assertThatThrownBy(() -> new StoreInBf16().run(module))
        .hasMessageContaining("P4014")
        .hasMessageContaining(element);
  }

  @Test
  void quantizedAndDistributedModelsAreRefused() {
    Module quantized =
        PirParser.parse(
            """
            pir 1
            module {
              graph @m(%x: f32[2]) -> ("y": f32[2]) {
                %scale = constant 0.5 : f32[]
                %zero = constant 0 : i8[]
                %q = quantize(%x, %scale, %zero) {axis = 0, block = 0, to = i8} : i8[2] "q"
                %y = dequantize(%q, %scale, %zero) {axis = 0, block = 0, to = f32} : f32[2] "y"
                return %y
              }
            }
            """);
    assertThatThrownBy(() -> new StoreInBf16().run(quantized))
        .hasMessageContaining("P4014")
        .hasMessageContaining("quantize");
    Module sharded = new ShardPass(Strategy.tensor(2)).run(MODEL);
    assertThatThrownBy(() -> new StoreInBf16().run(sharded))
        .hasMessageContaining("P4014")
        .hasMessageContaining("move bf16 forward");
  }
}
