package io.partita.ir.text;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of the large constants of graphs in the weights file: in the order of nodes, aligned
 * to 64 bytes, with equal data stored once. They depend on the graphs alone, so that a text without
 * a file has the same offsets.
 */
final class WeightTable {
  static final int INLINE_ELEMENTS = 16;
  private static final int ALIGNMENT = 64;
  private static final int CHUNK = 1 << 20;

  /** A place; the hash is empty if the data is larger than the limit of hashing. */
  record Place(long offset, String hash) {}

  private record Content(long bytes, long hash) {}

  /**
   * The identity of data that isn't hashed: its location in memory. That of a read-only array isn't
   * known, so each has its own.
   */
  private record Memory(Object base, long address, long bytes) {}

  private final long largestHashed;
  private final Map<Tensor, Place> places = new IdentityHashMap<>();
  private final Map<Content, List<Tensor>> byContent = new HashMap<>();
  private final Map<Memory, Place> byMemory = new HashMap<>();
  private final List<Tensor> stored = new ArrayList<>();
  private long end;

  private WeightTable(long largestHashed) {
    this.largestHashed = largestHashed;
  }

  /**
   * Creates the table; constants of more than {@code largestHashed} bytes have no hash and aren't
   * read.
   */
  static WeightTable of(Graph graph, long largestHashed) {
    return of(List.of(graph), largestHashed);
  }

  /** Like {@link #of(Graph, long)}, for the graphs of one file. */
  static WeightTable of(List<Graph> graphs, long largestHashed) {
    WeightTable table = new WeightTable(largestHashed);
    for (Graph graph : graphs) {
      for (Node node : graph.nodes()) {
        node.constant().filter(data -> !isInline(data)).ifPresent(table::add);
      }
    }
    return table;
  }

  /** Whether the elements are in the text. */
  static boolean isInline(Tensor tensor) {
    return tensor.size() <= INLINE_ELEMENTS && ElementText.isPlain(tensor);
  }

  Place place(Tensor tensor) {
    return places.get(tensor);
  }

  boolean isEmpty() {
    return stored.isEmpty();
  }

  private void add(Tensor tensor) {
    if (places.containsKey(tensor)) {
      return;
    }
    MemorySegment data = tensor.bytes();
    Object base = data.isNative() ? null : data.heapBase().orElseGet(Object::new);
    Memory memory = new Memory(base, data.address(), data.byteSize());
    Place place = byMemory.get(memory);
    if (place == null) {
      place = data.byteSize() <= largestHashed ? hashed(tensor) : store(tensor, "");
      byMemory.put(memory, place);
    }
    places.put(tensor, place);
  }

  private Place hashed(Tensor tensor) {
    long hash = ContentHash.of(tensor.bytes());
    List<Tensor> alike =
        byContent.computeIfAbsent(
            new Content(tensor.bytes().byteSize(), hash), key -> new ArrayList<>(1));
    for (Tensor other : alike) {
      if (other.bytes().mismatch(tensor.bytes()) < 0) {
        return places.get(other);
      }
    }
    alike.add(tensor);
    return store(tensor, HexFormat.of().toHexDigits(hash));
  }

  private Place store(Tensor tensor, String hash) {
    Place place = new Place(Math.ceilDiv(end, ALIGNMENT) * ALIGNMENT, hash);
    stored.add(tensor);
    end = place.offset() + tensor.bytes().byteSize();
    return place;
  }

  /** Writes the bytes of the file in chunks. */
  void writeTo(WritableByteChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK);
    MemorySegment chunk = MemorySegment.ofBuffer(buffer);
    long at = 0;
    for (Tensor tensor : stored) {
      int padding = Math.toIntExact(places.get(tensor).offset() - at);
      write(channel, buffer.clear().put(new byte[padding]).flip());
      MemorySegment data = tensor.bytes();
      for (long from = 0; from < data.byteSize(); from += CHUNK) {
        int count = (int) Math.min(CHUNK, data.byteSize() - from);
        MemorySegment.copy(data, from, chunk, 0, count);
        write(channel, buffer.clear().limit(count));
      }
      at = places.get(tensor).offset() + data.byteSize();
    }
  }

  private static void write(WritableByteChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }
}
