package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.CoreBlocks;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the templates of host programs print of launches and matrices. */
final class HostFields {
  private final Kernels kernels;
  private final MatrixPool pool;
  private final int chips;

  HostFields(Kernels kernels, MatrixPool pool, int chips) {
    this.kernels = kernels;
    this.pool = pool;
    this.chips = chips;
  }

  /** A matrix; weights that differ are followed by the chips that have them. */
  Map<String, Object> of(Matrix matrix) {
    Optional<Collection<Integer>> different = pool.different(matrix);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", matrix.name());
    fields.put("kind", matrix.kind() + (different.isPresent() ? "s" : ""));
    fields.put("rows", matrix.rows());
    fields.put("columns", matrix.columns());
    fields.put("chips", different.orElse(null));
    boolean isNumbers = matrix.kind().equals(MatrixPool.NUMBERS);
    fields.put("isNumbers", isNumbers ? true : null);
    if (!isNumbers) {
      putFormat(fields, matrix.format());
    }
    return fields;
  }

  Map<String, Object> of(Launch launch) {
    return switch (launch) {
      case Launch.Same same -> of(same.step(), same.chips());
      case Launch.Exchange exchange -> of(exchange);
    };
  }

  private Map<String, Object> of(Step step, List<Integer> on) {
    Map<String, Object> fields = new LinkedHashMap<>();
    put(fields, step.origin(), kernels.add(step));
    fields.put("operands", step.allOperands().stream().map(Matrix::name).toList());
    fields.put("result", step.result().name());
    fields.put("sizes", step.sizes());
    fields.put("indices", step.indices());
    fields.put("arguments", Stream.concat(step.sizes().stream(), step.indices().stream()).toList());
    fields.put("buffers", of(CircularBuffers.of(step)));
    fields.put("direct", CircularBuffers.direct(step, kernels.element()));
    fields.put("sumsInBf16", step.sumsInBf16() ? true : null);
    fields.put("blocks", of(step.blocks()));
    fields.put("joins", step.isJoined() ? true : null);
    fields.put("others", step.others().stream().map(Matrix::name).toList());
    fields.put("words", step.control().words());
    fields.put("decides", step.control().decidesWord() ? true : null);
    fields.put("chips", on.size() == chips ? null : on);
    return fields;
  }

  private static Map<String, Object> of(CoreBlocks blocks) {
    return Map.of(
        "columns", blocks.columns().cores(),
        "rows", blocks.rows().cores(),
        "width", blocks.columns().block(),
        "height", blocks.rows().block(),
        "shared", blocks.shared());
  }

  private static void put(Map<String, Object> fields, Origin origin, Kernels.Names names) {
    fields.put("label", origin.name().replaceAll("[^A-Za-z0-9_./ -]", "_"));
    fields.put("reader", names.reader());
    fields.put("compute", names.compute().orElse(null));
    fields.put("writer", names.writer());
  }

  private List<Map<String, Object>> of(List<CircularBuffers.Buffer> buffers) {
    return buffers.stream()
        .map(
            buffer -> {
              Map<String, Object> fields = new LinkedHashMap<>();
              fields.put("index", buffer.index());
              fields.put("pages", buffer.pages());
              putFormat(fields, buffer.format());
              return fields;
            })
        .toList();
  }

  /** Formats are told where they aren't those of all elements. */
  private void putFormat(Map<String, Object> fields, TileFormat format) {
    boolean isUsual = format == pool.elements();
    fields.put("dtype", isUsual ? null : format.host());
    fields.put("format", isUsual ? null : format.kernel());
  }

  private Map<String, Object> of(Launch.Exchange exchange) {
    Map<String, Object> fields = new LinkedHashMap<>();
    put(
        fields,
        exchange.origin(),
        kernels.addExchange(exchange.join(), exchange.gates(), exchange.wire()));
    fields.put("inbox", exchange.inbox().name());
    fields.put("buffers", of(CircularBuffers.of(exchange, pool.elements())));
    fields.put(
        "direct",
        exchange.join().isPresent()
            ? CircularBuffers.directOfExchange(exchange.wire().pages(pool.elements()))
            : List.of());
    fields.put("pages", exchange.pages());
    fields.put("words", exchange.gates());
    fields.put(
        "members",
        exchange.members().entrySet().stream()
            .map(member -> of(member.getKey(), member.getValue()))
            .toList());
    return fields;
  }

  private static Map<String, Object> of(int chip, Launch.Member member) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("chip", chip);
    fields.put("operand", member.operand().map(Matrix::name).orElse(null));
    fields.put("before", places(member.before()));
    fields.put("result", member.result().map(Matrix::name).orElse(null));
    fields.put("clears", member.clears());
    fields.put("after", places(member.after()));
    fields.put(
        "messages",
        member.messages().stream()
            .map(
                each ->
                    Map.of(
                        "kind", each.kind().name(),
                        "chip", each.chip(),
                        "start", each.slice().start(),
                        "size", each.slice().size(),
                        "page", each.page()))
            .toList());
    return fields;
  }

  private static List<Map<String, Long>> places(List<Launch.Part> parts) {
    return parts.stream()
        .map(
            part ->
                Map.of(
                    "start", part.slice().start(),
                    "size", part.slice().size(),
                    "element", part.element()))
        .toList();
  }

  /** An input or output: a matrix that is whole on some chips, or parts on several. */
  Map<String, Object> of(Port port) {
    Map<String, Object> fields = new LinkedHashMap<>();
    Port.Part first = port.parts().getFirst();
    fields.put("name", first.matrix().name());
    fields.put("rows", first.matrix().rows());
    fields.put("columns", first.matrix().columns());
    fields.put("chip", first.chip() == 0 ? null : first.chip());
    if (port.parts().size() == 1) {
      return fields;
    }
    String whole = text(port.extents());
    fields.put("whole", whole);
    fields.put("count", port.extents().stream().reduce(1L, Math::multiplyExact));
    fields.put("parts", port.parts().stream().map(part -> of(part, whole)).toList());
    SortedMap<String, List<Port.Part>> matrices =
        port.parts().stream()
            .collect(
                Collectors.groupingBy(
                    part -> part.matrix().name(), TreeMap::new, Collectors.toList()));
    fields.put(
        "matrices",
        matrices.entrySet().stream()
            .map(
                each ->
                    Map.of(
                        "name", each.getKey(),
                        "whole", whole,
                        "rows", each.getValue().getFirst().matrix().rows(),
                        "columns", each.getValue().getFirst().matrix().columns(),
                        "parts", each.getValue().stream().map(part -> of(part, whole)).toList()))
            .toList());
    return fields;
  }

  private static Map<String, Object> of(Port.Part part, String whole) {
    return Map.of(
        "chip", part.chip(),
        "name", part.matrix().name(),
        "whole", whole,
        "start", text(part.start()),
        "extents", text(part.extents()));
  }

  /** {@code 1, 1, 65}. */
  private static String text(List<Long> extents) {
    return extents.stream().map(Object::toString).collect(Collectors.joining(", "));
  }
}
