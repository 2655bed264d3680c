package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/** The loops of integer-only networks; rows are widened to 64 bits. */
final class IntegerNetworkCode {
  private static final Kernel GELU =
      Kernel.of(
          "x ((one + sign(x) (one - (min(|x|, -b) + b)^2)) >> 1).",
          """
          static long integerGelu(long x, long b, long one) {
            long inside = Math.min(Math.abs(x), -b) + b;
            long error = Long.signum(x) * (one - inside * inside);
            return x * (one + error >> 1);
          }
          """);

  private final StepCode code;
  private final Body body;

  private IntegerNetworkCode(StepCode code) {
    this.code = code;
    this.body = code.body;
  }

  static void emit(StepCode code, IntegerNetwork op) {
    if (code.resultType().shape().elements() == 0) {
      return;
    }
    IntegerNetworkCode printer = new IntegerNetworkCode(code);
    switch (op) {
      case IntegerNetwork.Requantize requantize -> printer.requantize(requantize);
      case IntegerNetwork.IntegerSoftmax softmax -> printer.softmax(softmax);
      case IntegerNetwork.PowerSoftmax softmax -> printer.powerSoftmax(softmax);
      case IntegerNetwork.IntegerNorm norm -> printer.norm(norm);
      case IntegerNetwork.IntegerGelu gelu -> printer.gelu(gelu);
      case IntegerNetwork.Lookup lookup -> printer.lookup();
    }
  }

  private String narrowed(String value) {
    boolean isLong = Elements.carrier(code.resultType().element()).equals("long");
    return isLong ? value : "(int) (" + value + ")";
  }

  private String wide(int operand, String index) {
    return code.load(code.node.operand(operand), index).as("long").text();
  }

  private void requantize(IntegerNetwork.Requantize op) {
    Shape x = code.shape(0);
    LoopNest nest =
        LoopNest.of(
            x.extents(),
            List.of(
                ElementwiseCode.access(x, x.rank()),
                ElementwiseCode.access(code.shape(1), x.rank()),
                ElementwiseCode.access(code.shape(2), x.rank())));
    nest.open(body, "i");
    String at = nest.index(0, "i");
    long half = (1L << op.shift()) / 2;
    String scaled =
        "%s * %s + %s + %sL >> %s"
            .formatted(
                wide(0, at),
                wide(1, nest.index(1, "i")),
                wide(2, nest.index(2, "i")),
                half,
                op.shift());
    code.store(
        at,
        narrowed(code.call(IntegerKernels.CLAMP, scaled, literal(op.low()), literal(op.high()))));
    body.close(nest.depth());
  }

  private static String literal(long value) {
    return Elements.literal(ElementType.I64, value);
  }

  private void gelu(IntegerNetwork.IntegerGelu op) {
    body.open(LoopNest.loop("i", code.shape(0).elements()));
    String value = code.call(GELU, code.load(0, "i"), literal(op.b()), literal(op.one()));
    code.store("i", narrowed(value));
    body.close();
  }

  private void lookup() {
    body.open(LoopNest.loop("i", code.shape(0).elements()));
    long least = code.node.operand(0).type().element().minimum();
    String index = code.load(0, "i");
    String entry = least == 0 ? index : index + " + " + -least;
    body.line("%s[i] = %s[%s]".formatted(code.result(), code.array(1), entry));
    body.close();
  }

  private int line() {
    return Math.toIntExact(code.shape(0).fromEnd(0).value());
  }

  /** A vector as longs, broadcast to the line if it has one element. */
  private String vector(int operand) {
    String array = code.scratch.take(Storage.LONGS, line());
    body.open(LoopNest.loop("i", line()));
    String index = code.shape(operand).elements() == 1 ? "0" : "i";
    body.line(array + "[i] = " + code.load(operand, index));
    body.close();
    return array;
  }

  /** Loops over lines, which {@code change} modifies in place. */
  private void byLine(String row, String change) {
    Shape shape = code.shape(0);
    long lines = shape.range(0, shape.rank() - 1).elements();
    body.open(LoopNest.loop("line", lines));
    body.open(LoopNest.loop("i", line()));
    body.line(row + "[i] = " + code.load(0, "line * " + line() + " + i"));
    body.close();
    body.line(change);
    body.open(LoopNest.loop("i", line()));
    code.store("line * " + line() + " + i", narrowed(row + "[i]"));
    body.close(2);
  }

  private String row() {
    return code.scratch.take(Storage.LONGS, line());
  }

  private void softmax(IntegerNetwork.IntegerSoftmax op) {
    String row = row();
    byLine(
        row,
        code.call(
            IntegerKernels.INTEGER_SOFTMAX,
            row,
            line(),
            literal(op.a()),
            literal(op.b()),
            literal(op.c()),
            literal(op.log2()),
            literal(op.levels())));
  }

  private void powerSoftmax(IntegerNetwork.PowerSoftmax op) {
    String row = row();
    boolean grouped = op.group() > 0;
    long group = grouped ? Math.min(op.group(), line()) : line();
    long top = grouped ? op.levels() / 2 - 1 : op.levels() - 1;
    byLine(
        row,
        code.call(
            IntegerKernels.POWER_SOFTMAX,
            row,
            line(),
            literal(op.levels()),
            group,
            op.unit(),
            literal(top)));
  }

  private void norm(IntegerNetwork.IntegerNorm op) {
    boolean centred = op.kind() == Structured.NormKind.LAYER;
    String weight = vector(1);
    String bias;
    if (centred) {
      bias = vector(2);
    } else {
      bias = code.scratch.take(Storage.LONGS, line());
      body.line("Arrays.fill(" + bias + ", 0, " + line() + ", 0)");
    }
    String row = row();
    byLine(
        row,
        code.call(
            IntegerKernels.INTEGER_NORM,
            row,
            line(),
            centred,
            weight,
            bias,
            op.shift(),
            literal(op.low()),
            literal(op.high())));
  }
}
