package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.ByteString;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A parsed ONNX file. Its tensors remain in the mapped file. */
public final class OnnxModel {
  private final Path path;
  private final ModelProto proto;
  private final TensorReader tensors;

  private OnnxModel(Path path, ModelProto proto, TensorReader tensors) {
    this.path = path;
    this.proto = proto;
    this.tensors = tensors;
  }

  /**
   * @throws PartitaException if the file can't be read or isn't an ONNX model
   */
  public static OnnxModel read(Path path) {
    ByteString bytes = OnnxFile.map(path);
    ModelProto proto;
    try {
      MessageCensus.require(path, bytes);
      proto = ModelProto.parseFrom(OnnxFile.stream(bytes));
    } catch (IOException damaged) {
      throw new PartitaException(
          ImportCode.NOT_ONNX,
          path.toString(),
          "a serialized ONNX ModelProto",
          damaged.getMessage(),
          "fetch or export the model again");
    }
    if (!proto.hasGraph()) {
      throw new PartitaException(
          ImportCode.NO_GRAPH,
          path.toString(),
          "a model with a graph",
          "none",
          "check that this is the model's main file");
    }
    ExternalData external = new ExternalData(path.toAbsolutePath().getParent());
    return new OnnxModel(path, proto, new TensorReader(external));
  }

  public Path path() {
    return path;
  }

  /** Returns the model's name: that of the graph or, if that is generic, of the file or folder. */
  public String name() {
    return ModelName.of(proto.getGraph().getName(), path);
  }

  /** Returns the producer and its version, if stated. */
  public String producer() {
    return (proto.getProducerName() + " " + proto.getProducerVersion()).strip();
  }

  /**
   * Returns the versions of imported operator sets by domain; the ONNX domain is the empty name.
   */
  public SortedMap<String, Integer> operatorSets() {
    SortedMap<String, Integer> versions = new TreeMap<>();
    for (OperatorSetIdProto set : proto.getOpsetImportList()) {
      versions.put(Domains.canonical(set.getDomain()), Math.clamp(set.getVersion(), -1, 1 << 30));
    }
    return versions;
  }

  /**
   * Returns the graph inputs that a run needs, in order: those without an initializer, which is a
   * default value.
   */
  public List<String> inputNames() {
    GraphProto graph = proto.getGraph();
    Set<String> initializers = new HashSet<>();
    graph.getInitializerList().forEach(tensor -> initializers.add(tensor.getName()));
    return graph.getInputList().stream()
        .map(ValueInfoProto::getName)
        .filter(name -> !initializers.contains(name))
        .toList();
  }

  public List<String> outputNames() {
    return proto.getGraph().getOutputList().stream().map(ValueInfoProto::getName).toList();
  }

  /** Returns the declared types of graph inputs that are valid tensor types. */
  public Map<String, TensorType> inputTypes() {
    return new GraphInputs(ImportOptions.NONE, new DimensionEquations(), ignored -> {})
        .types(proto.getGraph().getInputList(), Map.of());
  }

  /** Returns the external data files of the model, sorted by name. */
  public List<Path> dataFiles() {
    Path folder = path.toAbsolutePath().getParent();
    return DataLocations.of(proto).stream().map(folder::resolve).toList();
  }

  /** Returns the possible deviations of ONNX Runtime from the standard. */
  public List<RuntimeDeviation> departures() {
    return Stream.of(RuntimeDeviation.values())
        .filter(kind -> proto().getGraph().getNodeList().stream().anyMatch(kind::concerns))
        .toList();
  }

  public ModelProto proto() {
    return proto;
  }

  /**
   * Returns the data of a tensor of the model.
   *
   * @param where the location of the tensor in the model, for messages
   * @throws PartitaException if it is damaged or its external data can't be read
   */
  public Tensor tensor(String where, TensorProto tensor) {
    return tensors.read(where, tensor);
  }

  /**
   * Returns the model with values of its main graph as further outputs, after its own.
   *
   * @param values names of values, by the names of the outputs
   */
  public OnnxModel withOutputs(SequencedMap<String, String> values) {
    GraphProto.Builder graph = proto.getGraph().toBuilder();
    values.forEach(
        (output, value) -> {
          graph.addNode(
              NodeProto.newBuilder()
                  .setOpType("Identity")
                  .setName(output)
                  .addInput(value)
                  .addOutput(output));
          graph.addOutput(ValueInfoProto.newBuilder().setName(output));
        });
    return withGraph(graph.build());
  }

  /** Returns the model with another main graph, which may use its external data. */
  public OnnxModel withGraph(GraphProto graph) {
    return with(proto.toBuilder().setGraph(graph).build());
  }

  /** Returns another model in place of this one, which may use its external data. */
  public OnnxModel with(ModelProto changed) {
    return new OnnxModel(path, changed, tensors);
  }

  TensorReader tensors() {
    return tensors;
  }

  /**
   * Returns the model with dialects of exporter families translated to ONNX.
   *
   * @param integerData whether the model's recorded data are integral
   */
  OnnxModel standard(boolean integerData) {
    if (proto.getFunctionsCount() > 0) {
      return this;
    }
    try {
      ModelProto standard = PulpDialect.standard(proto, tensors);
      ModelProto typed = IntegerModel.retyped(standard, tensors, integerData);
      return typed == proto ? this : new OnnxModel(path, typed, tensors);
    } catch (PartitaException damaged) {
      // The import reads the same tensor and reports it with all other errors.
      return this;
    }
  }
}
