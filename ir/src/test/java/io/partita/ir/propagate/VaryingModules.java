package io.partita.ir.propagate;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.verify.Verifier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Modules of the mesh dialect with values that vary over axis x. */
public final class VaryingModules {
  /** A block without the sync after attention and without biases. */
  private static final String BLOCK =
      """
      pir 1
      module {
        mesh(x=DEVICES)
        graph @block(%x: f32[1,3,8], %gain1: f32[8], %wq: f32[8,8{x/2}], %wk: f32[8,8{x/2}], %wv: f32[8,8{x/2}], %wo: f32[8{x/2},8], %gain2: f32[8], %gate: f32[8,12{x}], %up: f32[8,12{x}], %down: f32[12{x},8]) -> ("y": f32[1,3,8]) {
          %0 = rms_norm(%x, %gain1) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8]
          %1 = linear(%0, %wq) : f32[1,3,8{x/2}]
          %2 = reshape(%1) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %3 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %4 = linear(%0, %wk) : f32[1,3,8{x/2}]
          %5 = reshape(%4) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %6 = transpose(%5) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %7 = linear(%0, %wv) : f32[1,3,8{x/2}]
          %8 = reshape(%7) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %9 = transpose(%8) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %10 = attention(%3, %6, %9) {scale = 0.7, soft_cap = 0.0, causal, offset = [0], window = 0} : f32[1,4{x},3,2]
          %11 = transpose(%10) {permutation = [0, 2, 1, 3]} : f32[1,3,4{x},2]
          %12 = reshape(%11) {to = [1, 3, 8]} : f32[1,3,8{x/2}]
          %13 = linear(%12, %wo) : f32[1,3,8] partial(sum: x)
          %14 = localize(%13) {axis = "x"} : f32[1,3,8] varying(x)
          %15 = add(%x, %14) : f32[1,3,8] varying(x)
          %16 = rms_norm(%15, %gain2) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8] varying(x)
          %17 = gated_ffn(%16, %gate, %up, %down) {activation = silu} : f32[1,3,8] partial(sum: x) varying(x)
          %18 = settle(%17) {axis = "x", by = "term"} : f32[1,3,8] partial(sum: x)
          %19 = add(%13, %18) : f32[1,3,8] partial(sum: x)
          %20 = sync(%19) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8]
          %21 = add(%x, %20) : f32[1,3,8]
          return %21
        }
      }
      """;

  /** Like {@link #BLOCK}, with biases, and products instead of a network operation. */
  private static final String BIASED_BLOCK =
      """
      pir 1
      module {
        mesh(x=DEVICES)
        graph @block(%x: f32[1,3,8], %gain1: f32[8], %wq: f32[8,8{x/2}], %bq: f32[8{x/2}], %wk: f32[8,8{x/2}], %bk: f32[8{x/2}], %wv: f32[8,8{x/2}], %bv: f32[8{x/2}], %wo: f32[8{x/2},8], %bo: f32[8], %gain2: f32[8], %up: f32[8,12{x}], %bup: f32[12{x}], %down: f32[12{x},8], %bdown: f32[8]) -> ("y": f32[1,3,8]) {
          %0 = rms_norm(%x, %gain1) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8]
          %1 = linear(%0, %wq, %bq) {bias} : f32[1,3,8{x/2}]
          %2 = reshape(%1) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %3 = transpose(%2) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %4 = linear(%0, %wk, %bk) {bias} : f32[1,3,8{x/2}]
          %5 = reshape(%4) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %6 = transpose(%5) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %7 = linear(%0, %wv, %bv) {bias} : f32[1,3,8{x/2}]
          %8 = reshape(%7) {to = [1, 3, 4, 2]} : f32[1,3,4{x},2]
          %9 = transpose(%8) {permutation = [0, 2, 1, 3]} : f32[1,4{x},3,2]
          %10 = attention(%3, %6, %9) {scale = 0.7, soft_cap = 0.0, causal, offset = [0], window = 0} : f32[1,4{x},3,2]
          %11 = transpose(%10) {permutation = [0, 2, 1, 3]} : f32[1,3,4{x},2]
          %12 = reshape(%11) {to = [1, 3, 8]} : f32[1,3,8{x/2}]
          %13 = linear(%12, %wo) : f32[1,3,8] partial(sum: x)
          %14 = localize(%13) {axis = "x"} : f32[1,3,8] varying(x)
          %15 = add(%14, %bo) : f32[1,3,8] varying(x)
          %16 = add(%x, %15) : f32[1,3,8] varying(x)
          %17 = rms_norm(%16, %gain2) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8] varying(x)
          %18 = linear(%17, %up, %bup) {bias} : f32[1,3,12{x}] varying(x)
          %19 = relu(%18) : f32[1,3,12{x}] varying(x)
          %20 = reshard(%bdown) {to = "[*] partial(sum: x)"} : f32[8] partial(sum: x)
          %21 = linear(%19, %down, %20) {bias} : f32[1,3,8] partial(sum: x) varying(x)
          %22 = settle(%21) {axis = "x", by = "term"} : f32[1,3,8] partial(sum: x)
          %23 = add(%13, %22) : f32[1,3,8] partial(sum: x)
          %24 = sync(%23) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8]
          %25 = add(%24, %bo) : f32[1,3,8]
          %26 = add(%x, %25) : f32[1,3,8]
          return %26
        }
      }
      """;

  /** The lines of {@link #BLOCK} with both syncs, from {@code %14} on. */
  private static final String JOINED =
      """
          %14 = reshard(%x) {to = "[*,*,*] partial(sum: x)"} : f32[1,3,8] partial(sum: x)
          %15 = add(%14, %13) : f32[1,3,8] partial(sum: x)
          %16 = sync(%15) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8] "attended"
          %17 = rms_norm(%16, %gain2) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8]
          %18 = gated_ffn(%17, %gate, %up, %down) {activation = silu} : f32[1,3,8] partial(sum: x)
          %19 = reshard(%16) {to = "[*,*,*] partial(sum: x)"} : f32[1,3,8] partial(sum: x)
          %20 = add(%19, %18) : f32[1,3,8] partial(sum: x)
          %21 = sync(%20) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8]
          return %21
        }
      }
      """;

  /** The lines of {@link #BIASED_BLOCK} with both syncs, from {@code %13} on. */
  private static final String BIASED_JOINED =
      """
          %13 = reshard(%bo) {to = "[*] partial(sum: x)"} : f32[8] partial(sum: x)
          %14 = linear(%12, %wo, %13) {bias} : f32[1,3,8] partial(sum: x)
          %15 = reshard(%x) {to = "[*,*,*] partial(sum: x)"} : f32[1,3,8] partial(sum: x)
          %16 = add(%15, %14) : f32[1,3,8] partial(sum: x)
          %17 = sync(%16) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8] "attended"
          %18 = rms_norm(%17, %gain2) {axis = 2, epsilon = 1.0E-5, scale} : f32[1,3,8]
          %19 = linear(%18, %up, %bup) {bias} : f32[1,3,12{x}]
          %20 = relu(%19) : f32[1,3,12{x}]
          %21 = reshard(%bdown) {to = "[*] partial(sum: x)"} : f32[8] partial(sum: x)
          %22 = linear(%20, %down, %21) {bias} : f32[1,3,8] partial(sum: x)
          %23 = reshard(%17) {to = "[*,*,*] partial(sum: x)"} : f32[1,3,8] partial(sum: x)
          %24 = add(%23, %22) : f32[1,3,8] partial(sum: x)
          %25 = sync(%24) {kind = "all_reduce(x)", to = "[*,*,*]"} : f32[1,3,8]
          return %25
        }
      }
      """;

  /**
   * Each device knows its own tokens, and of the others the nearest of four vectors; a class token,
   * of which each device has one, attends to what its device knows, and the mean of all counts.
   */
  private static final String CLASS_TOKEN =
      """
      pir 1
      module {
        mesh(x=DEVICES)
        graph @class_token(%tokens: f32[7{x},4], %codebook: f32[5,4], %class: f32[1,1,1,4], %wk: f32[4,4], %wv: f32[4,4]) -> ("y": f32[1,1,1,4], "codes": i64[7]) {
          %0 = transpose(%codebook) {permutation = [1, 0]} : f32[4,5]
          %1 = matmul(%tokens, %0) {result = f32} : f32[7{x},5]
          %2 = arg_max(%1) {axis = 1} : i64[7{x}]
          %3 = sync(%2) {kind = "all_gather(x)", to = "[*]"} : i64[7]
          %4 = gather(%codebook, %3) {axis = 0} : f32[7,4]
          %5 = overlay(%4, %tokens) {axis = "x", dim = 0} : f32[7,4] varying(x)
          %6 = matmul(%5, %wk) {result = f32} : f32[7,4] varying(x)
          %7 = reshape(%6) {to = [1, 1, 7, 4]} : f32[1,1,7,4] varying(x)
          %8 = matmul(%5, %wv) {result = f32} : f32[7,4] varying(x)
          %9 = reshape(%8) {to = [1, 1, 7, 4]} : f32[1,1,7,4] varying(x)
          %10 = attention(%class, %7, %9) {scale = 0.5, soft_cap = 0.0, offset = [0], window = 0} : f32[1,1,1,4] varying(x)
          %11 = settle(%10) {axis = "x", by = "average"} : f32[1,1,1,4] partial(sum: x)
          %12 = sync(%11) {kind = "all_reduce(x)", to = "[*,*,*,*]"} : f32[1,1,1,4]
          return %12, %3
        }
      }
      """;

  /** Every exit of one value; by priority, it is the first term above a bound. */
  private static final String EXITS =
      """
      pir 1
      module {
        mesh(x=DEVICES)
        graph @exits(%a: f32[3,8{x}], %b: f32[8{x},6], %w: f32[6,8{x}], %bound: f32[]) -> ("last": f32[3,6], "mean": f32[3,6], "sum": f32[3,6], "parts": f32[3,8], "all": f32[DEVICES,3,6], "first": f32[3,6], "accepted": bool[DEVICES]) {
          %0 = matmul(%a, %b) {result = f32} : f32[3,6] partial(sum: x)
          %1 = localize(%0) {axis = "x"} : f32[3,6] varying(x)
          %2 = settle(%1) {axis = "x", by = "take(LAST)"} : f32[3,6] at(x: LAST)
          %3 = sync(%2) {kind = "broadcast(x)", to = "[*,*]"} : f32[3,6]
          %4 = settle(%1) {axis = "x", by = "average"} : f32[3,6] partial(sum: x)
          %5 = sync(%4) {kind = "all_reduce(x)", to = "[*,*]"} : f32[3,6]
          %6 = relu(%1) : f32[3,6] varying(x)
          %7 = settle(%6) {axis = "x", by = "term"} : f32[3,6] partial(sum: x)
          %8 = sync(%7) {kind = "all_reduce(x)", to = "[*,*]"} : f32[3,6]
          %9 = matmul(%1, %w) {result = f32} : f32[3,8{x}] varying(x)
          %10 = settle(%9) {axis = "x", by = "part"} : f32[3,8{x}]
          %11 = sync(%10) {kind = "all_gather(x)", to = "[*,*]"} : f32[3,8]
          %12 = settle(%1) {axis = "x", by = "stack(DEVICES)"} : f32[DEVICES{x},3,6]
          %13 = sync(%12) {kind = "all_gather(x)", to = "[*,*,*]"} : f32[DEVICES,3,6]
          %14 = reduce_sum(%1) {axes = [0, 1]} : f32[] varying(x)
          %15 = greater(%14, %bound) : bool[] varying(x)
          %16 = settle(%15) {axis = "x", by = "stack(DEVICES)"} : bool[DEVICES{x}]
          %17 = sync(%16) {kind = "all_gather(x)", to = "[*]"} : bool[DEVICES]
          %18 = settle(%1, %17) {axis = "x", by = "priority(DEVICES)"} : f32[3,6] partial(sum: x)
          %19 = sync(%18) {kind = "all_reduce(x)", to = "[*,*]"} : f32[3,6]
          return %3, %5, %8, %11, %13, %19, %17
        }
      }
      """;

  private VaryingModules() {}

  /** A decoder block without the sync between attention and network. */
  public static Module block(int devices, boolean isBiased) {
    return module(isBiased ? BIASED_BLOCK : BLOCK, devices);
  }

  /** The same block with its two syncs. */
  public static Module joinedBlock(int devices, boolean isBiased) {
    String text = isBiased ? BIASED_BLOCK : BLOCK;
    int end = text.indexOf(isBiased ? "    %13 =" : "    %14 =");
    return module(text.substring(0, end) + (isBiased ? BIASED_JOINED : JOINED), devices);
  }

  public static Module classToken(int devices) {
    return module(CLASS_TOKEN, devices);
  }

  public static Module exits(int devices) {
    return module(EXITS, devices);
  }

  /** All of them. */
  public static List<Module> all(int devices) {
    return List.of(
        block(devices, false), block(devices, true), classToken(devices), exits(devices));
  }

  static Module module(String text, int devices) {
    Module module =
        PirParser.parse(text.replace("DEVICES", "" + devices).replace("LAST", "" + (devices - 1)));
    Verifier.verify(module);
    return module;
  }

  /** Returns random values of inputs, by name. */
  public static SequencedMap<String, Tensor> inputs(Module module, int seed) {
    return SampleValues.inputs(module.graph(), new Draw(seed));
  }

  /** Returns the outputs of all devices together, by name. */
  public static Map<String, Tensor> evaluate(Module module, SequencedMap<String, Tensor> inputs) {
    List<Tensor> results = MeshEvaluator.run(module, List.copyOf(inputs.values()));
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      outputs.put(module.graph().outputs().get(i).name(), results.get(i));
    }
    return outputs;
  }
}
