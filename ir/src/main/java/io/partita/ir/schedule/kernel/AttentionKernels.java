package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;

import io.partita.ir.schedule.kernel.KernelAccess.Kind;
import io.partita.ir.schedule.kernel.KernelAccess.Step;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Kernels of {@code attention.h}: in C's order of operations, with exponentials in double. */
final class AttentionKernels {
  /** The cost of an exponential, in products. */
  private static final long EXPONENTIAL = 16;

  private static final List<ElementType> FLOATS = List.of(ElementType.F32);

  private static final KernelStruct ATTENTION =
      KernelStruct.in("attention.h", "attention")
          .pointers("q", "k", "v", "allowed", "added", "largest", "weights", "sums")
          .integers("parts", "heads", "group", "seq", "keys", "d", "dv")
          .integers("q_head", "q_row", "k_head", "k_row", "v_head", "v_row")
          .integers("mask_head", "mask_row", "mask_key", "first", "causal", "window", "position")
          .floats("scale", "soft_cap")
          .requires("parts >= 1", call -> call.get("parts") >= 1)
          .requires("group >= 1", call -> call.get("group") >= 1)
          .build(AttentionKernels::accesses, AttentionKernels::work);

  private static final KernelStruct ATTENTION_FINISH =
      KernelStruct.in("attention.h", "attention_finish")
          .pointers("largest", "weights", "sums", "out")
          .integers("parts", "heads", "seq", "dv", "out_head", "out_row")
          .build(
              all -> {
                state(all, READ);
                all.add(
                    "out",
                    WRITE,
                    all.bits(0),
                    List.of(
                        all.step("heads", "out_head"), all.step("seq", "out_row"), all.line("dv")));
              },
              call ->
                  CallWork.lines(call.product("heads", "seq"), call.get("dv"), call.get("parts")));

  private static void accesses(Accesses all) {
    int bits = all.bits(0);
    Step heads = all.step("heads", "k_head");
    long kvHeads = heads.extent() / Math.max(1, all.get("group"));
    Step values = new Step(kvHeads, all.get("v_head"));
    List<Step> mask =
        List.of(
            all.step("heads", "mask_head"),
            all.step("seq", "mask_row"),
            all.step("keys", "mask_key"));
    all.add(
        "q",
        READ,
        bits,
        List.of(all.step("heads", "q_head"), all.step("seq", "q_row"), all.line("d")));
    all.add(
        "k",
        READ,
        bits,
        List.of(new Step(kvHeads, heads.stride()), all.step("keys", "k_row"), all.line("d")));
    all.add("v", READ, bits, List.of(values, all.step("keys", "v_row"), all.line("dv")));
    all.optional("allowed", READ, Byte.SIZE, mask);
    all.optional("added", READ, bits, mask);
    if (all.get("first") == 0) {
      state(all, READ);
    }
    state(all, WRITE);
  }

  private static void state(Accesses all, Kind kind) {
    all.add("largest", kind, all.bits(0), all.vector("parts", "heads", "seq"));
    all.add("weights", kind, all.bits(0), all.vector("parts", "heads", "seq"));
    all.add("sums", kind, all.bits(0), all.vector("parts", "heads", "seq", "dv"));
  }

  private static List<TileExpression> work(CallWork call) {
    long parts = call.constant("parts");
    return List.of(
        call.product("heads", "parts"),
        call.get("seq"),
        call.get("keys").plus(parts - 1).dividedBy(parts),
        call.get("d").plus(call.get("dv")).plus(EXPONENTIAL));
  }

  /** The number of keys whose scores are kept at a time. */
  private static final int KEYS = 32;

  private AttentionKernels() {}

  static void add(KernelTable table) {
    table.add(
        ATTENTION,
        "attention_f32",
        KernelClass.MATVEC,
        FLOATS,
        false,
        call -> new Tile(call).run());
    table.add(
        ATTENTION_FINISH,
        "attention_finish_f32",
        KernelClass.ELEMENTWISE,
        FLOATS,
        false,
        AttentionKernels::finish);
  }

  /** One tile of keys and values. */
  private static final class Tile {
    private final KernelArguments call;
    private final Place q;
    private final Place k;
    private final Place v;
    private final Place allowed;
    private final Place added;
    private final Place largest;
    private final Place weights;
    private final Place sums;
    private final int heads;
    private final int group;
    private final int seq;
    private final int keys;
    private final int d;
    private final int dv;
    private final int maskHead;
    private final int maskRow;
    private final int maskKey;
    private final boolean isCausal;
    private final int window;
    private final int position;
    private final float scale;
    private final float softCap;

    Tile(KernelArguments call) {
      this.call = call;
      q = call.place("q");
      k = call.place("k");
      v = call.place("v");
      allowed = call.place("allowed");
      added = call.place("added");
      largest = call.place("largest");
      weights = call.place("weights");
      sums = call.place("sums");
      heads = call.get("heads");
      group = call.get("group");
      seq = call.get("seq");
      keys = call.get("keys");
      d = call.get("d");
      dv = call.get("dv");
      maskHead = call.get("mask_head");
      maskRow = call.get("mask_row");
      maskKey = call.get("mask_key");
      isCausal = call.get("causal") != 0;
      window = call.get("window");
      position = call.get("position");
      scale = call.number("scale");
      softCap = call.number("soft_cap");
    }

    void run() {
      int parts = call.get("parts");
      int queries = heads * seq;
      for (int head = 0; head < heads; head++) {
        float[][] keyLines = lines(k, head / group, call.get("k_head"), call.get("k_row"), d);
        float[][] valueLines = lines(v, head / group, call.get("v_head"), call.get("v_row"), dv);
        for (int query = 0; query < seq; query++) {
          for (int part = 0; part < parts; part++) {
            int each = keys / parts;
            int more = keys % parts;
            int from = each * part + Math.min(part, more);
            int to = from + each + (part < more ? 1 : 0);
            int item = part * queries + head * seq + query;
            run(head, query, item, from, to, keyLines, valueLines);
          }
        }
      }
    }

    private float[][] lines(Place place, int head, int headStride, int rowStride, int size) {
      float[][] lines = new float[keys][];
      for (int key = 0; key < keys; key++) {
        long at = (long) head * headStride + (long) key * rowStride;
        lines[key] = place.plus(Float.BYTES * at).floats(size);
      }
      return lines;
    }

    private void run(
        int head, int query, int item, int from, int to, float[][] keyLines, float[][] values) {
      Place itemSums = sums.plus((long) Float.BYTES * item * dv);
      boolean isFirst = call.get("first") != 0;
      float[] sum = isFirst ? new float[dv] : itemSums.floats(dv);
      float most = isFirst ? Float.NEGATIVE_INFINITY : largest.floatAt(item);
      float weight = isFirst ? 0 : weights.floatAt(item);
      long start = (long) head * call.get("q_head") + (long) query * call.get("q_row");
      float[] vector = q.plus(Float.BYTES * start).floats(d);
      float[] scores = new float[KEYS];
      for (int key = from; key < to; key += KEYS) {
        int count = Math.min(KEYS, to - key);
        float next = most;
        for (int i = 0; i < count; i++) {
          scores[i] = score(vector, keyLines[key + i], head, query, key + i);
          next = scores[i] > next || Float.isNaN(scores[i]) ? scores[i] : next;
        }
        if (next == Float.NEGATIVE_INFINITY) {
          continue;
        }
        if (next != most) {
          float shrink = (float) Math.exp(most - next);
          weight *= shrink;
          for (int j = 0; j < dv; j++) {
            sum[j] *= shrink;
          }
        }
        for (int i = 0; i < count; i++) {
          scores[i] = (float) Math.exp(scores[i] - next);
          weight += scores[i];
        }
        for (int i = 0; i < count; i++) {
          float[] line = values[key + i];
          for (int j = 0; j < dv; j++) {
            sum[j] += scores[i] * line[j];
          }
        }
        most = next;
      }
      largest.set(item, most);
      weights.set(item, weight);
      itemSums.write(sum);
    }

    private float score(float[] query, float[] key, int head, int row, int column) {
      int at = head * maskHead + row * maskRow + column * maskKey;
      int place = position + row;
      boolean isSeen = !(isCausal && column > place) && !(window > 0 && place - column >= window);
      if (!isSeen || allowed != null && allowed.memory()[allowed.at() + at] == 0) {
        return Float.NEGATIVE_INFINITY;
      }
      float sum = 0;
      for (int i = 0; i < d; i++) {
        sum += query[i] * key[i];
      }
      float scaled = sum * scale;
      float found = softCap > 0 ? softCap * (float) Math.tanh(scaled / softCap) : scaled;
      return added == null ? found : found + added.floatAt(at);
    }
  }

  private static void finish(KernelArguments call) {
    int parts = call.get("parts");
    int heads = call.get("heads");
    int seq = call.get("seq");
    int dv = call.get("dv");
    int queries = heads * seq;
    Place largest = call.place("largest");
    Place weights = call.place("weights");
    for (int item = 0; item < queries; item++) {
      float most = Float.NEGATIVE_INFINITY;
      for (int part = 0; part < parts; part++) {
        float found = largest.floatAt(part * queries + item);
        most = found > most || Float.isNaN(found) ? found : most;
      }
      float weight = 0;
      float[] out = new float[dv];
      for (int part = 0; part < parts && most != Float.NEGATIVE_INFINITY; part++) {
        int state = part * queries + item;
        float shrink = (float) Math.exp(largest.floatAt(state) - most);
        weight += weights.floatAt(state) * shrink;
        float[] sums = call.place("sums").plus((long) Float.BYTES * state * dv).floats(dv);
        for (int j = 0; j < dv; j++) {
          out[j] += sums[j] * shrink;
        }
      }
      float inverse = weight == 0 ? 0 : 1 / weight;
      for (int j = 0; j < dv; j++) {
        out[j] *= inverse;
      }
      long place =
          (long) (item / seq) * call.get("out_head") + (long) (item % seq) * call.get("out_row");
      call.place("out").plus(Float.BYTES * place).write(out);
    }
  }
}
