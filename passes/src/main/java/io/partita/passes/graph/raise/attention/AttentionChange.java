package io.partita.passes.graph.raise.attention;

import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;

/** A copy of an attention with changed attributes. */
public record AttentionChange(Structured.Attention op) {
  public static AttentionChange of(Structured.Attention op) {
    return new AttentionChange(op);
  }

  AttentionChange scale(double scale) {
    return new AttentionChange(
        new Structured.Attention(
            scale,
            op.softCap(),
            op.causal(),
            op.offset(),
            op.window(),
            op.mask(),
            op.keyLength(),
            op.valueScale()));
  }

  /** Makes it causal at an offset, with a window of that many keys if positive. */
  AttentionChange causal(Dim offset, long window) {
    return new AttentionChange(
        new Structured.Attention(
            op.scale(),
            op.softCap(),
            true,
            offset,
            window,
            op.mask(),
            op.keyLength(),
            op.valueScale()));
  }

  AttentionChange mask(boolean mask) {
    return new AttentionChange(
        new Structured.Attention(
            op.scale(),
            op.softCap(),
            op.causal(),
            op.offset(),
            op.window(),
            mask,
            op.keyLength(),
            op.valueScale()));
  }

  /**
   * Adds a key length: query i is at position key length - seq + i, and keys at or after the key
   * length are invalid.
   */
  public AttentionChange keyLength() {
    return new AttentionChange(
        new Structured.Attention(
            op.scale(),
            op.softCap(),
            op.causal(),
            Dim.ZERO,
            op.window(),
            op.mask(),
            true,
            op.valueScale()));
  }

  public AttentionChange withoutMask() {
    return mask(false);
  }

  public AttentionChange withMask() {
    return mask(true);
  }

  /** Removes the causal mask and the window. */
  public AttentionChange nonCausal() {
    return new AttentionChange(
        new Structured.Attention(
            op.scale(),
            op.softCap(),
            false,
            Dim.ZERO,
            0,
            op.mask(),
            op.keyLength(),
            op.valueScale()));
  }

  public AttentionChange causalAtKeyLength(long window) {
    return causal(Dim.ZERO, window).keyLength();
  }
}
