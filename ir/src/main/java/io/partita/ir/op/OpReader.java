package io.partita.ir.op;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.message.StepReader;
import java.util.Optional;

/** Reads operations from their mnemonic and attributes; the counterpart of {@link Op#write}. */
public final class OpReader {
  private OpReader() {}

  /**
   * Returns the operation, or null if there is none of this mnemonic; {@code constant} is read
   * elsewhere.
   */
  public static Op read(String mnemonic, AttributeReader in) {
    return switch (mnemonic) {
      case "sync" ->
          new Communication.Sync(
              in.parsed("kind", SyncKind::parse),
              in.layout("to"),
              in.optional("algorithm", Algorithm::parse),
              in.optional("codec", Codec::parse).orElse(Codec.EXACT));
      case "reshard" -> new Communication.Reshard(in.layout("to"));
      case "localize" -> new Communication.Localize(in.text("axis"));
      case "overlay" -> new Communication.Overlay(in.text("axis"), in.smallInteger("dim"));
      case "fork" -> new Communication.Fork(in.text("axis"));
      case "gate" -> new Communication.Gate();
      case "settle" -> new Communication.Settle(in.text("axis"), in.parsed("by", Exit::parse));
      case "exchange" ->
          new Communication.Exchange(
              in.smallInteger("sync"),
              in.integer("elements"),
              in.element("element"),
              in.parsed("before", StepReader::slices),
              in.parsed("after", StepReader::slices),
              in.parsed("steps", StepReader::steps));
      case "iota" -> new Source.Iota(in.dim("size"), in.element("element"));
      case "extent" -> new Source.Extent(in.dim("size"));
      case "select" -> new Elementwise.Select();
      case "cast" -> new Elementwise.Cast(in.element("to"));
      case "reshape" -> new Movement.Reshape(in.shape("to"));
      case "transpose" -> new Movement.Transpose(in.integers("permutation"));
      case "broadcast" -> new Movement.Broadcast(in.shape("to"));
      case "slice" -> new Movement.Slice(in.dims("starts"), in.dims("sizes"), in.longs("steps"));
      case "concat" -> new Movement.Concat(axis(in));
      case "pad" ->
          new Movement.Pad(
              in.word("mode", Movement.PadMode.class), in.longs("low"), in.longs("high"));
      case "gather" -> new Movement.Gather(axis(in));
      case "gather_elements" -> new Movement.GatherElements(axis(in));
      case "gather_nd" -> new Movement.GatherNd(in.smallInteger("batch_dims"));
      case "scatter_elements" -> new Movement.ScatterElements(axis(in), scatterReduction(in));
      case "scatter_nd" -> new Movement.ScatterNd(scatterReduction(in));
      case "arg_max", "arg_min" ->
          new Reduction.ArgReduce(
              mnemonic.equals("arg_max"), axis(in), in.flag("keep_dims"), in.flag("select_last"));
      case "cumulative_sum", "cumulative_product" ->
          new Reduction.Cumulative(
              mnemonic.equals("cumulative_product"),
              axis(in),
              in.flag("exclusive"),
              in.flag("reverse"));
      case "top_k" -> new Reduction.TopK(in.dim("k"), axis(in), in.flag("largest"));
      case "softmax", "log_softmax" ->
          new Reduction.Softmax(axis(in), mnemonic.equals("log_softmax"));
      case "matmul" -> new Contraction.MatMul(in.element("result"));
      case "einsum" -> new Contraction.Einsum(in.text("equation"));
      case "nibble_matmul" -> new Contraction.NibbleMatMul();
      case "nearest_centroid" -> new Contraction.NearestCentroid(in.integer("groups"));
      case "convolution" ->
          new Contraction.Convolution(
              Window.read(in), in.integer("groups"), in.flag("bias"), in.element("result"));
      case "transposed_convolution" ->
          new Contraction.TransposedConvolution(
              Window.read(in), in.integer("groups"), in.flag("bias"));
      case "max_pool", "mean_pool" ->
          new Contraction.Pool(
              mnemonic.equals("max_pool"),
              Window.read(in),
              in.flag("round_up"),
              in.flag("count_padding"),
              in.flag("indices"));
      case "linear" -> new Structured.Linear(in.flag("transposed"), in.flag("bias"));
      case "layer_norm", "rms_norm" ->
          new Structured.Norm(
              mnemonic.equals("layer_norm") ? Structured.NormKind.LAYER : Structured.NormKind.RMS,
              axis(in),
              in.number("epsilon"),
              in.flag("scale"),
              in.flag("bias"));
      case "attention" ->
          new Structured.Attention(
              in.number("scale"),
              in.number("soft_cap"),
              in.flag("causal"),
              in.dim("offset"),
              in.integer("window"),
              in.flag("mask"),
              in.flag("key_length"),
              in.flag("integer") ? in.number("value_scale") : 0);
      case "rotary_embedding" -> new Structured.RotaryEmbedding(in.flag("interleaved"));
      case "ffn", "gated_ffn" ->
          new Structured.Ffn(
              in.word("activation", UnaryFunction.class),
              mnemonic.equals("gated_ffn"),
              in.flag("gate_bias"),
              in.flag("up_bias"),
              in.flag("down_bias"));
      case "embedding" -> new Structured.Embedding();
      case "patch_embedding" -> new Structured.PatchEmbedding(in.flag("bias"));
      case "cache_update" -> new Structured.CacheUpdate(axis(in), in.flag("circular"));
      case "quantize" -> new Quantized.Quantize(axis(in), in.integer("block"), in.element("to"));
      case "dequantize" ->
          new Quantized.Dequantize(axis(in), in.integer("block"), in.element("to"));
      default -> {
        Optional<IntegerNetwork> network = IntegerNetwork.read(mnemonic, in);
        yield network.isPresent() ? network.get() : readByFunction(mnemonic, in);
      }
    };
  }

  private static Op readByFunction(String mnemonic, AttributeReader in) {
    if (mnemonic.startsWith("reduce_")) {
      for (ReductionKind kind : ReductionKind.values()) {
        if (mnemonic.equals("reduce_" + kind.text())) {
          return new Reduction.Reduce(kind, in.integers("axes"), in.flag("keep_dims"));
        }
      }
    }
    for (UnaryFunction function : UnaryFunction.values()) {
      if (function.text().equals(mnemonic)) {
        return new Elementwise.Unary(function);
      }
    }
    for (BinaryFunction function : BinaryFunction.values()) {
      if (function.text().equals(mnemonic)) {
        return new Elementwise.Binary(function);
      }
    }
    return null;
  }

  private static int axis(AttributeReader in) {
    return in.smallInteger("axis");
  }

  private static Combine scatterReduction(AttributeReader in) {
    return in.word("reduction", Combine.class);
  }
}
