package io.partita.ir.schedule;

import static io.partita.ir.schedule.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.KernelAccess.Kind.READ_SOME;
import static io.partita.ir.schedule.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.KernelAccess.contiguous;

import io.partita.ir.schedule.KernelAccess.Kind;
import io.partita.ir.schedule.KernelAccess.Step;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What each kernel of the runtime reads and writes, by the struct of its arguments: what the
 * comments of {@code runtime-c/kernels} say of the extents and strides behind each pointer. A
 * kernel that isn't here can't be scheduled.
 */
public final class KernelAccesses {
  private final KernelCall call;
  private final FieldValues fields;
  private final List<KernelAccess> all = new ArrayList<>();
  private final List<Integer> types = new ArrayList<>();

  private KernelAccesses(KernelCall call, FieldValues fields) {
    this.call = call;
    this.fields = fields;
  }

  /**
   * In one tile; reads come before writes.
   *
   * @return none for an unknown kernel
   */
  public static Optional<List<KernelAccess>> of(KernelCall call, FieldValues fields) {
    KernelAccesses accesses = new KernelAccesses(call, fields);
    return accesses.add() ? Optional.of(accesses.all) : Optional.empty();
  }

  private boolean add() {
    switch (call.struct()) {
      case "partita_unary" -> unary();
      case "partita_binary" -> binary();
      case "partita_select" -> select();
      case "partita_copy" -> copy();
      case "partita_gather" -> gather();
      case "partita_gather_elements" -> gatherElements();
      case "partita_scatter" -> scatter();
      case "partita_gemm" -> product();
      case "partita_reduce" -> reduce();
      case "partita_cumulative", "partita_softmax" -> lines();
      case "partita_arg_reduce" -> argReduce();
      case "partita_top_k" -> topK();
      case "partita_norm" -> norm();
      case "partita_rotary" -> rotary();
      case "partita_attention" -> attention();
      case "partita_attention_finish" -> attentionFinish();
      case "partita_convolution" -> convolution();
      case "partita_max_pool", "partita_mean_pool" -> pool();
      case "partita_quantize" -> quantize();
      case "partita_requantize" -> requantize();
      case "partita_integer_gelu" -> elements(bits(0), bits(0), fields.get("count"));
      case "partita_integer_softmax", "partita_power_softmax" ->
          elements(bits(0), bits(0), fields.get("rows") * fields.get("size"));
      case "partita_integer_norm" -> integerNorm();
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Of the element types at the end of the function's name, outermost first. */
  private int bits(int index) {
    if (types.isEmpty()) {
      for (String word : call.function().split("_")) {
        if (!word.isEmpty() && Character.isDigit(word.charAt(0))) {
          types.add(Integer.parseInt(word));
        }
        ElementType.of(word).ifPresent(type -> types.add(type.bits()));
      }
    }
    if (index >= types.size()) {
      throw new IllegalArgumentException(call.function() + " doesn't name its element types");
    }
    return types.get(index);
  }

  private void add(String pointer, Kind kind, int bits, List<Step> steps) {
    all.add(new KernelAccess(pointer, kind, false, bits, steps));
  }

  private void optional(String pointer, Kind kind, int bits, List<Step> steps) {
    all.add(new KernelAccess(pointer, kind, true, bits, steps));
  }

  private Step step(String extent, String stride) {
    return new Step(fields.get(extent), fields.get(stride));
  }

  private Step line(String extent) {
    return new Step(fields.get(extent), 1);
  }

  private List<Step> steps(String extents, String strides) {
    List<Long> sizes = fields.all(extents);
    List<Long> each = fields.all(strides);
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < sizes.size(); i++) {
      steps.add(new Step(sizes.get(i), each.get(i)));
    }
    return steps;
  }

  private long product(String extents) {
    return fields.all(extents).stream().reduce(1L, Math::multiplyExact);
  }

  private List<Step> vector(String... extents) {
    return contiguous(Arrays.stream(extents).mapToLong(fields::get).toArray());
  }

  private void elements(int read, int written, long count) {
    add("x", READ, read, contiguous(count));
    add("out", WRITE, written, contiguous(count));
  }

  private void unary() {
    boolean isCast = call.function().startsWith("partita_cast_");
    boolean isPredicate = call.function().startsWith("partita_is_");
    int written = isCast ? bits(1) : isPredicate ? Byte.SIZE : bits(0);
    add("x", READ, bytes(bits(0)), line(bits(0)));
    add("out", WRITE, bytes(written), line(written));
  }

  /** Half bytes are those of a tile of bytes. */
  private static int bytes(int bits) {
    return Math.max(bits, Byte.SIZE);
  }

  private List<Step> line(int bits) {
    long count = fields.get("count");
    return contiguous(bits < Byte.SIZE ? Math.ceilDiv(count * bits, Byte.SIZE) : count);
  }

  private void binary() {
    add("left", READ, bits(0), steps("extents", "left_strides"));
    add("right", READ, bits(0), steps("extents", "right_strides"));
    boolean isComparison = call.function().matches("partita_(equal|less|greater)_.*");
    add("out", WRITE, isComparison ? Byte.SIZE : bits(0), contiguous(product("extents")));
  }

  private void select() {
    add("condition", READ, Byte.SIZE, steps("extents", "condition_strides"));
    add("then", READ, bits(0), steps("extents", "then_strides"));
    add("otherwise", READ, bits(0), steps("extents", "otherwise_strides"));
    add("out", WRITE, bits(0), contiguous(product("extents")));
  }

  /** A slice with steps leaves elements out; so does what is all padding. */
  private void copy() {
    add("x", READ_SOME, bits(0), steps("extents", "x_strides"));
    add("out", WRITE, bits(0), steps("extents", "out_strides"));
  }

  private void gather() {
    add("data", READ_SOME, bits(0), vector("outer", "extent", "inner"));
    add("indices", READ, bits(1), vector("count"));
    add("out", WRITE, bits(0), vector("outer", "count", "inner"));
  }

  private void gatherElements() {
    add("data", READ_SOME, bits(0), vector("outer", "extent", "inner"));
    add("indices", READ, Long.SIZE, vector("outer", "count", "inner"));
    add("out", WRITE, bits(0), vector("outer", "count", "inner"));
  }

  /** Without data, the result has what earlier tiles made of it. */
  private void scatter() {
    List<Step> all = vector("outer", "extent", "inner");
    optional("data", READ, bits(0), all);
    boolean isByRow = fields.get("rows") != 0;
    add("indices", READ, Long.SIZE, isByRow ? vector("count") : vector("outer", "count", "inner"));
    add("updates", READ_SOME, bits(0), vector("outer", "count", "inner"));
    if (fields.pointer("data").isEmpty()) {
      add("out", READ, bits(0), all);
    }
    add("out", WRITE, bits(0), all);
  }

  private void product() {
    boolean isFloat = call.function().endsWith("_f32");
    Step batch = step("batch", "left_batch");
    long matrices = batch.extent() / Math.max(1, fields.get("group"));
    List<Step> out = List.of(step("batch", "out_batch"), step("m", "out_row"), line("n"));
    add("left", READ, bits(0), List.of(batch, step("m", "left_row"), step("k", "left_column")));
    add(
        "right",
        READ,
        isFloat ? bits(0) : bits(1),
        List.of(
            new Step(matrices, fields.get("right_batch")),
            step("k", "right_row"),
            step("n", "right_column")));
    optional("bias", READ, Integer.SIZE, vector("n"));
    if (fields.get("accumulate") != 0) {
      add("out", READ, Integer.SIZE, out);
    }
    add("out", WRITE, Integer.SIZE, out);
  }

  private void reduce() {
    List<Step> read = new ArrayList<>(steps("extents", "strides"));
    read.addAll(steps("joined_extents", "joined_strides"));
    add("x", READ, bits(0), read);
    add("out", WRITE, bits(0), contiguous(product("extents")));
  }

  private void lines() {
    add("x", READ, bits(0), vector("outer", "extent", "inner"));
    add("out", WRITE, bits(0), vector("outer", "extent", "inner"));
  }

  private void argReduce() {
    add("x", READ, bits(0), vector("outer", "extent", "inner"));
    add("out", WRITE, Long.SIZE, vector("outer", "inner"));
  }

  private void topK() {
    add("x", READ, bits(0), vector("outer", "extent", "inner"));
    add("values", WRITE, bits(0), vector("outer", "k", "inner"));
    add("indices", WRITE, Long.SIZE, vector("outer", "k", "inner"));
  }

  private void norm() {
    optional("scale", READ, bits(0), vector("size"));
    optional("bias", READ, bits(0), vector("size"));
    elements(bits(0), bits(0), fields.get("rows") * fields.get("size"));
  }

  private void rotary() {
    List<Step> steps = List.of(step("heads", "head_stride"), step("seq", "seq_stride"), line("d"));
    add("x", READ, bits(0), steps);
    add("cosines", READ, bits(0), vector("seq", "half"));
    add("sines", READ, bits(0), vector("seq", "half"));
    add("out", WRITE, bits(0), steps);
  }

  private void attention() {
    Step heads = step("heads", "k_head");
    long kvHeads = heads.extent() / Math.max(1, fields.get("group"));
    List<Step> mask =
        List.of(step("heads", "mask_head"), step("seq", "mask_row"), step("keys", "mask_key"));
    add("q", READ, bits(0), List.of(step("heads", "q_head"), step("seq", "q_row"), line("d")));
    add(
        "k",
        READ,
        bits(0),
        List.of(new Step(kvHeads, heads.stride()), step("keys", "k_row"), line("d")));
    add(
        "v",
        READ,
        bits(0),
        List.of(new Step(kvHeads, fields.get("v_head")), step("keys", "v_row"), line("dv")));
    optional("allowed", READ, Byte.SIZE, mask);
    optional("added", READ, bits(0), mask);
    if (fields.get("first") == 0) {
      attentionState(READ);
    }
    attentionState(WRITE);
  }

  private void attentionState(Kind kind) {
    add("largest", kind, bits(0), vector("parts", "heads", "seq"));
    add("weights", kind, bits(0), vector("parts", "heads", "seq"));
    add("sums", kind, bits(0), vector("parts", "heads", "seq", "dv"));
  }

  private void attentionFinish() {
    attentionState(READ);
    add(
        "out",
        WRITE,
        bits(0),
        List.of(step("heads", "out_head"), step("seq", "out_row"), line("dv")));
  }

  /** Windows may leave elements out. */
  private void convolution() {
    boolean isFloat = call.function().endsWith("_f32");
    long channels = fields.get("groups") * fields.get("channels");
    add(
        "x",
        READ_SOME,
        bits(0),
        contiguous(
            fields.get("batch"),
            channels,
            fields.get("window.height"),
            fields.get("window.width")));
    add(
        "weight",
        READ,
        isFloat ? bits(0) : bits(1),
        vector("filters", "channels", "window.kernel_y", "window.kernel_x"));
    optional("bias", READ, Integer.SIZE, vector("filters"));
    add(
        "out",
        WRITE,
        Integer.SIZE,
        vector("batch", "filters", "window.out_height", "window.out_width"));
  }

  private void pool() {
    List<Step> out = vector("planes", "window.out_height", "window.out_width");
    add("x", READ_SOME, bits(0), vector("planes", "window.height", "window.width"));
    add("out", WRITE, bits(0), out);
    optional("indices", WRITE, Long.SIZE, out);
  }

  private void quantize() {
    boolean isForth = call.function().startsWith("partita_quantize_");
    add("x", READ, bits(0), contiguous(product("extents")));
    add("scale", READ, Float.SIZE, steps("extents", "parameter_strides"));
    add("zero", READ, isForth ? bits(1) : bits(0), steps("extents", "parameter_strides"));
    add("out", WRITE, bits(1), contiguous(product("extents")));
  }

  private void requantize() {
    add("x", READ, bits(0), contiguous(product("extents")));
    add("multiplier", READ, Integer.SIZE, steps("extents", "multiplier_strides"));
    add("addend", READ, Integer.SIZE, steps("extents", "addend_strides"));
    add("out", WRITE, bits(1), contiguous(product("extents")));
  }

  private void integerNorm() {
    elements(bits(0), bits(0), fields.get("rows") * fields.get("size"));
    add("weight", READ, Integer.SIZE, List.of(step("size", "weight_stride")));
    optional("bias", READ, Integer.SIZE, List.of(step("size", "bias_stride")));
  }
}
