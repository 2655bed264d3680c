package io.partita.zoo;

import static io.partita.zoo.Scope.integers;

import io.partita.zoo.Weight.Use;
import java.util.List;
import java.util.Optional;

/**
 * A pre-norm encoder over image patches and a class token: {@code ViTForImageClassification}.
 *
 * @param image pixels of a side
 * @param patch pixels of a patch's side
 */
record VisionTransformer(
    int image, int patch, int classes, int size, int intermediate, int layers, Attention attention)
    implements Architecture {
  private static final float EPSILON = 1e-12f;
  private static final int CHANNELS = 3;

  @Override
  public VisionTransformer withLayers(int count) {
    return new VisionTransformer(image, patch, classes, size, intermediate, count, attention);
  }

  @Override
  public boolean decodes() {
    return false;
  }

  @Override
  public int context() {
    return 0;
  }

  private int tokens() {
    int side = image / patch;
    return side * side + 1;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    Scope model = graph.root().in("vit");
    String x = embed(model.in("embeddings"));
    for (int layer = 0; layer < layers; layer++) {
      Scope scope = model.in("encoder").in("layer." + layer);
      String normed = scope.in("layernorm_before").layerNorm(x, size, EPSILON);
      x = scope.add(attend(scope.in("attention"), normed), x);
      normed = scope.in("layernorm_after").layerNorm(x, size, EPSILON);
      String up = scope.in("intermediate").in("dense").linear(normed, size, intermediate);
      String active = scope.in("intermediate").in("intermediate_act_fn").gelu(up);
      Scope output = scope.in("output");
      x = output.add(output.in("dense").linear(active, intermediate, size), x);
    }
    x = model.in("layernorm").layerNorm(x, size, EPSILON);
    String first = graph.root().gather(x, graph.scalar(0), 1);
    String logits = graph.root().in("classifier").linear(first, size, classes);
    graph.output("logits", logits, Dim.of(1), Dim.of(classes));
  }

  /** The class token, then the patches row by row, plus their positions. */
  private String embed(Scope scope) {
    OnnxGraph graph = scope.graph();
    String pixels =
        graph.input(
            "pixel_values",
            OnnxGraph.FLOAT,
            Dim.of(1),
            Dim.of(CHANNELS),
            Dim.of(image),
            Dim.of(image));
    Scope projection = scope.in("patch_embeddings").in("projection");
    double deviation = 1 / StrictMath.sqrt((double) CHANNELS * patch * patch);
    String kernel =
        projection.weight("weight", Use.MATRIX, deviation, size, CHANNELS, patch, patch);
    String grid =
        projection.node(
            "Conv",
            List.of(pixels, kernel, projection.bias(size)),
            integers("dilations", 1, 1),
            Scope.integer("group", 1),
            integers("kernel_shape", patch, patch),
            integers("pads", 0, 0, 0, 0),
            integers("strides", patch, patch));
    String flat = scope.in("patch_embeddings").reshape(grid, 1, size, -1);
    String patches = scope.in("patch_embeddings").transpose(flat, 0, 2, 1);
    double small = 1 / StrictMath.sqrt(size);
    String token = scope.weight("cls_token", Use.VECTOR, small, 1, 1, size);
    String places = scope.weight("position_embeddings", Use.VECTOR, small, 1, tokens(), size);
    return scope.add(scope.concat(1, token, patches), places);
  }

  private String attend(Scope scope, String x) {
    Scope self = scope.in("attention");
    int heads = attention.heads();
    String key = self.in("key").linear(x, size, size);
    String value = self.in("value").linear(x, size, size);
    String query = self.in("query").linear(x, size, size);
    String mixed =
        attention.attend(
            self,
            attention.split(self, query, heads, tokens()),
            attention.split(self, key, heads, tokens()),
            attention.split(self, value, heads, tokens()),
            Optional.empty(),
            tokens());
    return scope.in("output").in("dense").linear(mixed, size, size);
  }
}
