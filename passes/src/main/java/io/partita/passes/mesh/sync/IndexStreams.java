package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The indices of each device's tokens, packed as one stream of bits. Devices may have different
 * numbers of tokens, or none; then their streams differ in length.
 *
 * @param layout of the line of each token: {@code i32[tokens, indices]}
 * @param axis that splits the tokens
 * @param indices of a token
 */
record IndexStreams(Layout layout, String axis, long indices, VectorCode code, GraphEditor graph) {

  private Split tokens() {
    return layout.splits().getFirst();
  }

  private int devices() {
    return tokens().parts();
  }

  /** The distinct numbers of tokens of a device, without 0. */
  private List<Long> sizes() {
    return IntStream.range(0, devices())
        .mapToObj(device -> tokens().size(device))
        .filter(size -> size > 0)
        .distinct()
        .toList();
  }

  private boolean isEven() {
    return IntStream.range(1, devices()).allMatch(i -> tokens().size(i) == tokens().size(0));
  }

  private long bytes(long size) {
    return size == 0 ? 0 : code.bytes(size * indices);
  }

  /** The layout of the streams, one after the other: {@code u8[bytes]}. */
  Layout streams() {
    List<Long> sizes =
        IntStream.range(0, devices()).mapToObj(device -> bytes(tokens().size(device))).toList();
    return flat().with(0, Split.sizes(List.of(axis), sizes));
  }

  private Layout flat() {
    return Layout.replicated(layout.mesh(), 1).withAt(layout.at());
  }

  /** Packs {@code i32[tokens, indices]} to streams. */
  Value packed(Value lines) {
    if (isEven()) {
      Value all = reshaped(lines, devices(), tokens().size(0) * indices);
      return reshaped(code.pack(all), streams().splits().getFirst().extent());
    }
    long most = sizes().stream().mapToLong(size -> size).max().orElseThrow();
    Split padding = Split.even(layout.mesh(), devices() * most, axis);
    Value rows = taken(view(lines), rows(most), padding);
    Value padded = reshaped(rows, devices(), most * indices);
    List<Value> packed =
        sizes().stream()
            .map(size -> code.pack(BitPacking.slice(padded, 0, size * indices, graph)))
            .toList();
    Value joined = BitPacking.concat(packed, graph);
    Value all = view(joined);
    Value bytes = reshaped(all, all.type().shape().elements());
    return taken(bytes, places(), streams().splits().getFirst());
  }

  /** The rows of each device's own tokens, repeating the last one up to {@code most}. */
  private List<Long> rows(long most) {
    List<Long> rows = new ArrayList<>();
    for (int device = 0; device < devices(); device++) {
      for (long i = 0; i < most; i++) {
        long last = Math.max(0, tokens().size(device) - 1);
        rows.add(Math.min(tokens().from(device) + Math.min(i, last), tokens().extent() - 1));
      }
    }
    return rows;
  }

  /** Where the bytes of each device's stream are among those of all sizes, device by device. */
  private List<Long> places() {
    long stride = sizes().stream().mapToLong(this::bytes).sum();
    List<Long> places = new ArrayList<>();
    for (int device = 0; device < devices(); device++) {
      long size = tokens().size(device);
      long start =
          device * stride
              + sizes().stream().takeWhile(each -> each != size).mapToLong(this::bytes).sum();
      for (long i = 0; i < bytes(size); i++) {
        places.add(start + i);
      }
    }
    return places;
  }

  /** Unpacks all streams, which are on all devices, to {@code i32[tokens, indices]}. */
  Value unpacked(Value streams) {
    Split parts = streams().splits().getFirst();
    List<Value> found = new ArrayList<>();
    int next = 0;
    for (int device = 0; device < devices(); device = next) {
      long size = tokens().size(device);
      while (next < devices() && tokens().size(next) == size) {
        next++;
      }
      if (size > 0) {
        long length = (next - device) * bytes(size);
        Value run = BitPacking.slice(streams, parts.from(device), length, graph);
        Value codes = code.unpack(reshaped(run, next - device, bytes(size)), size * indices);
        found.add(reshaped(codes, (next - device) * size, indices));
      }
    }
    return found.size() == 1 ? found.getFirst() : graph.add(new Movement.Concat(0), found);
  }

  /** Each device's view of all lines, of which it has only its own. */
  private Value view(Value lines) {
    TensorType type = lines.type();
    Value zero = graph.constant(Tensor.scalar(type.element(), 0));
    Value base = placed(graph.add(new Movement.Broadcast(type.shape()), zero), 2);
    return graph.add(new Communication.Overlay(axis, 0), base, lines);
  }

  private Value placed(Value whole, int rank) {
    return layout.at().isEmpty()
        ? whole
        : graph.add(
            new Communication.Reshard(Layout.replicated(layout.mesh(), rank).withAt(layout.at())),
            whole);
  }

  /** The rows of a varying table that each device takes: a part of one value. */
  private Value taken(Value table, List<Long> rows, Split parts) {
    long[] indices = rows.stream().mapToLong(row -> row).toArray();
    Value all =
        graph.constant(
            Tensor.ofLongs(new TensorType(ElementType.I32, Shape.of(indices.length)), indices));
    Value own = graph.add(new Communication.Reshard(flat().with(0, parts)), all);
    Value found = graph.add(new Movement.Gather(0), table, own);
    return graph.add(new Communication.Settle(axis, new Exit.Part()), found);
  }

  private Value reshaped(Value value, long... extents) {
    Shape shape = Shape.of(extents);
    return value.type().shape().equals(shape)
        ? value
        : graph.add(new Movement.Reshape(shape), value);
  }
}
