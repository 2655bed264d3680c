package io.partita.zoo;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Writes an ONNX file field by field, in the order of their numbers, like protobuf's own
 * serializer, but generates the weights while writing, so that they are never in memory.
 */
final class OnnxWriter {
  /** ONNX 1.13's, the first with opset 18. */
  private static final int IR_VERSION = 8;

  private static final int OPSET = 18;
  private static final String PRODUCER = "partita-zoo";
  private static final int CHUNK_BYTES = 1 << 20;

  /** The location of weights outside this file. */
  private record External(String location, DataLayout layout) {}

  private final OnnxGraph graph;
  private final ModelHeader header;
  private final long seed;
  private final Optional<External> external;
  private final byte[] chunk = new byte[CHUNK_BYTES];

  /** Writes a file that holds its weights. */
  OnnxWriter(OnnxGraph graph, ModelHeader header, long seed) {
    this(graph, header, seed, Optional.empty());
  }

  /** Writes a file whose weights are in another file in the same folder. */
  OnnxWriter(OnnxGraph graph, ModelHeader header, Path dataFile, DataLayout layout) {
    String location = dataFile.getFileName().toString();
    this(graph, header, 0, Optional.of(new External(location, layout)));
  }

  private OnnxWriter(OnnxGraph graph, ModelHeader header, long seed, Optional<External> external) {
    this.graph = graph;
    this.header = header;
    this.seed = seed;
    this.external = external;
  }

  /** Returns the length of the file in bytes. */
  long write(FileChannel channel) throws IOException {
    List<NodeProto> nodes = graph.nodes();
    List<TensorProto> constants = graph.constants();
    long total = graphBytes(nodes, constants);
    CodedOutputStream out =
        CodedOutputStream.newInstance(Channels.newOutputStream(channel), CHUNK_BYTES);
    out.writeInt64(ModelProto.IR_VERSION_FIELD_NUMBER, IR_VERSION);
    out.writeString(ModelProto.PRODUCER_NAME_FIELD_NUMBER, PRODUCER);
    out.writeString(ModelProto.DOC_STRING_FIELD_NUMBER, header.description());
    writeHead(out, ModelProto.GRAPH_FIELD_NUMBER, total);
    writeAll(out, GraphProto.NODE_FIELD_NUMBER, nodes);
    out.writeString(GraphProto.NAME_FIELD_NUMBER, header.graphName());
    for (Weight weight : graph.weights()) {
      writeWeight(out, weight);
    }
    writeAll(out, GraphProto.INITIALIZER_FIELD_NUMBER, constants);
    writeAll(out, GraphProto.INPUT_FIELD_NUMBER, graph.inputs());
    writeAll(out, GraphProto.OUTPUT_FIELD_NUMBER, graph.outputs());
    out.writeMessage(
        ModelProto.OPSET_IMPORT_FIELD_NUMBER,
        OperatorSetIdProto.newBuilder().setDomain("").setVersion(OPSET).build());
    out.flush();
    return channel.size();
  }

  private long graphBytes(List<NodeProto> nodes, List<TensorProto> constants) {
    long bytes = CodedOutputStream.computeStringSize(2, header.graphName());
    List<MessageLite> messages = new ArrayList<>(nodes);
    messages.addAll(constants);
    messages.addAll(graph.inputs());
    messages.addAll(graph.outputs());
    for (MessageLite message : messages) {
      // Every field of a graph has a number below 16, so the number doesn't affect the length.
      bytes += CodedOutputStream.computeMessageSize(1, message);
    }
    for (Weight weight : graph.weights()) {
      bytes += fieldBytes(weightBytes(weight));
    }
    return bytes;
  }

  private long weightBytes(Weight weight) {
    long bytes = describe(weight).getSerializedSize();
    return external.isPresent() ? bytes : bytes + fieldBytes(weight.bytes());
  }

  /** The length of a field with a number below 16 and the given bytes of content. */
  private static long fieldBytes(long content) {
    return 1 + CodedOutputStream.computeUInt64SizeNoTag(content) + content;
  }

  /** A weight without the numbers. */
  private TensorProto describe(Weight weight) {
    TensorProto.Builder tensor =
        TensorProto.newBuilder()
            .addAllDims(weight.shape())
            .setDataType(OnnxGraph.FLOAT)
            .setName(weight.name());
    external.ifPresent(
        place ->
            tensor
                .addExternalData(entry("location", place.location))
                .addExternalData(
                    entry("offset", Long.toString(place.layout.offsets().get(weight.name()))))
                .addExternalData(entry("length", Long.toString(weight.bytes())))
                .setDataLocation(TensorProto.DataLocation.EXTERNAL));
    return tensor.build();
  }

  private static StringStringEntryProto entry(String key, String value) {
    return StringStringEntryProto.newBuilder().setKey(key).setValue(value).build();
  }

  /** The numbers come last: {@code raw_data} has the highest number of the fields that are set. */
  private void writeWeight(CodedOutputStream out, Weight weight) throws IOException {
    writeHead(out, GraphProto.INITIALIZER_FIELD_NUMBER, weightBytes(weight));
    describe(weight).writeTo(out);
    if (external.isPresent()) {
      return;
    }
    writeHead(out, TensorProto.RAW_DATA_FIELD_NUMBER, weight.bytes());
    long stream = Fill.Normal.stream(seed, weight.name());
    for (long done = 0; done < weight.bytes(); done += CHUNK_BYTES) {
      int length = (int) Math.min(CHUNK_BYTES, weight.bytes() - done);
      ByteBuffer buffer = ByteBuffer.wrap(chunk, 0, length).order(ByteOrder.LITTLE_ENDIAN);
      weight.fill().append(stream, done / Float.BYTES, buffer);
      out.write(chunk, 0, length);
    }
  }

  private static void writeHead(CodedOutputStream out, int field, long bytes) throws IOException {
    out.writeTag(field, WireFormat.WIRETYPE_LENGTH_DELIMITED);
    out.writeUInt64NoTag(bytes);
  }

  private static void writeAll(
      CodedOutputStream out, int field, List<? extends MessageLite> messages) throws IOException {
    for (MessageLite message : messages) {
      out.writeMessage(field, message);
    }
  }
}
