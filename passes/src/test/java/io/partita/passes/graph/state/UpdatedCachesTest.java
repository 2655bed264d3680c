package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.partita.ir.graph.Module;
import io.partita.ir.text.PirParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which inputs become state in models whose caches have a capacity of their own. */
class UpdatedCachesTest {
  private static Module module(String body) {
    return PirParser.parse(
        """
        pir 1
        module {
          graph @main(%q: f32[1,4,1,6], %k: f32[1,2,7,6], %v: f32[1,2,7,6], %at: i64[1],
              %fresh_k: f32[1,2,1,6], %fresh_v: f32[1,2,1,6])
              -> ("y": f32[1,4,1,6], "new_k": f32[1,2,7,6], "new_v": f32[1,2,7,6]) {
            %places = constant [0, 1, 2, 3, 4, 5, 6] : i64[7]
            %here = equal(%places, %at) : bool[7]
            %chosen = reshape(%here) {to = [7,1]} : bool[7,1]
            %ones = cast(%chosen) {to = f32} : f32[7,1]
            %one = constant 1.0 : f32[]
            %others = sub(%one, %ones) : f32[7,1]
        """
            + body
            + "    return %y, %new_k, %new_v } }");
  }

  private static final String ATTENTION =
      """
      %y = attention(%q, %new_k, %new_v) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,4,1,6]
      """;

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        %new_k = select(%chosen, %fresh_k, %k) : f32[1,2,7,6]
        %new_v = select(%chosen, %fresh_v, %v) : f32[1,2,7,6]
        """,
        """
        %0 = mul(%k, %others) : f32[1,2,7,6]
        %1 = mul(%fresh_k, %ones) : f32[1,2,7,6]
        %new_k = add(%0, %1) : f32[1,2,7,6]
        %2 = mul(%others, %v) : f32[1,2,7,6]
        %3 = mul(%ones, %fresh_v) : f32[1,2,7,6]
        %new_v = add(%3, %2) : f32[1,2,7,6]
        """,
        """
        %0 = mul(%fresh_k, %ones) : f32[1,2,7,6]
        %new_k = add(%k, %0) : f32[1,2,7,6]
        %1 = mul(%fresh_v, %ones) : f32[1,2,7,6]
        %new_v = add(%v, %1) : f32[1,2,7,6]
        """,
        """
        %new_k = cache_update(%k, %fresh_k, %at) {axis = 2} : f32[1,2,7,6]
        %new_v = cache_update(%v, %fresh_v, %at) {axis = 2} : f32[1,2,7,6]
        """
      })
  void writtenCachesBecomeState(String writes) {
    Module raised = module(writes + ATTENTION);
    assertThat(KvStatePass.hasOwnCapacity(raised)).isTrue();
    assertThat(KvStatePass.withOwnCapacity(raised).states())
        .extracting(Module.State::input, Module.State::output)
        .containsExactly(tuple("k", "new_k"), tuple("v", "new_v"));
  }

  /** As hidden states that are an output, too: masked ones, to which positions are added. */
  @Test
  void elementsOfAnInputThatAreProjectedAreNoCache() {
    Module raised =
        module(
            """
            %new_k = select(%chosen, %fresh_k, %k) : f32[1,2,7,6]
            %0 = mul(%v, %others) : f32[1,2,7,6]
            %new_v = add(%0, %ones) : f32[1,2,7,6]
            %1 = sigmoid(%new_k) : f32[1,2,7,6]
            %2 = sigmoid(%new_v) : f32[1,2,7,6]
            %y = attention(%q, %1, %2) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,4,1,6]
            """);
    assertThat(KvStatePass.hasOwnCapacity(raised)).isFalse();
  }
}
