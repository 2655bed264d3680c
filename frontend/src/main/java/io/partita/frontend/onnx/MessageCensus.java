package io.partita.frontend.onnx;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Counts the fields of a file before it is parsed: an empty message takes two bytes in a file but a
 * hundred in memory, so a small hostile file could fill any heap.
 */
final class MessageCensus {
  private static final long MAX_FIELDS = 30_000_000;

  /** The frequent messages of onnx.proto3 and their nesting. */
  private enum Kind {
    MODEL,
    GRAPH,
    FUNCTION,
    NODE,
    ATTRIBUTE,
    LEAF;

    Kind of(int field) {
      return switch (this) {
        case MODEL -> field == 7 ? GRAPH : field == 25 ? FUNCTION : LEAF;
        case GRAPH -> field == 1 ? NODE : LEAF;
        case FUNCTION -> field == 7 ? NODE : LEAF;
        case NODE -> field == 5 ? ATTRIBUTE : LEAF;
        case ATTRIBUTE -> field == 6 || field == 11 ? GRAPH : LEAF;
        case LEAF -> LEAF;
      };
    }
  }

  /** The limit of protobuf. */
  private static final int MAX_DEPTH = 100;

  private long fields;

  private MessageCensus() {}

  /**
   * @throws PartitaException if there are too many
   * @throws IOException if the file is truncated or isn't protobuf
   */
  static void require(Path path, ByteString bytes) throws IOException {
    MessageCensus census = new MessageCensus();
    census.count(bytes.newCodedInput(), Kind.MODEL, 0);
    if (census.fields > MAX_FIELDS) {
      throw new PartitaException(
          ImportCode.TOO_LARGE,
          path.toString(),
          "at most " + MAX_FIELDS + " fields in nodes, attributes and tensors",
          census.fields + " of them",
          "split the model");
    }
  }

  private void count(CodedInputStream in, Kind kind, int depth) throws IOException {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      fields++;
      Kind inner = kind.of(WireFormat.getTagFieldNumber(tag));
      boolean message = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
      if (inner == Kind.LEAF || !message || depth >= MAX_DEPTH) {
        in.skipField(tag);
      } else {
        int limit = in.pushLimit(in.readRawVarint32());
        count(in, inner, depth + 1);
        in.popLimit(limit);
      }
    }
  }
}
