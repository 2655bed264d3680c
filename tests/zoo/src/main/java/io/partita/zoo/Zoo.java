package io.partita.zoo;

import io.partita.zoo.Llama.FeedForward;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The catalogue of models, which can be written as files. */
public final class Zoo {
  /** A guard against typing errors, at twelve times the deepest model. */
  static final int MAX_LAYERS = 1000;

  private static final Rotary.Scaling LLAMA_3_1 = new Rotary.Scaling(8, 1, 4, 8192);

  private static final List<ZooModel> MODELS =
      List.of(
          tinyLlama(
              "tinyllama-42m",
              "decoder of the MCU paper: 8 layers, E 512, F 2048 (GELU), 8 heads of 64",
              2048,
              new Attention(8, 8, 64),
              FeedForward.GELU),
          tinyLlamaBlock("tinyllama-42m-block", "tinyllama-42m", new Attention(8, 8, 64)),
          tinyLlama(
              "tinyllama-42m-64h",
              "the MCU paper's scalability study: the same weights as 64 heads of 8",
              2048,
              new Attention(64, 64, 8),
              FeedForward.GELU),
          tinyLlamaBlock("tinyllama-42m-64h-block", "tinyllama-42m-64h", new Attention(64, 64, 8)),
          tinyLlama(
              "tinyllama-42m-gated",
              "llama2.c's stories42M: 8 layers, E 512, F 1376 (gated SiLU), 8 heads of 64",
              1376,
              new Attention(8, 8, 64),
              FeedForward.GATED_SILU),
          encoder(
              "mobilebert",
              "encoder of the MCU paper: 24 plain blocks, E 512, F 512, 4 heads, S 268; not Google's"
                  + " bottlenecks",
              new Bert(30522, 512, 512, 512, 24, new Attention(4, 4, 128)),
              268),
          encoder(
              "mobilebert-block",
              "a block of mobilebert alone, features in and out",
              new Bert(0, 512, 512, 512, 1, new Attention(4, 4, 128)),
              268),
          encoder(
              "vit-base",
              "ViT-Base/16 at 224 pixels: 12 layers, E 768, F 3072, 12 heads, class token, 1000"
                  + " classes",
              new VisionTransformer(224, 16, 1000, 768, 3072, 12, new Attention(12, 12, 64)),
              197),
          encoder(
              "encoder-base",
              "encoder of ASTRA's latencies: 12 layers, E 768, F 3072, 12 heads, features in and"
                  + " out",
              new FeatureEncoder(4096, 768, 3072, 12, new Attention(12, 12, 64)),
              1024),
          gpt2("gpt2-small", 768, 12),
          gpt2("gpt2-medium", 1024, 24),
          llama31("llama-3.1-8b", 4096, 14336, 32, 32),
          llama31("llama-3.1-70b", 8192, 28672, 80, 64));

  private Zoo() {}

  /**
   * The paper gives E, F, the number of heads and both lengths; the rest is llama2.c's stories42M.
   * The head size of the 64-head variant follows from "we leave all other model parameters
   * unchanged" and from its blocks fitting the same memories as before.
   */
  private static ZooModel tinyLlama(
      String name,
      String description,
      int intermediate,
      Attention attention,
      FeedForward feedForward) {
    Llama llama = tinyLlama(32_000, intermediate, 8, attention, feedForward);
    return new ZooModel(name, description, llama, 16, 128, false);
  }

  /** One block, as the paper measures it: without embedding, last norm and head. */
  private static ZooModel tinyLlamaBlock(String name, String whole, Attention attention) {
    Llama llama = tinyLlama(0, 2048, 1, attention, FeedForward.GELU);
    String description = "a block of " + whole + " alone, features in and out";
    return new ZooModel(name, description, llama, 16, 128, false);
  }

  private static Llama tinyLlama(
      int vocabulary, int intermediate, int layers, Attention attention, FeedForward feedForward) {
    Rotary rotary = new Rotary(attention.headSize(), 10_000, Optional.empty());
    return new Llama(
        vocabulary, 512, intermediate, layers, attention, feedForward, rotary, true, 1024, 1024);
  }

  private static ZooModel encoder(
      String name, String description, Architecture architecture, int tokens) {
    return new ZooModel(name, description, architecture, tokens, tokens, false);
  }

  private static ZooModel gpt2(String name, int size, int layers) {
    int heads = size / 64;
    String description =
        "OpenAI's decoder: %d layers, E %d, F %d (tanh GELU), %d heads of 64"
            .formatted(layers, size, 4 * size, heads);
    Gpt2 gpt2 = new Gpt2(50_257, 1024, size, layers, new Attention(heads, heads, 64));
    return new ZooModel(name, description, gpt2, 128, 128, false);
  }

  private static ZooModel llama31(String name, int size, int intermediate, int layers, int heads) {
    String description =
        "Meta's decoder: %d layers, E %d, F %d (gated SiLU), %d heads of 128, 8 KV heads"
            .formatted(layers, size, intermediate, heads);
    Llama llama =
        new Llama(
            128_256,
            size,
            intermediate,
            layers,
            new Attention(heads, 8, 128),
            FeedForward.GATED_SILU,
            new Rotary(128, 500_000, Optional.of(LLAMA_3_1)),
            false,
            8192,
            131_072);
    return new ZooModel(name, description, llama, 128, 128, true);
  }

  public static List<ZooModel> models() {
    return MODELS;
  }

  public static List<String> names() {
    return MODELS.stream().map(ZooModel::name).toList();
  }

  /**
   * @throws ZooException if there is no model of this name
   */
  public static ZooModel model(String name) {
    return MODELS.stream()
        .filter(model -> model.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new ZooException("model", String.join(", ", names()), name));
  }

  /**
   * Writes a model, replacing existing files. The same name, options and file name give the same
   * bytes. Weights of more than 1.5 GB go into a second file, of the same name and {@code .data}.
   *
   * @throws ZooException if there is no such model or an option doesn't fit it
   */
  public static ZooFile write(String name, ZooOptions options, Path onnxFile) throws IOException {
    return ModelFiles.write(model(name), options, onnxFile);
  }
}
