package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.ir.graph.Module;
import io.partita.ir.text.PirParser;
import io.partita.ir.verify.Verifier;
import org.junit.jupiter.api.Test;

/** Tests the average number of bits in which two devices send a value. */
class TrafficTest {
  private static final String GATHERED =
      """
      %10 = sync(%x) {kind = "all_gather(token)", to = "[*,*]"} : f32[4,8] "values" @block1.value
      """;

  /** Each token of 8 values is sent as a code of one byte. */
  private static final String CODED =
      """
      %0 = cast(%x) {to = u8} : u8[4{token},8]
      %1 = slice(%0) {starts = [0, 0], sizes = [4, 1], steps = [1, 1]} : u8[4{token},1]
      %2 = sync(%1) {kind = "all_gather(token)", to = "[*,*]"} : u8[4,1] "keys" @block0.key
      %3 = cast(%2) {to = f32} : f32[4,1]
      %4 = constant [0, 0, 0, 0, 0, 0, 0, 0] : f32[8]
      %5 = add(%3, %4) : f32[4,8]
      %6 = overlay(%5, %x) {axis = "token", dim = 0} : f32[4,8] varying(token) "keys" @block0.key
      %7 = transpose(%6) {permutation = [1, 0]} : f32[8,4] varying(token)
      %8 = linear(%x, %7) : f32[4{token},4] varying(token)
      %9 = settle(%8) {axis = "token", by = "part"} : f32[4{token},4]
      """;

  private static Traffic traffic(String nodes, String result) {
    String text =
        """
        pir 1
        module {
          mesh(token=2)
          graph @tokens(%%x: f32[4{token},8]) -> ("y": %s) {
            %s
            return %s
          }
        }
        """;
    String type = result.equals("%10") ? "f32[4,8]" : "f32[4{token},4]";
    Module module = PirParser.parse(text.formatted(type, nodes, result));
    Verifier.verify(module);
    return Traffic.of(module, Distribution.program(module));
  }

  @Test
  void gatheredValuesOfBlocksCount() {
    Traffic traffic = traffic(GATHERED, "%10");
    assertThat(traffic.bytes()).isEqualTo(2 * 2 * 8 * 4);
    assertThat(traffic.blockBytes()).isEqualTo(traffic.bytes());
    assertThat(traffic.values()).isEqualTo(4 * 8);
    assertThat(traffic.bitsPerValue()).isEqualTo(32);
    Traffic outside = traffic(GATHERED.replace(" @block1.value", ""), "%10");
    assertThat(outside.values()).isZero();
    assertThat(outside.bytes()).isEqualTo(traffic.bytes());
    assertThat(outside.blockBytes()).isZero();
    String rounded = GATHERED.replace("to = \"[*,*]\"", "to = \"[*,*]\", codec = \"bf16\"");
    assertThat(traffic(rounded, "%10").bitsPerValue()).isEqualTo(16);
  }

  @Test
  void codesCountAsTheValuesThatTheyStandFor() {
    Traffic traffic = traffic(CODED, "%9");
    assertThat(traffic.bytes()).isEqualTo(2 * 2);
    assertThat(traffic.values()).isEqualTo(4 * 8);
    assertThat(traffic.bitsPerValue()).isEqualTo(1);
  }

  @Test
  void blocksAreAveraged() {
    assertThat(traffic(CODED + GATHERED, "%10").bitsPerValue()).isEqualTo((1 + 32) / 2.0);
  }
}
