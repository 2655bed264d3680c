package io.partita.backend.java;

import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.backend.java.plan.WeightsPlan;
import io.partita.ir.file.EmittedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * Identifies a program, so that only devices with the same one work together: a hash of the classes
 * and of the first bytes of each weight. Hashing all weights of a large model would take too long.
 */
final class Fingerprint {
  private static final int BYTES_OF_A_WEIGHT = 1024;
  private static final int LENGTH = 16;

  private Fingerprint() {}

  static String of(ProgramPlan plan, List<EmittedFile> classes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (EmittedFile file : classes) {
        digest.update(file.text().getBytes(StandardCharsets.UTF_8));
      }
      digest.update(plan.program().mesh().toString().getBytes(StandardCharsets.UTF_8));
      for (ModulePlan role : plan.roles()) {
        for (int device : role.role().devices()) {
          for (WeightsPlan.Entry entry : role.weights(device).entries()) {
            digest.update(start(entry.data().bytes()));
          }
        }
      }
      return HexFormat.of().formatHex(digest.digest(), 0, LENGTH);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  private static byte[] start(MemorySegment data) {
    return data.asSlice(0, Math.min(BYTES_OF_A_WEIGHT, data.byteSize()))
        .toArray(ValueLayout.JAVA_BYTE);
  }
}
