package io.partita.zoo;

import static io.partita.zoo.Scope.integers;

import io.partita.zoo.Weight.Use;
import java.util.List;

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

  private EncoderLayers encoder() {
    return new EncoderLayers(size, intermediate, layers, attention, EPSILON);
  }

  private int tokens() {
    int side = image / patch;
    return side * side + 1;
  }

  @Override
  public void write(OnnxGraph graph, Sequence sequence) {
    Scope model = graph.root().in("vit");
    String x = embed(model.in("embeddings"));
    x = encoder().write(model.in("encoder"), x, tokens());
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
}
