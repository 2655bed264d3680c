package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.op.IntegerAttention;
import io.partita.ir.schedule.kernel.KernelAccess.Kind;
import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Kernels of {@code integer_attention.h}, which are exact. */
final class IntegerAttentionKernels {
  private static final int HIDDEN = Integer.MIN_VALUE;

  private static final KernelStruct SCORES =
      KernelStruct.in("integer_attention.h", "attention_scores")
          .pointers("q", "k", "allowed", "added", "scores")
          .integers("heads", "group", "seq", "keys", "d", "q_head", "q_row", "k_head", "k_row")
          .integers("mask_head", "mask_row", "mask_key", "causal", "window", "position")
          .integers("scores_row")
          .floats("inverse_scale")
          .requires("group >= 1", call -> call.get("group") >= 1)
          .requires("d <= 1024", call -> call.get("d") <= IntegerAttention.MOST_FEATURES)
          .requires(
              "scores_row = 0, or >= keys",
              call -> call.get("scores_row") == 0 || call.get("scores_row") >= call.get("keys"))
          .shared(KernelStruct.BLOCKS)
          .build(
              all -> {
                all.add(
                    "q",
                    READ,
                    Byte.SIZE,
                    List.of(all.step("heads", "q_head"), all.step("seq", "q_row"), all.line("d")));
                keyed(all, "k", "d");
                List<Step> mask =
                    List.of(
                        all.step("heads", "mask_head"),
                        all.step("seq", "mask_row"),
                        all.step("keys", "mask_key"));
                all.optional("allowed", READ, Byte.SIZE, mask);
                all.optional("added", READ, Float.SIZE, mask);
                long row = scoresRow(all.get("scores_row"), all.get("keys"));
                all.add(
                    "scores",
                    WRITE,
                    Integer.SIZE,
                    List.of(
                        new Step(all.get("heads"), all.get("seq") * row),
                        new Step(all.get("seq"), row),
                        all.line("keys")));
              },
              call -> List.of(call.get("heads"), call.get("seq"), call.get("keys"), call.get("d")));

  private static final KernelStruct WEIGHTS =
      KernelStruct.in("integer_attention.h", "attention_weights")
          .pointers("scores", "weights")
          .integers("heads", "seq", "keys", "row")
          .floats("unit")
          .requires("row = a multiple of 4", call -> call.get("row") % 4 == 0)
          .requires("row >= keys", call -> call.get("row") >= call.get("keys"))
          .shared(KernelStruct.PARTS)
          .build(
              all -> {
                all.add("scores", READ, Integer.SIZE, all.vector("heads", "seq", "keys"));
                all.add("weights", WRITE, Byte.SIZE, all.vector("heads", "seq", "row"));
              },
              call -> CallWork.lines(call.product("heads", "seq"), call.get("keys"), 1));

  private static final KernelStruct VALUES =
      KernelStruct.in("integer_attention.h", "attention_values")
          .pointers("weights", "v", "out")
          .integers("heads", "group", "seq", "keys", "dv", "row", "v_head", "v_row")
          .integers("out_head", "out_row", "first_key", "more_keys")
          .floats("value_scale")
          .requires("group >= 1", call -> call.get("group") >= 1)
          .requires("row = a multiple of 4", call -> call.get("row") % 4 == 0)
          .requires("first_key = a multiple of 4", call -> call.get("first_key") % 4 == 0)
          .requires(
              "row >= first_key + keys",
              call -> call.get("row") >= call.get("first_key") + call.get("keys"))
          .requires(
              "first_key + keys <= 65793",
              call -> call.get("first_key") + call.get("keys") <= IntegerAttention.MOST_KEYS)
          .shared(KernelStruct.BLOCKS)
          .build(
              all -> {
                all.add("weights", READ, Byte.SIZE, all.vector("heads", "seq", "row"));
                keyed(all, "v", "dv");
                if (all.get("first_key") > 0) {
                  out(all, READ);
                }
                out(all, WRITE);
              },
              call ->
                  List.of(call.get("heads"), call.get("seq"), call.get("dv"), call.get("keys")));

  private static final KernelStruct TURN =
      KernelStruct.in("integer_attention.h", "attention_turn")
          .pointers("v", "turned")
          .integers("heads", "keys", "dv", "lines", "row", "v_head", "v_row")
          .requires("row = a multiple of 4", call -> call.get("row") % 4 == 0)
          .requires("row >= keys", call -> call.get("row") >= call.get("keys"))
          .requires(
              "lines = dv, or the next multiple of 4", IntegerAttentionKernels::hasWholeBlocks)
          .shared(KernelStruct.LINES)
          .build(
              all -> {
                all.add(
                    "v",
                    READ,
                    Byte.SIZE,
                    List.of(
                        all.step("heads", "v_head"), all.step("keys", "v_row"), all.line("dv")));
                all.add("turned", WRITE, Byte.SIZE, all.vector("heads", "lines", "row"));
              },
              call -> CallWork.lines(call.product("heads", "row"), call.get("dv"), 1));

  private static final KernelStruct TURNED_VALUES =
      KernelStruct.in("integer_attention.h", "attention_turned_values")
          .pointers("weights", "turned", "out")
          .integers("heads", "group", "seq", "keys", "dv", "lines", "row", "out_head", "out_row")
          .floats("value_scale")
          .requires("group >= 1", call -> call.get("group") >= 1)
          .requires("row = a multiple of 4", call -> call.get("row") % 4 == 0)
          .requires("row >= keys", call -> call.get("row") >= call.get("keys"))
          .requires("keys <= 65793", call -> call.get("keys") <= IntegerAttention.MOST_KEYS)
          .requires(
              "lines = dv, or the next multiple of 4", IntegerAttentionKernels::hasWholeBlocks)
          .shared(KernelStruct.BLOCKS)
          .build(
              all -> {
                long kvHeads = all.get("heads") / Math.max(1, all.get("group"));
                all.add("weights", READ, Byte.SIZE, all.vector("heads", "seq", "row"));
                all.add(
                    "turned",
                    READ,
                    Byte.SIZE,
                    KernelAccess.contiguous(kvHeads, all.get("lines"), all.get("row")));
                out(all, WRITE);
              },
              call ->
                  List.of(call.get("heads"), call.get("seq"), call.get("dv"), call.get("keys")));

  private static boolean hasWholeBlocks(FieldValues call) {
    return call.get("lines") == Math.ceilDiv(call.get("dv"), 4L) * 4;
  }

  private static long scoresRow(long row, long keys) {
    return row == 0 ? keys : row;
  }

  private static void out(Accesses all, Kind kind) {
    all.add(
        "out",
        kind,
        Float.SIZE,
        List.of(all.step("heads", "out_head"), all.step("seq", "out_row"), all.line("dv")));
  }

  /** Adds the accesses of keys or values. */
  private static void keyed(Accesses all, String name, String features) {
    long kvHeads = all.get("heads") / Math.max(1, all.get("group"));
    all.add(
        name,
        READ,
        Byte.SIZE,
        List.of(
            new Step(kvHeads, all.get(name + "_head")),
            all.step("keys", name + "_row"),
            all.line(features)));
  }

  private IntegerAttentionKernels() {}

  static void add(KernelTable table) {
    List<ElementType> bytes = List.of(ElementType.I8);
    table.add(
        SCORES,
        "attention_scores_i8",
        KernelClass.MATMUL,
        bytes,
        false,
        IntegerAttentionKernels::scores);
    table.add(
        WEIGHTS,
        "attention_weights_u8",
        KernelClass.SOFTMAX,
        List.of(ElementType.U8),
        false,
        IntegerAttentionKernels::weights);
    table.add(
        VALUES,
        "attention_values_i8",
        KernelClass.MATMUL,
        bytes,
        false,
        IntegerAttentionKernels::values);
    table.add(
        TURN,
        "attention_turn_i8",
        KernelClass.MOVEMENT,
        bytes,
        false,
        IntegerAttentionKernels::turn);
    table.add(
        TURNED_VALUES,
        "attention_turned_values_i8",
        KernelClass.MATMUL,
        bytes,
        false,
        IntegerAttentionKernels::turnedValues);
  }

  private static void scores(KernelArguments call) {
    int seq = call.get("seq");
    int keys = call.get("keys");
    int d = call.get("d");
    int window = call.get("window");
    Place allowed = call.place("allowed");
    Place added = call.place("added");
    int[] line = new int[keys];
    for (int item = 0; item < call.get("heads") * seq; item++) {
      int head = item / seq;
      int query = item % seq;
      int position = call.get("position") + query;
      Place q = call.place("q").plus(head * call.get("q_head") + query * call.get("q_row"));
      Place k = call.place("k").plus(head / call.get("group") * (long) call.get("k_head"));
      for (int key = 0; key < keys; key++) {
        int mask =
            head * call.get("mask_head")
                + query * call.get("mask_row")
                + key * call.get("mask_key");
        float addend = added == null ? 0 : added.floatAt(mask);
        boolean isSeen =
            !(call.get("causal") != 0 && key > position)
                && !(window > 0 && position - key >= window)
                && (allowed == null || allowed.memory()[allowed.at() + mask] != 0)
                && addend != Float.NEGATIVE_INFINITY;
        line[key] = HIDDEN;
        if (isSeen) {
          line[key] = IntegerAttention.addend(addend, call.number("inverse_scale"));
          for (int i = 0; i < d; i++) {
            line[key] += q.memory()[q.at() + i] * k.memory()[k.at() + key * call.get("k_row") + i];
          }
        }
      }
      long row = scoresRow(call.get("scores_row"), keys);
      call.place("scores").plus(Integer.BYTES * item * row).write(line);
    }
  }

  private static void weights(KernelArguments call) {
    int keys = call.get("keys");
    int row = call.get("row");
    for (int item = 0; item < call.get("heads") * call.get("seq"); item++) {
      int[] scores = call.place("scores").plus((long) Integer.BYTES * item * keys).ints(keys);
      int largest = HIDDEN;
      for (int score : scores) {
        largest = Math.max(largest, score);
      }
      Place out = call.place("weights").plus((long) item * row);
      for (int key = 0; key < row; key++) {
        boolean isSeen = key < keys && scores[key] != HIDDEN;
        out.memory()[out.at() + key] =
            (byte)
                (isSeen ? IntegerAttention.weight(largest - scores[key], call.number("unit")) : 0);
      }
    }
  }

  private static void turn(KernelArguments call) {
    int row = call.get("row");
    for (int line = 0; line < call.get("heads") * call.get("lines"); line++) {
      int head = line / call.get("lines");
      int feature = line % call.get("lines");
      Place v = call.place("v").plus(head * (long) call.get("v_head") + feature);
      Place out = call.place("turned").plus((long) line * row);
      for (int key = 0; key < row; key++) {
        boolean exists = key < call.get("keys") && feature < call.get("dv");
        out.memory()[out.at() + key] = exists ? v.memory()[v.at() + key * call.get("v_row")] : 0;
      }
    }
  }

  private static void values(KernelArguments call) {
    Keys keys = new Keys(call.get("first_key"), call.get("more_keys") != 0);
    values(call, keys, call.place("v"), call.get("v_head"), call.get("v_row"), 1);
  }

  private static void turnedValues(KernelArguments call) {
    int row = call.get("row");
    Keys all = new Keys(0, false);
    values(call, all, call.place("turned"), call.get("lines") * (long) row, 1, row);
  }

  /**
   * The keys of a tile.
   *
   * @param first sums of those before it are where results will be
   * @param areMore whether other keys follow, so that sums stay there
   */
  private record Keys(int first, boolean areMore) {}

  /** Values of heads, of a head's keys and of a key's features are some bytes apart. */
  private static void values(
      KernelArguments call,
      Keys tile,
      Place values,
      long headStride,
      int keyStride,
      int featureStride) {
    int seq = call.get("seq");
    int keys = call.get("keys");
    float[] out = new float[call.get("dv")];
    for (int item = 0; item < call.get("heads") * seq; item++) {
      int head = item / seq;
      Place weights = call.place("weights").plus((long) item * call.get("row"));
      Place v = values.plus(head / call.get("group") * headStride);
      int place = head * call.get("out_head") + item % seq * call.get("out_row");
      Place result = call.place("out").plus((long) Float.BYTES * place);
      int[] sums = tile.first == 0 ? new int[out.length] : result.ints(out.length);
      for (int key = 0; key < keys; key++) {
        int weight = weights.memory()[weights.at() + tile.first + key] & 255;
        for (int j = 0; j < sums.length; j++) {
          sums[j] += weight * v.memory()[v.at() + key * keyStride + j * featureStride];
        }
      }
      if (tile.areMore) {
        result.write(sums);
        continue;
      }
      int total = 0;
      for (int key = 0; key < call.get("row"); key++) {
        total += weights.memory()[weights.at() + key] & 255;
      }
      float scale = total == 0 ? 0 : call.number("value_scale") / total;
      for (int j = 0; j < sums.length; j++) {
        out[j] = sums[j] * scale;
      }
      result.write(out);
    }
  }
}
