package io.partita.ir.op;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Operations without operands. */
public sealed interface Source extends Op {
  @Override
  default List<TensorType> resultTypes(List<TensorType> operands) {
    Require.count(operands, 0);
    return List.of(type());
  }

  TensorType type();

  /** A tensor that is known at compile time: a weight or a small constant. */
  record Constant(Tensor data) implements Source {
    @Override
    public String mnemonic() {
      return "constant";
    }

    /** Writes nothing: the text form has its own syntax for data. */
    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public TensorType type() {
      return data.type();
    }
  }

  /** {@code [0, 1, …, size-1]} of a numeric element type. */
  record Iota(Dim size, ElementType element) implements Source {
    @Override
    public String mnemonic() {
      return "iota";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.dims("size", List.of(size));
      attributes.word("element", element.text());
    }

    @Override
    public TensorType type() {
      return new TensorType(element, Shape.of(size));
    }
  }

  /** An extent as an i64 scalar; it becomes a constant when its symbols are bound. */
  record Extent(Dim size) implements Source {
    @Override
    public String mnemonic() {
      return "extent";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.dims("size", List.of(size));
    }

    @Override
    public TensorType type() {
      return TensorType.scalar(ElementType.I64);
    }
  }
}
