package io.partita.tests.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.driver.NumericVerification;
import io.partita.driver.StandardPasses;
import io.partita.driver.chip.SchedulePass;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.stage.Stage;
import io.partita.ir.stage.Staged;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.text.ScheduleParser;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.Pass;
import io.partita.passes.Pipeline;
import io.partita.passes.program.localize.Localize;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

/** The text of a small decoder block on two chips at each stage. */
class DecoderBlockTextTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("decoder-block.golden");

  private static final String MESH = "shard(tensor=2),choose-algorithms";

  private static final String PROGRAM = MESH + ",localize";

  private static final String BLOCK =
      """
      pir 1
      module {
        graph @decoder_block(%x: f32[1,2,4]) -> ("y": f32[1,2,4]) {
          %scale = constant [1.0, 0.5, 2.0, 1.0] : f32[4]
          %q_proj = constant QUARTERS : f32[4,4]
          %k_proj = constant QUARTERS : f32[4,4]
          %v_proj = constant QUARTERS : f32[4,4]
          %o_proj = constant QUARTERS : f32[4,4]
          %gate = constant QUARTERS : f32[4,4]
          %up = constant QUARTERS : f32[4,4]
          %down = constant QUARTERS : f32[4,4]
          %0 = rms_norm(%x, %scale) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,2,4] "input_norm"
          %1 = linear(%0, %q_proj) : f32[1,2,4] "q_proj"
          %2 = linear(%0, %k_proj) : f32[1,2,4] "k_proj"
          %3 = linear(%0, %v_proj) : f32[1,2,4] "v_proj"
          %4 = reshape(%1) {to = [1, 2, 2, 2]} : f32[1,2,2,2] "q_heads"
          %5 = reshape(%2) {to = [1, 2, 2, 2]} : f32[1,2,2,2] "k_heads"
          %6 = reshape(%3) {to = [1, 2, 2, 2]} : f32[1,2,2,2] "v_heads"
          %7 = transpose(%4) {permutation = [0, 2, 1, 3]} : f32[1,2,2,2] "q_heads"
          %8 = transpose(%5) {permutation = [0, 2, 1, 3]} : f32[1,2,2,2] "k_heads"
          %9 = transpose(%6) {permutation = [0, 2, 1, 3]} : f32[1,2,2,2] "v_heads"
          %10 = attention(%7, %8, %9) {scale = 0.7071067811865475, soft_cap = 0.0, causal, offset = [0], window = 0} : f32[1,2,2,2] "attention"
          %11 = transpose(%10) {permutation = [0, 2, 1, 3]} : f32[1,2,2,2] "attention"
          %12 = reshape(%11) {to = [1, 2, 4]} : f32[1,2,4] "attention"
          %13 = linear(%12, %o_proj) : f32[1,2,4] "o_proj"
          %14 = add(%x, %13) : f32[1,2,4] "residual"
          %15 = rms_norm(%14, %scale) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,2,4] "ffn_norm"
          %16 = gated_ffn(%15, %gate, %up, %down) {activation = silu} : f32[1,2,4] "ffn"
          %17 = add(%14, %16) : f32[1,2,4] "output"
          return %17
        }
      }
      """;

  /** Each weight has different elements. */
  private static Module block() {
    String text = BLOCK;
    for (int weight = 1; text.contains("QUARTERS"); weight++) {
      int seed = weight;
      String elements =
          IntStream.range(0, 16)
              .mapToObj(i -> Double.toString((i * 7 + seed * 5) % 11 / 4.0 - 1.25))
              .collect(Collectors.joining(", ", "[", "]"));
      text = text.replaceFirst("QUARTERS", elements);
    }
    return PirParser.parse(text);
  }

  private static Staged<?> after(String passes) {
    return Pipeline.parse(passes, StandardPasses.REGISTRY)
        .run(Staged.of(block()), (pass, before, after) -> {});
  }

  private static Program program() {
    return after(PROGRAM).at(Stage.PROGRAM).orElseThrow();
  }

  private static Schedule schedule() {
    return after(PROGRAM + ",schedule").at(Stage.SCHEDULE).orElseThrow();
  }

  @Test
  void everyStage() {
    GOLDEN.assertMatches("graph", PirPrinter.print(block()));
    GOLDEN.assertMatches("mesh", after(MESH).print());
    GOLDEN.assertMatches("program", after(PROGRAM).print());
    GOLDEN.assertMatches("schedule", SchedulePrinter.print(schedule()));
  }

  @Test
  void theTextIsTheWholeSchedule() {
    NumericVerification verification = new NumericVerification(3);
    Schedule schedule = schedule();
    Schedule read = ScheduleParser.parse(SchedulePrinter.print(schedule));
    assertThat(SchedulePrinter.print(read)).isEqualTo(SchedulePrinter.print(schedule));
    assertThat(verification.run(Staged.of(read))).isEqualTo(verification.run(Staged.of(schedule)));
    Pass<?, ?> pass = new SchedulePass(Optional.empty(), OptionalLong.empty());
    assertThat(verification.check(pass, after(MESH), Staged.of(read))).contains("same results");
  }

  private static Program parse(String text) {
    return PirParser.parseProgram(text, "text", MemorySegment.NULL);
  }

  @Test
  void theTextIsTheWholeProgram() {
    NumericVerification verification = new NumericVerification(3);
    Program read = parse(PirPrinter.print(program()));
    assertThat(PirPrinter.print(read)).isEqualTo(PirPrinter.print(program()));
    assertThat(verification.run(Staged.of(read))).isEqualTo(verification.run(Staged.of(program())));
    assertThat(verification.check(new Localize(), after(MESH), Staged.of(read)))
        .contains("same results");
  }

  private static void requireError(String pattern, String replacement, String... says) {
    String text = PirPrinter.print(program());
    String other = text.replaceFirst(pattern, replacement);
    assertThat(other).isNotEqualTo(text);
    AbstractThrowableAssert<?, ?> thrown = assertThatThrownBy(() -> parse(other));
    for (String message : says) {
      thrown.hasMessageContaining(message);
    }
  }

  @Test
  void errorsInProgramTextAreFound() {
    requireError("pir 1\n", "", "P3016", "expected:  pir 1 at the beginning", "found:     program");
    requireError("head=2", "head=3", "P3001", "expected:  'module'", "found:     }");
    requireError("head=2", "head=1", "P3001", "found:     module");
    requireError("input \"x\"", "input \"z\"", "P3005", "on device 0", "[z]", "input \"x\"");
    requireError(
        "output \"y\": f32\\[1,2,4\\]",
        "output \"y\": f32[1,2,4{head}]",
        "P3005",
        "on device 0, the part of an output of the program: f32[1,2,4{head}]",
        "output \"y\": f32[1,2,4]");
    requireError(
        "input \"x\": f32\\[1,2,4\\]", "input \"x\": f32[1,2,4] input \"x\": f32[1]", "P3007");
    requireError("output \"y\": f32\\[1,2,4\\]", "output \"y\": f32[1,2,4] varying(head)", "P3013");
  }

  /** Each pass takes the result of the previous one. */
  @Test
  void passesOfOtherStagesAreRefused() {
    assertThatThrownBy(() -> after(MESH + ",schedule"))
        .hasMessageContaining("P4004")
        .hasMessageContaining("expected:  a program")
        .hasMessageContaining("write localize before schedule");
    assertThatThrownBy(() -> after(PROGRAM + ",simplify"))
        .hasMessageContaining("P4004")
        .hasMessageContaining("put simplify before the passes that give a program");
    Pipeline programs = Pipeline.parse(PROGRAM, StandardPasses.REGISTRY);
    assertThatThrownBy(() -> programs.run(block(), (pass, before, after) -> {}))
        .hasMessageContaining("P4004")
        .hasMessageContaining("the end of the passes");
    Pipeline schedule = Pipeline.parse("schedule", StandardPasses.REGISTRY);
    assertThatThrownBy(() -> schedule.run(Staged.of(block()), (pass, before, after) -> {}))
        .hasMessageContaining("P4004")
        .hasMessageContaining("found:     a module");
  }

  @Test
  void errorsInTheTextAreFound() {
    String text = SchedulePrinter.print(schedule());
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("rows = 2", "rows = =")))
        .hasMessageContaining("P3001")
        .hasMessageContaining("text:76:16")
        .hasMessageContaining("expected:  '&', '(', '-', '[', '{', a name, a number")
        .hasMessageContaining("found:     =");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("&x", "&nothing")))
        .hasMessageContaining("P3006")
        .hasMessageContaining("an operand or scratch memory of the loop");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("gemm_f32 \\{", "gemm_f8 {")))
        .hasMessageContaining("P3003")
        .hasMessageContaining("a kernel of the runtime");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("rows = 2", "row = 2")))
        .hasMessageContaining("P3003")
        .hasMessageContaining("no field row of norm (x, scale, bias, out, rows, size, epsilon)");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("at l2 0x", "at l4 0x")))
        .hasMessageContaining("P3006")
        .hasMessageContaining("a memory of the role");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("memory l3", "memory l2")))
        .hasMessageContaining("unique memories");
    assertThatThrownBy(() -> ScheduleParser.parse(text.replaceFirst("@block0.query", "@block.0")))
        .hasMessageContaining("P3003")
        .hasMessageContaining("expected:  a part such as @block0.query or @embedding")
        .hasMessageContaining("found:     @block.0");
  }

  @Test
  void stepsAndWeightsHaveProvenance() {
    ChipSchedule role = ScheduleParser.parse(SchedulePrinter.print(schedule())).roles().getFirst();
    assertThat(role.steps())
        .extracting(step -> step.origin().text())
        .contains(
            "input_norm @block0.norm",
            "q_proj @block0.query",
            "attention @block0.attention",
            "residual @block0.residual",
            "ffn @block0.gate",
            "ffn @block0.down");
    assertThat(role.constants())
        .extracting(constant -> constant.origin().part())
        .contains("block0.query", "block0.output", "block0.gate", "block0.up", "block0.down");
  }

  private static void requireFault(
      String text, String pattern, String replacement, String... says) {
    String other = text.replaceFirst(pattern, replacement);
    assertThat(other).isNotEqualTo(text);
    Map<String, Tensor> inputs =
        Map.of("x", Tensor.filled(TensorType.of(ElementType.F32, 1, 2, 4), 0.5));
    AbstractThrowableAssert<?, ?> thrown =
        assertThatThrownBy(() -> new ScheduleEvaluator(ScheduleParser.parse(other)).run(inputs));
    for (String message : says) {
      thrown.hasMessageContaining(message);
    }
  }

  /**
   * Faults: a device reads uninitialised data, writes to a weight, exceeds a tile or waits forever.
   */
  @Test
  void errorsInTheScheduleAreFound() {
    String text = SchedulePrinter.print(schedule());
    requireFault(
        text,
        "(2: tiles gemm\\w+\\(0x)2bcf0",
        "$12bd00",
        "P4412",
        "device 0, step 2 for \"q_proj\", loop gemm_f32_2_2_4, left at tile []",
        "byte 179472 that isn't initialised");
    requireFault(
        text,
        "(11: tiles gemm\\w+\\(0x2bd20, 0x2bcd0, 0x00110, 0x)000f0",
        "$100000",
        "P4412",
        "step 11 for \"ffn\", loop gemm_f32_2_4_2, out",
        "byte 0 of a constant");
    requireFault(
        text, "rows = 2", "rows = 3", "P4414", "partita_rms_norm_f32, x", "bytes from 0 to 48");
    requireFault(
        text, "group = 1", "group = 0", "P4414", "partita_gemm_f32", "expected:  group >= 1");
    requireFault(text, " message 0x000f0", "", "a buffer for a message of ", "found:     none");
    requireFault(text, "send 1 \\(16 B\\): 4\\+4; ", "", "P4413", "a deadlock");
  }
}
