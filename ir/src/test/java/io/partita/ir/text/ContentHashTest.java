package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContentHashTest {
  /** Published values of XXH64 with seed 0; the last one has a full stripe and every tail. */
  @ParameterizedTest
  @CsvSource({
    "'', ef46db3751d8e999",
    "a, d24ec4f1a98c6e5b",
    "abc, 44bc2cf5ad770999",
    "Nobody inspects the spammish repetition, fbcea83c8a378bf1",
  })
  void isXxh64(String text, String hash) {
    MemorySegment data = MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
    assertThat(Long.toHexString(ContentHash.of(data))).isEqualTo(hash);
  }
}
