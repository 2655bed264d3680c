package io.partita.zoo;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Decides the location of a model's weights and writes its one or two files. */
final class ModelFiles {
  /** The limit for a single file, below protobuf's limit of 2 GB, as in exporters. */
  private static final long MAX_INLINE_BYTES = 1_500_000_000;

  private ModelFiles() {}

  static ZooFile write(ZooModel model, ZooOptions options, Path onnxFile) throws IOException {
    OnnxGraph graph = model.graph(options);
    List<Weight> weights = graph.weights();
    Optional<DataLayout> layout = layout(model, options, weights);
    ModelHeader header = ModelHeader.of(model, options);
    try (StagedFiles staged = new StagedFiles()) {
      if (layout.isEmpty()) {
        OnnxWriter writer = new OnnxWriter(graph, header, options.seed());
        long bytes = writer.write(staged.open(onnxFile));
        staged.publish();
        return new ZooFile(onnxFile, Optional.empty(), graph.parameters(), bytes, 0, bytes);
      }
      Path dataFile = onnxFile.resolveSibling(onnxFile.getFileName() + ".data");
      FileChannel data = staged.open(dataFile);
      long dataOnDisk = new DataWriter(data, options.seed()).write(layout.get(), weights);
      long dataBytes = data.size();
      OnnxWriter writer = new OnnxWriter(graph, header, dataFile, layout.get());
      long bytes = writer.write(staged.open(onnxFile));
      staged.publish();
      return new ZooFile(
          onnxFile,
          Optional.of(dataFile),
          graph.parameters(),
          bytes,
          dataBytes,
          bytes + dataOnDisk);
    }
  }

  private static Optional<DataLayout> layout(
      ZooModel model, ZooOptions options, List<Weight> weights) {
    if (model.tiled()) {
      return Optional.of(DataLayout.tiled(weights, DataLayout.TILE_BYTES, DataLayout.LEAD_BYTES));
    }
    long bytes = weights.stream().mapToLong(Weight::bytes).sum();
    return options.external() || bytes > MAX_INLINE_BYTES
        ? Optional.of(DataLayout.dense(weights))
        : Optional.empty();
  }
}
