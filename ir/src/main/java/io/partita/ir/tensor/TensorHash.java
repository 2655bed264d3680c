package io.partita.ir.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A SHA-256 hash of texts and of types and elements of tensors. */
public final class TensorHash {
  private static final long STRETCH = 1 << 20;

  private final MessageDigest digest;

  public TensorHash() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("each Java has SHA-256", e);
    }
  }

  public TensorHash add(String text) {
    digest.update(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  public TensorHash add(Tensor tensor) {
    add(tensor.type().toString());
    MemorySegment bytes = tensor.bytes();
    for (long from = 0; from < bytes.byteSize(); from += STRETCH) {
      long size = Math.min(STRETCH, bytes.byteSize() - from);
      digest.update(bytes.asSlice(from, size).toArray(ValueLayout.JAVA_BYTE));
    }
    return this;
  }

  /** Returns the hash in hexadecimal digits. */
  public String text() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
