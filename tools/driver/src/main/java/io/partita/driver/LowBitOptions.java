package io.partita.driver;

import io.partita.driver.evaluate.CalibrationFile;
import io.partita.ir.type.ElementType;
import io.partita.passes.PassCall;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.LowBitSyncs;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Parses the options of the pass low-bit. */
final class LowBitOptions {
  private static final int USUAL_BITS = 4;
  private static final int MIN_BITS = 2;
  private static final int MAX_BITS = 8;

  private LowBitOptions() {}

  static LowBitSyncs pass(PassCall call) {
    call.requireOptions("calibration", "blocks", "bits", "bf16", "random", "sum", "via", "error");
    String file = call.arguments().get("calibration");
    if (file == null) {
      throw call.wrong("calibration", "the file that partita calibrate wrote", "none");
    }
    String blocks = call.arguments().getOrDefault("blocks", "all");
    String sum = call.arguments().getOrDefault("sum", "bf16");
    if (!sum.equals("bf16") && !sum.equals("f32")) {
      throw call.wrong("sum", "bf16 or f32", sum);
    }
    String via = call.arguments().getOrDefault("via", "gather");
    String error = call.arguments().get("error");
    boolean isBest = via.equals(LowBitSyncs.Via.BEST.toString());
    if (isBest == (error == null) || error != null && !error.matches("[0-9]+(\\.[0-9]+)?")) {
      throw call.wrong(
          "error",
          isBest ? "the largest relative error of a sum, such as 0.05" : "none without via=best",
          error == null ? "none" : error);
    }
    int bits = number(call, "bits", MIN_BITS, MAX_BITS).orElse(USUAL_BITS);
    return new LowBitSyncs(
        CalibrationFile.read(Path.of(file)).calibration(),
        new LowBitSyncs.Options(
            BlockSelection.parse(blocks)
                .orElseThrow(
                    () -> call.wrong("blocks", "all, or numbers and ranges such as 0-3+5", blocks)),
            bits,
            number(call, "bf16", 0, Integer.MAX_VALUE),
            number(call, "random", 0, Integer.MAX_VALUE),
            sum.equals("f32") ? ElementType.F32 : ElementType.BF16,
            LowBitSyncs.Via.parse(via)
                .orElseThrow(() -> call.wrong("via", LowBitSyncs.Via.choices(), via)),
            error == null ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(error))));
  }

  private static OptionalInt number(PassCall call, String option, int least, int most) {
    OptionalLong given = call.integer(option);
    if (given.isPresent() && (given.getAsLong() < least || given.getAsLong() > most)) {
      String range = most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most;
      throw call.wrong(option, "a number, " + range, Long.toString(given.getAsLong()));
    }
    return given.isPresent() ? OptionalInt.of((int) given.getAsLong()) : OptionalInt.empty();
  }
}
