package io.partita.passes.schedule.predict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class InstructionCacheTest {
  private final InstructionCache cache = new InstructionCache(2);

  @Test
  void keepsWhatWasUsedBefore() {
    assertThat(cache.use(List.of("matmul", "gelu"))).isFalse();
    assertThat(cache.use(List.of("matmul", "gelu"))).isTrue();
    assertThat(cache.use(List.of("gelu"))).isTrue();
  }

  @Test
  void evictsTheLeastRecentlyUsedFunction() {
    cache.use(List.of("matmul", "gelu"));
    cache.use(List.of("matmul"));
    assertThat(cache.use(List.of("softmax"))).isFalse();
    assertThat(cache.use(List.of("matmul"))).isTrue();
    assertThat(cache.use(List.of("gelu"))).isFalse();
  }

  @Test
  void isColdIfOneOfTheFunctionsIs() {
    cache.use(List.of("matmul"));
    assertThat(cache.use(List.of("matmul", "gelu"))).isFalse();
  }

  @Test
  void isWarmWithoutFunctions() {
    assertThat(cache.use(List.of())).isTrue();
  }
}
