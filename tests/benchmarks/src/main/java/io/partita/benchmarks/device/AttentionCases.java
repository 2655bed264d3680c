package io.partita.benchmarks.device;

import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Attention of prompts and of single tokens with a cache, rotary embeddings, and cache updates. */
final class AttentionCases extends KernelCases {
  static List<KernelCase> prompts() {
    AttentionCases it = new AttentionCases();
    it.add(
        "attention of a prompt, heads, queries, keys, features",
        new Attention(0.25, 0, false, Dim.of(0), 0, false, false),
        3,
        size -> it.heads(size[0], size[0], size[1], size[2], size[3]),
        size(4, 16, 16, 16),
        size(2, 50, 50, 24),
        size(4, 25, 40, 32),
        size(4, 17, 17, 64),
        size(3, 64, 64, 32),
        size(8, 30, 30, 16));
    it.add(
        "causal attention of a prompt",
        new Attention(0.25, 0, true, Dim.of(0), 0, false, false),
        3,
        size -> it.heads(size[0], size[0], size[1], size[1], size[2]),
        size(4, 16, 16),
        size(8, 24, 32),
        size(2, 50, 24),
        size(4, 40, 48));
    return it.cases();
  }

  static List<KernelCase> tokens() {
    AttentionCases it = new AttentionCases();
    it.add(
        "attention of a token on a cache, heads, kv heads, keys, features",
        new Attention(0.25, 0, true, Dim.of(0), 0, false, true),
        4,
        size -> it.cached(size[0], size[1], size[2], size[3]),
        size(4, 4, 32, 16),
        size(4, 4, 100, 16),
        size(8, 8, 128, 32),
        size(8, 2, 128, 32),
        size(8, 8, 64, 64),
        size(4, 2, 256, 24),
        size(6, 3, 200, 48),
        size(1, 1, 128, 64),
        size(2, 2, 128, 32),
        size(8, 4, 80, 8),
        size(8, 8, 256, 8),
        size(4, 4, 256, 16));
    return it.cases();
  }

  static List<KernelCase> integers() {
    AttentionCases it = new AttentionCases();
    it.add(
        "attention of integers, heads, queries, keys, features",
        new Attention(1e-4, 0, false, Dim.of(0), 0, false, false, 0.01),
        3,
        size -> it.bytes(size[0], size[1], size[2], size[3]),
        size(4, 16, 16, 16),
        size(2, 50, 50, 24),
        size(4, 25, 40, 32),
        size(4, 17, 17, 64),
        size(3, 64, 64, 32),
        size(1, 128, 200, 128),
        size(8, 1, 128, 32),
        size(8, 1, 64, 64),
        size(1, 1, 128, 64),
        size(6, 1, 200, 48),
        size(1, 16, 144, 64),
        size(8, 30, 30, 16));
    it.add(
        "attention of integers with streamed keys, heads, queries, keys, features",
        new Attention(1e-4, 0, false, Dim.of(0), 0, false, false, 0.01),
        3,
        size -> it.bytes(size[0], size[1], size[2], size[3]),
        size(1, 1, 1200, 64),
        size(2, 1, 2048, 64));
    return it.cases();
  }

  static List<KernelCase> positions() {
    AttentionCases it = new AttentionCases();
    for (boolean interleaved : List.of(false, true)) {
      it.add(
          interleaved ? "interleaved rotary embedding" : "rotary embedding",
          new Structured.RotaryEmbedding(interleaved),
          1,
          size ->
              List.of(
                  it.floats(1, size[0], size[1], size[2]),
                  it.floats(1, size[1], size[2] / 2),
                  it.floats(1, size[1], size[2] / 2)),
          size(8, 1, 64),
          size(4, 1, 24),
          size(4, 16, 16),
          size(8, 16, 64),
          size(6, 40, 32),
          size(2, 50, 48));
    }
    it.add(
        "update of a cache",
        new Structured.CacheUpdate(2, false),
        3,
        size ->
            List.of(
                it.floats(1, size[0], size[2], size[3]),
                it.floats(1, size[0], size[1], size[3]),
                it.indices(ElementType.I64, 4, 1)),
        size(4, 1, 32, 16),
        size(8, 1, 128, 24),
        size(4, 16, 64, 32),
        size(2, 30, 64, 48));
    return it.cases();
  }

  private List<Tensor> heads(long heads, long kvHeads, long seq, long keys, long features) {
    return List.of(
        floats(1, heads, seq, features),
        floats(1, kvHeads, keys, features),
        floats(1, kvHeads, keys, features));
  }

  private List<Tensor> bytes(long heads, long seq, long keys, long features) {
    return List.of(
        integers(ElementType.I8, 1, heads, seq, features),
        integers(ElementType.I8, 1, heads, keys, features),
        integers(ElementType.I8, 1, heads, keys, features));
  }

  /** Fills all positions of the cache. */
  private List<Tensor> cached(long heads, long kvHeads, long keys, long features) {
    Tensor length = Tensor.longs(io.partita.ir.type.Shape.of(1), keys);
    List<Tensor> tensors = new java.util.ArrayList<>(heads(heads, kvHeads, 1, keys, features));
    tensors.add(length);
    return tensors;
  }
}
